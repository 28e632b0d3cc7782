// @ts-check
// The approval card: what, why, what happens on yes, allowed by, asked by, until when, and two steps to
// a yes. Nothing is shown as decided that the server has not stored.

import { ApiError, del, get, post, sentence } from "../lib/api.js";
import { home } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { isLive, isOfProposal, onConnection, onEvent } from "../lib/live.js";
import { person, requesterName } from "../lib/people.js";
import { clock, exactSpan, time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { askingAgain, runsAtOnce } from "./again.js";
import { notice } from "./empties.js";
import { differenceNode, movedNote } from "./differences.js";
import { againOf } from "./drafts.js";
import { evidence, seenAgain } from "./evidence.js";
import { heldParts, heldStep, isHeld } from "./holds.js";
import { asOneself, confirmIdentity } from "./identity.js";
import { failureParts, frozenNote, lowered, resultLine } from "./outcomes.js";
import { runbookList } from "./runbooks.js";
import { statePill, tierPill } from "./states.js";
import { readNodes } from "./taints.js";
import { rowTitle } from "./titles.js";
import { toast } from "./toasts.js";

/** @import { Content } from "../lib/dom.js" */
/** @import { Bound, Card, Change, Inverse, JoinItem, Row, Run } from "../types/api.js" */

/** A second tap in the same place is no second thought. */
const THINK_MS = 500;
const LOOK_MS = 2000;
/** Above this the bar of the page is. */
const BAR_PX = 52;
const REASONS = ["not_now", "wrong_target", "myself"];
/** What a brief card has room for; whatever has more to read is approved on its whole card. */
const BRIEF_CHARS = 2400;
const BRIEF_DIFF_LINES = 16;
/** A bound value that has room beside another one. */
const SHORT_CHARS = 26;
/** Longer words of a requester begin short, and say so. */
const REASON_CHARS = 420;
const REASON_LINES = 6;

/**
 * `ask` opens one of the two steps; `done` tells the state, and goes to the question of what happened if
 * nobody knows.
 * @typedef {HTMLElement & {update: (row: Row) => void, ask: (answer: "approve" | "reject") => void, done: () =>
 *   string}} CardNode
 */

/**
 * The row with the texts that a list leaves out, where they are known; they belong to its revision.
 * @param {Row} row
 * @param {Row} known
 * @returns {Row}
 */
function whole(row, known) {
  if (!row.left_out || row.revision !== known.revision) return row;
  return { ...row, change: known.change, diff: known.diff, joined: known.joined, left_out: known.left_out };
}

/**
 * A proposal's card. `level` is the heading's.
 * @param {Row} row
 * @param {{level?: 1 | 2 | 3, isBrief?: boolean, isOnHome?: boolean, card?: Card}} [how] `card`: what the server said
 *   just now; on Home the headline tells of a freeze
 * @returns {CardNode}
 */
export function proposalCard(row, how = {}) {
  const node = /** @type {CardNode} */ (el("article", { class: "card approval", "aria-label": row.label }));
  /** What the server said beside the row. @type {Card | null} */
  let card = how.card ?? null;
  if (card) row = whole(row, card.row);
  /** @type {"rest" | "approve" | "reject" | "sending"} */
  let step = "rest";
  /** What a key asked for before the card was there. @type {"approve" | "reject" | null} */
  let wanted = null;
  /** What the foot was drawn from. @type {string | null} */
  let drawn = null;
  /**
   * What runs on a node says how far it is; nobody is told of every line.
   * @type {ReturnType<typeof setTimeout> | undefined}
   */
  let looking;
  /** A reason that is being typed. */
  let typed = "";
  /** Why it could not be read. @type {string | null} */
  let problem = null;
  /** Why the last decision was not taken. @type {string | null} */
  let refusal = null;
  /** Whether it was decided on this card. */
  let isDecidedHere = false;
  /** Whether there is more to read than when somebody began to decide. */
  let isRenewed = false;
  const head = el("div", { class: "row-line" });
  const heading = el(`h${how.level ?? 2}`);
  /** How it went: what one sees first once it was decided. */
  const says = el("div", { class: "says stack", "aria-live": "polite" });
  const body = el("div", { class: "stack" });
  const foot = el("div", { class: "card-foot stack", "aria-live": "polite" });
  // The bar moves in what is below the heading: no button is seen without what it is about.
  mount(node, head, heading, says, el("div", { class: "about" }, body, foot));

  const load = async () => {
    try {
      card = await get(`/api/proposals/${row.id}/card`);
      if (card.row.revision > row.revision && card.row.status === "pending") {
        // A yes that was begun is for what was read then.
        isRenewed = true;
        if (step === "approve") step = "rest";
      }
      // An event may have been faster than this answer.
      row = card.row.transitions.length >= row.transitions.length ? card.row : whole(row, card.row);
      problem = null;
    } catch (error) {
      problem = sentence(error);
    }
    draw();
    clearTimeout(looking);
    if (row.status === "running" && !isGone()) looking = setTimeout(() => void load(), LOOK_MS);
    const answer = wanted;
    wanted = null;
    if (answer) node.ask(answer);
  };
  const drawHead = () => {
    mount(head, tierPill(row, { isWhole: true }), statePill(row));
    mount(heading, rowTitle(row));
  };
  const draw = () => {
    drawHead();
    drawBody();
    drawFoot();
  };
  /** What was folded out stays so. */
  const drawBody = () => {
    const isOpen = body.querySelector(":scope > details.all")?.hasAttribute("open") ?? false;
    const all = facts(row, card, how.isBrief === true);
    const isOver = !["pending", "approved", "running"].includes(row.status);
    if (row.status === "pending") mount(says);
    else mount(says, resultLine(row, card), ...failureParts(row, card));
    if (!isOver) return mount(body, ...all);
    // It is over: what one had to read for a yes is there, but no longer in the way.
    return mount(
      body,
      el(
        "details",
        { class: "more all", open: isOpen },
        el("summary", {}, t("card.all")),
        el("div", { class: "stack" }, ...all, steps(row)),
      ),
    );
  };
  const drawFoot = () => {
    // What reads the same is left alone: somebody may be typing, or about to tap.
    const stamp =
      row.status === "pending"
        ? JSON.stringify([
            problem,
            refusal,
            step,
            card?.changed,
            card?.moved?.revision,
            card?.moved?.gone,
            redraft.state(),
            card?.consequence,
            isLive(),
            row.tier,
            row.risk,
            row.holds,
            isRenewed,
            step === "reject" ? null : frozenSince(),
          ])
        : null;
    if (stamp !== null && stamp === drawn) return;
    drawn = stamp;
    const parts = [];
    if (problem) parts.push(notice("problem", problem));
    if (refusal) parts.push(notice("problem", refusal));
    if (isRenewed && row.status === "pending") parts.push(notice("caution", t("card.renewed")));
    if (row.status === "pending") parts.push(decision());
    else parts.push(...outcome(row, card, { again, redraft }));
    const at = foot.contains(document.activeElement) ? document.activeElement?.getAttribute("data-keep") : null;
    mount(foot, ...parts);
    // A bar at the edge of a small screen, until somebody begins to decide.
    foot.classList.toggle("sticks", row.status === "pending" && (step === "rest" || step === "sending"));
    if (at) focusOn(`[data-keep=${at}]`);
  };
  /** What cannot be said while everything is frozen. */
  const frozenSince = () => (home.value?.freeze.frozen ? JSON.stringify(home.value.freeze) : null);
  /** @param {string} [selector] */
  const focusOn = (selector) => {
    if (selector) /** @type {HTMLElement | null} */ (foot.querySelector(selector))?.focus();
  };
  const again = askingAgain((focus) => {
    drawFoot();
    focusOn(focus);
  });
  const redraft = againOf(() => drawFoot());
  /** @param {"rest" | "approve" | "reject" | "sending"} next @param {string} [focus] */
  const go = (next, focus) => {
    step = next;
    drawFoot();
    focusOn(focus);
    // The second step stands at the end of what it is about.
    if (next === "approve" || next === "reject") foot.scrollIntoView({ block: "nearest" });
  };
  const decision = () => {
    if (card?.moved)
      return el(
        "div",
        { class: "stack tight" },
        movedNote(card.moved),
        card.moved.gone ? null : redraft.part(row),
        rejectOnly(),
      );
    if (card?.changed) return notice("caution", t("card.changed"));
    // A no needs nothing lifted.
    if (isHeld(row) && isLive() && step !== "reject" && step !== "sending")
      return heldStep(row, () => go("reject", ".reason"));
    if (!isLive())
      return el(
        "div",
        { class: "decide" },
        el("button", { type: "button", class: "button wide", disabled: true }, t("card.not_connected")),
        el("p", { class: "muted small wide" }, t("card.not_connected_why")),
      );
    if (step === "sending")
      return el(
        "div",
        { class: "decide" },
        el("button", { type: "button", class: "button wide", disabled: true }, t("card.sending")),
      );
    // What came between the two steps ends a yes that was begun.
    if (step === "approve" && frozenSince()) step = "rest";
    if (step === "approve") return approveStep();
    if (step === "reject") return rejectStep();
    const isSafe = runsAtOnce(row);
    const freeze = home.value?.freeze;
    // What cannot be read whole here is not approved here.
    if (how.isBrief && card && !fitsBrief(row, card)) {
      return el(
        "div",
        { class: "decide" },
        el("p", { class: "muted small wide" }, t("card.too_long")),
        el("a", { class: "button primary whole", href: `#/inbox/${row.id}` }, t("card.open_whole")),
        el(
          "button",
          { type: "button", class: "button reject", onclick: () => go("reject", ".reason") },
          t("card.reject"),
        ),
      );
    }
    return el(
      "div",
      { class: "decide" },
      freeze?.frozen && !how.isOnHome ? frozenNote(() => void thawNow()) : null,
      el(
        "button",
        {
          type: "button",
          class: "button primary approve",
          disabled: !card || freeze?.frozen === true,
          onclick: () => (isSafe ? void send("approve") : go("approve", ".back")),
        },
        isSafe ? t("card.approve_safe") : t("card.approve"),
      ),
      el(
        "button",
        { type: "button", class: "button reject", onclick: () => go("reject", ".reason") },
        t("card.reject"),
      ),
    );
  };
  /** There is no yes to it; a no still tells whoever drafted it why. */
  const rejectOnly = () =>
    step === "reject"
      ? rejectStep()
      : el(
          "div",
          { class: "decide" },
          el(
            "button",
            {
              type: "button",
              class: "button reject",
              disabled: !isLive() || step === "sending",
              onclick: () => go("reject", ".reason"),
            },
            t("card.reject"),
          ),
        );
  const approveStep = () => {
    const yes = /** @type {HTMLButtonElement} */ (
      el(
        "button",
        { type: "button", class: "button danger yes", disabled: true, onclick: () => void send("approve") },
        t("card.yes", { act: lowered(row.label) }),
      )
    );
    setTimeout(() => {
      yes.disabled = false;
    }, THINK_MS);
    return el(
      "div",
      { class: "decide", role: "group", "aria-label": t("card.sure") },
      el("p", { class: "wide" }, t("card.consequence", { consequence: card?.consequence ?? "" })),
      row.risk === "critical"
        ? el("p", { class: "wide muted" }, t(row.change ? "card.critical_change" : "card.critical"))
        : null,
      el("button", { type: "button", class: "button back", onclick: () => go("rest", ".approve") }, t("card.back")),
      yes,
    );
  };
  const rejectStep = () => {
    const own = /** @type {HTMLInputElement} */ (
      el("input", {
        class: "input",
        maxLength: 400,
        value: typed,
        "data-keep": "own",
        "aria-label": t("card.own_reason"),
        placeholder: t("card.own_reason"),
        oninput: () => {
          typed = own.value;
        },
      })
    );
    return el(
      "form",
      {
        class: "decide",
        role: "group",
        "aria-label": t("card.why_not"),
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          void send("reject", own.value.trim() || undefined);
        },
      },
      el("p", { class: "wide" }, t("card.why_not")),
      el(
        "div",
        { class: "wide reasons" },
        REASONS.map((reason) =>
          el(
            "button",
            { type: "button", class: "button reason", onclick: () => void send("reject", t(`reason.${reason}`)) },
            t(`reason.${reason}`),
          ),
        ),
      ),
      el(
        "div",
        { class: "wide row-line" },
        el("div", { class: "grow" }, own),
        el("button", { class: "button" }, t("card.reject_it")),
      ),
      el(
        "button",
        { type: "button", class: "button quiet wide back", onclick: () => go("rest", ".reject") },
        t("card.back"),
      ),
    );
  };
  /** @param {"approve" | "reject"} answer @param {string} [reason] */
  const send = async (answer, reason) => {
    refusal = null;
    if (answer === "approve" && card?.needs_login && !(await confirmIdentity())) return go("rest", ".approve");
    // Whoever came by keys is taken along: what had the focus is gone.
    const takesFocus = foot.querySelector(":focus-visible") !== null;
    go("sending");
    try {
      const sent = {
        decision: answer,
        digest: row.digest,
        revision: row.revision,
        ...(reason === undefined ? {} : { reason }),
      };
      // The card may be older than the proof that it knew of.
      const decided = await asOneself(() => post(`/api/proposals/${row.id}/decide?wait=0`, sent));
      if (!decided) return go("rest", ".approve");
      row = decided;
      isDecidedHere = true;
      if (answer === "reject" && row.change?.target !== "knowledge") again.offer(row, card, takesFocus);
    } catch (error) {
      refusal =
        error instanceof ApiError && error.row && error.row.status !== "pending"
          ? alreadyWords(error.row)
          : sentence(error);
      if (error instanceof ApiError && error.row) row = error.row;
    }
    step = "rest";
    await load();
    // The result is what one sees, wherever the button was.
    if (isDecidedHere && says.getBoundingClientRect().top < BAR_PX) node.scrollIntoView({ block: "start" });
  };
  const thawNow = async () => {
    try {
      await asOneself(() => del("/api/freeze"));
    } catch (error) {
      toast(sentence(error), { isProblem: true });
    }
  };

  node.update = (next) => {
    const isSame =
      next.display_state === row.display_state && next.count === row.count && next.revision === row.revision;
    // What nobody has read yet is not what a yes is sent for: it counts when it is drawn.
    if (next.revision === row.revision) row = whole(next, row);
    if (!isSame) void load();
  };
  node.ask = (answer) => {
    if (row.status !== "pending" || !isLive() || (answer === "approve" && frozenSince())) return;
    if (answer === "approve" && how.isBrief && card && !fitsBrief(row, card)) return;
    if (card) go(answer, answer === "approve" ? ".back" : ".reason");
    else wanted = answer;
  };
  node.done = () => {
    focusOn("[data-keep=settle]");
    return row.status;
  };
  /** Whether it was in the page and is no more. */
  let wasShown = false;
  const isGone = () => {
    wasShown ||= node.isConnected;
    return wasShown && !node.isConnected;
  };
  /** @type {Array<() => void>} */
  const ends = [];
  const stop = () => {
    for (const end of ends.splice(0)) end();
  };
  ends.push(
    onEvent((event) => {
      if (isGone()) stop();
      else if (isOfProposal(event)) {
        if (event.data.id === row.id) void load();
      } else if (event.name === "service.changed" && card?.evidence.some((service) => service.id === event.data.id))
        void load();
    }),
    onConnection(({ kind }) => {
      if (isGone()) return stop();
      drawFoot();
      if (kind === "live" && problem) void load();
      return undefined;
    }),
    home.watch(({ value }) => {
      if (isGone()) return stop();
      seenAgain(node, value?.services.services ?? []);
      if (row.status === "pending") drawFoot();
      return undefined;
    }),
  );
  draw();
  if (!card) void load();
  return node;
}

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
function fitsBrief(row, card) {
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
function facts(row, card, isBrief) {
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

/** Somebody was faster, perhaps oneself elsewhere. @param {Row} row */
function alreadyWords(row) {
  const step = row.transitions.find((one) => ["approved", "rejected"].includes(one.to));
  return step ? t(`card.already.${step.to}`, { name: person(step.by), at: clock(step.at) }) : t("card.already.other");
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

/**
 * @param {Row} row
 * @param {Card | null} card
 * @param {{again: import("./again.js").Again, redraft: ReturnType<typeof againOf>}} ways
 */
function outcome(row, card, { again, redraft }) {
  const parts = [];
  const progress = row.result?.progress;
  if (progress)
    parts.push(el("pre", { class: "log", tabIndex: 0, "aria-label": t("card.progress") }, progress.join("\n")));
  if (["approved", "running"].includes(row.status)) parts.push(steps(row));
  if (row.resolved_at) parts.push(el("p", { class: "muted small" }, endedBy(row), " ", time(row.resolved_at)));
  if (row.status === "unknown") parts.push(settle(row));
  parts.push(row.change?.target === "knowledge" ? redraft.ended(row) : again.part(row, card));
  if (row.status === "executed" && card?.inverse) {
    const { inverse } = card;
    parts.push(
      el(
        "div",
        { class: "row-line" },
        el(
          "button",
          { type: "button", class: "button", onclick: () => void runInverse(inverse, row) },
          t("card.inverse", { label: inverse.label }),
        ),
        el("span", { class: "muted small" }, t(inverse.tier === "risky" ? "card.inverse_waits" : "card.inverse_runs")),
      ),
    );
  }
  return parts;
}

/** Who asked and who let it through, in few words. @param {Row} row */
function endedBy(row) {
  const asked = requesterName(row.requested_by);
  const approved = row.transitions.find((step) => step.to === "approved")?.by;
  if (approved === "policy") return t("card.ended_policy", { name: asked });
  return approved ? t("card.ended_approved", { name: asked, by: person(approved) }) : t("card.ended", { name: asked });
}

/** Every step that the server recorded. @param {Row} row */
export function steps(row) {
  return el(
    "ol",
    { class: "steps" },
    row.transitions.map((step) => {
      const isPolicy = step.to === "approved" && step.by === "policy";
      return el(
        "li",
        {},
        t(isPolicy ? "step.let_through" : `step.${step.to}`),
        " ",
        el(
          "span",
          { class: "muted" },
          isPolicy ? "" : [t("step.by", { name: person(step.by) }), " · "],
          time(step.at, "clock"),
        ),
      );
    }),
    row.verification
      ? el(
          "li",
          {},
          t(
            `step.${row.verification === "verified" ? "verified" : row.verification === "failed" ? "check_failed" : "unverified"}`,
          ),
        )
      : null,
  );
}

/** @param {Row} row */
function settle(row) {
  /** @param {"executed" | "failed"} outcomeWord */
  const say = async (outcomeWord) => {
    try {
      await asOneself(() => post(`/api/proposals/${row.id}/settle`, { outcome: outcomeWord }));
    } catch (error) {
      toast(sentence(error), { isProblem: true });
    }
  };
  return el(
    "div",
    {
      class: "stack tight settle",
      role: "group",
      "aria-label": t("settle.title"),
      tabIndex: -1,
      "data-keep": "settle",
    },
    el("p", {}, t("settle.ask")),
    el(
      "div",
      { class: "decide" },
      el(
        "button",
        { type: "button", class: "button", "data-keep": "ran", onclick: () => void say("executed") },
        t("settle.ran"),
      ),
      el(
        "button",
        { type: "button", class: "button", "data-keep": "not", onclick: () => void say("failed") },
        t("settle.not"),
      ),
    ),
  );
}

/** @param {Inverse} inverse @param {Row} row */
async function runInverse(inverse, row) {
  try {
    const answer = await post(`/api/actions/${inverse.id}/run?wait=0`, {
      reason: t("card.inverse_reason", { code: row.code }),
    });
    toast("queued" in answer ? t("run.queued") : t("run.sent"), {
      href: `#/inbox/${answer.action_row_id}`,
      label: t("run.look"),
    });
  } catch (error) {
    toast(sentence(error), { isProblem: true });
  }
}

/**
 * A machine that asks to be a node.
 * @param {JoinItem} item
 * @returns {CardNode}
 */
export function joinCard(item) {
  const node = /** @type {CardNode} */ (el("article", { class: "card approval", "aria-label": item.name }));
  const foot = el("div", { class: "stack", "aria-live": "polite" });
  /** @typedef {"rest" | "sure" | "sending" | "admitted" | "refused"} JoinStep */
  let step = /** @type {JoinStep} */ ("rest");
  /** Why the last answer was not taken. @type {string | null} */
  let refusal = null;
  /** @param {"admitted" | "refused"} then @param {() => Promise<unknown>} act */
  const send = async (then, act) => {
    refusal = null;
    go("sending");
    try {
      // Whoever thought better of it is asked again.
      go((await asOneself(act)) ? then : "rest");
    } catch (error) {
      refusal = sentence(error);
      go("rest");
    }
  };
  /** @param {JoinStep} next @param {string} [focus] */
  const go = (next, focus) => {
    step = next;
    draw();
    if (focus) /** @type {HTMLElement | null} */ (foot.querySelector(focus))?.focus();
  };
  const draw = () => mount(foot, refusal ? notice("problem", refusal) : null, decision());
  const decision = () => {
    if (step === "admitted" || step === "refused") return notice("info", t(`join.${step}`));
    if (!isLive())
      return el(
        "div",
        { class: "decide" },
        el("button", { type: "button", class: "button wide", disabled: true }, t("card.not_connected")),
      );
    if (step === "sending")
      return el(
        "div",
        { class: "decide" },
        el("button", { type: "button", class: "button wide", disabled: true }, t("card.sending")),
      );
    if (step === "sure") return sure();
    return el(
      "div",
      { class: "decide" },
      el(
        "button",
        { type: "button", class: "button primary approve", onclick: () => go("sure", ".back") },
        t("join.admit"),
      ),
      el(
        "button",
        {
          type: "button",
          class: "button reject",
          onclick: () => void send("refused", () => del(`/api/nodes/${item.name}`)),
        },
        t("join.refuse"),
      ),
    );
  };
  const sure = () =>
    el(
      "div",
      { class: "decide", role: "group", "aria-label": t("card.sure") },
      el("p", { class: "wide" }, t("join.sure", { name: item.name })),
      el("button", { type: "button", class: "button back", onclick: () => go("rest", ".approve") }, t("card.back")),
      el(
        "button",
        {
          type: "button",
          class: "button danger yes",
          onclick: () =>
            void send("admitted", () => post(`/api/nodes/${item.name}/approve`, { fingerprint: item.fingerprint })),
        },
        t("join.yes"),
      ),
    );
  mount(
    node,
    el("h2", {}, t("join.title", { name: item.name })),
    el("p", {}, t("join.compare")),
    el("p", {}, el("code", { class: "wrap" }, item.fingerprint)),
    el(
      "dl",
      { class: "facts" },
      el("dt", {}, t("join.from")),
      el("dd", {}, item.from),
      el("dt", {}, t("join.version")),
      el("dd", {}, item.version ?? "–"),
      el("dt", {}, t("card.asked_by")),
      el("dd", {}, time(item.asked_at)),
    ),
    foot,
  );
  draw();
  const end = onConnection(() => (node.isConnected || step === "rest" ? draw() : end()));
  node.update = () => {};
  node.done = () => "pending";
  node.ask = (answer) =>
    /** @type {HTMLElement | null} */ (foot.querySelector(answer === "approve" ? ".approve" : ".reject"))?.[
      answer === "approve" ? "click" : "focus"
    ]();
  return node;
}
