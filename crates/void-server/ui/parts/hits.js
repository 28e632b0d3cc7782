// @ts-check
// What a search found: where it leads, and its words with those that were looked for marked.

import { el } from "../lib/dom.js";

/** @import { SearchHit, SearchSpan } from "../types/api.js" */

/** @type {Record<string, string>} */
const PLACES = {
  space: "#/knowledge/spaces/",
  project: "#/knowledge/projects/",
  page: "#/knowledge/pages/",
  task: "#/knowledge/tasks/",
  ref: "#/knowledge/refs/",
  service: "#/lab/services/",
  action: "#/lab/actions/",
  proposal: "#/inbox/",
};

/** @param {Pick<SearchHit, "kind" | "id">} hit */
export const hitHref = ({ kind, id }) => (kind in PLACES ? `${PLACES[kind]}${encodeURIComponent(id)}` : "#/chat");

/** A word that is still being typed is the beginning of one. @param {string} words */
export const whileTyping = (words) =>
  /(?:^|\s)[\p{L}\p{N}]+$/u.test(words) && !/"[^"]*$/.test(words) ? `${words}*` : words;

/** @param {SearchSpan[]} spans */
export const hitWords = (spans) => spans.map(({ text, hit }) => (hit ? el("mark", {}, text) : text));
