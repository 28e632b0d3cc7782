// @ts-check
// The line in which one keeps something: an address of the web, a task, the beginning of a page.

import { post, sentence } from "../lib/api.js";
import { el, mount, visible } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { t } from "../lib/words.js";
import { notice } from "../parts/empties.js";
import { toast } from "../parts/toasts.js";
import { goTo } from "../shell/router.js";
import { hrefOf } from "./data.js";

const WEB = /^https?:\/\/\S+$/i;
const KINDS = /** @type {const} */ (["task", "page", "ref"]);

/** Whose address it is; all of it where it is none. @param {string} url */
export function hostOf(url) {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

/**
 * Keeps a page of the web. The server reads it; that may take a while.
 * @param {string} space
 * @param {string} url
 */
async function keep(space, url) {
  const kept = await post(`/api/spaces/${space}/refs`, { url });
  toast(t("kb.ref_kept", { title: visible(kept.title) }), { href: hrefOf("ref", kept.id), label: t("kb.look") });
}

/** An address, and nothing else. @param {string} space */
export function captureLine(space) {
  return line(space, ["ref"]);
}

/** Whatever comes to mind: what it becomes is chosen, and an address is seen by itself. @param {string} space */
export function captureBox(space) {
  return line(space, [...KINDS]);
}

/** @param {string} space @param {(typeof KINDS[number])[]} kinds */
function line(space, kinds) {
  let kind = kinds[0] ?? "ref";
  let isChosen = false;
  const input = /** @type {HTMLInputElement} */ (
    el("input", {
      class: "input",
      autocomplete: "off",
      maxLength: 2048,
      oninput: () => {
        if (!isChosen || WEB.test(input.value.trim()))
          become(WEB.test(input.value.trim()) ? "ref" : (kinds[0] ?? "ref"));
      },
    })
  );
  const go = /** @type {HTMLButtonElement} */ (el("button", { class: "button primary" }));
  const told = el("div", { class: "told", "aria-live": "polite" });
  const choices = kinds.map((one) =>
    el(
      "button",
      {
        type: "button",
        "data-kind": one,
        onclick: () => {
          isChosen = true;
          become(one);
          input.focus();
        },
      },
      t(`kb.kind.${one}`),
    ),
  );
  /** @param {typeof KINDS[number]} next */
  const become = (next) => {
    kind = next;
    for (const choice of choices) choice.setAttribute("aria-pressed", String(choice.dataset.kind === kind));
    const words = t(`kb.capture.${kinds.length > 1 ? "any" : "ref"}`);
    input.placeholder = words;
    input.setAttribute("aria-label", words);
    if (!go.disabled) mount(go, t(`kb.keep.${kind}`));
  };
  const send = async () => {
    const words = input.value.trim();
    if (!words) return input.focus();
    if (kind === "page") return goTo(`#/knowledge/new/page?space=${space}&title=${encodeURIComponent(words)}`);
    if (!isLive()) return void mount(told, notice("problem", t("kb.not_connected")));
    if (kind === "ref" && !WEB.test(words)) return void mount(told, notice("caution", t("kb.no_address")));
    mount(told);
    go.disabled = true;
    mount(go, t(kind === "ref" ? "kb.reading" : "card.sending"));
    try {
      if (kind === "ref") await keep(space, words);
      else {
        const made = await post(`/api/spaces/${space}/tasks`, { title: words });
        toast(t("kb.task_made", { title: visible(made.title) }), {
          href: hrefOf("task", made.id),
          label: t("kb.look"),
        });
      }
      input.value = "";
      isChosen = false;
    } catch (error) {
      mount(told, notice("problem", sentence(error)));
    }
    go.disabled = false;
    become(kinds[0] ?? "ref");
    input.focus();
    return undefined;
  };
  become(kind);
  return el(
    "form",
    {
      class: "kb-capture",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        void send();
      },
    },
    el(
      "div",
      { class: "kb-line" },
      input,
      kinds.length > 1
        ? el("div", { class: "segmented", role: "group", "aria-label": t("kb.capture.as") }, choices)
        : null,
      go,
    ),
    told,
  );
}
