// @ts-check
// Times: relative in text, absolute where one looks closer, and always counting.

import { el } from "./dom.js";
import { t } from "./words.js";

/** By how much the server's clock is ahead of this one; times come from there. */
let aheadMs = 0;
/** An answer's way takes less than this. */
const JITTER_MS = 2000;

/** @param {string} at what the server's clock showed just now */
export function noteServerTime(at) {
  const ahead = Date.parse(at) - Date.now();
  if (Math.abs(ahead - aheadMs) > JITTER_MS) aheadMs = Math.abs(ahead) > JITTER_MS ? ahead : 0;
}

/** Now, by the server's clock. */
export const serverNow = () => Date.now() + aheadMs;

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
export const ago = (at) => t("time.ago", { span: span(serverNow() - Date.parse(at)) });

const hourFormat = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const dayFormat = new Intl.DateTimeFormat([], { day: "numeric", month: "short" });
const wholeFormat = new Intl.DateTimeFormat([], { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });

/** The time of day, with the day unless it is today or said beside it. @param {string} at @param {{isDayKnown?: boolean}} [how] */
export function clock(at, { isDayKnown = false } = {}) {
  const then = new Date(at);
  const hour = hourFormat.format(then);
  return isDayKnown || then.toDateString() === new Date(serverNow()).toDateString() ? hour : `${dayFormat.format(then)}, ${hour}`;
}

/** @param {string} at */
const whole = (at) => wholeFormat.format(new Date(at));

/** @param {string} at */
export const day = (at) => new Date(at).toLocaleDateString([], { weekday: "long", day: "numeric", month: "long", year: "numeric" });

/**
 * A time that keeps counting. `until` counts down.
 * @param {string | null | undefined} at
 * @param {"ago" | "until" | "clock"} [form]
 */
export function time(at, form = "ago") {
  if (!at) return el("span", { class: "muted" }, "–");
  const node = el("time", { dateTime: at, title: whole(at), "data-form": form });
  node.textContent = words(at, form);
  return node;
}

/** @param {string} at @param {string} form */
function words(at, form) {
  if (form === "clock") return clock(at);
  if (form === "until") {
    const left = Date.parse(at) - serverNow();
    return left > 0 ? t("time.in", { span: span(left) }) : t("time.now");
  }
  return ago(at);
}

/** Counts every time on the page on. */
export function keepCounting() {
  setInterval(() => {
    for (const node of document.querySelectorAll("time[data-form]")) {
      const { dateTime, dataset } = /** @type {HTMLTimeElement} */ (node);
      const next = words(dateTime, dataset.form ?? "ago");
      if (node.textContent !== next) node.textContent = next;
    }
  }, 1000);
}
