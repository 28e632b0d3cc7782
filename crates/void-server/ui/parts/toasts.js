// @ts-check
// Short words about something that just happened. They wait while somebody is at them.

import { el, find } from "../lib/dom.js";
import { t } from "../lib/words.js";

const STAYS_MS = 8000;

/**
 * @param {string} text
 * @param {{href?: string, label?: string, onclick?: () => void, isProblem?: boolean, takesFocus?: boolean}} [more] a
 *   way on
 * @returns {() => void} takes it away
 */
export function toast(text, more = {}) {
  const shelf = shelfNow();
  if (!shelf) return () => {};
  const { href, label, onclick, isProblem, takesFocus } = more;
  const close = () => {
    const hadFocus = node.contains(document.activeElement);
    node.remove();
    if (hadFocus) find("#main")?.focus({ preventScroll: true });
  };
  const way = href && label ? el("a", { href, class: "button quiet", onclick: close }, label) : null;
  const act =
    onclick && label
      ? el(
          "button",
          {
            type: "button",
            class: "button quiet",
            onclick: () => {
              close();
              onclick();
            },
          },
          label,
        )
      : null;
  // Said twice it is one note.
  const plain = label ? null : text;
  for (const old of [...shelf.children]) if (plain !== null && old.getAttribute("data-plain") === plain) old.remove();
  const node = el(
    "div",
    { class: "toast", role: isProblem ? "alert" : "status", tabIndex: -1, "data-plain": plain },
    el("span", { class: "grow" }, text),
    way,
    act,
    el("button", { type: "button", class: "button quiet", "aria-label": t("toast.close"), onclick: close }, "×"),
  );
  /** What holds it. @type {Set<string>} */
  const held = new Set();
  let timer = setTimeout(close, STAYS_MS);
  /** @param {string} by @param {boolean} isHeld */
  const hold = (by, isHeld) => {
    if (isHeld) held.add(by);
    else held.delete(by);
    clearTimeout(timer);
    if (held.size === 0) timer = setTimeout(close, STAYS_MS);
  };
  for (const [name, by, isHeld] of /** @type {const} */ ([
    ["pointerenter", "pointer", true],
    ["pointerleave", "pointer", false],
    ["focusin", "focus", true],
    ["focusout", "focus", false],
  ])) {
    node.addEventListener(name, () => hold(by, isHeld));
  }
  shelf.append(node);
  if (takesFocus) node.focus();
  return close;
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
  dialog.addEventListener(
    "close",
    () => {
      page.append(...made.children);
      made.remove();
    },
    { once: true },
  );
  return made;
}
