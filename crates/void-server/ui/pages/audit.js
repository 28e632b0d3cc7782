// @ts-check
// The Audit: everything that was asked, decided and done, in the order it was recorded.

import { actions } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { onConnection, onEvent } from "../lib/live.js";
import { clock, day } from "../lib/time.js";
import { t } from "../lib/words.js";
import { Book, seqAt } from "../audit/book.js";
import { entryDetail, showEntry } from "../audit/detail.js";
import { auditTools } from "../audit/tools.js";
import { timeline } from "../audit/timeline.js";
import { whoWords } from "../audit/words.js";
import { cannotTell, empty, loading } from "../parts/empties.js";

const GATHER_MS = 400;
/** More than this on the first page, and the book is opened anew. */
const FRESH_MAX = 400;
/** Further down than this, what is new waits to be asked for. */
const CALM_PX = 240;
const KINDS = [
  "proposal.",
  "turn.",
  "node.",
  "host.",
  "agent.",
  "topology.",
  "message.",
  "token.",
  "session.",
  "freeze.",
  "notification.",
  "pairing.",
  "bridge.",
  "backup.",
  "access.",
  "passkey.",
  "password.",
  "setup_link.",
  "decision.",
  "store.",
  "server.",
  "quarantine.",
  "mute.",
  "instance.",
  "clock.",
  "audit.",
  "refusals.",
  "service.",
  "space.",
  "project.",
  "page.",
  "task.",
  "ref.",
  "attachment.",
  "conversation.",
];
const OUTCOMES = [
  "created",
  "approved",
  "verified",
  "executed",
  "failed",
  "rejected",
  "refused",
  "expired",
  "cancelled",
  "unknown",
];
const WHO = ["owner", "agent", "node", "system"];

/** @param {{parts: string[], query: URLSearchParams}} route */
export function auditPage(route) {
  const wide = matchMedia("(min-width: 1440px)");
  const seq = /^\d+$/.test(route.parts[0] ?? "") ? route.parts[0] : undefined;
  if (seq && !wide.matches) return entryAlone(seq, filtersOf(route.query));
  return whole(route, wide, seq);
}

/** @param {URLSearchParams} query @returns {import("../audit/book.js").Filters} */
const filtersOf = (query) => ({
  actor: query.get("actor") ?? "",
  verb: query.get("verb") ?? "",
  subject: query.get("subject") ?? "",
  tier: query.get("tier") ?? "",
});

/**
 * Where one is: the filters, and the entry that is open.
 * @param {import("../audit/book.js").Filters} filters
 * @param {number} [seq]
 */
function addressOf(filters, seq) {
  const kept = new URLSearchParams(Object.entries(filters).filter(([, value]) => value));
  return `#/audit${seq === undefined ? "" : `/${seq}`}${kept.size > 0 ? `?${kept}` : ""}`;
}

/** @param {string} seq @param {import("../audit/book.js").Filters} filters of the list that it was opened in */
function entryAlone(seq, filters) {
  const node = el("div", { class: "stack audit" });
  void showEntry(node, seq, {
    hrefOf: (other) => addressOf(filters, other),
    around: [
      el(
        "nav",
        { class: "row-line", "aria-label": t("audit.ways") },
        el("a", { href: addressOf(filters), class: "way" }, t("audit.back")),
        el("a", { href: `#/audit?at=${seq}`, class: "way" }, t("audit.in_place")),
      ),
    ],
  });
  return { node, title: t("nav.audit") };
}

/** What was chosen or typed. @param {Event} event */
const valueOf = ({ target }) => /** @type {HTMLInputElement | HTMLSelectElement} */ (target).value;

/** @param {{query: URLSearchParams}} route @param {MediaQueryList} wide @param {string | undefined} seq */
function whole(route, wide, seq) {
  const { query } = route;
  const filters = filtersOf(query);
  let book = new Book(filters);
  /** @type {Set<string>} */
  const seenActors = new Set();
  const place = el("div", { class: "stack" }, loading());
  const fresh = el("div", { class: "fresh", role: "status" });
  const bar = el("div", { class: "audit-filters" });
  const foldWords = el("summary");
  const fold = /** @type {HTMLDetailsElement} */ (el("details", { class: "audit-fold" }, foldWords, bar));
  const foot = el("div", { class: "stack", role: "status" });
  const detail = el("div", { class: "detail audit-detail" }, el("p", { class: "muted choose" }, t("audit.choose")));
  const tools = auditTools(() => book.loaded);
  const list = timeline({
    book: () => book,
    choose: (entry) => {
      if (!wide.matches) return false;
      mount(
        detail,
        el(
          "article",
          { class: "card" },
          el("p", { class: "muted small" }, t("audit.entry", { seq: entry.seq })),
          entryDetail(entry, { hrefOf: (other) => addressOf(filters, other) }),
        ),
      );
      detail.scrollTop = 0;
      return true;
    },
    address: (entry) => addressOf(filters, entry),
    loaded: () => drawFoot(),
  });
  const node = el(
    "div",
    { class: "audit audit-split" },
    el("div", { class: "stack" }, tools.node, fold, place),
    detail,
  );
  let isStopped = false;
  /** What came and is not shown yet. @type {import("../audit/words.js").Entry[]} */
  let held = [];
  /** So much came that the book will be opened anew; none of it is kept. */
  let isMuch = false;
  let tellNamed = () => {};
  /** The names of actions are in the words of entries; rows that are drawn without them would grow. */
  const named = new Promise((resolve) => {
    tellNamed = () => resolve(null);
  });

  const open = async (/** @type {number} */ at = 0) => {
    const mine = new Book(filters);
    book = mine;
    held = [];
    isMuch = false;
    mount(fresh);
    try {
      await Promise.all([mine.open(), named]);
    } catch (error) {
      if (mine === book)
        mount(
          place,
          cannotTell(error, () => void open(at)),
        );
      return;
    }
    if (mine !== book || isStopped) return;
    mount(place, fresh, list.node, foot);
    list.show();
    drawFoot();
    if (at > 0 && mine.isWhole) await list.reveal(at);
  };
  const drawFoot = () => {
    for (const entry of book.pages.get(0) ?? []) seenActors.add(entry.actor);
    drawFilters();
    tools.update(book.head, book.isWhole ? book.pages.get(0)?.[0]?.at : undefined);
    const found = book.isWhole ? book.top : book.loaded.length;
    list.node.hidden = found === 0;
    const parts = [];
    if (book.isPaused && book.reached)
      parts.push(
        el("p", { class: "muted" }, t("audit.reached", { day: day(book.reached.at), at: clock(book.reached.at) })),
        el("div", {}, el("button", { type: "button", class: "button", onclick: () => void goOn() }, t("audit.go_on"))),
      );
    else if (found === 0 && book.next === null)
      parts.push(
        book.isWhole
          ? empty("resting", t("audit.empty"))
          : empty(
              "resting",
              t("audit.filtered"),
              el(
                "p",
                {},
                el(
                  "button",
                  {
                    type: "button",
                    class: "button",
                    onclick: () => set({ actor: "", verb: "", subject: "", tier: "" }),
                  },
                  t("audit.clear"),
                ),
              ),
            ),
      );
    else if (!book.isWhole && book.next === null)
      parts.push(el("p", { class: "muted small" }, t("audit.end", { n: found })));
    mount(foot, ...parts);
  };
  const goOn = async () => {
    mount(foot, loading());
    try {
      await book.goOn();
    } catch (error) {
      mount(
        foot,
        cannotTell(error, () => void goOn()),
      );
      return;
    }
    list.show();
    drawFoot();
  };
  /** @param {Partial<import("../audit/book.js").Filters>} next */
  const set = (next) => {
    Object.assign(filters, next);
    history.replaceState(null, "", addressOf(filters));
    scrollTo(0, 0);
    drawFilters();
    void open();
  };
  const drawFilters = () => {
    const names = [...seenActors].filter((actor) => actor.startsWith("agent-") || actor.startsWith("node-")).sort();
    const stamp = JSON.stringify([names, filters, book.isWhole]);
    if (bar.dataset.stamp === stamp) return;
    const used = Object.values(filters).filter(Boolean).length;
    mount(foldWords, used > 0 ? t("audit.filters_on", { n: used }) : t("audit.filters"));
    if (used > 0) fold.open = true;
    bar.dataset.stamp = stamp;
    const focused = /** @type {HTMLElement | null} */ (
      bar.contains(document.activeElement) ? document.activeElement : null
    )?.dataset.name;
    mount(
      bar,
      select("actor", t("audit.filter.who"), [
        ["", t("audit.everyone")],
        ...WHO.map((who) => /** @type {[string, string]} */ ([who, t(`audit.kind_of.${who}`)])),
        ...names.map((name) => /** @type {[string, string]} */ ([name, whoWords(name)])),
      ]),
      select(
        "verb",
        t("audit.filter.what"),
        [
          ["", t("audit.everything")],
          ["-turn.", t("audit.no_chat")],
          ...KINDS.map((verb) => /** @type {[string, string]} */ ([verb, t(`audit.kind.${verb.slice(0, -1)}`)])),
        ],
        OUTCOMES.map((word) => [`proposal.${word}`, t(`audit.outcome.${word}`)]),
      ),
      select("tier", t("inbox.tier"), [
        ["", t("inbox.all_tiers")],
        ["safe", t("tier.safe")],
        ["risky", t("tier.risky")],
      ]),
      book.isWhole ? jump() : null,
      filters.subject
        ? el(
            "p",
            { class: "subject" },
            el("span", { class: "wrap" }, t("audit.about", { subject: filters.subject })),
            el(
              "button",
              { type: "button", class: "button small", onclick: () => set({ subject: "" }) },
              t("audit.not_only"),
            ),
          )
        : null,
    );
    if (focused) /** @type {HTMLElement | null} */ (bar.querySelector(`[data-name="${focused}"]`))?.focus();
  };
  /**
   * @param {"actor" | "verb" | "tier"} name
   * @param {string} label
   * @param {[string, string][]} all
   * @param {[string, string][]} [outcomes]
   */
  const select = (name, label, all, outcomes = []) => {
    const option = (/** @type {[string, string]} */ [value, word]) =>
      el("option", { value, selected: value === filters[name] }, word);
    const isForeign = ![...all, ...outcomes].some(([value]) => value === filters[name]);
    return el(
      "label",
      { class: "field" },
      el("span", {}, label),
      el(
        "select",
        {
          class: "input",
          "data-name": name,
          onchange: (/** @type {Event} */ event) => set({ [name]: valueOf(event) }),
        },
        all.map(option),
        isForeign ? option([filters[name], filters[name]]) : null,
        outcomes.length > 0 ? el("optgroup", { label: t("audit.outcomes") }, outcomes.map(option)) : null,
      ),
    );
  };
  const jump = () =>
    el(
      "label",
      { class: "field" },
      el("span", {}, t("audit.jump")),
      el("input", {
        class: "input",
        type: "date",
        "data-name": "jump",
        onchange: (/** @type {Event} */ event) => void goToDay(valueOf(event)),
      }),
    );
  /** @param {string} wanted */
  const goToDay = async (wanted) => {
    const end = new Date(`${wanted}T23:59:59.999`).getTime();
    if (Number.isNaN(end) || !book.isWhole) return;
    try {
      await list.reveal(await seqAt(book.top, end));
    } catch (error) {
      mount(fresh, cannotTell(error));
    }
  };

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const look = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void readNews(), GATHER_MS);
  };
  const readNews = async () => {
    const mine = book;
    if (mine.newest === 0) return;
    let news;
    try {
      news = await mine.news();
    } catch {
      // The frame says that the server is away; the next event or the way back looks again.
      return;
    }
    if (mine !== book || isStopped) return;
    if (!isMuch) held = [...news.entries, ...held];
    isMuch ||= news.isGap || held.length + (mine.pages.get(0)?.length ?? 0) > FRESH_MAX;
    if (isMuch) held = [];
    if (held.length === 0 && !isMuch) return;
    if (scrollY >= CALM_PX) offer();
    else if (isMuch) void open();
    else take();
  };
  const take = () => {
    book.prepend(held);
    held = [];
    mount(fresh);
    list.show();
    drawFoot();
  };
  const offer = () =>
    mount(
      fresh,
      el(
        "button",
        {
          type: "button",
          class: "button small",
          onclick: () => {
            scrollTo(0, 0);
            if (isMuch) void open();
            else take();
          },
        },
        isMuch ? t("audit.many_new") : t("audit.new", { n: held.length }),
      ),
    );

  drawFilters();
  let wasAway = false;
  const offs = [
    onEvent(look),
    actions.watch(() => {
      tellNamed();
      if (list.node.isConnected) list.redraw();
    }),
    onConnection(({ kind, isFirst }) => {
      if (kind === "live" && wasAway) look();
      wasAway = kind !== "live" && !isFirst;
    }),
  ];
  const at = Number(seq ?? query.get("at") ?? 0);
  if (seq) {
    list.mark(Number(seq));
    void showEntry(detail, seq, { hrefOf: (other) => addressOf(filters, other) });
  }
  void open(at);
  // The first time of day that is written costs more than all others; not in the same breath as the rows.
  setTimeout(() => {
    const now = new Date().toISOString();
    clock(now);
    day(now);
  });
  return {
    node,
    title: t("nav.audit"),
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
      list.stop();
      for (const off of offs) off();
    },
    keys: {
      j: () => list.move(1),
      k: () => list.move(-1),
      "/": () => {
        fold.open = true;
        /** @type {HTMLElement | null} */ (bar.querySelector("select"))?.focus();
      },
    },
  };
}
