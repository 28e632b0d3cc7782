// @ts-check
// What an agent did on the way to its answer: one dim chip a step, the rest in a sheet. Many fold into
// one; what failed stays in sight.

import { el, keyed, mount } from "../lib/dom.js";
import { span } from "../lib/time.js";
import { t } from "../lib/words.js";
import { sheet } from "../parts/sheets.js";
import { shape } from "../parts/states.js";

/** @import { TruthItemResponse, TruthResponse } from "../types/api.js" */

/** More than this many fold. */
const SHOWN_MAX = 5;
const MOMENT_MS = 100;
const KINDS = ["page", "task", "ref", "project", "space", "service", "action", "proposal", "conversation"];
const TOOLS = [
  "service_status",
  "list_actions",
  "propose_action",
  "proposal_status",
  "withdraw_proposal",
  "search",
  "recent_activity",
  "read",
  "context",
  "propose_change",
  "read_record",
  "send",
  "recv",
  "wake",
];
/** Whose words say what it was about. @type {Record<string, string[]>} */
const SAID_BY = {
  list_actions: [],
  context: [],
  recent_activity: [],
  read: ["title", "kind"],
  propose_change: ["entity"],
  send: ["to"],
  recv: [],
  wake: [],
};
/** Where the owner sees for himself what a tool looked at. @type {Record<string, [string, string]>} */
const PLACES = {
  service_status: ["#/lab", "nav.lab"],
  list_actions: ["#/lab/actions", "actions.title"],
  search: ["#/knowledge/search", "nav.knowledge"],
  read_record: ["#/audit", "nav.audit"],
  propose_change: ["#/inbox/drafts", "inbox.drafts"],
  recent_activity: ["#/audit", "nav.audit"],
};
/** @type {Record<string, string>} */
const SHAPES = { running: "running", ok: "up", failed: "failed", denied: "rejected" };
/** How a step ended, as the server says it. @type {Record<string, Seen["state"]>} */
const STATES = { running: "running", ok: "ok", denied: "denied" };

/** @typedef {import("./talks.js").Step} Step */
/** @typedef {{step: Step, state: "running" | "ok" | "failed" | "denied", item: TruthItemResponse | null}} Seen */

/** The value of an argument in a summary. @param {string} args @param {string} name */
const argument = (args, name) => new RegExp(`(?:^|, )${name}: ([^,]+)`).exec(args)?.[1]?.trim() ?? "";

/** What a step does or did, in our words. @param {Step} step */
export function stepPhrase(step) {
  const isNow = step.status === "running";
  if (!TOOLS.includes(step.tool)) return t(isNow ? "chat.tool.other.now" : "chat.tool.other", { name: step.tool });
  const names = SAID_BY[step.tool] ?? ["action_id", "proposal", "id", "query"];
  const said = names.map((name) => argument(step.args, name)).find(Boolean) ?? "";
  const what = KINDS.includes(said) ? t(`chat.kind.${said}`) : said;
  const form = what ? (isNow ? ".now_of" : ".of") : isNow ? ".now" : "";
  return t(`chat.tool.${step.tool}${form}`, { what });
}

/**
 * A step beside what the record says became of its wish.
 * @param {Step} step
 * @param {TruthResponse} truth
 * @returns {Seen}
 */
function seen(step, truth) {
  const lists = [...truth.waits, ...truth.ran, ...truth.unverified, ...truth.refused];
  const wanted = step.tool === "propose_action" ? argument(step.args, "action_id") : null;
  const item = lists.find((one) =>
    step.proposalId ? one.id === step.proposalId : one.id === "" && one.action_id === wanted,
  );
  return { step, state: STATES[step.status] ?? "failed", item: item ?? null };
}

/**
 * @returns {HTMLElement & {show: (steps: Step[], truth: TruthResponse) => void}}
 */
export function stepChips() {
  const row = el("div", { class: "chips" });
  let isOpen = false;
  /** @type {Seen[]} */
  let all = [];
  const draw = () => {
    const folds = all.length > SHOWN_MAX;
    const shown = all.map((one, index) => ({ ...one, index })).filter((one) => !folds || isOpen || one.state !== "ok");
    /** @type {Array<{fold: number, isOpen: boolean} | (Seen & {index: number})>} */
    const items = folds ? [{ fold: all.length, isOpen }, ...shown] : shown;
    keyed(
      row,
      items,
      (one) => ("fold" in one ? "fold" : String(one.index)),
      (one) => ("fold" in one ? fold(one.fold) : chip(one)),
    );
    row.hidden = all.length === 0;
  };
  /** @param {number} n */
  const fold = (n) =>
    el(
      "button",
      {
        type: "button",
        class: "chip",
        "aria-expanded": String(isOpen),
        onclick: () => {
          isOpen = !isOpen;
          draw();
          /** @type {HTMLElement | null} */ (row.querySelector("[aria-expanded]"))?.focus();
        },
      },
      shape("up"),
      el("span", {}, t(isOpen ? "chat.steps_fold" : "chat.steps", { n })),
    );
  return Object.assign(row, {
    show: (/** @type {Step[]} */ steps, /** @type {TruthResponse} */ truth) => {
      all = steps.map((step) => seen(step, truth));
      draw();
    },
  });
}

/** @param {Seen} one */
function chip(one) {
  const { step, state } = one;
  const took = tookWords(step.tookMs);
  return el(
    "button",
    { type: "button", class: `chip ${state}`, onclick: () => stepSheet(one) },
    shape(SHAPES[state] ?? "stale"),
    el("span", { class: "chip-words" }, stepPhrase(step)),
    took ? el("span", { class: "number" }, took) : null,
    state === "ok" ? null : el("span", { class: "chip-state" }, t(`chat.step.${state}`)),
  );
}

/** Nothing if it is not known or was but a moment. @param {number | null} ms */
const tookWords = (ms) => (ms === null || ms < MOMENT_MS ? "" : ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : span(ms));

/** @param {Seen} one */
function stepSheet({ step, state, item }) {
  const place = PLACES[step.tool];
  /** @type {Array<[string, string | HTMLElement]>} */
  const facts = [
    [t("chat.step.tool"), el("code", {}, step.tool)],
    [t("chat.step.state"), t(`chat.step.${state}`)],
  ];
  if (tookWords(step.tookMs)) facts.push([t("chat.step.took"), tookWords(step.tookMs)]);
  const request = item?.id || step.proposalId;
  if (request)
    facts.push([
      t("chat.step.request"),
      el("a", { href: `#/inbox/${request}` }, item ? `${item.label} (${item.code})` : t("chat.step.see_request")),
    ]);
  else if (item) facts.push([t("chat.step.request"), item.label || item.action_id]);
  if (item?.reason) facts.push([t("chat.step.reason"), item.reason]);
  sheet(
    stepPhrase(step),
    el(
      "dl",
      { class: "facts" },
      facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
    ),
    el(
      "div",
      { class: "stack tight" },
      el("h3", {}, t("chat.step.asked")),
      step.args
        ? el("pre", { class: "log", tabIndex: 0, "aria-label": t("chat.step.asked"), role: "group" }, step.args)
        : el("p", { class: "muted" }, t("chat.step.nothing_asked")),
    ),
    step.result
      ? el(
          "div",
          { class: "stack tight" },
          el("h3", {}, t("chat.step.answered")),
          el("pre", { class: "log", tabIndex: 0, "aria-label": t("chat.step.answered"), role: "group" }, step.result),
        )
      : el("p", { class: "muted" }, t(step.isLive ? "chat.step.answer_later" : "chat.step.not_kept")),
    place ? el("p", {}, el("a", { href: place[0] }, t("chat.step.look", { page: t(place[1]) }))) : null,
  );
}

/** A place that says what is done just now. @param {HTMLElement} place @param {string} words */
export function busyLine(place, words) {
  if (place.dataset.words === words) return;
  place.dataset.words = words;
  mount(place, words ? [el("span", { class: "busy-dot", "aria-hidden": "true" }), words] : null);
}
