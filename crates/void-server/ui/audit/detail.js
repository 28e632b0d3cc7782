// @ts-check
// Everything about one entry: its words, its place in the chain, and for a request every step of it.

import { ApiError, get, sentence } from "../lib/api.js";
import { actions } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { clock, time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { cannotTell, empty, loading } from "../parts/empties.js";
import { factList } from "../parts/facts.js";
import { statePill, tierPill } from "../parts/states.js";
import { actorWords, entryWords, isAboutProposal, stepWords, whoWords } from "./words.js";

/** @typedef {import("./words.js").Entry} Entry */
/** @typedef {(seq: number) => string} HrefOf the address of an entry */

/** Steps of one request that are shown; asking again is a step too, so there may be more. */
const CHAIN_MAX = 100;
/** @type {HrefOf} */
const plainHref = (seq) => `#/audit/${seq}`;

/** @param {string} at */
const moment = (at) => new Date(at).toLocaleString([], { dateStyle: "full", timeStyle: "long", hourCycle: "h23" });

/**
 * @param {Entry} entry
 * @param {{isTitled?: boolean, hrefOf?: HrefOf}} [how] whether it needs a heading of its own
 */
export function entryDetail(entry, { isTitled = true, hrefOf = plainHref } = {}) {
  const { detail, subject } = entry;
  const isRequest = isAboutProposal(entry);
  const chain = el("section", { class: "stack tight", "aria-live": "polite" });
  if (isRequest && subject) void drawChain(chain, entry, subject, hrefOf);
  else chain.hidden = true;
  const said = detail.reason ?? /** @type {{message?: string} | undefined} */ (detail.failure)?.message;
  /** @type {Parameters<typeof factList>[0]} */
  const facts = [
    [t("audit.fact.who"), el("span", {}, actorWords(entry), " ", el("code", { class: "muted" }, entry.actor))],
    [
      t("audit.fact.when"),
      el("span", {}, moment(entry.at), " ", el("span", { class: "muted" }, "(", time(entry.at), ")")),
    ],
    [t("audit.fact.verb"), el("code", {}, entry.verb)],
    subject
      ? [
          t("audit.fact.subject"),
          el(
            "a",
            { href: `#/audit?subject=${encodeURIComponent(subject)}`, class: "wrap" },
            isRequest && typeof detail.code === "string" ? t("audit.all_about", { name: detail.code }) : subject,
          ),
        ]
      : null,
    typeof detail.target === "string" ? [t("card.target"), el("code", {}, detail.target)] : null,
    said ? [t("audit.fact.said"), el("q", {}, String(said) + (detail.reason_cut ? "…" : ""))] : null,
    isRequest && subject
      ? [t("audit.fact.request"), el("a", { href: `#/inbox/${encodeURIComponent(subject)}` }, t("audit.open_request"))]
      : null,
  ];
  return el(
    "div",
    { class: "stack entry-detail" },
    isTitled ? el("h2", { class: "wrap" }, entryWords(entry)) : null,
    detail.tier
      ? el("div", { class: "row-line" }, tierPill({ tier: String(detail.tier), risk: String(detail.risk) }))
      : null,
    factList(facts),
    chain,
    el(
      "details",
      { class: "more" },
      el("summary", {}, t("audit.raw")),
      el(
        "div",
        { class: "stack tight" },
        el("pre", { class: "raw wrap", tabIndex: 0, "aria-label": t("audit.raw") }, JSON.stringify(detail, null, 2)),
        factList([
          [t("audit.fact.seq"), el("a", { href: `#/audit/${entry.seq}` }, String(entry.seq))],
          [t("audit.fact.hash"), el("code", {}, entry.hash ?? "")],
          [t("audit.fact.prev"), el("code", {}, entry.prev ?? "")],
          entry.catalogue ? [t("audit.fact.catalogue"), el("code", {}, entry.catalogue)] : null,
          entry.request_id ? [t("audit.fact.request_id"), el("code", {}, entry.request_id)] : null,
        ]),
      ),
    ),
  );
}

/**
 * Every step of a request, this one marked; by the buttons one goes from step to step.
 * @param {HTMLElement} place
 * @param {Entry} entry
 * @param {string} id
 * @param {HrefOf} hrefOf
 */
async function drawChain(place, entry, id, hrefOf) {
  const title = el("h3", {}, t("audit.chain"));
  mount(place, title, loading());
  try {
    const [row, { entries, next }] = await Promise.all([
      get(`/api/proposals/${encodeURIComponent(id)}`),
      get(`/api/audit?subject=${encodeURIComponent(id)}&limit=${CHAIN_MAX}`),
    ]);
    const all = entries.reverse();
    mount(
      place,
      el("div", { class: "row-line" }, title, statePill(row)),
      next === null ? stepper(all, entry, hrefOf) : null,
      el(
        "ol",
        { class: "steps chain" },
        next === null
          ? null
          : el("li", {}, el("a", { href: `#/audit?subject=${encodeURIComponent(id)}` }, t("audit.chain_older"))),
        all.map((one) => chainStep(one, entry, hrefOf)),
      ),
    );
  } catch (error) {
    mount(place, title, el("p", { class: "muted" }, sentence(error)));
  }
}

/** @param {Entry} one @param {Entry} here @param {HrefOf} hrefOf */
function chainStep(one, here, hrefOf) {
  const isHere = one.seq === here.seq;
  return el(
    "li",
    { "aria-current": isHere ? "step" : null },
    isHere ? el("strong", {}, stepWords(one)) : el("a", { href: hrefOf(one.seq) }, stepWords(one)),
    " ",
    el(
      "span",
      { class: "muted" },
      t("step.by", { name: actorWords(one) }),
      " · ",
      el("time", { dateTime: one.at }, clock(one.at, { hasSeconds: true })),
    ),
  );
}

/** On a phone, the way through the steps. @param {Entry[]} all @param {Entry} here @param {HrefOf} hrefOf */
function stepper(all, here, hrefOf) {
  const at = all.findIndex((one) => one.seq === here.seq);
  const way = (/** @type {Entry | undefined} */ to, /** @type {string} */ word) =>
    to
      ? el("a", { class: "button", href: hrefOf(to.seq) }, word)
      : el("button", { type: "button", class: "button", disabled: true }, word);
  return all.length < 2 || at < 0
    ? null
    : el(
        "nav",
        { class: "stepper", "aria-label": t("audit.chain") },
        way(all[at - 1], t("audit.chain_before")),
        el("span", { class: "muted" }, t("audit.chain_at", { n: at + 1, all: all.length })),
        way(all[at + 1], t("audit.chain_after")),
      );
}

/**
 * One entry by its number, alone.
 * @param {HTMLElement} place
 * @param {string} seq
 * @param {{around?: HTMLElement[], hrefOf?: HrefOf}} [how] what stands before it, and where others are
 */
export async function showEntry(place, seq, { around = [], hrefOf = plainHref } = {}) {
  mount(place, ...around, loading());
  try {
    // The words of an entry name actions as the catalogue does.
    const [entry] = await Promise.all([
      get(`/api/audit/${encodeURIComponent(seq)}`),
      actions.value ? null : actions.read(),
    ]);
    mount(
      place,
      ...around,
      el(
        "article",
        { class: "card" },
        el("p", { class: "muted small" }, t("audit.entry", { seq: entry.seq })),
        entryDetail(entry, { hrefOf }),
      ),
    );
  } catch (error) {
    const isMissing = error instanceof ApiError && error.status === 404;
    mount(
      place,
      ...around,
      isMissing
        ? empty("unsure", t("audit.no_entry", { seq }))
        : cannotTell(error, () => void showEntry(place, seq, { around, hrefOf })),
    );
  }
}
