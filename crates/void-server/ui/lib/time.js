// @ts-check
// Times: relative in text, absolute where one looks closer, and always counting.

import { el } from "./dom.js";
import { t } from "./words.js";

/** By how much the server's clock is ahead of this one; times come from there. */
let aheadMs = 0;
/** An answer's way takes less than this. */
const JITTER_MS = 2000;
const HOUR_MS = 3_600_000;

/** @param {string} at what the server's clock showed just now */
export function noteServerTime(at) {
  const ahead = Date.parse(at) - Date.now();
  if (Math.abs(ahead - aheadMs) > JITTER_MS) aheadMs = Math.abs(ahead) > JITTER_MS ? ahead : 0;
}

/** Now, by the server's clock. */
export const serverNow = () => Date.now() + aheadMs;

const STEPS = /** @type {const} */ ([
  [60, "s"],
  [60, "min"],
  [24, "h"],
  [Infinity, "d"],
]);

/** @param {number} ms */
export function span(ms) {
  let value = Math.max(0, Math.round(ms / 1000));
  for (const [size, unit] of STEPS) {
    if (value < size) return `${value} ${unit}`;
    value = Math.floor(value / size);
  }
  return "";
}

/** With tenths where they matter. @param {number} ms */
export const exactSpan = (ms) => (ms < 9950 ? `${(Math.max(0, ms) / 1000).toFixed(1)} s` : span(ms));

/** @param {string} at */
export const ago = (at) => t("time.ago", { span: span(serverNow() - Date.parse(at)) });

/**
 * How to write a moment, made when first wanted: the first of all costs a browser tens of milliseconds.
 * @param {Intl.DateTimeFormatOptions} how
 * @returns {(at: string) => string}
 */
function written(how) {
  /** @type {Intl.DateTimeFormat | undefined} */
  let format;
  return (at) =>
    Number.isNaN(Date.parse(at)) ? String(at) : (format ??= new Intl.DateTimeFormat([], how)).format(new Date(at));
}

const hourOf = written({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const secondOf = written({ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const dayOf = written({ day: "numeric", month: "short" });
const whole = written({ dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });
export const day = written({ weekday: "long", day: "numeric", month: "long", year: "numeric" });

/**
 * The time of day, with the day unless it is today or said beside it.
 * @param {string} at
 * @param {{isDayKnown?: boolean, hasSeconds?: boolean}} [how]
 */
export function clock(at, { isDayKnown = false, hasSeconds = false } = {}) {
  const isToday = new Date(at).toDateString() === new Date(serverNow()).toDateString();
  const hour = (hasSeconds ? secondOf : hourOf)(at);
  return isDayKnown || isToday ? hour : `${dayOf(at)}, ${hour}`;
}

/** Moments in a sentence of the server's. */
export const MOMENTS = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/g;

/** A sentence of the server's, with its times as people here say them. @param {string} text */
export const withTimes = (text) => text.replace(MOMENTS, (at) => clock(at));

/** When something ends, as the terminal says it: how far away it is, and from an hour on when. @param {string} at */
function ends(at) {
  const left = Date.parse(at) - serverNow();
  if (left < HOUR_MS) return left > 0 ? t("time.in", { span: span(left) }) : t("time.now");
  const tomorrow = new Date(serverNow());
  tomorrow.setDate(tomorrow.getDate() + 1);
  return new Date(at).toDateString() === tomorrow.toDateString() ? t("time.tomorrow", { at: hourOf(at) }) : clock(at);
}

/**
 * A time that keeps counting. `until` is for what ends.
 * @param {string | null | undefined} at
 * @param {"ago" | "until" | "clock"} [form]
 */
export function time(at, form = "ago") {
  if (!at) return el("span", { class: "muted" }, "–");
  const node = el("time", { dateTime: at, "data-form": form });
  node.textContent = words(at, form);
  return node;
}

/**
 * Lets a time count from another moment.
 * @param {HTMLTimeElement} node of `time`
 * @param {string} at
 */
export function setTime(node, at) {
  node.dateTime = at;
  count(node);
}

/** @param {HTMLTimeElement} node */
function count(node) {
  const next = words(node.dateTime, node.dataset.form ?? "ago");
  if (node.textContent !== next) node.textContent = next;
}

/** @param {string} at @param {string} form */
function words(at, form) {
  if (form === "clock") return clock(at);
  return form === "until" ? ends(at) : ago(at);
}

/** Counts every time on the page on, and writes the whole of one that is pointed at. */
export function keepCounting() {
  document.addEventListener("pointerover", ({ target }) => {
    const node = /** @type {HTMLTimeElement | null} */ (
      target instanceof Element ? target.closest("time[data-form]") : null
    );
    if (node) node.title = whole(node.dateTime);
  });
  const countAll = () => {
    for (const node of document.querySelectorAll("time[data-form]")) count(/** @type {HTMLTimeElement} */ (node));
  };
  setInterval(countAll, 1000);
  // A page that nobody looks at counts once a minute or not at all.
  document.addEventListener("visibilitychange", countAll);
}
