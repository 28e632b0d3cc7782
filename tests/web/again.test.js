// After a no: it stays in the record, and what there is instead of an undo is a new request that waits for
// its own yes.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { axe, card, openPage, overflow, PHONE, say } from "./browsers.js";
import { alter, freePort, serve } from "./labs.js";
import { until } from "./waiting.js";

const DEPLOY = "Deploy the wiki";
const NFS = "Restart NFS";
const ACTIONS = [
  { id: "deploy-wiki", label: DEPLOY, kind: "deploy_service", node: "nas", service: "wiki", tier: "risky", params: { release: { type: "integer", min: 1, max: 99 } } },
  { id: "restart-nfs", label: NFS, kind: "service_restart", host: "nas", service: "nfsd", tier: "risky" },
  { id: "restart-smb", label: "Restart Samba", kind: "service_restart", host: "nas", service: "smbd", tier: "risky" },
];
const HOSTS = { nas: "127.0.0.1" };
/** Longer than a note stays that nobody is at. */
const STAYED_MS = 9000;

describe("asking again", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  /** @type {any} */
  let agent;
  let port = 0;
  before(async () => {
    port = await freePort();
    lab = await serve({ actions: { hosts: HOSTS, actions: ACTIONS }, port });
    agent = await lab.agent("nightly");
  });
  after(() => lab.stop());

  test("a no can be followed by a new request with the same parameters, which waits for a yes", async () => {
    const first = await ask("deploy-wiki", { release: 7 });
    const { context, page, seen } = await openPage(lab, { width: PHONE });
    await page.clock.install();
    await page.goto(`${lab.base}/#/home`);
    const shown = card(page, DEPLOY);
    await shown.getByRole("button", { name: say("card.reject"), exact: true }).click();
    await shown.getByRole("button", { name: say("reason.not_now") }).click();
    const note = page.locator(".toast").filter({ hasText: say("again.rejected") });
    await note.hover();
    await shown.getByText(say("state.rejected")).first().waitFor();
    await page.clock.fastForward(STAYED_MS);
    assert.ok((await overflow(page)) <= 0);
    await note.getByRole("button", { name: say("again.ask") }).click();
    await page.locator(".toast").filter({ hasText: say("run.queued") }).getByRole("link", { name: say("run.look") }).click();
    await shown.getByText(say("again.reason_rejected", { code: first.code })).waitFor();
    await shown.getByRole("button", { name: say("card.approve"), exact: true }).waitFor();
    const [now] = (await lab.owner("GET", "/api/inbox")).items;
    assert.notEqual(now.id, first.id);
    assert.deepEqual([now.action_id, now.params, now.requested_by.kind, now.status], ["deploy-wiki", { release: 7 }, "owner", "pending"]);
    assert.deepEqual(await steps(first.id), ["pending", "rejected"], "the no stays");
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("whoever decides by keys has the focus at the offer, which waits for them", async () => {
    const row = await ask("restart-nfs");
    const { context, page } = await openPage(lab);
    await page.clock.install();
    await page.goto(`${lab.base}/#/inbox/${row.id}`);
    await card(page, NFS).getByRole("button", { name: say("card.approve"), exact: true }).click({ trial: true });
    await page.keyboard.press("r");
    await page.keyboard.press("Enter");
    const note = page.locator(".toast");
    await note.waitFor();
    assert.ok(await note.evaluate((/** @type {Element} */ node) => node === document.activeElement));
    await page.clock.fastForward(STAYED_MS);
    await page.keyboard.press("Tab");
    assert.ok(await note.getByRole("button", { name: say("again.ask") }).evaluate((/** @type {Element} */ node) => node === document.activeElement));
    assert.deepEqual(await axe(page), []);
    await page.locator("main").focus();
    await page.clock.fastForward(STAYED_MS);
    await note.waitFor({ state: "detached" });
    assert.deepEqual(await steps(row.id), ["pending", "rejected"]);
    await context.close();
  });

  test("the card of what expired asks again in place, while the catalogue still says the same", async () => {
    const [same, other, gone] = [await ask("restart-nfs"), await ask("deploy-wiki", { release: 9 }), await ask("restart-smb")];
    for (const { id } of [same, other, gone]) alter(lab, "UPDATE proposals SET expires_at = created_at WHERE id = ?", id);
    await until("time is up", async () => (await steps(gone.id)).includes("expired"));
    const { context, page } = await openPage(lab, { width: PHONE });
    await page.goto(`${lab.base}/#/inbox/${same.id}`);
    const button = page.getByRole("button", { name: say("again.ask") });
    await page.getByText(say("card.inverse_waits")).waitFor();
    await button.click();
    await page.getByRole("link", { name: say("again.look") }).click();
    await card(page, NFS).getByText(say("again.reason_expired", { code: same.code })).waitFor();
    await page.goto(`${lab.base}/#/inbox/${gone.id}`);
    await button.waitFor();

    await lab.stop();
    await page.getByText(say("again.not_connected")).waitFor();
    await writeFile(join(lab.data, "actions.json"), JSON.stringify({ hosts: HOSTS, actions: [{ ...ACTIONS[0], label: "Deploy the wiki and the blog" }, ACTIONS[1]] }));
    lab = await serve({ data: lab.data, port });
    await page.goto(`${lab.base}/#/inbox/${other.id}`);
    await page.getByText(say("again.changed")).waitFor();
    await page.goto(`${lab.base}/#/inbox/${gone.id}`);
    await page.getByText(say("again.gone", { id: "restart-smb" })).waitFor();
    assert.equal(await button.count(), 0);
    await context.close();
  });

  /** @param {string} action @param {any} [params] */
  async function ask(action, params = {}) {
    const asked = await agent("POST", `/api/actions/${action}/run`, { params, reason: "shares hang" });
    return lab.owner("GET", `/api/proposals/${asked.action_row_id}`);
  }

  /** @param {string} id @returns {Promise<string[]>} */
  async function steps(id) {
    return (await lab.owner("GET", `/api/proposals/${id}`)).transitions.map((/** @type {any} */ step) => step.to);
  }
});
