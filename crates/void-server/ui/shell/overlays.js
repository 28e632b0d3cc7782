// @ts-check
// A dialog over the page.

import { goTo, overPage } from "./router.js";

/**
 * Shows a dialog over the page: closed by Escape, a tap beside it, Back, or going elsewhere. Removed then.
 * @param {HTMLDialogElement} dialog
 */
export function showOver(dialog) {
  const closed = overPage(() => dialog.close());
  dialog.addEventListener("close", () => {
    closed();
    dialog.remove();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) return dialog.close();
    const link = /** @type {Element} */ (event.target).closest("a");
    const href = link?.getAttribute("href") ?? "";
    if (!href.startsWith("#") || event.ctrlKey || event.metaKey || event.shiftKey) return undefined;
    // The page that it leads to takes the place of the dialog's own entry.
    event.preventDefault();
    dialog.close();
    return goTo(href);
  });
  document.body.append(dialog);
  dialog.showModal();
}
