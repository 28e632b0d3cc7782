// Debian's Chromium, one for all tests, and pages that remember what went wrong in them.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AXE_SOURCE, CHROMIUM, chromium } from "./packages.js";
import { until } from "./waiting.js";

/** Names of foreign sites; all of them are this machine. */
export const FOREIGN_NAMES = ["evil.example", "rebind.example"];
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
  `--host-resolver-rules=${FOREIGN_NAMES.map((name) => `MAP ${name} 127.0.0.1`).join(",")}`];
const HEIGHTS = { phone: 740, desk: 860 };
export const PHONE = 360;
export const DESK = 1280;

/** @type {Promise<any> | null} */
let launched = null;
export const browser = () => (launched ??= chromium.launch({ executablePath: CHROMIUM, args: FLAGS }));
export async function closeBrowser() {
  if (launched) await (await launched).close();
  launched = null;
}

/** What a test opened and, if it failed, left open. @type {Set<any>} */
const opened = new Set();
export async function closePages() {
  for (const context of opened) await context.unrouteAll({ behavior: "ignoreErrors" }).then(() => context.close()).catch(() => {});
  opened.clear();
}

/**
 * A page of the lab, signed in unless told otherwise. `seen` collects what no page may do: errors in the
 * console, exceptions, dialogs, and every request.
 * @param {import("./labs.js").Lab} lab
 * @param {{width?: number, height?: number, theme?: "light" | "dark", signedIn?: boolean, js?: boolean, base?: string, kept?: Record<string, string>, serviceWorkers?: "allow" | "block", zone?: string}} [how]
 */
export async function openPage(lab, how = {}) {
  const { width = DESK, height = width < 600 ? HEIGHTS.phone : HEIGHTS.desk, theme = "light", signedIn = true, js = true, base = lab.base, kept = {}, serviceWorkers = "block", zone = "UTC" } = how;
  const keep = { ...(signedIn ? { "signed-in": "yes" } : {}), ...kept };
  const context = await (await browser()).newContext({
    viewport: { width, height }, colorScheme: theme, deviceScaleFactor: 1, hasTouch: width < 600,
    javaScriptEnabled: js, serviceWorkers, locale: "en-GB", timezoneId: zone,
    storageState: { cookies: [], origins: [{ origin: base, localStorage: Object.entries(keep).map(([name, value]) => ({ name, value })) }] },
  });
  opened.add(context);
  if (signedIn) await giveSession(context, lab, base);
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const seen = watch(page);
  return { context, page, seen, base };
}

/** @param {any} context @param {import("./labs.js").Lab} lab @param {string} base */
async function giveSession(context, lab, base) {
  const [name = "", ...value] = (await lab.session(base)).split("=");
  await context.addCookies([{ name, value: value.join("="), domain: new URL(base).hostname, path: "/", httpOnly: true, sameSite: "Strict" }]);
}

/** @typedef {{errors: string[], dialogs: string[], requests: string[], open: Set<any>}} Seen */

/** @param {any} page @returns {Seen} */
export function watch(page) {
  /** @type {Seen} */
  const seen = { errors: [], dialogs: [], requests: [], open: new Set() };
  page.on("console", (/** @type {any} */ line) => { if (line.type() === "error" || /Content Security Policy|TrustedHTML|TrustedScript/.test(line.text())) seen.errors.push(`${line.text()} (${line.location().url})`); });
  page.on("pageerror", (/** @type {Error} */ error) => seen.errors.push(`exception: ${error.message}`));
  page.on("dialog", (/** @type {any} */ dialog) => { seen.dialogs.push(dialog.message()); void dialog.dismiss(); });
  page.context().on("request", (/** @type {any} */ request) => {
    seen.requests.push(request.url());
    if (!/\/api\/(events|conversations\/.*\/stream)/.test(request.url())) seen.open.add(request);
  });
  for (const end of ["requestfinished", "requestfailed"]) page.context().on(end, (/** @type {any} */ request) => seen.open.delete(request));
  return seen;
}

/**
 * Lets a page see other answers than the server's. What a page still asks while it closes gets none.
 * @param {any} page
 * @param {string | RegExp} pattern
 * @param {(value: any, url: URL) => any} change of what the server said
 */
export const rewrite = (page, pattern, change) => page.route(pattern, async (/** @type {any} */ route) => {
  try {
    const answer = await route.fetch();
    const text = await answer.text();
    const isJson = /json/.test(answer.headers()["content-type"] ?? "");
    await route.fulfill({ response: answer, body: isJson ? JSON.stringify(change(JSON.parse(text), new URL(route.request().url()))) : text });
  } catch (error) {
    if (!/closed|disposed|ECONNREFUSED|ECONNRESET/.test(String(error))) throw error;
  }
});

/** The page has drawn what it asked for. @param {any} page @param {Seen} seen */
export async function settled(page, seen) {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  for (let calm = 0; calm < 2;) {
    await until("every answer is there", () => seen.open.size === 0);
    await page.waitForFunction(() => ![...document.querySelectorAll(".loading")].some((node) => node.checkVisibility()));
    // What was drawn may ask for more.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    calm = seen.open.size === 0 ? calm + 1 : 0;
  }
}

const UI = process.env.VOID_UI_DIR ?? join(import.meta.dirname, "../../crates/void-server/ui");
const catalogue = async (/** @type {string} */ file) => import(`data:text/javascript,${encodeURIComponent(readFileSync(join(UI, file), "utf8"))}`);
/** Those of the pages that are loaded when they are first wanted stand in files of their own. */
const STRINGS = Object.assign({}, ...(await Promise.all(["strings.js", ...["parts", "audit", "knowledge", "chat", "lab", "settings"].map((page) => `${page}/strings.js`)].map(catalogue))).flatMap((one) => Object.values(one)));

/** Every key of the page's words that begins like this. @param {string} prefix */
export const keysOf = (prefix) => Object.keys(STRINGS).filter((key) => key.startsWith(prefix));

/** What the page says under a key. @param {string} key @param {Record<string, string | number>} [values] */
export function say(key, values = {}) {
  const entry = STRINGS[key];
  if (entry === undefined) throw new Error(`the catalogue of words has no ${key}`);
  const text = typeof entry === "string" ? entry : values.n === 1 ? entry.one : entry.other;
  return text.replace(/\{(\w+)\}/g, (/** @type {string} */ _, /** @type {string} */ name) => String(values[name] ?? ""));
}

/** One for each page: the end of one would end the virtual authenticator of another. @type {WeakMap<any, Promise<any>>} */
const debuggers = new WeakMap();

/** @param {any} page @returns {Promise<any>} */
export function debuggerOf(page) {
  const known = debuggers.get(page) ?? page.context().newCDPSession(page);
  debuggers.set(page, known);
  return known;
}

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Every rule of axe-core that WCAG 2.2 AA and good practice ask for, or some. @param {any} page @param {string[]} [rules] @returns {Promise<string[]>} */
export async function axe(page, rules) {
  const what = JSON.stringify(rules ? { type: "rule", values: rules } : { type: "tag", values: TAGS });
  const cdp = await debuggerOf(page);
  // By the debugger: the page's own policy lets no script in.
  await cdp.send("Runtime.evaluate", { expression: `if (!window.axe) { ${AXE_SOURCE} }` });
  const run = `axe.run(document, { runOnly: ${what}, resultTypes: ["violations"] })
    .then(({ violations }) => violations.flatMap(({ id, help, nodes }) => nodes.map((node) => id + ": " + help + " at " + node.target.join(" "))))`;
  const { result, exceptionDetails } = await cdp.send("Runtime.evaluate", { expression: run, awaitPromise: true, returnByValue: true });
  if (exceptionDetails) throw new Error(`axe: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
  return result.value;
}

/** By how much the page is wider than its window. @param {any} page @returns {Promise<number>} */
export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

/** Whether something is whole in the window and under nothing. @param {any} node */
export const isInSight = (node) => node.evaluate((/** @type {HTMLElement} */ one) => {
  const box = one.getBoundingClientRect();
  const at = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  return box.top >= 0 && box.bottom <= innerHeight && at !== null && (one === at || one.contains(at));
});

/** The card of a request. @param {any} page @param {string} label */
export const card = (page, label) => page.getByRole("article", { name: label });

/** Approves by the card's two steps. @param {any} place a card */
export async function approve(place) {
  await place.getByRole("button", { name: say("card.approve"), exact: true }).click();
  await place.getByRole("button", { name: say("card.yes") }).click();
}
