// @ts-check
// What waits in the Inbox is of several kinds: requests with a row, machines that ask to join, questions.

/** @import { Item } from "../inbox/filter.js" */

/**
 * Whether it is a request with a row.
 * @template {{kind?: string}} T
 * @param {T} item
 * @returns {item is Exclude<T, {kind: "join" | "question"}>}
 */
export const isRow = (item) => item.kind !== "join" && item.kind !== "question";

/** What it is known by in a list. @param {Item | {kind: "turn", id: string}} item */
export const keyOf = (item) =>
  item.kind === "join" ? `join-${item.name}` : item.kind === "question" ? `question-${item.id}` : item.id;
