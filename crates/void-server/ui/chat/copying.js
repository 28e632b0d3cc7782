// @ts-check
// Copying out of the chat: the button says for a moment that it is done.

import { t } from "../lib/words.js";
import { copyText } from "../parts/copying.js";
import { toast } from "../parts/toasts.js";

const SAID_MS = 2000;

/**
 * @param {string} text
 * @param {HTMLElement} button says for a moment that it is done
 */
export async function copyFromChat(text, button) {
  if (!(await copyText(text, button))) {
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
