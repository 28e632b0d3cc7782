// @ts-check
// The page begins here: who is it, then the frame, then the page that the address names.
// What pages share that are loaded when first wanted comes with it: `entryWords`, `copyText`, `factList`, `costWords`.

import { entryWords } from "./audit/words.js";
import { get, ApiError, whenSignedOut } from "./lib/api.js";
import { home } from "./lib/data.js";
import { el, mount } from "./lib/dom.js";
import { startLive, stopLive } from "./lib/live.js";
import { keepCounting } from "./lib/time.js";
import { t } from "./lib/words.js";
import { homePage } from "./pages/home.js";
import { inboxPage } from "./pages/inbox.js";
import { morePage } from "./pages/more.js";
import { copyText } from "./parts/copying.js";
import { cannotTell, empty, loading } from "./parts/empties.js";
import { factList } from "./parts/facts.js";
import { costWords } from "./parts/money.js";
import { chatRail } from "./shell/chat-rail.js";
import { frame } from "./shell/frame.js";
import { setPageKeys, startKeys } from "./shell/keys.js";
import { openPalette } from "./shell/palette.js";
import { enterPlace, leavePlace } from "./shell/places.js";
import { closeOverlays, currentRoute, goTo } from "./shell/router.js";
import { followOtherTabs } from "./shell/settings.js";

/**
 * `go` takes another address of the same page without being built anew, if it can: what is loaded, chosen
 * and focused stays.
 * @typedef {{node: HTMLElement, title: string, stop?: () => void, keys?: Record<string, () => void>, go?: (route:
 *   import("./shell/router.js").Route) => boolean}} Shown
 */
/** @typedef {(route: import("./shell/router.js").Route) => Shown} Page */

/**
 * Where each page comes from; some are loaded when they are first wanted.
 * @type {Record<string, () => Promise<Page>>}
 */
const PAGES = {
  home: async () => homePage,
  inbox: async () => inboxPage,
  more: async () => morePage,
  lab: async () => (await import("./pages/lab.js")).labPage,
  chat: async () => (await import("./pages/chat.js")).chatPage,
  audit: async () => (await import("./pages/audit.js")).auditPage,
  settings: async () => (await import("./pages/settings.js")).settingsPage,
};

/** None of an address that names no page. @param {string} page */
const loaderOf = (page) => (Object.hasOwn(PAGES, page) ? PAGES[page] : undefined);

const app = /** @type {HTMLElement} */ (document.getElementById("app"));
/** @type {ReturnType<typeof frame> | null} */
let shell = null;
/** @type {ReturnType<typeof chatRail> | null} */
let rail = null;
/** @type {Shown | null} */
let shown = null;
/** Counts openings, so that a slow page does not replace a later one. */
let opening = 0;

async function begin() {
  // A browser that was never signed in is not asked for what it cannot have.
  if (currentRoute().page === "setup" || localStorage.getItem("signed-in") !== "yes") return void signIn();
  opening += 1;
  const mine = opening;
  /** @type {unknown} */
  let problem = null;
  // The page's own script comes meanwhile; if it does not, opening the page says so.
  void loaderOf(currentRoute().page)?.().catch(() => {});
  try {
    home.fill(await get("/api/home"));
  } catch (error) {
    problem = error;
  }
  if (mine !== opening) return;
  if (problem instanceof ApiError && problem.status === 401) return void signIn();
  if (problem)
    return mount(
      app,
      el(
        "main",
        { class: "alone" },
        el("h1", {}, "Void"),
        cannotTell(problem, () => void begin()),
      ),
    );
  shell = frame();
  mount(app, shell.node);
  startLive(home.value?.event ?? "");
  rail = chatRail(shell.aside, async () => (await import("./pages/chat.js")).chatPanel);
  await open();
}

async function signIn() {
  leave();
  localStorage.removeItem("signed-in");
  const mine = opening;
  mount(app, loading());
  const ways = get("/api/login");
  // Whoever waits for it hears of it.
  ways.catch(() => {});
  try {
    const { loginPage } = await import("./pages/login.js");
    if (mine !== opening) return;
    // A link opens the session before anything is chosen: from then on every address leads to its page.
    const opened = () => localStorage.setItem("signed-in", "yes");
    const page = loginPage(currentRoute(), ways, opened, () => {
      opened();
      if (currentRoute().page === "setup") history.replaceState(null, "", "#/home");
      void begin();
    });
    mount(app, page.node);
    document.title = `${page.title} · Void`;
  } catch (error) {
    mount(app, unloaded(error));
  }
}

/** Everything of the session ends: what listens, what lies over the page, what is on its way. */
function leave() {
  opening += 1;
  closeOverlays();
  shown?.stop?.();
  rail?.stop();
  shell?.stop();
  stopLive();
  shown = null;
  rail = null;
  shell = null;
  setPageKeys();
}

/** A part of the page that could not be had. @param {unknown} error */
function unloaded(error) {
  reportError(error);
  return empty(
    "unsure",
    t("error.unloaded"),
    el("button", { type: "button", class: "button", onclick: () => location.reload() }, t("reload")),
  );
}

async function open() {
  if (!shell) return void begin();
  const route = currentRoute();
  // A set-up link that was pasted into an open page is spent, not kept in the history.
  if (route.page === "setup") return void signIn();
  const load = loaderOf(route.page);
  if (!load) return goTo("#/home");
  opening += 1;
  const mine = opening;
  const { main, show } = shell;
  leavePlace();
  if (shown?.go && main.dataset.page === route.page && shown.go(route)) {
    show(route.page, shown.title);
    return enterPlace(main, { isSame: true });
  }
  if (!shown) {
    // The bars are as they will be before the first page has come.
    show(route.page, t(`nav.${route.page}`));
    main.dataset.page = route.page;
    mount(main, loading());
  }
  let page;
  try {
    page = await load();
  } catch (error) {
    if (mine === opening) mount(main, unloaded(error));
    return;
  }
  if (mine !== opening) return;
  const isFirst = shown === null;
  shown?.stop?.();
  shown = page(route);
  show(route.page, shown.title);
  mount(main, shown.node);
  setPageKeys(shown.keys);
  main.dataset.page = route.page;
  enterPlace(main, { isFirst });
}

whenSignedOut(() => {
  if (shell) void signIn();
});
// The session is the browser's: whoever comes in or leaves does so in every tab.
followOtherTabs({
  signedIn: () => {
    if (!shell && currentRoute().page !== "setup") void begin();
  },
  signedOut: () => {
    if (shell) void signIn();
  },
});
addEventListener("hashchange", () => void open());
startKeys({
  palette: () => {
    if (shell) openPalette();
  },
});
keepCounting();
void begin();

if ("serviceWorker" in navigator && isSecureContext) {
  // any, because TypeScript does not know trusted types
  const policy = /** @type {any} */ (window).trustedTypes?.createPolicy("void", { createScriptURL: () => "/sw.js" });
  navigator.serviceWorker.register(policy ? policy.createScriptURL("") : "/sw.js").catch(() => {});
}
