// @ts-check
// Short words about something that just happened. They wait while somebody is at them.

import { el, find } from "../lib/dom.js";
import { t } from "../lib/words.js";

const STAYS_MS = 8000;

/**
 * @param {string} text
 * @param {{href?: string, label?: string, onclick?: () => void, isProblem?: boolean}} [more] a way on
 */
export function toast(text, more = {}) {
  const shelf = find("#toasts");
  if (!shelf) return;
  const { href, label, onclick, isProblem } = more;
  const close = () => node.remove();
  const way = href && label ? el("a", { href, class: "button quiet", onclick: close }, label) : null;
  const act = onclick && label ? el("button", { type: "button", class: "button quiet", onclick: () => { close(); onclick(); } }, label) : null;
  const node = el("div", { class: "toast", role: isProblem ? "alert" : "status", tabIndex: -1 },
    el("span", { class: "grow" }, text), way, act,
    el("button", { type: "button", class: "button quiet", "aria-label": t("toast.close"), onclick: close }, "×"));
  let timer = setTimeout(close, STAYS_MS);
  const pause = () => clearTimeout(timer);
  const go = () => { pause(); timer = setTimeout(close, STAYS_MS); };
  for (const name of ["pointerenter", "focusin"]) node.addEventListener(name, pause);
  for (const name of ["pointerleave", "focusout"]) node.addEventListener(name, go);
  shelf.append(node);
}
