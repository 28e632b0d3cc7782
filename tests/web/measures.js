// What a page costs, as the browser sees it: what moves while it loads, how soon it can be used, and how long
// its tasks are. Beside it stands a small page of the same run, because machines are noisy.

import { createServer } from "node:http";
import { browser, debuggerOf } from "./browsers.js";
import { sleep } from "./waiting.js";

/** A phone of the middle on 4G, as WebPageTest has it. */
const NETWORK = { offline: false, latency: 170, downloadThroughput: 9_000_000 / 8, uploadThroughput: 9_000_000 / 8 };
const SLOWER = 4;
/** Nothing was asked for so long: the page has what it wants. It gathers events for less. */
const QUIET_MS = 450;
const LOOK_MS = 50;

/** Makes the way to a page slow, and if wanted its machine. @param {any} page @param {{isPhone?: boolean}} [how] */
export async function slow(page, { isPhone = false } = {}) {
  const cdp = await debuggerOf(page);
  await cdp.send("Network.enable");
  await cdp.send("Network.emulateNetworkConditions", NETWORK);
  if (isPhone) await cdp.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
}

/** Waits until the page asks for nothing more, from outside: a look into it would be a task of it. @param {{open: Set<any>}} seen */
export async function quiet(seen) {
  for (let calm = 0; calm < QUIET_MS; calm += LOOK_MS) {
    await sleep(LOOK_MS);
    if (seen.open.size > 0) calm = 0;
  }
}

/** Remembers what moves without having been asked to; before the page is opened. @param {any} page */
export const watchShifts = (page) => page.addInitScript(() => {
  const shifts = /** @type {any[]} */ (/** @type {any} */ (window).shifts = []);
  const name = (/** @type {any} */ node) => node?.nodeType === Node.TEXT_NODE ? `words of ${node.parentElement?.className || node.parentElement?.localName}` : `${node?.localName ?? "what is gone"}.${node?.getAttribute?.("class") ?? ""}`;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of /** @type {any[]} */ (list.getEntries())) if (!hadRecentInput) shifts.push({ value, what: sources.map((/** @type {any} */ source) => name(source.node)) });
  }).observe({ type: "layout-shift", buffered: true });
});

/** How much moved, and what. @param {any} page @returns {Promise<{sum: number, what: string[]}>} */
export async function shifted(page) {
  const shifts = await page.evaluate(() => /** @type {any} */ (window).shifts);
  return { sum: shifts.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.value, 0), what: shifts.flatMap((/** @type {any} */ one) => one.what) };
}

/** Remembers when something that can be used was painted; before the page is opened. @param {any} page @param {string} selector */
export const watchUse = (page, selector) => page.addInitScript((/** @type {string} */ wanted) => {
  const look = () => {
    if (!document.querySelector(wanted)?.checkVisibility()) return void requestAnimationFrame(look);
    // After the picture, and when the page has time to listen.
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { /** @type {any} */ (window).usableAt = performance.now(); };
    port2.postMessage(null);
    return undefined;
  };
  requestAnimationFrame(look);
}, selector);

/** Opens a page and tells after how many milliseconds it could be used. @param {any} page @param {string} url @returns {Promise<number>} */
export async function usableAfter(page, url) {
  // The same address with another fragment would be no new page.
  await page.goto("about:blank");
  await page.goto(url);
  return (await page.waitForFunction(() => /** @type {any} */ (window).usableAt, undefined, { polling: LOOK_MS })).jsonValue();
}

/**
 * The longest task of a page while something is done, in milliseconds of its own work: what the machine does
 * meanwhile for others does not count.
 * @param {any} page
 * @param {() => Promise<any>} act
 * @returns {Promise<number>}
 */
export async function longestTask(page, act) {
  const chromium = await browser();
  await chromium.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline"] });
  await act();
  const { origin } = new URL(page.url());
  return longestOf(JSON.parse(await chromium.stopTracing()).traceEvents, origin);
}

/** What a task leaves to be done at its end belongs to it. */
const TASK = "ThreadControllerImpl::RunTask";
const REST = "BlinkScheduler_PerformMicrotaskCheckpoint";

/** @param {any[]} events @param {string} origin whose page it is; the browser has pages of its own */
function longestOf(events, origin) {
  const threads = new Set(events.filter((event) => event.name === "thread_name" && event.args.name === "CrRendererMain").map((event) => `${event.pid} ${event.tid}`));
  const frames = events.flatMap((event) => event.name === "TracingStartedInBrowser" ? event.args.data.frames : event.name === "FrameCommittedInBrowser" ? [event.args.data] : []);
  const owners = new Set(frames.filter((frame) => frame.url.startsWith(origin)).map((frame) => frame.processId));
  const parts = events.filter((event) => (event.name === TASK || event.name === REST) && event.ph === "X" && owners.has(event.pid) && threads.has(`${event.pid} ${event.tid}`)).sort((one, other) => one.ts - other.ts);
  let longest = 0;
  let now = 0;
  let end = 0;
  for (const { name, ts, dur, tdur } of parts) {
    if (ts < end) continue;
    end = ts + dur;
    now = (name === REST ? now : 0) + (tdur ?? dur) / 1000;
    longest = Math.max(longest, now);
  }
  if (parts.length === 0) throw new Error(`the trace has no task of ${origin}`);
  return longest;
}

/** A page that does little: a script, an answer, a button; or a plain list of rows, made in one go. */
export async function referenceSite() {
  const script = `
    const rows = Number(new URL(location).searchParams.get("rows"));
    const add = (place, tag, words = "") => { const node = document.createElement(tag); node.textContent = words; place.append(node); return node; };
    const answer = await (await fetch("/answer")).json();
    const list = add(document.body, "ul");
    for (let at = 0; at < rows; at += 1) {
      const link = add(add(list, "li"), "a");
      for (const words of ["10:02", "", answer.words + " " + at, "somebody", "Risky", "3 min ago"]) add(link, "span", words);
    }
    add(document.body, "button", answer.words).className = "usable";`;
  const kept = "public, max-age=31536000, immutable";
  /** @type {Record<string, [string, string, string]>} */
  const files = { "/page.js": ["text/javascript", kept, script], "/answer": ["application/json", "no-store", JSON.stringify({ words: "Go" })] };
  const page = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Reference</title><script type=\"module\" src=\"/page.js\"></script>";
  const server = createServer((request, response) => {
    const [type, cache, body] = files[request.url ?? ""] ?? ["text/html", "no-store", page];
    response.writeHead(200, { "content-type": type, "cache-control": cache }).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    base: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
