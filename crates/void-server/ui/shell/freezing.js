// @ts-check
// Stopping everything, and letting it go on.

import { del, post, sentence } from "../lib/api.js";
import { el, mount } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { t } from "../lib/words.js";
import { notice } from "../parts/empties.js";
import { asOneself } from "../parts/identity.js";
import { sheet } from "../parts/sheets.js";
import { toast } from "../parts/toasts.js";

const MORNING_HOUR = 8;
const SPANS = [
  ["freeze.15min", () => 900],
  ["freeze.1h", () => 3600],
  ["freeze.tomorrow", untilTomorrow],
  ["freeze.open", () => 0],
];

/** Seconds until the next day's morning where the owner is. */
function untilTomorrow() {
  const morning = new Date();
  morning.setDate(morning.getDate() + 1);
  morning.setHours(MORNING_HOUR, 0, 0, 0);
  return Math.round((morning.getTime() - Date.now()) / 1000);
}

/** Stopping everything is one step more than a slip, and no more. */
export function askFreeze() {
  const reason = /** @type {HTMLInputElement} */ (el("input", { class: "input", maxLength: 200, autocomplete: "off" }));
  const told = el("div", { "aria-live": "assertive" });
  /** @param {number} seconds */
  const send = async (seconds) => {
    mount(told);
    if (!isLive()) return mount(told, notice("problem", t("freeze.not_connected")));
    draw(true);
    try {
      const set = await asOneself(() =>
        post("/api/freeze", {
          ...(reason.value.trim() ? { reason: reason.value.trim() } : {}),
          ...(seconds ? { for_s: seconds } : {}),
        }),
      );
      if (!set) return draw(false);
      dialog.close();
    } catch (error) {
      mount(told, notice("problem", sentence(error)));
      draw(false);
    }
    return undefined;
  };
  const spans = el("div", { class: "reasons" });
  /** @param {boolean} isSending */
  const draw = (isSending) =>
    isSending
      ? mount(spans, el("button", { type: "button", class: "button", disabled: true }, t("card.sending")))
      : mount(
          spans,
          SPANS.map(([key, seconds]) =>
            el(
              "button",
              { type: "button", class: "button", onclick: () => void send(/** @type {() => number} */ (seconds)()) },
              t(String(key)),
            ),
          ),
        );
  draw(false);
  const dialog = sheet(
    t("freeze.title"),
    el("p", {}, t("freeze.what")),
    el("label", { class: "field" }, el("span", {}, t("freeze.reason")), reason),
    told,
    spans,
  );
}

export async function thaw() {
  if (!isLive()) return toast(t("freeze.not_connected"), { isProblem: true });
  try {
    await asOneself(() => del("/api/freeze"));
  } catch (error) {
    toast(sentence(error), { isProblem: true });
  }
  return undefined;
}
