// @ts-check
// Facts as pairs of a word and a value. What is not known is left out.

import { el } from "../lib/dom.js";

/** @import { Content } from "../lib/dom.js" */

/** An id longer than this gets a line of its own on a phone. */
const LONG_CHARS = 20;

/** @param {Array<[string, Content] | null | false>} rows */
export function factList(rows) {
  const known = /** @type {[string, Content][]} */ (
    rows.filter((row) => row && row[1] !== null && row[1] !== undefined)
  );
  return el(
    "dl",
    { class: "facts" },
    known.map(([word, value]) => {
      const isLong =
        value instanceof HTMLElement &&
        (value.textContent ?? "").length > LONG_CHARS &&
        value.matches(":is(code, span:has(code))");
      return [el("dt", { class: isLong ? "long" : null }, word), el("dd", { class: isLong ? "long" : null }, value)];
    }),
  );
}
