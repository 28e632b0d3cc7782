// @ts-check
// Everything about one entry: its words, its place in the chain, and for a request every step of it.

import { ApiError, get, sentence } from "../lib/api.js";
import { el, mount } from "../lib/dom.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { steps } from "../parts/cards.js";
import { cannotTell, empty, loading } from "../parts/empties.js";
import { statePill, tierPill } from "../parts/states.js";
import { entryWords, isAboutProposal, whoWords } from "./words.js";

/** @typedef {import("./words.js").Entry} Entry */

/** @param {string} at */
const moment = (at) => new Date(at).toLocaleString([], { dateStyle: "full", timeStyle: "long", hourCycle: "h23" });

/**
 * @param {Entry} entry
 * @param {boolean} [isTitled] whether it needs a heading of its own
 */
export function entryDetail(entry, isTitled = true) {
  const { detail, subject } = entry;
  const isRequest = isAboutProposal(entry);
  const chain = el("section", { class: "stack tight", "aria-live": "polite" });
  if (isRequest && subject) void drawChain(chain, subject);
  else chain.hidden = true;
  const said = detail?.reason ?? detail?.failure?.message;
  const facts = [
    [t("audit.fact.who"), el("span", {}, whoWords(entry.actor), " ", el("code", { class: "muted" }, entry.actor))],
    [t("audit.fact.when"), el("span", {}, moment(entry.at), " ", el("span", { class: "muted" }, "(", time(entry.at), ")"))],
    [t("audit.fact.verb"), el("code", {}, entry.verb)],
    subject ? [t("audit.fact.subject"), el("a", { href: `#/audit?subject=${encodeURIComponent(subject)}`, class: "wrap" }, isRequest && detail?.code ? t("audit.all_about", { name: detail.code }) : subject)] : null,
    detail?.target ? [t("card.target"), el("code", {}, detail.target)] : null,
    said ? [t("audit.fact.said"), el("q", {}, String(said))] : null,
    isRequest && subject ? [t("audit.fact.request"), el("a", { href: `#/inbox/${encodeURIComponent(subject)}` }, t("audit.open_request"))] : null,
  ];
  return el("div", { class: "stack entry-detail" },
    isTitled ? el("h2", { class: "wrap" }, entryWords(entry)) : null,
    detail?.tier ? el("div", { class: "row-line" }, tierPill(detail)) : null,
    factPairs(facts), chain,
    el("details", { class: "more" }, el("summary", {}, t("audit.raw")), el("div", { class: "stack tight" },
      el("pre", { class: "raw wrap", tabIndex: 0, "aria-label": t("audit.raw") }, JSON.stringify(detail, null, 2)),
      factPairs([
        [t("audit.fact.seq"), el("a", { href: `#/audit/${entry.seq}` }, String(entry.seq))],
        [t("audit.fact.hash"), el("code", {}, entry.hash)],
        [t("audit.fact.prev"), el("code", {}, entry.prev)],
        entry.catalogue ? [t("audit.fact.catalogue"), el("code", {}, entry.catalogue)] : null,
        entry.request_id ? [t("audit.fact.request_id"), el("code", {}, entry.request_id)] : null,
      ]))));
}

/** @param {any[]} pairs */
const factPairs = (pairs) => el("dl", { class: "facts" }, pairs.filter(Boolean).map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));

/** @param {HTMLElement} place @param {string} id */
async function drawChain(place, id) {
  const title = el("h3", {}, t("audit.chain"));
  mount(place, title, loading());
  try {
    const row = await get(`/api/proposals/${encodeURIComponent(id)}`);
    mount(place, el("div", { class: "row-line" }, title, statePill(row)), steps(row));
  } catch (error) {
    mount(place, title, el("p", { class: "muted" }, sentence(error)));
  }
}

/**
 * One entry by its number, alone.
 * @param {HTMLElement} place
 * @param {string} seq
 * @param {any[]} [around] what stands before it
 */
export async function showEntry(place, seq, around = []) {
  mount(place, ...around, loading());
  try {
    const entry = await get(`/api/audit/${encodeURIComponent(seq)}`);
    mount(place, ...around, el("article", { class: "card" }, el("p", { class: "muted small" }, t("audit.entry", { seq: entry.seq })), entryDetail(entry)));
  } catch (error) {
    const isMissing = error instanceof ApiError && error.status === 404;
    mount(place, ...around, isMissing ? empty("unsure", t("audit.no_entry", { seq })) : cannotTell(error, () => void showEntry(place, seq, around)));
  }
}
