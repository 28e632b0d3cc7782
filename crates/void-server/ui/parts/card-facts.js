// @ts-check
// What a card has to read: who wants what and why, what it does and when it is over, every value that a yes binds, and
// the change or the words of its requester, marked as theirs.

import { el, mount } from "../lib/dom.js";
import { requesterName } from "../lib/people.js";
import { exactSpan, time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { differenceNode } from "./differences.js";
import { evidence } from "./evidence.js";
import { heldParts } from "./holds.js";
import { runbookList } from "./runbooks.js";
import { statePill } from "./states.js";
import { readNodes } from "./taints.js";

/** @import { Content } from "../lib/dom.js" */
/** @import { Bound, Card, Change, Row, Run } from "../types/api.js" */

/** What a brief card has room for; whatever has more to read is approved on its whole card. */
const BRIEF_CHARS = 2400;
const BRIEF_DIFF_LINES = 16;
/** A bound value that has room beside another one. */
const SHORT_CHARS = 26;
/** Longer words of a requester begin short, and say so. */
const REASON_CHARS = 420;
const REASON_LINES = 6;

/**
 * Every reason and every diff, the first one first.
 * @param {Row} row
 * @param {"reason" | "diff"} kind
 * @returns {string[]}
 */
const saidOf = (row, kind) =>
  [row[kind], ...row.joined.map((words) => words[kind])].flatMap((text) => (text ? [text] : []));

/**
 * Whether everything that somebody should read before a yes has room on a brief card.
 * @param {Row} row
 * @param {Card} card
 */
export function fitsBrief(row, card) {
  if (row.left_out) return false;
  const diffs = [...(row.change ? [row.change.diff] : []), ...saidOf(row, "diff")];
  const chars = [
    ...card.bound.map((bound) => bound.name + bound.value),
    ...saidOf(row, "reason"),
    ...row.holds.map((hold) => hold.words ?? ""),
    ...diffs,
    ...(row.change?.summary ?? []),
    ...card.read_before,
  ].reduce((sum, text) => sum + text.length, 0);
  return chars <= BRIEF_CHARS && diffs.reduce((sum, diff) => sum + diff.split("\n").length, 0) <= BRIEF_DIFF_LINES;
}

/**
 * @param {Row} row
 * @param {Card | null} card
 * @param {boolean} isBrief
 */
export function cardFacts(row, card, isBrief) {
  const reasons = saidOf(row, "reason");
  const why =
    reasons.length > 0
      ? reasons.map((reason) => quoted(reason, row))
      : [el("p", { class: "muted" }, t("card.no_reason"))];
  if (row.words_left_out > 0)
    why.push(el("p", { class: "muted small" }, t("card.left_out", { n: row.words_left_out })));
  why.push(...heldParts(row));
  if (!card) return why;
  /** @type {[string, Content][]} */
  const list = [effect(row, card)];
  if (["pending", "approved", "running"].includes(row.status)) list.push([t("card.check"), card.checked_by]);
  if (card.read_before.length > 0)
    list.push([
      t("card.read_before"),
      el("span", {}, readNodes(card.read_before), ". ", el("span", { class: "muted" }, t("card.read_before_why"))),
    ]);
  const took = card.runs.find((run) => run.took_ms !== null)?.took_ms ?? null;
  if (took !== null) list.push([t("card.usually"), t("card.took", { span: exactSpan(took) })]);
  if (card.inverse && !isBrief) list.push([t("card.undone_by"), card.inverse.label]);
  if (!isBrief && card.allowed_by.id !== null)
    list.push([
      t("card.allowed_by"),
      el(
        "span",
        {},
        el("code", {}, card.allowed_by.id),
        " ",
        el(
          "span",
          { class: "muted" },
          card.allowed_by.commit
            ? t("card.at_commit", { commit: card.allowed_by.commit.slice(0, 10) })
            : t("card.no_commit"),
        ),
      ),
    ]);
  list.push([
    t("card.asked_by"),
    el(
      "span",
      {},
      requesterName(row.requested_by),
      ", ",
      time(row.created_at),
      row.count > 1 ? ` · ${t("card.asked_times", { n: row.count })}` : "",
      " · ",
      el("code", { title: t("card.code") }, row.code),
    ),
  ]);
  if (row.status === "pending") list.push([t("card.expires"), time(row.expires_at, "until")]);
  if (row.told === "nobody") list.push([t("card.told"), t("card.told_nobody")]);
  const dl = (/** @type {[string, Content][]} */ pairs) =>
    el(
      "dl",
      { class: "facts" },
      pairs.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
    );
  const more = el(
    "details",
    { class: "more" },
    el("summary", {}, t("card.details")),
    dl([
      [t("card.before"), runs(card.runs)],
      [t("card.link"), el("a", { href: `/inbox/${row.id}` }, t("card.link_alone"))],
    ]),
  );
  // Without an Approve there is nothing here that a yes would bind: that is on the whole card.
  if (isBrief && row.status === "pending" && !fitsBrief(row, card))
    return [why[0], evidence(card.evidence, isBrief), dl(list)];
  return [
    ...why,
    evidence(card.evidence, isBrief),
    runbookList(card.runbooks),
    dl(list),
    row.change ? changes(row, row.change, card) : null,
    bound(row, card.bound),
    ...saidOf(row, "diff").map((diff) => diffFigure(diff, row)),
    isBrief ? null : more,
  ];
}

/**
 * What a yes does; once it is over, what it did or did not do.
 * @param {Row} row
 * @param {Card} card
 * @returns {[string, Content]}
 */
function effect({ status }, card) {
  if (["pending", "approved", "running"].includes(status))
    return [t("card.if_yes"), t("card.it", { consequence: card.consequence })];
  const key =
    status === "executed"
      ? "has"
      : status === "failed"
        ? "should_have"
        : status === "unknown"
          ? "may_have"
          : "would_have";
  return [t("card.was"), t(`card.${key}`, { past: card.past })];
}

/** @param {Row} row */
const wordsOf = ({ requested_by: who }) =>
  who.kind === "owner" ? t("card.words_of_you") : t("card.words_of", { name: requesterName(who) });

/** Words of the requester, marked; long ones begin short and open. @param {string} reason @param {Row} row */
function quoted(reason, row) {
  const words = el("p", {}, reason);
  const isLong = reason.length > REASON_CHARS || reason.split("\n").length > REASON_LINES;
  const more = el(
    "button",
    {
      type: "button",
      class: "link-button",
      "aria-expanded": "false",
      onclick: () => {
        const isCut = words.classList.toggle("cut");
        more.setAttribute("aria-expanded", String(!isCut));
        mount(more, t(isCut ? "card.reason_all" : "card.reason_less", { n: reason.length }));
      },
    },
    t("card.reason_all", { n: reason.length }),
  );
  words.classList.toggle("cut", isLong);
  return el(
    "blockquote",
    { class: "why" },
    words,
    isLong ? more : null,
    el("footer", { class: "muted small" }, wordsOf(row)),
  );
}

/**
 * Every value that a yes binds, or bound, whole and outside any fold: Void's own statement.
 * @param {Row} row
 * @param {Bound[]} all
 */
function bound({ status }, all) {
  const title = t(
    status === "pending"
      ? "card.binds"
      : ["rejected", "expired", "cancelled", "refused"].includes(status)
        ? "card.would_bind"
        : "card.bound",
  );
  return el(
    "div",
    { class: "bound", role: "group", "aria-label": title },
    el("p", { class: "muted small" }, title),
    el(
      "dl",
      {},
      all.map(({ name, value, is_param: isChosen }) =>
        el(
          "div",
          { class: isChosen || name.length + value.length > SHORT_CHARS ? "whole" : "" },
          el("dt", { class: isChosen ? "chosen" : "" }, name),
          el("dd", { class: isChosen ? "chosen" : "" }, el("code", { class: "wrap" }, value)),
        ),
      ),
    ),
  );
}

/**
 * What a change means and all of it: Void's own statement.
 * @param {Row} row
 * @param {Change} change
 * @param {Card} card
 */
function changes(row, { target, op, summary, diff }, card) {
  const byLines = () => diffLines(diff);
  return el(
    "figure",
    { class: "changes" },
    el("figcaption", { class: "muted small" }, t("card.changes")),
    el(
      "ul",
      {},
      summary.map((line) => el("li", {}, line)),
    ),
    card.difference ? differenceNode(card.difference, byLines) : byLines(),
    // What hides would hide in a field too.
    row.status === "pending" &&
      target === "knowledge" &&
      op !== "delete" &&
      !card.moved &&
      !card.difference?.hidden.length
      ? el("p", {}, el("a", { href: `#/knowledge/drafts/${row.id}` }, t("card.edit_draft")))
      : null,
  );
}

/** A change as the requester tells it, marked as its words. @param {string} diff @param {Row} row */
function diffFigure(diff, row) {
  return el("figure", { class: "foreign" }, el("figcaption", { class: "muted small" }, wordsOf(row)), diffLines(diff));
}

/** @param {string} diff */
export const diffLines = (diff) =>
  el(
    "pre",
    { class: "diff", tabIndex: 0, role: "group", "aria-label": t("card.diff") },
    diff.split("\n").map(diffLine),
  );

/** A line of a change: by its sign, by colour, and by a word for whoever sees neither. @param {string} line */
function diffLine(line) {
  const isMark = /^(\+\+\+|---)( |$)/.test(line);
  const kind = isMark ? "" : line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "";
  return el(
    "span",
    { class: `diff-line ${kind}` },
    kind ? el("span", { class: "hidden-text" }, t(`card.diff_${kind}`), " ") : null,
    line,
    "\n",
  );
}

/** @param {Run[]} all */
function runs(all) {
  if (all.length === 0) return t("card.never_ran");
  const good = all.filter((run) => run.verification === "verified").length;
  return el(
    "div",
    { class: "stack tight" },
    el("p", {}, t("card.of_runs", { good, n: all.length })),
    el(
      "ul",
      { class: "plain" },
      all
        .slice(0, 5)
        .map((run) =>
          el(
            "li",
            { class: "row-line" },
            statePill(run),
            el("a", { href: `#/inbox/${run.id}` }, run.code),
            time(run.started_at),
          ),
        ),
    ),
  );
}
