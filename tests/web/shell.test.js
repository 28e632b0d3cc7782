// The frame around the pages: it tells the truth about the connection, re-reads what no event tells, keeps
// one's place, and leaves nothing behind.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { approve, card, openPage, PHONE, rewrite, say } from "./browsers.js";
import { demo } from "./labs.js";

const STOP = "Stop iVentoy (rehearsal)";
/** A chat beside the page. */
const WIDE = 1440;

describe("the frame", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => { lab = await demo(); });
  after(() => lab.stop());

  test("a connect that hangs is no connection; where only the stream does not come through, the page asks", async () => {
    const { context, page } = await openPage(lab);
    await page.clock.install();
    await page.route("**/api/events*", () => {});
    await page.goto(`${lab.base}/#/home`);
    await page.locator(".live-dot", { hasText: say("live.connecting") }).waitFor();
    await page.route("**/api/home", (/** @type {any} */ route) => route.abort());
    await page.clock.runFor(25_000);
    await page.locator(".live-dot", { hasText: /Not connected since \d\d:\d\d/ }).waitFor();
    await page.getByText(say("mood.offline")).waitFor();
    await page.unroute("**/api/home");
    await page.clock.runFor(6000);
    await page.locator(".live-dot", { hasText: say("live.asked", { n: 10 }) }).waitFor();
    await lab.owner("POST", "/api/freeze", { reason: "seen by asking" });
    await page.clock.runFor(11_000);
    await page.getByText("seen by asking").first().waitFor();
    await lab.owner("DELETE", "/api/freeze");
    await context.close();
  });

  test("what no event tells is read again by itself: a stale reading, an upgrade, a failure to read", async () => {
    const { context, page } = await openPage(lab, { kept: { "chat-folded": "no" } });
    let version = "1.0.0";
    let status = "";
    let here = true;
    await rewrite(page, "**/api/home", (value) => ({
      ...value, status: { ...value.status, version, nodes: 1, running: 1 },
      services: { services: value.services.services.map((/** @type {any} */ one) => ({ ...one, status: status || one.status })) },
    }));
    await page.route("**/api/nodes", (/** @type {any} */ route) => route.fulfill({ json: { nodes: [{ name: "nas", state: "joined", here, seen_at: new Date().toISOString() }] } }));
    const run = { id: "x", status: "running", display_state: "running", label: "Restart Samba", requested_by: { name: "nightly" }, transitions: [{ to: "running", at: new Date().toISOString() }] };
    await page.route("**/api/proposals?status=running*", (/** @type {any} */ route) => route.fulfill({ json: { proposals: [run], next: null } }));
    await page.route("**/pages/chat.js", (/** @type {any} */ route) => route.abort());
    // Ages count by the server's clock; this browser's is an hour ahead.
    await page.clock.install({ time: Date.now() + 3_600_000 });
    await begin(page);
    assert.match(await page.locator(".truth-line time").textContent(), /^\d+ s ago$/);
    await page.locator(".chat-rail").getByText(say("error.unloaded")).waitFor();
    const machine = page.locator("main").getByRole("link", { name: /^nas/ });
    await machine.getByText(say("node.here")).waitFor();
    await page.locator("main").getByRole("link", { name: /Restart Samba.*Running/ }).waitFor();
    assert.equal(await page.locator(".banners").getByRole("button").count(), 0);
    [version, status, here] = ["1.1.0", "unknown", false];
    await page.clock.runFor(31_000);
    await page.locator("main .pill", { hasText: say("health.unknown") }).nth(2).waitFor();
    await page.getByText(say("frame.upgraded", { version })).waitFor();
    await page.locator(".banners").getByRole("button", { name: say("reload") }).waitFor();
    await machine.getByText(say("node.away")).waitFor();
    await page.route("**/api/home", (/** @type {any} */ route) => route.fulfill({ status: 500, json: { error: { code: "store", message: "the store cannot be read" } } }));
    await page.clock.runFor(31_000);
    await page.getByText(say("mood.unread")).waitFor();
    await page.getByText("The store cannot be read.").waitFor();
    await page.route("**/pages/audit.js", (/** @type {any} */ route) => route.abort());
    await page.goto(`${lab.base}/#/audit`);
    await page.locator("main").getByText(say("error.unloaded")).waitFor();
    await context.close();
  });

  test("Back leads to where one was: as far down, and at the same link", async () => {
    const { context, page } = await openPage(lab, { width: PHONE, height: 500 });
    await begin(page);
    await page.locator("article.worry", { hasText: say("reason.check.refused") }).getByRole("button", { name: "Restart Caddy (rehearsal)" }).waitFor();
    const link = page.locator("main").getByRole("link", { name: /Grafana/ });
    await link.scrollIntoViewIfNeeded();
    const top = await page.evaluate(() => Math.round(scrollY));
    assert.ok(top > 100, `scrolled by ${top} px`);
    await link.click();
    await page.getByRole("heading", { level: 2, name: /Grafana/ }).waitFor();
    assert.equal(await page.evaluate(() => scrollY), 0);
    assert.equal(await page.evaluate(() => document.activeElement?.id), "main", "the focus is where the new page begins");
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: say("nav.home") }).waitFor();
    await page.waitForFunction((/** @type {number} */ wanted) => Math.abs(scrollY - wanted) < 3, top);
    await page.waitForFunction(() => /Grafana/.test(document.activeElement?.textContent ?? "") && document.activeElement?.tagName === "A");
    await context.close();
  });

  test("Back closes a sheet and leaves the page, also after it was opened several times", async () => {
    const { context, page, seen } = await openPage(lab);
    await begin(page, "inbox");
    await page.goto(`${lab.base}/#/lab`);
    await page.getByRole("heading", { level: 1, name: say("nav.lab") }).waitFor();
    const sheet = page.getByRole("dialog", { name: say("keys.title") });
    for (const way of ["Escape", "Back", "Escape", "Back"]) {
      await page.keyboard.press("?");
      await sheet.waitFor();
      if (way === "Back") await page.evaluate(() => history.back());
      else await page.keyboard.press(way);
      await sheet.waitFor({ state: "detached" });
      await page.getByRole("heading", { level: 1, name: say("nav.lab") }).waitFor();
    }
    await page.keyboard.press("?");
    await sheet.getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: say("nav.settings") }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: say("nav.lab") }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: say("nav.inbox") }).waitFor();
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("the palette finds machines, agents and entries of the record; freezing asks first", async () => {
    const { context, page, seen } = await openPage(lab);
    await begin(page);
    const box = page.getByRole("combobox", { name: say("palette.placeholder") });
    for (const [words, kind] of [["pve1/107", "guest"], ["pve2", "node"], ["sentinel", "agent"]]) {
      await page.keyboard.press("Control+k");
      await box.fill(words ?? "");
      await page.getByRole("option").filter({ hasText: say(`palette.${kind}`) }).first().waitFor();
      await page.keyboard.press("Escape");
      await box.waitFor({ state: "detached" });
    }
    await page.keyboard.press("Control+k");
    await box.fill("#2");
    await page.keyboard.press("Enter");
    await page.waitForURL(/#\/audit\/2$/);
    await page.keyboard.press("Control+k");
    await box.fill("freeze");
    await page.keyboard.press("Enter");
    const sheet = page.getByRole("dialog", { name: say("freeze.title") });
    await page.route("**/api/freeze", (/** @type {any} */ route) => route.fulfill({ status: 500, json: { error: { code: "store", message: "the store cannot be written" } } }), { times: 1 });
    await sheet.getByRole("button", { name: say("freeze.15min") }).click();
    await sheet.getByText("The store cannot be written.").waitFor();
    await sheet.getByRole("button", { name: say("freeze.15min") }).click();
    await page.getByRole("button", { name: say("freeze.thaw") }).waitFor();
    await page.keyboard.press("Control+k");
    await box.fill("thaw");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: say("freeze.thaw") }).waitFor({ state: "detached" });
    assert.equal((await lab.owner("GET", "/api/freeze")).frozen, false);
    assert.deepEqual(seen.errors.filter((line) => !line.includes("500")), []);
    await context.close();
  });

  test("signing out and in again leaves one frame, one chat and no listener of the old ones", async () => {
    const { context, page } = await openPage(lab, { width: WIDE });
    await context.addInitScript(countListeners);
    await begin(page);
    await page.locator(".chat-rail .chat").waitFor();
    /** @type {string[]} */
    const counts = [];
    const session = await context.cookies();
    for (let round = 0; round < 2; round += 1) {
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
      await context.clearCookies();
      await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
      await page.getByRole("heading", { level: 1, name: /^Void|rehearsal/i }).waitFor();
      assert.equal(await page.locator(".frame, dialog").count(), 0);
      await context.addCookies(session);
      await page.getByLabel(say("login.token")).fill(lab.token);
      await page.getByRole("button", { name: say("login.go") }).click();
      await page.locator(".live-dot", { hasText: say("live.live") }).waitFor();
      await page.locator(".chat-rail .chat").waitFor();
      assert.equal(await page.locator(".frame").count(), 1);
      counts.push(await page.evaluate(async () => {
        const script = /** @type {HTMLScriptElement} */ (document.querySelector("script[type=module]"));
        const { home } = await import(script.src);
        return `${home.watchers.size} watch Home, ${/** @type {any} */ (window).listening()} listen on the page`;
      }));
    }
    assert.equal(counts[1], counts[0]);
    await context.close();
  });

  test("a card decided on Home stays and tells its outcome, and those who listen hear of a new one", async () => {
    const { context, page, seen } = await openPage(lab, { width: PHONE });
    await begin(page);
    const asked = card(page, STOP);
    await approve(asked);
    await asked.getByText(new RegExp(`${say("state.verified")}|${say("state.unconfirmed")}`)).first().waitFor();
    await asked.getByRole("button", { name: "Start iVentoy (rehearsal)" }).waitFor();
    const agent = await lab.agent("later");
    await agent("POST", "/api/actions/reboot-vm200/run", { reason: "because" });
    await page.locator("[aria-live=polite].hidden-text", { hasText: say("frame.new_waits", { label: "Reboot Home Assistant (rehearsal)" }) }).waitFor({ state: "attached" });
    await card(page, "Reboot Home Assistant (rehearsal)").waitFor();
    assert.equal(await asked.count(), 1, "the one that was decided is still there");
    await page.waitForFunction(() => document.title.startsWith("(1) Home"));
    await page.goto(`${lab.base}/#/more`);
    await page.waitForFunction(() => document.title.startsWith("(1) More"));
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  /** @param {any} page @param {string} [at] */
  async function begin(page, at = "home") {
    await page.goto(`${lab.base}/#/${at}`);
    await page.locator(".live-dot", { hasText: say("live.live") }).waitFor();
  }
});

/** Counts what listens on the window and on the document. */
function countListeners() {
  /** @type {Set<string>} */
  const all = new Set();
  const ids = new WeakMap();
  let last = 0;
  const idOf = (/** @type {any} */ listener) => ids.get(listener) ?? (ids.set(listener, last += 1), last);
  const keyOf = (/** @type {any[]} */ [name, listener]) => `${name} ${idOf(listener)}`;
  for (const [index, target] of [window, document].entries()) {
    const { addEventListener: add, removeEventListener: remove } = target;
    target.addEventListener = (/** @type {any[]} */ ...given) => { all.add(`${index} ${keyOf(given)}`); return Reflect.apply(add, target, given); };
    target.removeEventListener = (/** @type {any[]} */ ...given) => { all.delete(`${index} ${keyOf(given)}`); return Reflect.apply(remove, target, given); };
  }
  Object.assign(window, { listening: () => all.size });
}
