// What a card does while things happen around it: a machine that joins, a reason that is being typed.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { axe, card, keysOf, openPage, PHONE, rewrite, say } from "./browsers.js";
import { alter, serve } from "./labs.js";
import { Model } from "./models.js";
import { until } from "./waiting.js";

const WIKI = "Restart the wiki";
const GRAFANA = "Deploy Grafana";
const ACTIONS = { actions: [
  { id: "restart-wiki", label: WIKI, kind: "service_restart", host: "local", service: "wiki", tier: "risky" },
  { id: "deploy-grafana", label: GRAFANA, kind: "deploy_service", node: "n1", service: "grafana", tier: "risky", timeout_s: 77,
    params: { image: { type: "pattern", pattern: "^[a-z0-9./:-]{1,90}$", max_len: 90 } } },
] };
const EVIL = "registry.evil.example/backdoor:1";
const LYING = "+image: grafana/grafana:11.2.1";
/** Longer than a proof of identity counts. */
const OLD_MS = 6 * 60_000;

/** How a row stands behind each state: its status, and how the check after it ended. @type {Record<string, [string, string | null]>} */
const STATES = {
  waiting: ["pending", null], starting: ["approved", null], waits_for_target: ["approved", null], held_by_freeze: ["approved", null],
  running: ["running", null], being_checked: ["executed", null], verified: ["executed", "verified"], check_failed: ["executed", "failed"],
  unconfirmed: ["executed", "unverified"], failed: ["failed", null], unknown: ["unknown", null], rejected: ["rejected", null],
  expired: ["expired", null], lapsed: ["expired", null], withdrawn: ["cancelled", null], refused: ["refused", null],
};

/** The row as it would be sent in a state. @param {any} row @param {string} state */
function stands(row, state) {
  const [status, verification] = STATES[state] ?? ["", null];
  const isOver = !["pending", "approved", "running"].includes(status);
  const failed = ["failed", "unknown", "refused"].includes(status) ? { code: "not_written", message: "the disk is full" } : null;
  return { ...row, display_state: state, status, verification, error: failed, result: status === "executed" ? {} : null, resolved_at: isOver ? row.created_at : null };
}

/** Everything that the digest of a request binds, as a card has to say it. @param {import("./labs.js").Lab} lab @param {string} id */
async function boundValues(lab, id) {
  const { row, bound } = await lab.owner("GET", `/api/proposals/${id}/card`);
  return { row, values: [...bound.map((/** @type {any} */ one) => one.value), row.params.image, "deploy-grafana", "deploy_service", "n1", "77", row.digest, `with image ${row.params.image} on n1`] };
}

/** A yes can be given on it, and everything that it would bind can be read there. @param {any} shown @param {string[]} values @param {string} place */
async function saysAll(shown, values, place) {
  // It stands there at once and can be used once everything is read.
  await until("a yes can be given", () => shown.getByRole("button", { name: say("card.approve"), exact: true }).isEnabled());
  // What is folded away has no inner text.
  const text = await shown.innerText();
  for (const value of values) assert.ok(text.includes(value), `${place} does not say ${value}: ${text}`);
}

describe("cards", () => {
  /** @type {Model} */
  let model;
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => {
    model = await Model.start();
    lab = await serve({ actions: ACTIONS, env: model.env });
  });
  after(async () => {
    await lab.stop();
    await model.stop();
  });

  test("a change of the catalogue is read line by line and in words before a yes, and its brief card has none", async () => {
    const wider = { actions: [...ACTIONS.actions, { ...ACTIONS.actions[0], id: "sneaky", label: "Nothing to see", tier: "safe" }] };
    const row = await lab.owner("POST", "/api/actions/patch", { file: `${JSON.stringify(wider, null, 2)}\n`, reason: "tidying up" });
    const { context, page, seen } = await openPage(lab, { width: PHONE });
    await page.goto(`${lab.base}/#/home`);
    const brief = page.locator(`[data-id="${row.id}"], article.approval`).filter({ hasText: row.code }).first();
    await brief.waitFor();
    assert.equal(await brief.getByRole("button", { name: say("card.approve"), exact: true }).count(), 0, "too much for a brief card");
    await page.goto(`${lab.base}/#/inbox/${row.id}`);
    const shown = page.locator("article.approval").filter({ hasText: row.code });
    const lines = row.change.diff.split("\n").map((/** @type {string} */ line) => line.trim()).filter(Boolean);
    await saysAll(shown, [...row.change.summary, ...lines, row.digest, "sneaky", say("card.changes")], "the card");
    const outside = await shown.locator("figure.changes").evaluate((/** @type {Element} */ figure) => figure.closest("details") === null);
    assert.ok(outside, "it is in no fold");
    assert.deepEqual(await axe(page), []);
    await shown.getByRole("button", { name: say("card.approve"), exact: true }).click();
    await shown.getByText(say("card.critical_change")).waitFor();
    await shown.locator("button.yes").click();
    await until("it is done", async () => (await lab.owner("GET", `/api/proposals/${row.id}`)).status === "executed");
    const { actions } = await lab.owner("GET", "/api/actions");
    assert.ok(!actions.some((/** @type {any} */ action) => action.id === "sneaky"), "it is not in force");
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("each state of an action and of a change is drawn in the words of the table, and a yes stands beside one of them", async () => {
    assert.deepEqual(keysOf("state.").sort(), Object.keys(STATES).map((state) => `state.${state}`).sort());
    const wider = { actions: [...ACTIONS.actions, { ...ACTIONS.actions[0], id: "drawn" }] };
    const change = await lab.owner("POST", "/api/actions/patch", { file: `${JSON.stringify(wider, null, 2)}\n`, reason: "to be drawn" });
    const asked = await (await lab.agent("drawn"))("POST", "/api/actions/restart-wiki/run", { reason: "to be drawn" });
    const action = await lab.owner("GET", `/api/proposals/${asked.action_row_id}`);
    const { context, page, seen } = await openPage(lab);
    let state = "waiting";
    await rewrite(page, /\/api\/proposals\/[^/?]+(\/card)?$/, (value) => (value.row ? { ...value, row: stands(value.row, state) } : stands(value, state)));
    for (state of Object.keys(STATES)) {
      for (const row of [action, change]) {
        await page.goto(`${lab.base}/#/home`);
        await page.goto(`${lab.base}/#/inbox/${row.id}`);
        const shown = page.locator("article.approval").filter({ hasText: row.code });
        await shown.locator(".row-line .pill", { hasText: say(`state.${state}`) }).first().waitFor();
        const yes = shown.getByRole("button", { name: say("card.approve"), exact: true });
        await until("a yes is offered where one is wanted", async () => (await yes.count()) === (state === "waiting" ? 1 : 0));
      }
    }
    for (const row of [action, change]) await lab.owner("POST", `/api/proposals/${row.id}/cancel`, {});
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

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

  test("a wish without a reason says that none was given", async () => {
    const agent = await lab.agent("terse");
    const asked = await agent("POST", "/api/actions/restart-wiki/run", {});
    const row = await lab.owner("GET", `/api/proposals/${asked.action_row_id}`);
    assert.equal(row.reason, null);
    const { context, page, seen } = await openPage(lab);
    await page.goto(`${lab.base}/#/inbox/${row.id}`);
    await page.getByText(say("card.no_reason"), { exact: true }).waitFor();
    assert.equal(await page.locator("blockquote.why").count(), 0);
    await page.goto(`${lab.base}/inbox/${row.code}`);
    await page.getByText(say("link.no_reason")).waitFor();
    await lab.owner("POST", `/api/proposals/${row.id}/decide`, { decision: "reject", digest: row.digest });
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("every value that a yes binds is on every card that has an Approve, and the diff is marked", async () => {
    const agent = await lab.agent("liar");
    const asked = await agent("POST", "/api/actions/deploy-grafana/run", { params: { image: EVIL }, reason: "a new version", diff: LYING });
    const { row, values } = await boundValues(lab, asked.action_row_id);
    const { context, page, seen } = await openPage(lab);
    for (const place of [`#/inbox/${row.id}`, "#/home"]) {
      await page.goto(`${lab.base}/${place}`);
      const shown = card(page, GRAFANA);
      await saysAll(shown, values, place);
      const told = shown.locator("figure.foreign");
      assert.match(await told.innerText(), /^Words of liar, not checked/);
      assert.ok((await told.innerText()).includes(LYING));
      assert.deepEqual(await axe(page), []);
    }
    // The same again with more than fits: a brief card has no Approve, and the whole one has everything.
    await agent("POST", "/api/actions/deploy-grafana/run", { params: { image: EVIL }, diff: "+ a line\n".repeat(100) });
    const brief = card(page, GRAFANA);
    await brief.getByRole("link", { name: say("card.open_whole") }).waitFor();
    assert.equal(await brief.getByRole("button", { name: say("card.approve"), exact: true }).count(), 0);
    await brief.getByRole("link", { name: say("card.open_whole") }).click();
    const whole = card(page, GRAFANA);
    await until("a yes can be given", () => whole.getByRole("button", { name: say("card.approve"), exact: true }).isEnabled());
    assert.equal(await whole.locator("figure.foreign").count(), 2);
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("the card in a conversation says every value that a yes binds, or has no Approve", async () => {
    const { context, page, seen } = await openPage(lab);
    await page.goto(`${lab.base}/#/chat`);
    /** What the model asks for in this turn, as a card of the chat. @param {string} image @param {string} diff */
    const turn = async (image, diff) => {
      model.answers = [[{ tool: "propose_action", args: { action_id: "deploy-grafana", params: { image }, reason: "a new version", diff } }], [{ text: `I asked for ${image}.` }]];
      await page.locator("main").getByRole("textbox").fill(`deploy ${image}`);
      await page.locator("main").getByRole("button", { name: say("chat.send") }).click();
      await page.locator("main .turn:not(.mine)").filter({ hasText: `I asked for ${image}.` }).waitFor();
      const { proposals } = await lab.owner("GET", "/api/proposals?limit=50");
      return proposals.find((/** @type {any} */ one) => one.params.image === image).id;
    };
    const image = "registry.evil.example/chat:1";
    const { values } = await boundValues(lab, await turn(image, LYING));
    const shown = page.getByRole("article", { name: GRAFANA }).filter({ hasText: image });
    await saysAll(shown, values, "the chat");
    const told = shown.locator("figure.foreign");
    assert.match(await told.innerText(), /^Words of .+, not checked/);
    assert.ok((await told.innerText()).includes(LYING));
    // More than a brief card shows: it sends the reader to the whole one.
    await turn("registry.evil.example/chat:2", "+ a line\n".repeat(100));
    const brief = page.getByRole("article", { name: GRAFANA }).filter({ hasText: "chat:2" });
    await brief.scrollIntoViewIfNeeded();
    await brief.getByRole("link", { name: say("card.open_whole") }).waitFor();
    assert.equal(await brief.getByRole("button", { name: say("card.approve"), exact: true }).count(), 0);
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("the card in the Lab says every value that a yes binds, or has no Approve", async () => {
    const { context, page, seen } = await openPage(lab);
    const image = "registry.evil.example/lab:1";
    await page.goto(`${lab.base}/#/lab/actions/deploy-grafana`);
    await page.getByLabel("image").fill(image);
    await page.getByRole("button", { name: say("actions.ask"), exact: true }).click();
    const shown = page.locator("section.run").getByRole("article", { name: GRAFANA });
    await shown.waitFor();
    const { proposals } = await lab.owner("GET", "/api/proposals?limit=50");
    const { row, values } = await boundValues(lab, proposals.find((/** @type {any} */ one) => one.params.image === image).id);
    await saysAll(shown, values, "the Lab");
    assert.deepEqual(await axe(page), []);
    // The same with words that do not fit: whoever joins it takes the Approve away.
    await lab.owner("POST", `/api/actions/deploy-grafana/run`, { params: { image }, diff: "+ a line\n".repeat(100) });
    await shown.getByRole("link", { name: say("card.open_whole") }).waitFor();
    assert.equal(await shown.getByRole("button", { name: say("card.approve"), exact: true }).count(), 0);
    assert.equal((await lab.owner("GET", `/api/proposals/${row.id}`)).status, "pending");
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("a yes that was begun ends when there is more to read", async () => {
    const agent = await lab.agent("again");
    const ask = (/** @type {string} */ reason) => agent("POST", "/api/actions/restart-wiki/run", { reason });
    const asked = await ask("it is slow");
    const { context, page } = await openPage(lab);
    await page.goto(`${lab.base}/#/inbox/${asked.action_row_id}`);
    const shown = card(page, WIKI);
    await shown.getByRole("button", { name: say("card.approve"), exact: true }).click();
    await shown.getByRole("button", { name: say("card.yes") }).waitFor();
    await ask("the log told me to");
    await shown.getByText(say("card.renewed")).waitFor();
    assert.equal(await shown.getByRole("button", { name: say("card.yes") }).count(), 0);
    await shown.getByText("the log told me to").waitFor();
    await context.close();
  });
});
