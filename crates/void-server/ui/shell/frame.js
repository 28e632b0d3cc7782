// @ts-check
// The frame around every page: where one is, whether it is true now, what holds everything.

import { said } from "../lib/commands.js";
import { home } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { keyOf } from "../lib/items.js";
import { ASK_MS, onConnection, retryLive } from "../lib/live.js";
import { person } from "../lib/people.js";
import { clock } from "../lib/time.js";
import { t } from "../lib/words.js";
import { standing } from "../parts/states.js";
import { toast } from "../parts/toasts.js";
import { askFreeze, thaw } from "./freezing.js";
import { icon } from "./icons.js";
import { openPalette } from "./palette.js";
import { setTheme, theme } from "./settings.js";

/** @import { FreezeResponse, Home } from "../types/api.js" */

const RAIL = ["home", "inbox", "lab", "chat", "knowledge", "agents", "audit", "settings"];
const TABS = ["home", "inbox", "lab", "chat", "more"];

/** Which program this page came with; it outlives a session. */
let version = "";

/**
 * @param {() => void} openChat over the page, where there is no room beside it
 * @returns {{node: HTMLElement, main: HTMLElement, aside: HTMLElement, show: (page: string, title: string) => void,
 *   stop: () => void}}
 */
export function frame(openChat) {
  const title = el("h1", { id: "page-title" });
  const live = el("button", { type: "button", class: "live-dot", onclick: () => retryLive() });
  const mark = el("span", { class: "mark" });
  const banner = el("div", { class: "banners" });
  const main = el("main", { id: "main", class: "main", tabIndex: -1, "aria-labelledby": "page-title" });
  const polite = el("div", { class: "hidden-text", "aria-live": "polite" });
  const urgent = el("div", { class: "hidden-text", "aria-live": "assertive" });
  const aside = el("aside", { class: "chat-rail", "aria-label": t("nav.chat") });
  const freezer = el(
    "button",
    { type: "button", class: "freeze", onclick: askFreeze },
    icon("freeze"),
    el("span", {}, t("freeze.button")),
  );
  const rail = el(
    "nav",
    { class: "rail", "aria-label": t("nav.main") },
    el("a", { class: "brand", href: "#/home" }, "Void"),
    RAIL.map((page) => link(page)),
    el("span", { class: "grow" }),
    freezer,
  );
  const tabs = el(
    "nav",
    { class: "tabs", "aria-label": t("nav.main_phone") },
    TABS.map((page) => link(page)),
  );
  const bar = el(
    "header",
    { class: "bar" },
    title,
    mark,
    el("span", { role: "status" }, live),
    el(
      "button",
      {
        type: "button",
        class: "icon-button bar-chat",
        "aria-label": t("chat.over"),
        title: t("chat.over"),
        onclick: openChat,
      },
      icon("chat"),
    ),
    el(
      "button",
      {
        type: "button",
        class: "icon-button",
        "aria-label": t("keys.palette"),
        title: t("keys.palette"),
        onclick: openPalette,
      },
      icon("search"),
    ),
    el(
      "button",
      {
        type: "button",
        class: "icon-button",
        "aria-label": t("theme.switch"),
        title: t("theme.switch"),
        onclick: nextTheme,
      },
      icon("theme"),
    ),
  );
  const node = el(
    "div",
    { class: "frame" },
    el(
      "a",
      {
        class: "skip",
        href: "#main",
        onclick: (/** @type {Event} */ event) => {
          event.preventDefault();
          main.focus();
        },
      },
      t("nav.skip"),
    ),
    rail,
    bar,
    banner,
    main,
    aside,
    tabs,
    polite,
    urgent,
    el("div", { id: "toasts", class: "toasts" }),
  );
  let waiting = 0;
  const news = announcements(polite, urgent);
  /**
   * Drawn anew only when it says something else, so that a button under a finger stays.
   * @param {(HTMLElement | null)[]} parts
   */
  const drawBanner = (parts) => {
    const next = parts.filter((part) => part !== null);
    if (next.map((part) => part.textContent).join() !== [...banner.children].map((part) => part.textContent).join())
      mount(banner, next);
  };
  const drawTitle = () => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${title.textContent} · Void`;
  };

  const offLive = onConnection((connection) => {
    const { kind, isAsked, isFirst } = connection;
    live.dataset.kind = isAsked ? "asked" : kind;
    // The first time it takes a moment; words that come and go for it would push the bar about.
    mount(
      live,
      isFirst
        ? el("span", { class: "hidden-text" }, t("live.first"))
        : isAsked
          ? t("live.asked", { n: ASK_MS / 1000 })
          : connection.kind === "stale"
            ? t("live.stale", { at: clock(connection.since) })
            : t(`live.${connection.kind}`),
    );
    live.title = t(isFirst ? "live.first" : isAsked ? "live.asked_why" : kind === "live" ? "live.why" : "live.retry");
    node.dataset.live = isFirst ? "first" : connection.kind;
  });
  const offHome = home.watch(({ value }) => {
    if (!value) return;
    const { counts } = value.inbox;
    waiting = counts.proposal + counts.join + counts.failure;
    for (const count of node.querySelectorAll(".count")) {
      count.textContent = waiting > 0 ? String(waiting) : "";
      /** @type {HTMLElement} */ (count).hidden = waiting === 0;
    }
    drawTitle();
    void (waiting > 0 ? navigator.setAppBadge?.(waiting) : navigator.clearAppBadge?.())?.catch(() => {});
    mount(mark, value.status.rehearsal ? el("span", { class: "pill waiting" }, t("frame.rehearsal")) : null);
    const fences = value.status.open_fences;
    version ||= value.status.version;
    drawBanner([
      frozen(value.freeze),
      value.status.version === version ? null : upgraded(value.status.version),
      value.status.quarantined > 0
        ? el(
            "p",
            { class: "notice caution band-line" },
            t("frame.quarantined", { n: value.status.quarantined }),
            " ",
            el("a", { href: "#/settings/tokens" }, t("frame.quarantined_way")),
          )
        : null,
      fences.length > 0
        ? el("p", { class: "notice caution band-line" }, t("frame.open_fences", { list: fences.join(", ") }))
        : null,
      value.status.untold > 0
        ? el(
            "p",
            { class: "notice caution band-line" },
            t("frame.untold", { n: value.status.untold }),
            " ",
            el("a", { href: "#/settings/channels" }, t("frame.untold_way")),
          )
        : null,
      value.status.channels > 0 && value.status.services_untold > 0
        ? el(
            "p",
            { class: "notice caution band-line" },
            t("frame.untold_services", { n: value.status.services_untold }),
            " ",
            el("a", { href: "#/settings/channels" }, t("frame.untold_way")),
          )
        : null,
    ]);
    news(value);
    freezer.hidden = value.freeze.frozen;
  });
  return {
    node,
    main,
    aside,
    show: (page, name) => {
      mount(title, name);
      for (const anchor of node.querySelectorAll("[data-page]")) {
        const its = /** @type {HTMLElement} */ (anchor).dataset.page;
        if (its === page || (its === "more" && ["knowledge", "agents", "audit", "settings", "more"].includes(page)))
          anchor.setAttribute("aria-current", "page");
        else anchor.removeAttribute("aria-current");
      }
      drawTitle();
    },
    stop: () => {
      offLive();
      offHome();
    },
  };
}

/** @param {string} page */
function link(page) {
  return el(
    "a",
    { href: `#/${page}`, "data-page": page },
    icon(page),
    el("span", { class: "word" }, t(`nav.${page}`)),
    page === "inbox" ? el("span", { class: "count", hidden: true }) : null,
  );
}

function nextTheme() {
  const order = /** @type {const} */ (["system", "light", "dark"]);
  const next = order[(order.indexOf(theme()) + 1) % order.length] ?? "system";
  setTheme(next);
  toast(t(`theme.${next}`));
}

/** @param {FreezeResponse} freeze */
function frozen(freeze) {
  if (!freeze.frozen) return null;
  return el(
    "div",
    { class: "notice frozen", role: "status" },
    icon("freeze"),
    el(
      "span",
      { class: "grow" },
      el("strong", {}, freeze.until ? t("freeze.until", { at: clock(freeze.until) }) : t("freeze.on")),
      " ",
      t("freeze.by", { name: person(freeze.by ?? "system") }),
      freeze.reason ? ` “${freeze.by === "system" ? said(freeze.reason) : freeze.reason}”` : "",
    ),
    el("button", { type: "button", class: "button", onclick: () => void thaw() }, t("freeze.thaw")),
  );
}

/** @param {string} version */
const upgraded = (version) =>
  el(
    "div",
    { class: "notice caution band-line row-line", role: "status" },
    el("span", { class: "grow" }, t("frame.upgraded", { version })),
    el("button", { type: "button", class: "button", onclick: () => location.reload() }, t("reload")),
  );

/**
 * Says aloud what is new to whoever listens: what waits, politely; what failed, at once.
 * @param {HTMLElement} polite
 * @param {HTMLElement} urgent
 * @returns {(value: Home) => void}
 */
function announcements(polite, urgent) {
  /** @type {Set<string> | null} */
  let known = null;
  return (value) => {
    const items = value.inbox.items.map((item) =>
      item.kind === "join"
        ? { key: `join-${item.name}`, words: t("frame.new_join", { name: item.name }) }
        : item.kind === "question"
          ? { key: keyOf(item), words: t("question.title", { name: item.asker }) }
          : { key: item.id, words: t("frame.new_waits", { label: item.label }) },
    );
    const failed = value.recent
      .filter((row) => ["failed", "unknown"].includes(row.status) || row.verification === "failed")
      .map((row) => ({
        key: `failed-${row.id}`,
        words: t("frame.new_failed", { label: row.label, state: standing(row)[2] }),
      }));
    const before = known;
    const fresh = (/** @type {{key: string, words: string}[]} */ all) =>
      before
        ? all
            .filter(({ key }) => !before.has(key))
            .map(({ words }) => words)
            .join(" ")
        : "";
    const [waits, fails] = [fresh(items), fresh(failed)];
    if (waits) mount(polite, waits);
    if (fails) mount(urgent, fails);
    known = new Set([...items, ...failed].map(({ key }) => key));
  };
}
