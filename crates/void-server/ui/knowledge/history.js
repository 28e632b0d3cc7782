// @ts-check
// What something was: every revision with who wrote it and why, what differs between two, and the way back to one.

import { get, post, sentence } from "../lib/api.js";
import { Resource, watchTogether } from "../lib/data.js";
import { el, keyed, mount } from "../lib/dom.js";
import { person } from "../lib/people.js";
import { clock, time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { diffLines } from "../parts/card-facts.js";
import { hidesNote, twoWays } from "../parts/differences.js";
import { cannotTell, loading } from "../parts/empties.js";
import { spansNode } from "../parts/spans.js";
import { toast } from "../parts/toasts.js";
import { goTo } from "../shell/router.js";
import { hrefOf, KEPT_EVENTS, listOf, NOUNS, spaceList } from "./data.js";
import { originWords } from "./entity.js";
import { notThere, sendButton, wayBack } from "./pieces.js";

/** @import { RevisionDiff, RevisionHead } from "../types/api.js" */
/** @import { Kind } from "./data.js" */

const ROWS = 50;

/**
 * @param {Kind} kind
 * @param {string} id
 * @param {URLSearchParams} query `?to=` and `?from=`
 */
export function historyPage(kind, id, query) {
  const noun = NOUNS[kind];
  const entity = new Resource(() => get(`/api/${noun}/${id}`), KEPT_EVENTS);
  const source = listOf(async (cursor) => {
    const { revisions, next } = await get(`/api/${noun}/${id}/revisions?limit=${ROWS}${cursor}`);
    return { items: revisions, next };
  });
  const list = el("ol", { class: "list", "aria-label": t("kb.revisions") });
  const more = el("div", {});
  const head = el("div", { class: "stack tight" });
  const detail = el("div", { class: "detail" });
  const place = el("div", { class: "split has-both" }, el("div", { class: "stack" }, list, more), detail);
  const node = el("div", { class: "stack kb" }, loading());
  let [to, from] = chosenIn(query);
  let shown = "";
  const draw = () => {
    const { value, error } = source;
    if (!value || !entity.value)
      return mount(
        node,
        notThere(error ?? entity.error, () => void source.read()),
      );
    const newest = entity.value.revision;
    to ??= newest;
    mount(
      head,
      wayBack([[hrefOf(kind, id), entity.value.title]]),
      el("h2", { class: "wrap" }, t("kb.history_of", { title: entity.value.title })),
    );
    if (node.firstChild !== head) mount(node, head, place);
    keyed(
      list,
      value.items.map((revision) => ({ revision, isChosen: revision.revision === to, newest })),
      ({ revision }) => String(revision.revision),
      ({ revision, isChosen }) => row(kind, id, revision, isChosen),
    );
    mount(
      more,
      value.next === null
        ? null
        : el("button", { type: "button", class: "button", onclick: () => void source.more() }, t("inbox.more")),
    );
    const base = from ?? to - 1;
    const stamp = `${base} ${to} ${newest}`;
    if (shown !== stamp) {
      shown = stamp;
      void showDiff(detail, { kind, id, from: base, to, newest });
    }
    return undefined;
  };
  const { stop, ask } = watchTogether([source, entity, spaceList], draw);
  return {
    node,
    title: t("nav.knowledge"),
    stop,
    /** @param {import("../shell/router.js").Route} route */
    go: (route) => {
      if (route.parts.join("/") !== `${noun}/${id}/history`) return false;
      [to, from] = chosenIn(route.query);
      ask();
      return true;
    },
  };
}

/** @param {URLSearchParams} query @returns {[number | undefined, number | undefined]} */
function chosenIn(query) {
  const number = (/** @type {string} */ name) => {
    const value = Number(query.get(name));
    return Number.isInteger(value) && value > 0 ? value : undefined;
  };
  return [number("to"), number("from")];
}

/** @param {Kind} kind @param {string} id @param {RevisionHead} revision @param {boolean} isChosen */
const row = (kind, id, revision, isChosen) =>
  el(
    "li",
    {},
    el(
      "a",
      {
        href: `${hrefOf(kind, id)}/history?to=${revision.revision}`,
        "aria-current": isChosen ? "true" : null,
        class: "kb-row",
      },
      el(
        "span",
        { class: "grow" },
        el("span", { class: "title" }, t("kb.revision", { n: revision.revision })),
        el(
          "span",
          { class: "muted small wrap" },
          [
            person(revision.by),
            ...(revision.origin === "owner" ? [] : [t(`kb.origin.${revision.origin}`)]),
            ...(revision.reason ? [revision.reason] : []),
          ].join(" · "),
        ),
      ),
      el("span", { class: "muted small" }, time(revision.at)),
    ),
  );

/**
 * @param {HTMLElement} place
 * @param {{kind: Kind, id: string, from: number, to: number, newest: number}} what
 */
async function showDiff(place, what) {
  const { kind, id, from, to, newest } = what;
  mount(place, loading());
  try {
    if (from < 1) {
      const revision = await get(`/api/${NOUNS[kind]}/${id}/revisions/${String(to)}`);
      mount(
        place,
        el(
          "section",
          { class: "card stack" },
          el("h3", {}, t("kb.first_revision")),
          el("p", { class: "muted small" }, writtenBy(revision)),
          el(
            "div",
            { class: "spans", tabIndex: 0, role: "group", "aria-label": t("kb.text") },
            revision.title,
            "\n\n",
            revision.body,
          ),
          to === newest ? null : restoring(what),
        ),
      );
      return;
    }
    const diff = await get(`/api/${NOUNS[kind]}/${id}/diff?from=${from}&to=${to}`);
    mount(place, diffCard(diff, what));
  } catch (error) {
    mount(
      place,
      cannotTell(error, () => void showDiff(place, what)),
    );
  }
}

/** @param {RevisionHead} revision */
const writtenBy = (revision) => [
  t("kb.written_by", { name: person(revision.by), at: clock(revision.at) }),
  ...(revision.origin === "owner" ? [] : [" · ", originWords(revision)]),
  revision.reason ? ` · “${revision.reason}”` : "",
];

/** @param {RevisionDiff} diff @param {{kind: Kind, id: string, from: number, to: number, newest: number}} what */
function diffCard(diff, what) {
  const { unified } = diff;
  const { body, choice } = twoWays(() => spansNode(diff.spans), unified === null ? null : () => diffLines(unified));
  return el(
    "section",
    { class: "card stack" },
    el(
      "div",
      { class: "row-line" },
      el("h3", { class: "grow" }, t("kb.from_to", { from: what.from, to: what.to })),
      choice,
    ),
    el(
      "div",
      { class: "muted small" },
      el("p", {}, writtenBy(diff.to)),
      el("p", {}, t("kb.counts", { added: diff.words_added, removed: diff.words_removed })),
      diff.grain === "whole" ? el("p", {}, t("kb.grain_whole")) : null,
    ),
    hidesNote(diff.hidden),
    body,
    el(
      "div",
      { class: "row-line" },
      what.to === what.newest ? null : restoring(what),
      what.to === what.newest
        ? null
        : el(
            "a",
            { class: "small", href: `${hrefOf(what.kind, what.id)}/history?from=${what.to}&to=${what.newest}` },
            t("kb.against_newest"),
          ),
    ),
  );
}

/**
 * The way back, which is itself a revision: nothing is lost.
 * @param {{kind: Kind, id: string, to: number, newest: number}} what
 */
const restoring = ({ kind, id, to, newest }) =>
  sendButton(t("kb.restore", { n: to }), async () => {
    try {
      const now = await post(`/api/${NOUNS[kind]}/${id}/restore`, { revision: to, base_revision: newest });
      goTo(kind === "space" ? hrefOf("space", id) : hrefOf(kind, id));
      toast(t("kb.restored", { n: to, now: now.revision }), {
        label: t("kb.undo"),
        onclick: () =>
          void post(`/api/${NOUNS[kind]}/${id}/restore`, { revision: newest, base_revision: now.revision }).catch(
            (error) => toast(sentence(error), { isProblem: true }),
          ),
      });
    } catch (error) {
      toast(sentence(error), { isProblem: true });
    }
  });
