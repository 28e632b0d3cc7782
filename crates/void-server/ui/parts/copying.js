// @ts-check
// Copying, also where a page without HTTPS may not use the clipboard.

import { el, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";

const COPIED_MS = 2000;

/**
 * @param {string} text
 * @param {HTMLElement} near what was pressed; inside the same dialog, where there is one
 * @returns {Promise<boolean>} whether it is on the clipboard
 */
export async function copyText(text, near) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // There is none on plain HTTP, or it is refused; the old way still works there.
    return copyBySelection(text, near);
  }
}

/** @param {string} text @param {HTMLElement} near */
function copyBySelection(text, near) {
  const area = /** @type {HTMLTextAreaElement} */ (
    el("textarea", { class: "hidden-text", value: text, readOnly: true, tabIndex: -1, "aria-hidden": "true" })
  );
  near.after(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  near.focus();
  return isCopied;
}

/** @param {string} text @param {string} [what] what is copied, for who cannot see */
export function copyButton(text, what) {
  const button = el(
    "button",
    { type: "button", class: "button small copy", onclick: () => void copy() },
    t("settings.copy"),
  );
  if (what) button.setAttribute("aria-label", t("settings.copy_what", { what }));
  const copy = async () => {
    mount(button, t((await copyText(text, button)) ? "settings.copied" : "settings.not_copied"));
    setTimeout(() => mount(button, t("settings.copy")), COPIED_MS);
  };
  return button;
}

/**
 * Text to paste elsewhere.
 * @param {string} text
 * @param {string} what
 */
export const snippet = (text, what) =>
  el("div", { class: "snippet" }, el("pre", { tabIndex: 0, "aria-label": what }, text), copyButton(text, what));
