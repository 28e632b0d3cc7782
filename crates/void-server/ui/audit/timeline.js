// @ts-check
// The record as a timeline by day. Pages come as one scrolls; only those near the eye are in the page.

import { sentence } from "../lib/api.js";
import { el, keyed, mount, visible } from "../lib/dom.js";
import { clock, day } from "../lib/time.js";
import { t } from "../lib/words.js";
import { shape } from "../parts/states.js";
import { windowed } from "../parts/windows.js";
import { PAGE_ENTRIES } from "./book.js";
import { entryDetail } from "./detail.js";
import { actorWords, entryShape, entryWords, isAboutProposal } from "./words.js";

/** @typedef {import("./words.js").Entry} Entry */
/**
 * What belongs to one request is one line, told by its newest step.
 * @typedef {{key: string, entry: Entry, steps: Entry[]}} Line
 */
/** @typedef {{key: string, isFirst: boolean, lines: Line[]}} Day */

const ROW_PX = 45;
const CARD_PX = 69;
/** As in the style sheet: so wide, an entry is one line. */
const ONE_LINE_FROM = 600;
/** A page that flies by is not asked for. */
const SETTLE_MS = 120;

/**
 * One line for each request of a page, where its newest step is; everything else is its own line.
 * @param {Entry[]} entries the newest first
 * @returns {Line[]}
 */
function linesOf(entries) {
  /** @type {Map<string, Line>} */
  const lines = new Map();
  for (const entry of entries) {
    const key = isAboutProposal(entry) ? `request-${entry.subject}` : String(entry.seq);
    const known = lines.get(key);
    if (known) known.steps.push(entry);
    else lines.set(key, { key, entry, steps: [entry] });
  }
  return [...lines.values()];
}

/** Who asked and who decided, as far as this page knows. @param {Entry} entry @param {Entry[]} steps */
function lineWho(entry, steps) {
  const asked = steps.find(({ verb }) => verb === "proposal.created");
  const decided = steps.find(({ verb }) =>
    ["proposal.approved", "proposal.rejected", "proposal.cancelled"].includes(verb),
  );
  if (!asked || !decided) return actorWords(asked ?? decided ?? entry);
  const isPolicy = actorWords(decided) === t("who.policy");
  return t(isPolicy ? "audit.asked_policy" : "audit.asked_decided", {
    asked: actorWords(asked),
    decided: actorWords(decided),
  });
}

/**
 * @param {object} how
 * @param {() => import("./book.js").Book} how.book
 * @param {(entry: Entry) => boolean} how.choose shows an entry elsewhere; false where it folds out in place
 * @param {(seq?: number) => string} how.address of the list as it is filtered, with an entry open or none
 * @param {() => void} how.loaded something was loaded
 */
export function timeline({ book, choose, address, loaded }) {
  const holder = el("div", { class: "timeline" });
  /** @type {Set<number>} */
  const opened = new Set();
  /** @type {number | null} */
  let current = null;
  const rowHeight = () => (holder.clientWidth >= ONE_LINE_FROM ? ROW_PX : CARD_PX);
  const list = windowed(holder, {
    make: () => el("div", { class: "chunk" }),
    draw: (chunk, index) => {
      chunk.style.removeProperty("height");
      const entries = book().pages.get(index);
      if (entries) return drawPage(chunk, index, entries);
      chunk.style.setProperty("height", `${guess(index)}px`);
      mount(chunk, el("p", { class: "muted waiting-page", role: "status" }, t("loading")));
      setTimeout(() => {
        if (list.isNear(index)) void load(index);
      }, SETTLE_MS);
      return undefined;
    },
    blank: (chunk, height) => {
      mount(chunk);
      chunk.style.setProperty("height", `${Math.round(height)}px`);
    },
    guess: (index) => guess(index),
  });
  const guess = (/** @type {number} */ index) =>
    book().isWhole ? Math.min(PAGE_ENTRIES, book().top - index * PAGE_ENTRIES) * rowHeight() : 8 * rowHeight();

  /** @param {number} index */
  const load = async (index) => {
    const mine = book();
    try {
      await mine.load(index);
    } catch (error) {
      const chunk = list.chunk(index);
      if (mine === book() && chunk)
        mount(
          chunk,
          el(
            "div",
            { class: "waiting-page row-line", role: "alert" },
            el("span", {}, sentence(error)),
            el(
              "button",
              {
                type: "button",
                class: "button small",
                onclick: () => {
                  list.redraw(index);
                },
              },
              t("retry"),
            ),
          ),
        );
      return;
    }
    if (mine !== book()) return;
    mine.forget(index);
    if (mine.isWhole) list.redraw(index);
    else list.show(mine.count);
    loaded();
  };

  /** @param {HTMLElement} chunk @param {number} index @param {Entry[]} entries */
  const drawPage = (chunk, index, entries) => {
    const before =
      index > 0
        ? book()
            .pages.get(index - 1)
            ?.at(-1)
        : undefined;
    /** @type {Day[]} */
    const days = [];
    for (const one of linesOf(entries)) {
      const its = new Date(one.entry.at).toDateString();
      const last = days.at(-1);
      if (last?.key === its) last.lines.push(one);
      else
        days.push({
          key: its,
          isFirst: days.length > 0 || !before || new Date(before.at).toDateString() !== its,
          lines: [one],
        });
    }
    keyed(chunk, days, (one) => one.key, daySection);
  };

  /** @param {Day} one */
  const daySection = (one) => {
    const title = el("h2", { class: "day" }, day(one.lines[0]?.entry.at ?? ""));
    const lines = el("ul", { class: "lines" });
    const node = /** @type {HTMLElement & {update: (one: Day) => void}} */ (el("section", {}, title, lines));
    node.update = (next) => {
      title.hidden = !next.isFirst;
      keyed(lines, next.lines, (its) => its.key, line);
    };
    node.update(one);
    return node;
  };

  /** @param {Line} first @returns {HTMLElement & {update: (next?: Line) => void}} */
  const line = (first) => {
    let { entry, steps } = first;
    const words = el("span", { class: "words" });
    const at = el("time", { class: "at" });
    const mark = el("span");
    const who = el("span", { class: "who" });
    const link = el(
      "a",
      {
        onclick: (/** @type {MouseEvent} */ event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
          event.preventDefault();
          if (choose(entry)) current = entry.seq;
          else if (!opened.delete(entry.seq)) opened.add(entry.seq);
          history.replaceState(
            null,
            "",
            address(opened.has(entry.seq) || current === entry.seq ? entry.seq : undefined),
          );
          for (const other of holder.querySelectorAll("[aria-current]")) other.removeAttribute("aria-current");
          node.update();
        },
      },
      at,
      mark,
      words,
      who,
    );
    const node = /** @type {HTMLElement & {update: (next?: Line) => void}} */ (el("li", {}, link));
    /** @type {HTMLElement | null} */
    let more = null;
    let drawn = 0;
    const drawLine = () => {
      const look = entryShape(entry);
      drawn = entry.seq;
      link.setAttribute("href", `#/audit/${entry.seq}`);
      node.dataset.seqs = steps.map((step) => step.seq).join(" ");
      /** @type {HTMLTimeElement} */ (at).dateTime = entry.at;
      mount(at, clock(entry.at, { isDayKnown: true, hasSeconds: true }));
      mark.className = `mark ${look?.[1] ?? ""}`;
      mount(mark, look ? shape(look[0]) : null);
      mount(who, lineWho(entry, steps));
    };
    node.update = (next) => {
      if (next) {
        const wasOpen = opened.delete(entry.seq);
        ({ entry, steps } = next);
        if (wasOpen) opened.add(entry.seq);
        if (wasOpen && drawn !== entry.seq) {
          more?.remove();
          more = null;
        }
      }
      if (drawn !== entry.seq || node.dataset.seqs !== steps.map((step) => step.seq).join(" ")) drawLine();
      const said = visible(entryWords(entry));
      if (words.textContent !== said) words.textContent = said;
      const isOpen = opened.has(entry.seq);
      link.setAttribute("aria-expanded", String(isOpen));
      if (current === entry.seq) link.setAttribute("aria-current", "true");
      if (isOpen && !more) {
        more = el("div", { class: "entry-more" }, entryDetail(entry, { isTitled: false, hrefOf: address }));
        node.append(more);
      } else if (!isOpen && more) {
        more.remove();
        more = null;
      }
    };
    node.update();
    return node;
  };

  return {
    node: holder,
    show: () => list.show(book().count),
    redraw: () => list.show(book().count),
    stop: list.stop,
    /** @param {number} [seq] */
    mark: (seq) => {
      current = seq ?? null;
    },
    /** Brings a number into view, wherever it is. @param {number} seq */
    reveal: async (seq) => {
      const index = book().pageOf(seq);
      list.chunk(index)?.scrollIntoView({ block: "start" });
      await load(index);
      // The page is drawn once the browser has seen where it is.
      for (let tries = 0; tries < 20; tries += 1) {
        const link = /** @type {HTMLElement | null} */ (holder.querySelector(`li[data-seqs~="${seq}"] > a`));
        if (link) {
          link.scrollIntoView({ block: "center" });
          link.focus({ preventScroll: true });
          return;
        }
        await new Promise((resolve) => {
          setTimeout(resolve, 50);
        });
      }
    },
    /** @param {number} by */
    move: (by) => {
      const links = /** @type {HTMLElement[]} */ ([...holder.querySelectorAll("li > a")]);
      const at = links.findIndex((link) => link === document.activeElement);
      const first = links.findIndex((link) => link.getBoundingClientRect().top > 60);
      links[at < 0 ? Math.max(0, first) : Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
    },
  };
}
