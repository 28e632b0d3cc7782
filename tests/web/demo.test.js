// The first minute: from the link that `void demo` prints to a fix that was approved, ran and was checked.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { approve, card, DESK, openPage, PHONE, say } from "./browsers.js";
import { demo } from "./labs.js";
import { until } from "./waiting.js";

const STOP = "Stop iVentoy (rehearsal)";

describe("the first minute", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => { lab = await demo(); });
  after(() => lab.stop());

  test("the printed link leads to the first approved fix, and the record shows each step", async () => {
    const { context, page, seen } = await openPage(lab, { width: PHONE, signedIn: false });
    await enter(page, lab);
    const asked = card(page, STOP);
    await asked.getByText("Nobody has booted anything from it").waitFor();
    await approve(asked);
    await page.getByRole("link", { name: new RegExp(STOP.replace(/[()]/g, "\\$&")) }).first().waitFor();
    const row = (await lab.owner("GET", "/api/actions/recent")).recent[0];
    assert.equal(row.status, "executed");
    assert.deepEqual(row.transitions.map((/** @type {any} */ step) => step.to), ["pending", "approved", "running", "executed"]);
    await page.goto(`${new URL(page.url()).origin}/#/inbox/${row.id}`);
    const done = card(page, STOP);
    await done.getByText("approved by you", { exact: false }).last().waitFor();
    await done.getByRole("button", { name: "Start iVentoy (rehearsal)" }).waitFor();
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("a service that is down is fixed by a safe action, and the page says so only after the check", async () => {
    const { context, page, seen } = await openPage(lab, { width: DESK });
    await page.goto(`${lab.base}/#/home`);
    const worry = page.locator("article.worry").filter({ hasText: "Caddy" });
    await worry.waitFor();
    const ran = await lab.owner("POST", "/api/actions/restart-caddy/run", { reason: "it is down" });
    await worry.waitFor({ state: "detached" });
    const row = await until("the check is recorded", async () => {
      const found = await lab.owner("GET", `/api/proposals/${ran.action_row_id}`);
      return found.verification && found;
    });
    assert.equal(row.verification, "verified");
    await page.goto(`${lab.base}/#/inbox/${row.id}`);
    await card(page, "Restart Caddy (rehearsal)").getByText(say("state.verified")).first().waitFor();
    assert.deepEqual(seen.errors, []);
    await context.close();
  });
});

/** By the set-up link where the program prints one, else by the owner's token. @param {any} page @param {import("./labs.js").Lab} lab */
async function enter(page, lab) {
  assert.match(lab.setupLink ?? "", /#\/setup\//, "a link is printed");
  await page.goto(lab.setupLink ?? "");
  // Setting up a passkey or a password can wait.
  await page.getByRole("button", { name: say("setup_link.later") }).click();
  await page.getByRole("heading", { level: 1, name: say("nav.home") }).waitFor();
}
