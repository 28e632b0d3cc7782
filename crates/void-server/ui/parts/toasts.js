// @ts-check
// Short words about something that just happened. They wait while somebody is at them.

import { el, find } from "../lib/dom.js";
import { t } from "../lib/words.js";

const STAYS_MS = 8000;

/**
 * @param {string} text
 * @param {{href?: string, label?: string, isProblem?: boolean}} [more] a way on
 */
export function toast(text, more = {}) {
  const shelf = shelfNow();
  if (!shelf) return;
  const { href, label, isProblem } = more;
  const close = () => node.remove();
  const way = href && label ? el("a", { href, class: "button quiet", onclick: close }, label) : null;
  const node = el("div", { class: "toast", role: isProblem ? "alert" : "status", tabIndex: -1 },
    el("span", { class: "grow" }, text), way,
    el("button", { type: "button", class: "button quiet", "aria-label": t("toast.close"), onclick: close }, "×"));
  let timer = setTimeout(close, STAYS_MS);
  const pause = () => clearTimeout(timer);
  const go = () => { pause(); timer = setTimeout(close, STAYS_MS); };
  for (const name of ["pointerenter", "focusin"]) node.addEventListener(name, pause);
  for (const name of ["pointerleave", "focusout"]) node.addEventListener(name, go);
  shelf.append(node);
}

/** Beside a dialog nothing can be reached, so words for whoever is in one are shown in it; they outlive it. */
function shelfNow() {
  const page = find("#toasts");
  const dialog = [...document.querySelectorAll("dialog[open]")].at(-1);
  if (!dialog || !page) return page;
  const known = find(".toasts", dialog);
  if (known) return known;
  const made = el("div", { class: "toasts" });
  dialog.append(made);
  dialog.addEventListener("close", () => {
    page.append(...made.children);
    made.remove();
  }, { once: true });
  return made;
}
