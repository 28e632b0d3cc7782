// @ts-check
// What was refused again and again is one line that says how often; the record has each.

/** @import { Row } from "../types/api.js" */
/** @typedef {Row & {times?: number}} RepeatedRow */

/**
 * Whether two rows say the same: asked for by the same one, and refused for the same reason.
 * @param {Row} one
 * @param {Row} other
 */
const isSame = (one, other) =>
  one.status === "refused" &&
  other.status === "refused" &&
  one.action_id === other.action_id &&
  one.label === other.label &&
  one.requested_by?.name === other.requested_by?.name &&
  one.error?.code === other.error?.code;

/**
 * Of neighbours that say the same the first, with how many `times` they are.
 * @param {Row[]} rows
 * @returns {RepeatedRow[]}
 */
export function grouped(rows) {
  /** @type {RepeatedRow[]} */
  const all = [];
  for (const row of rows) {
    const last = all.at(-1);
    if (last && isSame(last, row)) all.splice(-1, 1, { ...last, times: (last.times ?? 1) + 1 });
    else all.push(row);
  }
  return all;
}
