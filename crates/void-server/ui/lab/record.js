// @ts-check
// The last lines of the record about a machine or a guest: what was recorded of it by name, and of the
// requests that were for it.

import { actorWords, entryWords } from "../audit/words.js";
import { get, sentence } from "../lib/api.js";
import { actions, ended, home } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { isRow } from "../lib/items.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { loading } from "../parts/empties.js";
import { runsOf } from "./data.js";

/** @import { ActionResponse, AuditEntry } from "../types/api.js" */

const LINES_SHOWN = 5;
/** A request has three lines or more, so the newest few are enough. */
const REQUESTS_ASKED = 3;

/** Shown anew only when there is news. */
export function lastLines() {
  const title = el("h3", {}, t("lab.record"));
  const node = el("section", { class: "stack tight" });
  let stamp = "";
  /** @param {string | null} name under which it is recorded itself @param {ActionResponse[]} all actions */
  const show = async (name, all) => {
    if ([actions, ended].some((source) => !source.value && !source.error)) return;
    const rows = requestsFor(all);
    const now = JSON.stringify([name, rows.map((row) => [row.id, row.display_state, row.count])]);
    if (now === stamp) return;
    const isFirst = stamp === "";
    stamp = now;
    if (isFirst) mount(node, title, loading());
    let content;
    try {
      const entries = await linesOf([...(name ? [name] : []), ...rows.map((row) => row.id)]);
      content =
        entries.length === 0
          ? el("p", { class: "muted" }, t("lab.no_record"))
          : el("ul", { class: "list" }, entries.map(line));
    } catch (error) {
      content = el("p", { class: "muted" }, sentence(error));
    }
    if (now === stamp) mount(node, title, content);
  };
  return { node, show };
}

/** What waits and what ended lately, the newest first. @param {ActionResponse[]} all actions */
function requestsFor(all) {
  const ids = new Set(all.map((action) => action.id));
  const waiting = (home.value?.inbox.items ?? [])
    .filter(isRow)
    .filter((item) => item.action_id !== null && ids.has(item.action_id));
  return [...new Map([...waiting, ...runsOf(all)].map((row) => [row.id, row])).values()].slice(0, REQUESTS_ASKED);
}

/** @param {string[]} subjects @returns {Promise<AuditEntry[]>} the newest first */
async function linesOf(subjects) {
  const found = await Promise.all(
    subjects.map((subject) => get(`/api/audit?subject=${encodeURIComponent(subject)}&limit=${LINES_SHOWN}`)),
  );
  return found
    .flatMap(({ entries }) => entries)
    .sort((one, other) => other.seq - one.seq)
    .slice(0, LINES_SHOWN);
}

/** @param {AuditEntry} entry */
function line(entry) {
  return el(
    "li",
    {},
    el(
      "a",
      { href: `#/audit/${entry.seq}` },
      el("span", { class: "grow wrap" }, entryWords(entry)),
      el("span", { class: "muted small" }, actorWords(entry)),
      el("span", { class: "muted small" }, time(entry.at)),
    ),
  );
}
