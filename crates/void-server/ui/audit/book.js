// @ts-check
// The record in pages. Without a filter the numbers have no gaps, so any page can be asked for at once,
// and pages far away are forgotten. With a filter, pages come one after the other.

import { get } from "../lib/api.js";

/** @import { AuditResponse } from "../types/api.js" */

export const PAGE_ENTRIES = 100;
/** The tier and what is left out are looked for, not asked for: so many pages, before somebody has to want more. */
const SCAN_PAGES = 20;
const SCAN_ENTRIES = 500;
/** So many fitting entries make a page. */
const ENOUGH = 60;
const KEPT_PAGES = 40;

/** @typedef {import("./words.js").Entry} Entry */
/**
 * A verb with a minus in front is left out.
 * @typedef {{actor: string, verb: string, subject: string, tier: string}} Filters
 */

export class Book {
  /** @param {Filters} filters */
  constructor(filters) {
    this.filters = filters;
    this.isWhole = !filters.actor && !filters.verb && !filters.subject && !filters.tier;
    /** The newest number when the book was opened; pages are counted from it. */
    this.top = 0;
    /** The newest number that was seen. */
    this.newest = 0;
    /** @type {{seq: number, hash: string} | null} */
    this.head = null;
    /** @type {Map<number, Entry[]>} */
    this.pages = new Map();
    /** Where the next page of a filtered book begins; null at the end. @type {string | null} */
    this.next = null;
    /** How far a filtered book has been looked through. @type {Entry | null} */
    this.reached = null;
    this.isPaused = false;
    /** @type {Map<number, Promise<void>>} */
    this.loading = new Map();
  }

  get count() {
    if (this.isWhole) return Math.max(1, Math.ceil(this.top / PAGE_ENTRIES));
    return this.pages.size + (this.next !== null && !this.isPaused ? 1 : 0);
  }

  /** On which page a number is, in a whole book. @param {number} seq */
  pageOf(seq) {
    return Math.max(0, Math.min(this.count - 1, Math.floor((this.top - seq) / PAGE_ENTRIES)));
  }

  /** Everything that is loaded, the newest first. @returns {Entry[]} */
  get loaded() {
    return [...this.pages.entries()].sort(([one], [other]) => one - other).flatMap(([, entries]) => entries);
  }

  async open() {
    if (this.isWhole) {
      const page = await get(`/api/audit?limit=${PAGE_ENTRIES}`);
      this.#heard(page);
      this.top = page.head?.seq ?? 0;
      this.pages.set(0, page.entries);
    } else {
      await this.#collect(null);
    }
  }

  /** @param {number} index */
  load(index) {
    const running = this.loading.get(index);
    if (running) return running;
    const mine = this.#load(index).finally(() => this.loading.delete(index));
    this.loading.set(index, mine);
    return mine;
  }

  /** @param {number} index */
  async #load(index) {
    if (this.pages.has(index)) return;
    if (!this.isWhole) {
      if (index === this.pages.size && this.next !== null) await this.#collect(this.next);
      return;
    }
    const { entries } = await get(`/api/audit?limit=${PAGE_ENTRIES}&cursor=${this.top - index * PAGE_ENTRIES + 1}`);
    this.pages.set(index, entries);
  }

  /** Forgets pages that are far from one. @param {number} index */
  forget(index) {
    if (!this.isWhole || this.pages.size <= KEPT_PAGES) return;
    const far = [...this.pages.keys()]
      .filter((page) => page !== 0)
      .sort((one, other) => Math.abs(other - index) - Math.abs(one - index));
    for (const page of far.slice(0, this.pages.size - KEPT_PAGES)) this.pages.delete(page);
  }

  async goOn() {
    this.isPaused = false;
    await this.load(this.pages.size);
  }

  /** What came since, the newest first. */
  async news() {
    const page = await this.#ask(null, PAGE_ENTRIES);
    const before = this.newest;
    this.#heard(page);
    const entries = page.entries.filter((entry) => entry.seq > before);
    // More than a page: the gap is not filled in, the book is opened anew.
    const isGap = entries.length === page.entries.length && page.next !== null && before > 0;
    return { entries: entries.filter((entry) => this.#fits(entry)), isGap };
  }

  /** @param {Entry[]} entries */
  prepend(entries) {
    this.pages.set(0, [...entries, ...(this.pages.get(0) ?? [])]);
  }

  /** @param {string | null} cursor */
  async #collect(cursor) {
    /** @type {Entry[]} */
    const found = [];
    let at = cursor;
    let isEnd = false;
    for (let page = 0; page < SCAN_PAGES && found.length < ENOUGH && !isEnd; page += 1) {
      const isSought = this.filters.tier !== "" || this.#leftOut() !== null;
      const answer = await this.#ask(at, isSought ? SCAN_ENTRIES : PAGE_ENTRIES);
      this.#heard(answer);
      found.push(...answer.entries.filter((entry) => this.#fits(entry)));
      this.reached = answer.entries.at(-1) ?? this.reached;
      at = answer.next;
      isEnd = at === null;
    }
    this.next = at;
    this.isPaused = !isEnd && found.length < ENOUGH;
    this.pages.set(this.pages.size, found);
  }

  /** @param {string | null} cursor @param {number} limit @returns {Promise<AuditResponse>} */
  #ask(cursor, limit) {
    const query = new URLSearchParams({ limit: String(limit) });
    if (cursor !== null) query.set("cursor", cursor);
    for (const name of /** @type {const} */ (["subject", "actor", "verb"]))
      if (this.filters[name] && !(name === "verb" && this.#leftOut())) query.set(name, this.filters[name]);
    return get(`/api/audit?${query}`);
  }

  /** @param {AuditResponse} page */
  #heard(page) {
    this.head = page.head ?? null;
    this.newest = Math.max(this.newest, page.head?.seq ?? 0);
  }

  /** How the verbs begin that are not wanted. */
  #leftOut() {
    return this.filters.verb.startsWith("-") ? this.filters.verb.slice(1) : null;
  }

  /** @param {Entry} entry */
  #fits(entry) {
    const leftOut = this.#leftOut();
    if (leftOut !== null && entry.verb.startsWith(leftOut)) return false;
    return !this.filters.tier || entry.detail.tier === this.filters.tier;
  }
}

/**
 * The newest entry of a moment or before it, found by halving.
 * @param {number} top
 * @param {number} moment
 */
export async function seqAt(top, moment) {
  let [low, high] = [1, top];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const { at } = await get(`/api/audit/${String(middle)}`);
    if (Date.parse(at) <= moment) low = middle;
    else high = middle - 1;
  }
  return low;
}
