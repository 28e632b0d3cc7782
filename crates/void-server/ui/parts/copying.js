// @ts-check
// Copying, also where a page without HTTPS may not use the clipboard.

import { el } from "../lib/dom.js";

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
  const area = /** @type {HTMLTextAreaElement} */ (el("textarea", { class: "hidden-text", value: text, readOnly: true, tabIndex: -1, "aria-hidden": "true" }));
  near.after(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  near.focus();
  return isCopied;
}
