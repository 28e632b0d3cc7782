// @ts-check
// The page begins here: who is it, then the frame, then the page that the address names.
// What pages share that are loaded when first wanted comes with it: `entryWords`, `copyText`, `factList`, `costWords`,
// `blockNode`, `copyFromChat`, `spansNode`, `tellSubject`.

import { entryWords } from "./audit/words.js";
import { copyFromChat } from "./chat/copying.js";
import { blockNode } from "./chat/markdown.js";
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
import { cannotTell, empty, loading, unknownPage } from "./parts/empties.js";
import { factList } from "./parts/facts.js";
import { hitWords } from "./parts/hits.js";
import { costWords } from "./parts/money.js";
import { sheet } from "./parts/sheets.js";
import { spansNode } from "./parts/spans.js";
import { toast } from "./parts/toasts.js";
import { chatRail } from "./shell/chat-rail.js";
import { frame } from "./shell/frame.js";
import { setPageKeys, startKeys } from "./shell/keys.js";
import { openPalette } from "./shell/palette.js";
import { enterPlace, leavePlace } from "./shell/places.js";
import { closeOverlays, currentRoute } from "./shell/router.js";
import { followOtherTabs } from "./shell/settings.js";
import { tellSubject } from "./shell/subjects.js";

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
  knowledge: async () => (await import("./pages/knowledge.js")).knowledgePage,
  agents: async () => (await import("./pages/agents.js")).agentsPage,
  audit: async () => (await import("./pages/audit.js")).auditPage,
  settings: async () => (await import("./pages/settings.js")).settingsPage,
};

/** @param {string} page */
const isPage = (page) => Object.hasOwn(PAGES, page);
/** @param {string} page @returns {() => Promise<Page>} */
const loaderOf = (page) => (isPage(page) && PAGES[page]) || (async () => unknownPage);

const app = /** @type {HTMLElement} */ (document.getElementById("app"));
/** @type {ReturnType<typeof frame> | null} */
let shell = null;
/** @type {ReturnType<typeof chatRail> | null} */
let rail = null;
/** @type {Shown | null} */
let shown = null;
/** Longer than this the chat beside the page does not wait. */
const IDLE_MS_MAX = 2000;
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
  void loaderOf(currentRoute().page)().catch(() => {});
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
  shell = frame(() => void openChat());
  mount(app, shell.node);
  startLive(home.value?.event ?? "");
  const opened = open();
  rail = chatRail(shell.aside, async () => {
    // What was asked for comes first.
    await opened;
    await idle();
    return (await import("./pages/chat.js")).chatPanel;
  });
  await opened;
}

/** The chat over the page: on a tablet from the side. */
async function openChat() {
  try {
    const { chatPanel } = await import("./pages/chat.js");
    const panel = chatPanel();
    const dialog = sheet(t("nav.chat"), panel.node);
    dialog.classList.add("chat-sheet");
    dialog.addEventListener("close", () => panel.stop());
    panel.focus();
  } catch (error) {
    sheet(t("nav.chat"), unloaded(error));
  }
}

/** Until the browser has drawn what it has, and nothing else wants it. @returns {Promise<void>} */
const idle = () =>
  new Promise((resolve) => {
    if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(), { timeout: IDLE_MS_MAX });
    else setTimeout(resolve);
  });

async function signIn() {
  leave();
  // A link that was used says nothing of the session, which may well be open: in this tab and in others.
  const isLink = currentRoute().page === "setup";
  if (!isLink) localStorage.removeItem("signed-in");
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
    const done = async () => {
      opened();
      if (currentRoute().page === "setup") history.replaceState(null, "", "#/home");
      await begin();
    };
    const page = loginPage(currentRoute(), ways, {
      opened,
      closed: () => localStorage.removeItem("signed-in"),
      already: () => void done().then(() => toast(t("setup_link.already"))),
      done: () => void done(),
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
    show(route.page, t(isPage(route.page) ? `nav.${route.page}` : "page.unknown_title"));
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
