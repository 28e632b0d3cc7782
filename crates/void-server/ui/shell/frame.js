// @ts-check
// The frame around every page: where one is, whether it is true now, what holds everything.

import { del, post, sentence } from "../lib/api.js";
import { home } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { onConnection, retryLive } from "../lib/live.js";
import { clock } from "../lib/time.js";
import { t } from "../lib/words.js";
import { sheet } from "../parts/sheets.js";
import { toast } from "../parts/toasts.js";
import { icon } from "./icons.js";
import { openPalette } from "./palette.js";
import { setTheme, theme } from "./settings.js";

const RAIL = ["home", "inbox", "lab", "chat", "audit", "settings"];
const TABS = ["home", "inbox", "lab", "chat", "more"];
const FREEZE_SPANS = [["freeze.15min", 900], ["freeze.1h", 3600], ["freeze.open", 0]];

/** @returns {{node: HTMLElement, main: HTMLElement, aside: HTMLElement, show: (page: string, title: string) => void}} */
export function frame() {
  const title = el("h1", { tabIndex: -1 });
  const live = el("button", { type: "button", class: "live-dot", onclick: () => retryLive() });
  const lab = el("span", { class: "lab-name muted" });
  const banner = el("div", { class: "banners" });
  const main = el("main", { id: "main", class: "main", tabIndex: -1 });
  const aside = el("aside", { class: "chat-rail", "aria-label": t("nav.chat") });
  const freezer = el("button", { type: "button", class: "freeze", onclick: askFreeze }, icon("freeze"), el("span", {}, t("freeze.button")));
  const rail = el("nav", { class: "rail", "aria-label": t("nav.main") }, el("a", { class: "brand", href: "#/home" }, "Void"), RAIL.map((page) => link(page)), el("span", { class: "grow" }), freezer);
  const tabs = el("nav", { class: "tabs", "aria-label": t("nav.main_phone") }, TABS.map((page) => link(page)));
  const bar = el("header", { class: "bar" }, title, lab, el("span", { role: "status" }, live),
    el("button", { type: "button", class: "icon-button", "aria-label": t("keys.palette"), title: t("keys.palette"), onclick: openPalette }, icon("search")),
    el("button", { type: "button", class: "icon-button", "aria-label": t("theme.switch"), title: t("theme.switch"), onclick: nextTheme }, icon("theme")));
  const node = el("div", { class: "frame" },
    el("a", { class: "skip", href: "#main", onclick: (/** @type {Event} */ event) => { event.preventDefault(); main.focus(); } }, t("nav.skip")),
    rail, bar, banner, main, aside, tabs, el("div", { id: "toasts", class: "toasts" }));

  onConnection((connection) => {
    const { kind, isFirst } = connection;
    live.dataset.kind = kind;
    // The first time it takes a moment; words that come and go for it would push the bar about.
    mount(live, isFirst ? el("span", { class: "hidden-text" }, t("live.first")) : kind === "live" ? t("live.live") : kind === "connecting" ? t("live.connecting") : t("live.stale", { at: clock(connection.since) }));
    live.title = kind === "live" ? t("live.why") : t(isFirst ? "live.first" : "live.retry");
    node.dataset.live = isFirst ? "first" : kind;
  });
  home.watch(({ value }) => {
    if (!value) return;
    const { counts } = value.inbox;
    const waiting = counts.proposal + counts.join + counts.failure;
    for (const count of node.querySelectorAll(".count")) {
      count.textContent = waiting > 0 ? String(waiting) : "";
      /** @type {HTMLElement} */ (count).hidden = waiting === 0;
    }
    document.title = waiting > 0 ? `(${waiting}) ${title.textContent} · Void` : `${title.textContent} · Void`;
    void (waiting > 0 ? navigator.setAppBadge?.(waiting) : navigator.clearAppBadge?.())?.catch(() => {});
    mount(lab, value.status.rehearsal ? el("span", { class: "pill waiting" }, t("frame.rehearsal")) : null);
    mount(banner, frozen(value.freeze), value.status.untold > 0 ? el("p", { class: "notice caution band-line" }, t("frame.untold", { n: value.status.untold }), " ", el("a", { href: "#/settings/channels" }, t("frame.untold_way"))) : null);
    freezer.hidden = value.freeze.frozen;
  });
  return {
    node, main, aside,
    show: (page, name) => {
      mount(title, name);
      for (const anchor of node.querySelectorAll("[data-page]")) {
        const its = /** @type {HTMLElement} */ (anchor).dataset.page;
        if (its === page || (its === "more" && ["audit", "settings", "more"].includes(page))) anchor.setAttribute("aria-current", "page");
        else anchor.removeAttribute("aria-current");
      }
      document.title = `${name} · Void`;
    },
  };
}

/** @param {string} page */
function link(page) {
  return el("a", { href: `#/${page}`, "data-page": page }, icon(page), el("span", { class: "word" }, t(`nav.${page}`)),
    page === "inbox" ? el("span", { class: "count", hidden: true }) : null);
}

function nextTheme() {
  const order = /** @type {const} */ (["system", "light", "dark"]);
  const next = order[(order.indexOf(theme()) + 1) % order.length] ?? "system";
  setTheme(next);
  toast(t(`theme.${next}`));
}

/** @param {any} freeze */
function frozen(freeze) {
  if (!freeze.frozen) return null;
  const thaw = async () => {
    try {
      await del("/api/freeze");
    } catch (error) {
      toast(sentence(error), { isProblem: true });
    }
  };
  return el("div", { class: "notice frozen", role: "status" }, icon("freeze"),
    el("span", { class: "grow" }, el("strong", {}, freeze.until ? t("freeze.until", { at: clock(freeze.until) }) : t("freeze.on")), " ", t("freeze.by", { name: freeze.by ?? "" }), freeze.reason ? ` “${freeze.reason}”` : ""),
    el("button", { type: "button", class: "button", onclick: () => void thaw() }, t("freeze.thaw")));
}

/** Stopping everything is one step more than a slip, and no more. */
export function askFreeze() {
  const reason = /** @type {HTMLInputElement} */ (el("input", { class: "input", maxLength: 200, autocomplete: "off" }));
  /** @param {number} seconds */
  const send = async (seconds) => {
    try {
      await post("/api/freeze", { ...(reason.value.trim() ? { reason: reason.value.trim() } : {}), ...(seconds ? { for_s: seconds } : {}) });
      dialog.close();
    } catch (error) {
      toast(sentence(error), { isProblem: true });
    }
  };
  const dialog = sheet(t("freeze.title"), el("p", {}, t("freeze.what")), el("label", { class: "field" }, el("span", {}, t("freeze.reason")), reason),
    el("div", { class: "reasons" }, FREEZE_SPANS.map(([key, seconds]) => el("button", { type: "button", class: "button", onclick: () => void send(Number(seconds)) }, t(String(key))))));
}
