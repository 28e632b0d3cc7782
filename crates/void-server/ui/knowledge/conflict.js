// @ts-check
// Two texts of one page: what is there now, and what was written here meanwhile. Nothing is stored until the owner
// says which.

import { el } from "../lib/dom.js";
import { person } from "../lib/people.js";
import { clock } from "../lib/time.js";
import { t } from "../lib/words.js";

/** Longer texts are shown without marks: comparing them would hold the page up. */
const LINES_MAX = 3000;

/**
 * Which lines are in both, in order.
 * @param {string[]} one
 * @param {string[]} other
 * @returns {[Set<number>, Set<number>]} where they are in each
 */
export function sharedLines(one, other) {
  /** @type {[Set<number>, Set<number>]} */
  const shared = [new Set(), new Set()];
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) {
    shared[0].add(start);
    shared[1].add(start);
    start += 1;
  }
  let ends = [one.length, other.length];
  while ((ends[0] ?? 0) > start && (ends[1] ?? 0) > start && one[(ends[0] ?? 0) - 1] === other[(ends[1] ?? 0) - 1]) {
    ends = [(ends[0] ?? 0) - 1, (ends[1] ?? 0) - 1];
    shared[0].add(ends[0] ?? 0);
    shared[1].add(ends[1] ?? 0);
  }
  const [mine, theirs] = [one.slice(start, ends[0]), other.slice(start, ends[1])];
  if (mine.length * theirs.length > LINES_MAX * LINES_MAX) return shared;
  // The longest common part of what is between, from the end.
  const width = theirs.length + 1;
  const longest = new Uint16Array((mine.length + 1) * width);
  for (let at = mine.length - 1; at >= 0; at -= 1)
    for (let to = theirs.length - 1; to >= 0; to -= 1)
      longest[at * width + to] =
        mine[at] === theirs[to]
          ? (longest[(at + 1) * width + to + 1] ?? 0) + 1
          : Math.max(longest[(at + 1) * width + to] ?? 0, longest[at * width + to + 1] ?? 0);
  for (let at = 0, to = 0; at < mine.length && to < theirs.length;) {
    if (mine[at] === theirs[to]) {
      shared[0].add(start + at);
      shared[1].add(start + to);
      at += 1;
      to += 1;
    } else if ((longest[(at + 1) * width + to] ?? 0) >= (longest[at * width + to + 1] ?? 0)) at += 1;
    else to += 1;
  }
  return shared;
}

/**
 * @param {{title: string, body: string, revision: number, updated_by: string, updated_at: string}} there
 * @param {{title: string, body: string}} mine
 * @param {{takeTheirs: () => void, saveMine: () => HTMLElement}} ways
 */
export function conflictView(there, mine, { takeTheirs, saveMine }) {
  const texts = [there, mine].map(({ title, body }) => [title, ...body.split("\n")]);
  const [theirLines = [], myLines = []] = texts;
  const [inTheirs, inMine] = sharedLines(theirLines, myLines);
  return el(
    "section",
    { class: "kb-conflict stack", role: "group", "aria-label": t("kb.conflict"), tabIndex: -1 },
    el("h3", {}, t("kb.conflict")),
    el(
      "p",
      {},
      t("kb.conflict_why", { name: person(there.updated_by), at: clock(there.updated_at), n: there.revision }),
    ),
    el(
      "div",
      { class: "kb-sides" },
      side(t("kb.theirs", { n: there.revision }), theirLines, inTheirs, "removed"),
      side(t("kb.mine"), myLines, inMine, "added"),
    ),
    el(
      "div",
      { class: "row-line" },
      el("button", { type: "button", class: "button", onclick: takeTheirs }, t("kb.take_theirs")),
      saveMine(),
    ),
    el("p", { class: "muted small" }, t("kb.conflict_note")),
  );
}

/** @param {string} title @param {string[]} lines @param {Set<number>} shared @param {"added" | "removed"} kind */
const side = (title, lines, shared, kind) =>
  el(
    "div",
    { class: "kb-side" },
    el("h4", {}, title),
    el(
      "pre",
      { class: "diff", tabIndex: 0, role: "group", "aria-label": title },
      lines.map((line, at) =>
        el(
          "span",
          { class: `diff-line ${shared.has(at) ? "" : kind}` },
          shared.has(at) ? null : el("span", { class: "hidden-text" }, t(`kb.only_${kind}`), " "),
          line,
          "\n",
        ),
      ),
    ),
  );
