// @ts-check
// A day of a service as a band: up is a line, down a full block, unknown a broken line; and the same
// in words below it.

import { el, svg } from "../lib/dom.js";
import { span } from "../lib/time.js";
import { t } from "../lib/words.js";

/** @import { ServiceWithHistoryResponse } from "../types/api.js" */

const DAY_MS = 86_400_000;
const WIDTH = 1440;
const HEIGHT = 24;
/** Narrower than this nobody would see it. */
const WIDTH_MIN = 6;

/**
 * The spans of the last day, oldest first.
 * @param {ServiceWithHistoryResponse} service
 * @returns {{state: string, from: number, to: number}[]}
 */
function daySpans(service) {
  const now = Date.parse(service.at);
  const begin = now - DAY_MS;
  const changes = service.history.filter((change) => Date.parse(change.at) > begin);
  const first = changes[0];
  const since = service.since ? Date.parse(service.since) : now;
  const spans = [];
  let state = first ? first.from : since > begin ? "unknown" : service.status;
  let from = begin;
  for (const change of changes) {
    const at = Math.min(now, Date.parse(change.at));
    if (at > from) spans.push({ state, from, to: at });
    state = change.to;
    from = at;
  }
  // What the server says now wins over the last change: a reading may have grown old since.
  const turned = state === service.status ? now : Math.max(from, Math.min(now, since));
  if (turned > from) spans.push({ state, from, to: turned });
  if (now > turned) spans.push({ state: service.status, from: turned, to: now });
  return spans;
}

/** @param {ServiceWithHistoryResponse} service */
export function dayBand(service) {
  const spans = daySpans(service);
  const begin = Date.parse(service.at) - DAY_MS;
  const at = (/** @type {number} */ moment) => ((moment - begin) / DAY_MS) * WIDTH;
  const shapes = spans.map(({ state, from, to }) => {
    const x = at(from);
    const width = Math.max(WIDTH_MIN, at(to) - x);
    if (state === "down")
      return svg("rect", { x: Math.min(x, WIDTH - width), y: 0, width, height: HEIGHT, class: "down" });
    if (state === "up") return svg("rect", { x, y: 8, width, height: 8, class: "up" });
    return svg("path", { d: `M${x} 12H${x + width}`, class: "unseen" });
  });
  const total = { up: 0, down: 0, unknown: 0 };
  for (const { state, from, to } of spans) total[state === "up" || state === "down" ? state : "unknown"] += to - from;
  const words = /** @type {const} */ (["up", "down", "unknown"])
    .filter((state) => total[state] > 0)
    .map((state) => t(`band.${state}`, { span: span(total[state]) }))
    .join(", ");
  return el(
    "figure",
    { class: "day-band" },
    el(
      "div",
      { class: "drawn" },
      svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" }, ...shapes),
    ),
    el(
      "div",
      { class: "axis muted small", "aria-hidden": "true" },
      el("span", {}, t("band.begin")),
      el("span", {}, t("band.end")),
    ),
    el("figcaption", { class: "small" }, t("band.words", { words })),
  );
}
