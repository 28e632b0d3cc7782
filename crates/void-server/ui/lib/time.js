// @ts-check
// Times: relative in text, absolute where one looks closer, and always counting.

import { el } from "./dom.js";
import { t } from "./words.js";

const STEPS = /** @type {const} */ ([[60, "s"], [60, "min"], [24, "h"], [Infinity, "d"]]);

/** @param {number} ms */
export function span(ms) {
  let value = Math.max(0, Math.round(ms / 1000));
  for (const [size, unit] of STEPS) {
    if (value < size) return `${value} ${unit}`;
    value = Math.floor(value / size);
  }
  return "";
}

/** @param {string} at */
export const ago = (at) => t("time.ago", { span: span(Date.now() - Date.parse(at)) });

/**
 * How to write a moment, made when first wanted: the first of all costs a browser tens of milliseconds.
 * @param {Intl.DateTimeFormatOptions} how
 * @returns {(at: string) => string}
 */
function written(how) {
  /** @type {Intl.DateTimeFormat | undefined} */
  let format;
  return (at) => Number.isNaN(Date.parse(at)) ? String(at) : (format ??= new Intl.DateTimeFormat([], how)).format(new Date(at));
}

export const clock = written({ hour: "2-digit", minute: "2-digit", hour12: false });
const whole = written({ dateStyle: "medium", timeStyle: "medium", hour12: false });
export const day = written({ weekday: "long", day: "numeric", month: "long", year: "numeric" });

/**
 * A time that keeps counting. `until` counts down.
 * @param {string | null | undefined} at
 * @param {"ago" | "until" | "clock"} [form]
 */
export function time(at, form = "ago") {
  if (!at) return el("span", { class: "muted" }, "–");
  const node = el("time", { dateTime: at, "data-form": form });
  node.textContent = words(at, form);
  return node;
}

/** @param {string} at @param {string} form */
function words(at, form) {
  if (form === "clock") return clock(at);
  if (form === "until") {
    const left = Date.parse(at) - Date.now();
    return left > 0 ? t("time.in", { span: span(left) }) : t("time.now");
  }
  return ago(at);
}

/** Counts every time on the page on, and writes the whole of one that is pointed at. */
export function keepCounting() {
  document.addEventListener("pointerover", ({ target }) => {
    const node = /** @type {HTMLTimeElement | null} */ (target instanceof Element ? target.closest("time[data-form]") : null);
    if (node) node.title = whole(node.dateTime);
  });
  setInterval(() => {
    for (const node of document.querySelectorAll("time[data-form]")) {
      const { dateTime, dataset } = /** @type {HTMLTimeElement} */ (node);
      const next = words(dateTime, dataset.form ?? "ago");
      if (node.textContent !== next) node.textContent = next;
    }
  }, 1000);
}
