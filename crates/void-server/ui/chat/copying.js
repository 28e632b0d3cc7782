// @ts-check
// Copying, also where a page without HTTPS may not use the clipboard.

import { el } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { toast } from "../parts/toasts.js";

const SAID_MS = 2000;

/**
 * @param {string} text
 * @param {HTMLElement} button says for a moment that it is done
 */
export async function copyFromChat(text, button) {
  if (!(await put(text, button))) {
    toast(t("chat.copy_failed"), { isProblem: true });
    return;
  }
  const before = [...button.childNodes];
  if (button.dataset.said) return;
  button.dataset.said = "yes";
  button.replaceChildren(t("chat.copied"));
  setTimeout(() => {
    delete button.dataset.said;
    button.replaceChildren(...before);
  }, SAID_MS);
}

/** @param {string} text @param {HTMLElement} near */
async function put(text, near) {
  try {
    if (!navigator.clipboard) return putByHand(text, near);
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return putByHand(text, near);
  }
}

/** @param {string} text @param {HTMLElement} near */
function putByHand(text, near) {
  const area = /** @type {HTMLTextAreaElement} */ (el("textarea", { class: "hidden-text", readOnly: true, "aria-hidden": "true" }));
  area.value = text;
  near.after(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  near.focus();
  return isDone;
}
