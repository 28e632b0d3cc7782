// @ts-check
// Muting: for a time, and for a reason, the owner is not told that something is down. It is still shown as
// down; what is down when the mute ends is told.

import { del, post, sentence } from "../lib/api.js";
import { el, mount, visible } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { person } from "../lib/people.js";
import { clock } from "../lib/time.js";
import { t } from "../lib/words.js";
import { notice } from "./empties.js";
import { asOneself } from "./identity.js";
import { sheet } from "./sheets.js";
import { toast } from "./toasts.js";

/** @import { Mute, Service as ApiService } from "../types/api.js" */

const HOUR_S = 3600;
const SPANS = /** @type {const} */ ([
  ["mute.1h", HOUR_S],
  ["mute.8h", 8 * HOUR_S],
  ["mute.1d", 24 * HOUR_S],
  ["mute.7d", 7 * 24 * HOUR_S],
]);

/** @typedef {Pick<ApiService, "id" | "label" | "host" | "node">} Service */

/**
 * The mute that holds for a service: of several the longest.
 * @param {Mute[]} mutes
 * @param {Service} service
 * @returns {Mute | null}
 */
export function muteOf(mutes, { id, host, node }) {
  const own = mutes.filter((mute) => mute.service === id || (mute.host !== null && [host, node].includes(mute.host)));
  return own.sort((one, other) => Date.parse(other.until) - Date.parse(one.until))[0] ?? null;
}

/** Muted until when, by whom and why, with the way back. @param {Mute} mute */
export function muteLine(mute) {
  const values = { at: clock(mute.until), name: person(mute.by), reason: mute.reason, host: mute.host ?? "" };
  return el(
    "p",
    { class: "row-line muted-line" },
    el("span", { class: "grow wrap" }, t(mute.host === null ? "mute.holds" : "mute.holds_host", values)),
    el("button", { type: "button", class: "button small", onclick: () => void unmute(mute) }, t("mute.unmute")),
  );
}

/** @param {Service} service */
export const muteButton = (service) =>
  el(
    "button",
    {
      type: "button",
      class: "button quiet flush",
      "aria-label": t("mute.ask_it", { label: visible(service.label) }),
      onclick: () => askMute(service),
    },
    t("mute.ask"),
  );

/** @param {Mute} mute */
async function unmute(mute) {
  if (!isLive()) return toast(t("freeze.not_connected"), { isProblem: true });
  try {
    await del(`/api/mutes/${encodeURIComponent(mute.id)}`);
  } catch (error) {
    toast(sentence(error), { isProblem: true });
  }
  return undefined;
}

/** Asks what, why and for how long. @param {Service} service */
function askMute(service) {
  const place = service.host ?? service.node;
  const reason = /** @type {HTMLInputElement} */ (
    el("input", { class: "input", maxLength: 200, autocomplete: "off", required: true })
  );
  const whole = /** @type {HTMLInputElement} */ (el("input", { type: "checkbox" }));
  const told = el("div", { "aria-live": "assertive" });
  const spans = el("div", { class: "reasons" });
  /** @param {number} seconds */
  const send = async (seconds) => {
    mount(told);
    if (!isLive()) return mount(told, notice("problem", t("freeze.not_connected")));
    if (!reason.value.trim()) {
      reason.focus();
      return mount(told, notice("problem", t("mute.why")));
    }
    const subject = whole.checked ? { host: place } : { service: service.id };
    draw(true);
    try {
      if (await asOneself(() => post("/api/mutes", { ...subject, for_s: seconds, reason: reason.value.trim() })))
        return dialog.close();
    } catch (error) {
      mount(told, notice("problem", sentence(error)));
    }
    return draw(false);
  };
  /** @param {boolean} isSending */
  const draw = (isSending) =>
    isSending
      ? mount(spans, el("button", { type: "button", class: "button", disabled: true }, t("card.sending")))
      : mount(
          spans,
          SPANS.map(([key, seconds]) =>
            el("button", { type: "button", class: "button", onclick: () => void send(seconds) }, t(key)),
          ),
        );
  draw(false);
  const dialog = sheet(
    t("mute.title", { label: service.label }),
    el("p", {}, t("mute.what")),
    el("label", { class: "field" }, el("span", {}, t("mute.reason")), reason),
    place
      ? el("label", { class: "row-line" }, whole, el("span", { class: "grow wrap" }, t("mute.whole", { host: place })))
      : null,
    told,
    spans,
  );
  reason.focus();
}
