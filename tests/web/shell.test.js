// The frame around the pages: it tells the truth about the connection, re-reads what no event tells, keeps
// one's place, and leaves nothing behind.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openPage, say } from "./browsers.js";
import { demo } from "./labs.js";

describe("the frame", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => { lab = await demo(); });
  after(() => lab.stop());

  test("a connect that hangs is no connection, and says so", async () => {
    const { context, page } = await openPage(lab);
    await page.clock.install();
    await page.route("**/api/events*", () => {});
    await page.goto(`${lab.base}/#/home`);
    await page.locator(".live-dot", { hasText: say("live.connecting") }).waitFor();
    await page.route("**/api/home", (/** @type {any} */ route) => route.abort());
    await page.clock.runFor(25_000);
    await page.locator(".live-dot", { hasText: /Not connected since \d\d:\d\d/ }).waitFor();
    await page.getByText(say("mood.offline")).waitFor();
    await context.close();
  });

  test("where no stream comes through, the page asks instead and shows what changed", async () => {
    const { context, page } = await openPage(lab);
    await page.clock.install();
    await page.route("**/api/events*", () => {});
    await page.goto(`${lab.base}/#/home`);
    await page.locator(".live-dot", { hasText: say("live.connecting") }).waitFor();
    await page.clock.runFor(25_000);
    await page.locator(".live-dot", { hasText: say("live.asked", { n: 10 }) }).waitFor();
    await lab.owner("POST", "/api/freeze", { reason: "seen by asking" });
    await page.clock.runFor(11_000);
    await page.getByText("seen by asking").waitFor();
    await lab.owner("DELETE", "/api/freeze");
    await context.close();
  });

  test("what no event tells is read again by itself", async () => {
    const { context, page } = await openPage(lab);
    let isStale = false;
    await page.route("**/api/home", async (/** @type {any} */ route) => {
      const answer = await route.fetch();
      const value = await answer.json();
      if (isStale) for (const service of value.services.services) service.status = "unknown";
      await route.fulfill({ response: answer, json: value });
    });
    await page.clock.install();
    await begin(page);
    isStale = true;
    await page.clock.runFor(31_000);
    await page.locator("main .pill", { hasText: say("health.unknown") }).nth(2).waitFor();
    await context.close();
  });

  /** @param {any} page @param {string} [at] */
  async function begin(page, at = "home") {
    await page.goto(`${lab.base}/#/${at}`);
    await page.locator(".live-dot", { hasText: say("live.live") }).waitFor();
  }
});
