// What a card does while things happen around it: a machine that joins, a reason that is being typed.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { axe, card, openPage, PHONE, say } from "./browsers.js";
import { alter, serve } from "./labs.js";
import { until } from "./waiting.js";

const WIKI = "Restart the wiki";
const ACTIONS = { actions: [
  { id: "restart-wiki", label: WIKI, kind: "service_restart", host: "local", service: "wiki", tier: "risky" },
] };
/** Longer than a proof of identity counts. */
const OLD_MS = 6 * 60_000;

describe("cards", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => { lab = await serve({ actions: ACTIONS }); });
  after(() => lab.stop());

  test("a machine is admitted by somebody who shows who it is, and the card says how it ended", async () => {
    const { token } = await lab.owner("POST", "/api/nodes", { name: "nas" });
    await lab.owner("POST", "/api/node/join", { token, fingerprint: "ab".repeat(32), version: "0.1.0" });
    const { context, page, seen } = await openPage(lab, { width: PHONE });
    await page.goto(`${lab.base}/#/inbox`);
    await page.getByText(say("join.title", { name: "nas" })).click();
    const asks = page.locator("article.approval");
    alter(lab, "UPDATE sessions SET authenticated_at = authenticated_at - ?", OLD_MS);
    await asks.getByRole("button", { name: say("join.admit") }).click();
    await asks.getByRole("button", { name: say("join.yes") }).click();
    const sheet = page.getByRole("dialog", { name: say("identity.title") });
    await sheet.getByRole("button", { name: say("identity.cancel") }).click();
    await asks.getByRole("button", { name: say("join.admit") }).waitFor();
    const state = async () => (await lab.owner("GET", "/api/nodes")).nodes[0].state;
    assert.equal(await state(), "waiting", "who thought better of it admitted nobody");
    await asks.getByRole("button", { name: say("join.admit") }).click();
    await asks.getByRole("button", { name: say("join.yes") }).click();
    await sheet.getByLabel(say("login.token"), { exact: true }).fill(lab.token);
    await sheet.getByRole("button", { name: say("identity.confirm") }).click();
    await asks.getByText(say("join.admitted")).waitFor();
    assert.equal(await state(), "joined");
    assert.deepEqual(await axe(page), []);
    assert.deepEqual(seen.errors.filter((line) => !/ 403 /.test(line)), []);
    await context.close();
  });

  test("a reason that is being typed stays while the same is asked for again", async () => {
    const agent = await lab.agent("nightly");
    const ask = () => agent("POST", "/api/actions/restart-wiki/run", { reason: "it is slow" });
    const asked = await ask();
    const { context, page } = await openPage(lab);
    await page.goto(`${lab.base}/#/home`);
    const shown = card(page, WIKI);
    await shown.getByRole("button", { name: say("card.reject"), exact: true }).click();
    const field = shown.getByLabel(say("card.own_reason"));
    await field.fill("not while the backup");
    await ask();
    // Something happens elsewhere, and everything is read again.
    await lab.owner("POST", "/api/freeze", {});
    await lab.owner("DELETE", "/api/freeze");
    await shown.getByText(say("card.asked_times", { n: 2 })).waitFor();
    assert.equal(await field.inputValue(), "not while the backup");
    assert.ok(await field.evaluate((/** @type {Element} */ node) => node === document.activeElement), "the cursor stays");
    await page.keyboard.type(" runs");
    await page.keyboard.press("Enter");
    await until("the no is there", async () => (await lab.owner("GET", `/api/proposals/${asked.action_row_id}`)).status === "rejected");
    const { entries } = await lab.owner("GET", "/api/audit?verb=proposal.rejected&limit=1");
    assert.match(JSON.stringify(entries), /not while the backup runs/);
    await context.close();
  });
});
