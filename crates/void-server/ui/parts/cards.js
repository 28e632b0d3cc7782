// @ts-check
// The approval card: what, why, what happens on yes, allowed by, asked by, until when, and two steps to
// a yes. Nothing is shown as decided that the server has not stored.

import { ApiError, del, get, post, sentence } from "../lib/api.js";
import { home } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { isLive, isOfProposal, onConnection, onEvent } from "../lib/live.js";
import { person } from "../lib/people.js";
import { clock } from "../lib/time.js";
import { t } from "../lib/words.js";
import { askingAgain, runsAtOnce } from "./again.js";
import { cardEnding, steps } from "./card-endings.js";
import { cardFacts, fitsBrief } from "./card-facts.js";
import { notice } from "./empties.js";
import { movedNote } from "./differences.js";
import { againOf } from "./drafts.js";
import { seenAgain } from "./evidence.js";
import { heldStep, isHeld } from "./holds.js";
import { asOneself, confirmIdentity } from "./identity.js";
import { failureParts, frozenNote, lowered, resultLine } from "./outcomes.js";
import { statePill, tierPill } from "./states.js";
import { rowTitle } from "./titles.js";
import { toast } from "./toasts.js";

/** @import { Card, Row } from "../types/api.js" */

/** A second tap in the same place is no second thought. */
const THINK_MS = 500;
const LOOK_MS = 2000;
/** Above this the bar of the page is. */
const BAR_PX = 52;
const REASONS = ["not_now", "wrong_target", "myself"];

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
    const all = cardFacts(row, card, how.isBrief === true);
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
    else parts.push(...cardEnding(row, card, { again, redraft }));
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

/** Somebody was faster, perhaps oneself elsewhere. @param {Row} row */
function alreadyWords(row) {
  const step = row.transitions.find((one) => ["approved", "rejected"].includes(one.to));
  return step ? t(`card.already.${step.to}`, { name: person(step.by), at: clock(step.at) }) : t("card.already.other");
}
