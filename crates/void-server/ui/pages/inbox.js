// @ts-check
// The Inbox: everything that waits for the owner, and what became of the rest.

import { bulkReject } from "../inbox/bulk.js";
import { inboxFilter } from "../inbox/filter.js";
import { ApiError, get, sentence } from "../lib/api.js";
import { ended, home, lookAgain, LOOK_OFTEN_MS } from "../lib/data.js";
import { el, keyed, mount } from "../lib/dom.js";
import { isRow, keyOf } from "../lib/items.js";
import { isLive, onConnection } from "../lib/live.js";
import { requesterName } from "../lib/people.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { proposalCard } from "../parts/cards.js";
import { questionCard } from "../parts/questions.js";
import { decideTogether } from "../parts/deciding.js";
import { cannotTell, empty, loading } from "../parts/empties.js";
import { joinCard } from "../parts/join-card.js";
import { grouped } from "../parts/repeats.js";
import { statePill, tierPill } from "../parts/states.js";
import { rowTitle } from "../parts/titles.js";
import { toast } from "../parts/toasts.js";
import { windowed } from "../parts/windows.js";
import { currentRoute, goTo } from "../shell/router.js";
import { tellSubject } from "../shell/subjects.js";

/** @import { Item } from "../inbox/filter.js" */
/** @import { QuestionItem } from "../types/api.js" */

/**
 * The line above the drafts of one turn.
 * @typedef {{kind: "turn", id: string, drafts: string[], by: string}} TurnLine
 * @typedef {Item | TurnLine} Line
 */

/** Rows that come and go together, and how high one is before it was seen. */
const CHUNK_ROWS = 50;
const ROW_PX = 75;
/** How Little Blue begins the reason for what somebody wished. */
const SAID_IN_CHAT = /^Said in this chat: (?=")/;

/** @typedef {{parts: string[], query: URLSearchParams}} Route */

/** @typedef {"waiting" | "drafts" | "done"} Tab */

/** @param {Route} route @returns {Tab} */
const tabOf = ({ parts: [first], query }) =>
  first === "done" ? "done" : first === "drafts" || query.has("drafts") ? "drafts" : "waiting";

/** Which card is open. @param {Route} route */
const chosenIn = ({ parts: [first] }) => (first === "done" || first === "drafts" ? undefined : first);

/** @param {Route} route */
export function inboxPage(route) {
  let chosen = chosenIn(route);
  const tab = tabOf(route);
  const isDone = tab === "done";
  const list = el("div", { class: "list", role: "group", "aria-label": t(`inbox.${tab}`) });
  const detail = el("div", { class: "detail" });
  const foot = el("div", { class: "stack" });
  const isOpen = () => Boolean(chosen);
  /** @type {Item[]} */
  let items = [];
  /** Those that the filter lets through. @type {Line[]} */
  let shown = [];
  /** @type {string | null} */
  let next = null;
  /** Whether the server has said what there is. */
  let isRead = false;
  const source = isDone ? ended : home;

  const draw = () => {
    if (!isRead) return;
    const ofTab = isDone ? items : items.filter((item) => (item.kind === "draft") === (tab === "drafts"));
    const passed = filter.pass(ofTab);
    shown = isDone ? grouped(passed.filter(isRow)) : tab === "drafts" ? byTurn(passed) : passed;
    drawTabs();
    list.hidden = shown.length === 0;
    chunks.show(Math.ceil(shown.length / CHUNK_ROWS));
    bulk.draw();
    const isHidden = shown.length === 0 && ofTab.length > 0;
    const drafts = home.value?.inbox.counts.draft ?? 0;
    mount(
      foot,
      isHidden ? el("p", { class: "muted" }, t("inbox.filtered")) : null,
      ofTab.length === 0
        ? source.error
          ? cannotTell(source.error, () => void source.read())
          : !isLive()
            ? empty("unsure", t("inbox.not_connected"))
            : isDone
              ? empty("resting", t("inbox.none_done"))
              : tab === "drafts"
                ? empty("resting", t("inbox.no_drafts"))
                : empty(
                    "resting",
                    t("inbox.quiet"),
                    home.value ? el("p", { class: "small" }, t("home.seen"), " ", time(home.value.status.at)) : null,
                    drafts > 0
                      ? el(
                          "p",
                          {},
                          t("inbox.elsewhere_drafts", { n: drafts }),
                          " ",
                          el("a", { href: "#/inbox/drafts" }, t("inbox.to_drafts")),
                        )
                      : null,
                  )
        : null,
      next && filter.isOn() ? el("p", { class: "muted small" }, t("inbox.looked", { n: items.length })) : null,
      next || isHidden
        ? el(
            "div",
            { class: "row-line" },
            isHidden
              ? el("button", { type: "button", class: "button", onclick: () => filter.clear() }, t("inbox.unfilter"))
              : null,
            next
              ? el("button", { type: "button", class: "button", onclick: () => void loadMore() }, t("inbox.more"))
              : null,
          )
        : null,
    );
  };
  const chunks = windowed(list, {
    make: () => el("ul", { class: "rows" }),
    draw: (chunk, index) => {
      chunk.style.removeProperty("min-height");
      keyed(chunk, shown.slice(index * CHUNK_ROWS, (index + 1) * CHUNK_ROWS), keyOf, rowNode);
    },
    blank: (chunk, height) => {
      mount(chunk);
      chunk.style.setProperty("min-height", `${height}px`);
    },
    guess: (index) => Math.min(CHUNK_ROWS, shown.length - index * CHUNK_ROWS) * ROW_PX,
  });
  /** @param {string} key @param {string | undefined} code */
  const isChosen = (key, code) => chosen === key || (chosen !== undefined && chosen === code);
  /** @param {Line} item */
  const rowNode = (item) => {
    if (item.kind === "turn") return turnHead(item);
    if (item.kind === "question") return questionRow(item);
    const isJoin = item.kind === "join";
    const title = isJoin ? t("join.title", { name: item.name }) : rowTitle(item);
    const code = isJoin ? undefined : item.code;
    return el(
      "li",
      {},
      el(
        "a",
        {
          href: `#/inbox/${keyOf(item)}${tab === "drafts" ? "?drafts" : ""}`,
          "data-code": code ?? "",
          "aria-current": isChosen(keyOf(item), code) ? "true" : null,
          class: "inbox-row",
        },
        el(
          "span",
          { class: "grow" },
          el("span", { class: "title wrap" }, title),
          el("span", { class: "muted small line" }, isJoin ? item.from : rowWords(item)),
        ),
        el(
          "span",
          { class: "side" },
          isJoin ? null : isDone || item.kind === "failure" ? statePill(item) : tierPill(item),
          el("span", { class: "muted small" }, time(isJoin ? item.asked_at : (item.resolved_at ?? item.created_at))),
        ),
      ),
    );
  };
  /** @param {QuestionItem} item */
  const questionRow = (item) =>
    el(
      "li",
      {},
      el(
        "a",
        {
          href: `#/inbox/${keyOf(item)}`,
          "data-code": item.code,
          "aria-current": isChosen(keyOf(item), item.code) ? "true" : null,
          class: "inbox-row",
        },
        el(
          "span",
          { class: "grow" },
          el("span", { class: "title wrap" }, t("question.title", { name: item.asker })),
          el("span", { class: "muted small line" }, item.text),
        ),
        el("span", { class: "side" }, el("span", { class: "muted small" }, time(item.asked_at))),
      ),
    );
  /** How many pages were loaded beyond the first one. */
  let pages = 0;
  /** Which reading of them is the last one. */
  let reading = 0;
  const loadMore = async () => {
    pages += 1;
    try {
      await readBeyond();
    } catch (error) {
      pages -= 1;
      toast(sentence(error), { isProblem: true });
    }
  };
  /** Everything after the first page anew: rows move up when others are decided. */
  const readBeyond = async () => {
    const mine = ++reading;
    const first = home.value?.inbox;
    if (!first) return;
    /** @type {Item[]} */
    let all = first.items;
    let cursor = first.next;
    for (let page = 0; page < pages && cursor; page += 1) {
      const more = await get(`/api/inbox?cursor=${encodeURIComponent(cursor)}`);
      all = together(all, more.items);
      cursor = more.next;
    }
    if (mine !== reading) return;
    items = all;
    next = cursor;
    draw();
  };

  const bulk = bulkReject(() => (isDone ? [] : shown.filter((item) => item.kind !== "turn")));
  const filter = inboxFilter(draw, () => list.querySelector("a")?.focus());
  const nav = el("nav", { class: "subnav", "aria-label": t("nav.inbox") });
  let tabStamp = "";
  const drawTabs = () => {
    const counts = home.value?.inbox.counts;
    const drafts = counts?.draft ?? 0;
    const waiting = counts ? counts.proposal - drafts + counts.join + counts.question + counts.failure : 0;
    const stamp = `${waiting} ${drafts}`;
    if (stamp === tabStamp) return;
    tabStamp = stamp;
    mount(nav, ...tabLinks(tab, { waiting, drafts, done: 0 }));
  };
  const left = el("div", { class: "stack" }, nav, filter.bar, list, foot, bulk.node);
  drawTabs();
  const node = el("div", { class: "split" }, left, detail);
  const sizes = new ResizeObserver(() => {
    node.classList.toggle("is-long", left.offsetHeight > innerHeight);
    node.style.setProperty("--above", `${Math.round(node.getBoundingClientRect().top + scrollY)}px`);
  });
  // What is above it, and so its place, changes the height of the whole.
  for (const one of [left, document.body]) sizes.observe(one);
  mount(foot, loading());
  const off = source.watch(() => {
    const { value, error } = source;
    if (!value) return void mount(foot, error ? cannotTell(error, () => void source.read()) : loading());
    isRead = true;
    if (!("inbox" in value)) items = value.recent;
    else {
      // What is beyond the first page stays as it was until it is read again; if that fails, until then.
      if (pages > 0) return void readBeyond().catch(() => {});
      items = value.inbox.items;
      next = value.inbox.next;
    }
    draw();
  });
  const offLine = onConnection(draw);
  // A card says when its services were looked at, an empty list when it was. Pages beyond the first would be read too.
  const offLook = lookAgain(() => {
    if (!isDone && pages === 0) home.refresh();
  }, LOOK_OFTEN_MS);
  /** @param {Route} to */
  const drawDetail = (to) => {
    node.classList.toggle("has-detail", isOpen());
    if (isOpen() && chosen) void showDetail(detail, chosen, to.query.has("settle"));
    else mount(detail, el("p", { class: "muted choose" }, t("inbox.choose")));
  };
  drawDetail(route);
  return {
    node,
    title: t("nav.inbox"),
    // Where list and card are beside each other the list stays as it is, with its place and what was loaded.
    go: (/** @type {Route} */ to) => {
      if (tabOf(to) !== tab || !left.checkVisibility() || !detail.checkVisibility()) return false;
      chosen = chosenIn(to);
      for (const link of list.querySelectorAll("a")) {
        const isIt = isChosen(
          /** @type {HTMLElement} */ (link.parentElement).dataset.key ?? "",
          link.dataset.code || undefined,
        );
        if (isIt) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
      drawDetail(to);
      return true;
    },
    stop: () => {
      off();
      offLine();
      offLook();
      filter.stop(currentRoute().page !== "inbox");
      chunks.stop();
      sizes.disconnect();
    },
    keys: { ...inboxKeys(list, detail, (key) => items.find((item) => keyOf(item) === key)), "/": () => filter.open() },
  };
}

/**
 * Who asked, how often in vain, and why; that it was said in a chat is on the card.
 * @param {import("../parts/repeats.js").RepeatedRow} item
 */
function rowWords(item) {
  const why = item.reason?.replace(SAID_IN_CHAT, "") ?? t("card.no_reason");
  return [requesterName(item.requested_by), ...(item.times ? [t("inbox.times", { n: item.times })] : []), why].join(
    " · ",
  );
}

/** Two parts of one list, each row once. @param {Item[]} first @param {Item[]} then */
function together(first, then) {
  const known = new Set(first.map(keyOf));
  return [...first, ...then.filter((item) => !known.has(keyOf(item)))];
}

/** @param {Tab} current @param {Record<Tab, number>} counts */
const tabLinks = (current, counts) =>
  /** @type {const} */ (["waiting", "drafts", "done"]).map((tab) =>
    el(
      "a",
      { href: tab === "waiting" ? "#/inbox" : `#/inbox/${tab}`, "aria-current": tab === current ? "page" : null },
      t(`inbox.${tab}`),
      counts[tab] > 0 ? el("span", { class: "count" }, counts[tab]) : null,
    ),
  );

/**
 * Drafts of one turn stand together, below a line that leads to deciding them together.
 * @param {Item[]} items
 * @returns {Line[]}
 */
function byTurn(items) {
  /** @type {Map<string, Item[]>} */
  const turns = new Map();
  for (const item of items) {
    const key = item.kind === "draft" && item.group ? item.group : keyOf(item);
    turns.set(key, [...(turns.get(key) ?? []), item]);
  }
  return [...turns].flatMap(([group, drafts]) => {
    const [first] = drafts;
    return drafts.length > 1 && first?.kind === "draft"
      ? [
          {
            kind: /** @type {const} */ ("turn"),
            id: `turn-${group}`,
            drafts: drafts.map(keyOf),
            by: requesterName(first.requested_by),
          },
          ...drafts,
        ]
      : drafts;
  });
}

/** @param {TurnLine} line */
const turnHead = ({ drafts, by }) =>
  el(
    "li",
    {},
    el(
      "div",
      { class: "item turn-head" },
      el("span", { class: "grow small muted" }, t("together.group", { n: drafts.length, name: by })),
      el(
        "button",
        { type: "button", class: "button small", onclick: () => decideTogether(drafts) },
        t("together.open", { n: drafts.length }),
      ),
    ),
  );

/**
 * @param {HTMLElement} place
 * @param {string} id
 * @param {boolean} isSettling whether somebody came to say what happened
 */
async function showDetail(place, id, isSettling) {
  const back = el("p", { class: "only-narrow" }, el("a", { href: "#/inbox" }, t("inbox.back")));
  const join = id.startsWith("join-") ? home.value?.inbox.items.find((item) => keyOf(item) === id) : null;
  if (id.startsWith("join-"))
    return mount(place, back, join?.kind === "join" ? joinCard(join) : el("p", { class: "muted" }, t("inbox.gone")));
  const asked = home.value?.inbox.items.find((item) => keyOf(item) === id);
  if (id.startsWith("question-"))
    return mount(
      place,
      back,
      asked?.kind === "question" ? questionCard(asked) : el("p", { class: "muted" }, t("inbox.gone")),
    );
  mount(place, back, loading());
  try {
    const row = await get(`/api/proposals/${encodeURIComponent(id)}`);
    tellSubject(row.code, "", row.id);
    const card = proposalCard(row);
    mount(place, back, card);
    if (isSettling) card.done();
  } catch (error) {
    mount(
      place,
      back,
      error instanceof ApiError && error.status === 404
        ? empty("unsure", t("inbox.unknown"))
        : cannotTell(error, () => void showDetail(place, id, isSettling)),
    );
  }
}

/**
 * `j` and `k` move, `a` and `r` open the two steps of the card, `e` leads to what would end it; none of
 * them decides.
 * @param {HTMLElement} list
 * @param {HTMLElement} detail
 * @param {(key: string) => Item | undefined} itemOf
 */
function inboxKeys(list, detail, itemOf) {
  /** @param {number} by */
  const move = (by) => {
    const links = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("a")]);
    const focused = links.findIndex((link) => link === document.activeElement);
    const at = focused >= 0 ? focused : links.findIndex((link) => link.getAttribute("aria-current"));
    links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
  };
  const card = () => /** @type {import("../parts/cards.js").CardNode | null} */ (detail.querySelector(".approval"));
  const done = () => {
    const link = list.querySelector("a:focus");
    const item =
      link && !link.hasAttribute("aria-current")
        ? itemOf(/** @type {HTMLElement} */ (link.parentElement).dataset.key ?? "")
        : null;
    const row = item && isRow(item) ? item : null;
    if (row?.status === "unknown") return goTo(`#/inbox/${row.id}?settle`);
    const status = item ? (row?.status ?? "pending") : card()?.done();
    if (status && status !== "unknown")
      toast(
        t(status === "pending" ? "done.waits" : ["approved", "running"].includes(status) ? "done.runs" : "done.ended"),
      );
    return undefined;
  };
  return {
    j: () => move(1),
    k: () => move(-1),
    a: () => card()?.ask("approve"),
    r: () => card()?.ask("reject"),
    e: done,
  };
}
