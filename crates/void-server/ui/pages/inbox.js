// @ts-check
// The Inbox: everything that waits for the owner, and what became of the rest.

import { ApiError, get } from "../lib/api.js";
import { home, Resource } from "../lib/data.js";
import { el, keyed, mount } from "../lib/dom.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { joinCard, proposalCard } from "../parts/cards.js";
import { cannotTell, empty, loading } from "../parts/empties.js";
import { statePill, tierPill } from "../parts/states.js";
import { windowed } from "../parts/windows.js";

/** Rows that come and go together, and how high one is before it was seen. */
const CHUNK_ROWS = 50;
const ROW_PX = 65;

/** @typedef {{parts: string[], query: URLSearchParams}} Route */

/** @param {any} item */
const keyOf = (item) => item.id ?? `join-${item.name}`;

/** @param {Route} route */
export function inboxPage(route) {
  const chosen = route.parts[0];
  const isDone = chosen === "done";
  const list = el("div", { class: "list", role: "group", "aria-label": t(isDone ? "inbox.done" : "inbox.waiting") });
  const detail = el("div", { class: "detail" });
  const filters = el("div", { class: "row-line filters" });
  const foot = el("div", { class: "stack" });
  const isOpen = Boolean(chosen) && !isDone;
  const left = el("div", { class: "stack" }, tabs(isDone), filters, list, foot);
  const node = el("div", { class: `split${isOpen ? " has-detail" : ""}` }, left, detail);
  /** @type {any[]} */
  let items = [];
  /** @type {string | null} */
  let next = null;
  let tier = "";
  let agent = "";
  const ended = new Resource("/api/actions/recent?limit=200", /^proposal\./);

  const shown = () => items.filter((item) => (!tier || item.tier === tier) && (!agent || item.requested_by?.name === agent));
  const draw = () => {
    drawFilters();
    const all = shown();
    if (all.length === 0) {
      list.hidden = true;
      mount(foot, items.length > 0 ? el("p", { class: "muted" }, t("inbox.filtered")) : isDone ? empty("resting", t("inbox.none_done")) : empty("resting", t("inbox.quiet"), home.value ? el("p", { class: "small" }, t("home.seen"), " ", time(home.value.status.at)) : null));
      return;
    }
    list.hidden = false;
    chunks.show(Math.ceil(all.length / CHUNK_ROWS));
    mount(foot, next ? el("button", { type: "button", class: "button", onclick: () => void loadMore() }, t("inbox.more")) : null);
  };
  const chunks = windowed(list, {
    make: () => el("ul", { class: "rows" }),
    draw: (chunk, index) => {
      chunk.style.removeProperty("min-height");
      keyed(chunk, shown().slice(index * CHUNK_ROWS, (index + 1) * CHUNK_ROWS), keyOf, rowNode);
    },
    blank: (chunk, height) => {
      mount(chunk);
      chunk.style.setProperty("min-height", `${height}px`);
    },
    guess: (index) => Math.min(CHUNK_ROWS, shown().length - index * CHUNK_ROWS) * ROW_PX,
  });
  const drawFilters = () => {
    const names = [...new Set(items.map((item) => item.requested_by?.name).filter(Boolean))].sort();
    if (items.length < 4 && !tier && !agent) return mount(filters);
    const options = (/** @type {[string, string][]} */ all, /** @type {string} */ now) => all.map(([value, word]) => el("option", { value, selected: value === now }, word));
    const choose = (/** @type {string} */ label, /** @type {[string, string][]} */ all, /** @type {string} */ now, /** @type {(value: string) => void} */ set) =>
      el("label", { class: "inline" }, el("span", { class: "hidden-text" }, label), el("select", { class: "input", onchange: (/** @type {any} */ event) => { set(event.target.value); draw(); } }, ...options(all, now)));
    if (filters.childElementCount > 0 && filters.dataset.names === names.join()) return undefined;
    filters.dataset.names = names.join();
    return mount(filters,
      choose(t("inbox.tier"), [["", t("inbox.all_tiers")], ["risky", t("tier.risky")], ["safe", t("tier.safe")]], tier, (value) => { tier = value; }),
      choose(t("inbox.agent"), [["", t("inbox.all_agents")], ...names.map((name) => /** @type {[string, string]} */ ([name, name]))], agent, (value) => { agent = value; }));
  };
  /** @param {any} item */
  const rowNode = (item) => {
    const isJoin = item.kind === "join";
    const title = isJoin ? t("join.title", { name: item.name }) : item.label;
    const current = chosen === keyOf(item) || chosen === item.code;
    return el("li", {}, el("a", { href: `#/inbox/${keyOf(item)}`, "aria-current": current ? "true" : null, class: "inbox-row" },
      el("span", { class: "grow" }, el("span", { class: "title wrap" }, title), el("span", { class: "muted small line" }, isJoin ? item.from : `${item.requested_by.name} · ${item.reason ?? t("card.no_reason")}`)),
      el("span", { class: "side" }, isJoin ? null : isDone ? statePill(item) : tierPill(item), el("span", { class: "muted small" }, time(item.resolved_at ?? item.created_at ?? item.asked_at)))));
  };
  const loadMore = async () => {
    const page = await get(`/api/inbox?cursor=${next}`);
    items = [...items, ...page.items.filter((/** @type {any} */ item) => !items.some((other) => keyOf(other) === keyOf(item)))];
    next = page.next;
    draw();
  };

  mount(foot, loading());
  const source = isDone ? ended : home;
  const off = source.watch(() => {
    const { value, error } = source;
    if (!value) return void mount(foot, error ? cannotTell(error, () => void source.read()) : loading());
    if (isDone) items = value.recent;
    else {
      const first = value.inbox.items;
      // What was loaded beyond the first page stays, as long as it waits.
      const isBeyond = items.length > first.length && next !== null;
      items = isBeyond ? [...first, ...items.slice(first.length)] : first;
      if (!isBeyond) next = value.inbox.next;
    }
    draw();
  });
  if (isOpen && chosen) void showDetail(detail, chosen);
  else mount(detail, el("p", { class: "muted choose" }, t("inbox.choose")));
  return { node, title: t("nav.inbox"), stop: () => { off(); chunks.stop(); }, keys: inboxKeys(list, detail) };
}

/** @param {boolean} isDone */
function tabs(isDone) {
  const tab = (/** @type {string} */ href, /** @type {string} */ word, /** @type {boolean} */ current) => el("a", { href, "aria-current": current ? "page" : null }, word);
  return el("nav", { class: "subnav", "aria-label": t("nav.inbox") }, tab("#/inbox", t("inbox.waiting"), !isDone), tab("#/inbox/done", t("inbox.done"), isDone));
}

/** @param {HTMLElement} place @param {string} id */
async function showDetail(place, id) {
  const back = el("p", { class: "only-narrow" }, el("a", { href: "#/inbox" }, t("inbox.back")));
  const join = id.startsWith("join-") ? home.value?.inbox.items.find((/** @type {any} */ item) => keyOf(item) === id) : null;
  if (id.startsWith("join-")) return mount(place, back, join ? joinCard(join) : el("p", { class: "muted" }, t("inbox.gone")));
  mount(place, back, loading());
  try {
    const row = await get(`/api/proposals/${encodeURIComponent(id)}`);
    mount(place, back, proposalCard(row));
  } catch (error) {
    mount(place, back, error instanceof ApiError && error.status === 404 ? empty("unsure", t("inbox.unknown")) : cannotTell(error, () => void showDetail(place, id)));
  }
}

/**
 * `j` and `k` move, `a` and `r` open the two steps of the card; none of them decides.
 * @param {HTMLElement} list
 * @param {HTMLElement} detail
 */
function inboxKeys(list, detail) {
  /** @param {number} by */
  const move = (by) => {
    const links = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("a")]);
    const at = links.findIndex((link) => link === document.activeElement || link.getAttribute("aria-current"));
    links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
  };
  /** @param {"approve" | "reject"} answer */
  const ask = (answer) => /** @type {any} */ (detail.querySelector(".approval"))?.ask(answer);
  return { j: () => move(1), k: () => move(-1), a: () => ask("approve"), r: () => ask("reject") };
}
