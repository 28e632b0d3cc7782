// @ts-check
// A sheet over the page: from the side on a desk, from below on a phone. Closed by button, Escape or
// the back gesture.

import { el, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { showOver } from "../shell/overlays.js";

/** @import { Content } from "../lib/dom.js" */

/**
 * @param {string} title
 * @param {...Content} children
 * @returns {HTMLDialogElement} already open; removed when it closes
 */
export function sheet(title, ...children) {
  const id = `sheet-${Math.random().toString(36).slice(2)}`;
  const dialog = /** @type {HTMLDialogElement} */ (el("dialog", { class: "sheet", "aria-labelledby": id }));
  mount(
    dialog,
    el(
      "div",
      { class: "inside" },
      el(
        "div",
        { class: "row-line" },
        el("h2", { id, class: "grow" }, title),
        el(
          "button",
          { type: "button", class: "icon-button", "aria-label": t("sheet.close"), onclick: () => dialog.close() },
          "×",
        ),
      ),
      ...children,
    ),
  );
  showOver(dialog);
  return dialog;
}
