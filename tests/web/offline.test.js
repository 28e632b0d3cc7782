// The way to the server breaks, or the server dies: the page says so, decides nothing, keeps counting, and
// comes back by itself with nothing lost.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { approve, card, openPage, overflow, PHONE, say } from "./browsers.js";
import { freePort, serve } from "./labs.js";
import { until } from "./waiting.js";

/** It tries at most this far apart. */
const BACK_MS = 15_000;
/** A list beside what is chosen of it. */
const WIDE = 1440;
const ACTIONS = { hosts: { nas: "127.0.0.1" }, actions: [
  { id: "restart-smb", label: "Restart Samba", kind: "service_restart", host: "nas", service: "smbd", tier: "risky" },
  { id: "restart-nfs", label: "Restart NFS", kind: "service_restart", host: "nas", service: "nfsd", tier: "risky" },
] };

describe("offline and back", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  /** @type {any} */
  let agent;
  let port = 0;
  before(async () => {
    port = await freePort();
    lab = await serve({ actions: ACTIONS, port });
    agent = await lab.agent("nightly");
    await agent("POST", "/api/actions/restart-smb/run", { reason: "shares hang" });
  });
  after(() => lab.stop());

  test("without a network the words change, deciding is off with the reason, ages keep counting", async () => {
    const { context, page } = await openPage(lab, { width: PHONE });
    await page.goto(`${lab.base}/#/inbox`);
    await page.getByRole("link", { name: /Restart Samba/ }).click();
    const asked = card(page, "Restart Samba");
    await canDecide(asked);
    await context.setOffline(true);
    await live(page, /Not connected since \d\d:\d\d/);
    await off(asked);
    const age = asked.locator("time").first();
    const before = await age.textContent();
    await until("the age counts on", async () => (await age.textContent()) !== before);
    await context.setOffline(false);
    await live(page, new RegExp(`^${say("live.live")}$`));
    await canDecide(asked);
    await context.close();
  });

  test("a server that dies and starts again is found again, with what happened meanwhile", async () => {
    const { context, page, seen } = await openPage(lab, { width: WIDE });
    await page.goto(`${lab.base}/#/inbox`);
    await page.getByRole("link", { name: /Restart Samba/ }).click();
    const asked = card(page, "Restart Samba");
    await canDecide(asked);
    await lab.kill();
    await live(page, /Reconnecting…|Not connected since/);
    await off(asked);
    await live(page, /Not connected since/);
    lab = await serve({ data: lab.data, port });
    await agent("POST", "/api/actions/restart-nfs/run", { reason: "asked while nobody was connected" });
    await live(page, new RegExp(`^${say("live.live")}$`));
    await page.getByRole("link", { name: /Restart NFS/ }).waitFor();
    await approve(asked);
    await until("it is decided", async () => (await lab.owner("GET", "/api/proposals?limit=10")).proposals.some((/** @type {any} */ row) => row.action_id === "restart-smb" && row.status !== "pending"));
    const exceptions = seen.errors.filter((line) => line.startsWith("exception"));
    assert.deepEqual(exceptions, []);
    await context.close();
  });

  test("a card that could not be read says why, and not that there is no connection", async () => {
    const asked = await agent("POST", "/api/actions/restart-nfs/run", { reason: "again" });
    const { context, page } = await openPage(lab);
    await page.route("**/card", (/** @type {any} */ route) => route.fulfill({ status: 500, json: { error: { code: "store_unavailable", message: "the store cannot be read" } } }));
    await page.goto(`${lab.base}/#/inbox/${asked.action_row_id}`);
    await live(page, new RegExp(`^${say("live.live")}$`));
    await page.locator("article.approval").first().getByText("The store cannot be read.").waitFor();
    assert.equal(await page.getByText(say("card.not_connected"), { exact: true }).count(), 0);
    await context.close();
  });

  test("a page whose first stream fails or does not open decides nothing", async () => {
    const { action_row_id: id } = await agent("POST", "/api/actions/restart-nfs/run", { reason: "again" });
    for (const answer of /** @type {const} */ (["abort", "silence"])) {
      const { context, page } = await openPage(lab, { width: PHONE });
      await page.route("**/api/events*", (/** @type {any} */ route) => answer === "abort" ? route.abort() : undefined);
      await page.goto(`${lab.base}/#/inbox/${id}`);
      await live(page, /Reconnecting…|Not connected since/);
      await off(card(page, "Restart NFS"));
      assert.ok((await overflow(page)) <= 0, "the bar fits a phone");
      await page.unroute("**/api/events*");
      if (answer === "abort") await canDecide(card(page, "Restart NFS"));
      await context.close();
    }
  });

  test("a page that is opened without a server says that it cannot be reached and offers to try again", async () => {
    const { context, page } = await openPage(lab);
    await page.goto(`${lab.base}/#/home`);
    await page.getByRole("heading", { level: 1, name: say("nav.home") }).waitFor();
    await page.route("**/api/home", (/** @type {any} */ route) => route.abort());
    await page.reload();
    await page.getByText(say("error.offline")).waitFor();
    await page.unroute("**/api/home");
    await page.getByRole("button", { name: say("retry") }).click();
    await page.getByRole("heading", { level: 1, name: say("nav.home") }).waitFor();
    await context.close();
  });
});

/** What the bar says of the connection. @param {any} page @param {RegExp} words */
const live = (page, words) => page.locator(".live-dot").filter({ hasText: words }).waitFor({ timeout: BACK_MS });

/** The first step of a yes could be taken. @param {any} asked a card */
const canDecide = (asked) => asked.getByRole("button", { name: say("card.approve"), exact: true }).click({ trial: true });

/** @param {any} asked a card */
async function off(asked) {
  const button = asked.getByRole("button", { name: say("card.not_connected"), exact: true });
  await button.waitFor();
  assert.ok(await button.isDisabled());
  assert.equal(await asked.getByRole("button", { name: say("card.approve"), exact: true }).count(), 0);
  await asked.getByText(say("card.not_connected_why")).waitFor();
}
