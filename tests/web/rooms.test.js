// The Lab, the Audit and the Settings as they change under the eye: what is shown is what the server
// says now, in characters that show as themselves, and what the owner chose stays chosen.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { DESK, openPage, PHONE, rewrite, say, settled } from "./browsers.js";
import { alter, demo } from "./labs.js";
import { shifted, watchShifts } from "./measures.js";
import { until } from "./waiting.js";

/** Turns the order of what follows around. */
const HIDDEN = "\u202e";
const SHOWN = "\\u{202e}";
/** So long after, a page that is looked at has asked again. */
const LOOKED_AGAIN_MS = 12_000;
const FIREFOX = "Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0";
/** The first word of every verb that the server records. */
const RECORDED = ["access", "backup", "bridge", "decision", "freeze", "host", "node", "notification", "pairing", "passkey", "password", "proposal", "server", "session", "setup_link", "store", "token", "turn"];

describe("the rooms", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => { lab = await demo(); });
  after(async () => lab.stop());

  test("no name of a guest and no entry of the record hides a character (I7)", async () => {
    const { context, page } = await openPage(lab);
    const name = `proxy${HIDDEN}yxorp`;
    await rewrite(page, "**/api/lab", (value) => {
      for (const node of value.nodes) for (const guest of node.guests) guest.name = name;
      return value;
    });
    await rewrite(page, /\/api\/audit\?/, (value) => {
      for (const entry of value.entries) Object.assign(entry, { verb: "node.joined", detail: { name } });
      return value;
    });
    for (const [place, line] of [["lab", ".guests th a"], ["audit", ".lines .words"]]) {
      await page.goto(`${lab.base}/#/${place}`);
      await page.locator(String(line)).first().waitFor();
      const words = await page.locator("main").evaluate((/** @type {HTMLElement} */ node) => [node.textContent, ...[...node.querySelectorAll("[aria-label], [title]")].map((one) => `${one.getAttribute("aria-label")} ${one.getAttribute("title")}`)].join("\n"));
      assert.ok(words.includes(`proxy${SHOWN}yxorp`), `${place} shows the character`);
      assert.ok(!words.includes(HIDDEN), `${place} has it nowhere as itself`);
    }
    await context.close();
  });

  test("what is about it comes before what its machine can, and what stops it comes last", async () => {
    const { context, page } = await openPage(lab);
    // In the opposite order, so that none of it is by chance.
    await rewrite(page, "**/api/actions", (value) => {
      const of = (/** @type {string} */ id) => value.actions.find((/** @type {{id: string}} */ one) => one.id === id);
      const [safe, reboot] = [of("restart-jellyfin"), of("reboot-ct100")];
      const stop = { ...reboot, id: "stop-ct100", label: "Stop its guest", op: "stop" };
      const near = { ...safe, id: "reload-jellyfin", label: "Reload it", tier: "risky", risk: "guarded" };
      const far = { ...reboot, label: "Reboot its guest" };
      return { ...value, actions: [stop, far, near, { ...safe, label: "Restart it" }] };
    });
    await page.goto(`${lab.base}/#/lab/services/jellyfin`);
    const lines = page.locator(".list .action-line > a.grow");
    await lines.nth(3).waitFor();
    assert.deepEqual(await lines.allInnerTexts(), ["Restart it", "Reload it", "Reboot its guest", "Stop its guest"]);
    await context.close();
  });

  test("what came for another filter is forgotten, and an address keeps the filter", async () => {
    for (let at = 0; at < 12; at += 1) await lab.agent(`early-${at}`);
    const { context, page } = await openPage(lab, { width: PHONE, height: 500 });
    await page.goto(`${lab.base}/#/audit`);
    const lines = page.locator(".lines .words");
    await lines.nth(12).waitFor();
    await page.evaluate(() => scrollTo(0, 600));
    const asked = await lab.owner("POST", "/api/actions/reboot-ct101/run", { reason: "news" });
    await page.getByRole("button", { name: /new entr/ }).waitFor();
    await page.getByText(say("audit.filters")).click();
    await page.getByLabel(say("audit.filter.what")).selectOption("token.");
    await page.waitForFunction((/** @type {string} */ made) => [...document.querySelectorAll(".lines .words")].every((line) => line.textContent?.startsWith(made)), say("audit.did.token.created"));
    // Its end is an event; so is what it is about, which does not fit the filter.
    const { tokens } = await lab.owner("GET", "/api/tokens");
    await lab.owner("DELETE", `/api/tokens/${tokens.find((/** @type {any} */ one) => one.name === "early-0").id}`);
    await lines.filter({ hasText: say("audit.did.token.revoked") }).waitFor();
    assert.deepEqual((await lines.allTextContents()).filter((/** @type {string} */ words) => !/token/.test(words)), []);

    await lines.first().click();
    assert.match(new URL(page.url()).hash, /^#\/audit\/\d+\?verb=token\.$/);
    await page.reload();
    assert.equal(await page.getByRole("link", { name: say("audit.back") }).getAttribute("href"), "#/audit?verb=token.");
    await lab.owner("POST", `/api/proposals/${asked.action_row_id}/cancel`);
    await context.close();
  });

  test("a message is told with where it went, and everything that is recorded can be filtered for", async () => {
    const { context, page } = await openPage(lab, { width: PHONE });
    const details = [["pairing.ended", { target: "telegram:7" }], ["notification.tested", { targets: ["ntfy:a", "telegram:7"], failed: 0 }], ["notification.tested", { targets: [], failed: 0 }]];
    await rewrite(page, /\/api\/audit\?/, (value) => {
      value.entries = value.entries.slice(0, details.length);
      value.entries.forEach((/** @type {any} */ entry, /** @type {number} */ at) => Object.assign(entry, { verb: details[at]?.[0], subject: null, detail: details[at]?.[1] }));
      return value;
    });
    await page.goto(`${lab.base}/#/audit`);
    const lines = page.locator(".lines .words");
    await lines.nth(2).waitFor();
    assert.deepEqual(await lines.allTextContents(), [say("audit.did.pairing.ended", { name: "telegram:7" }), say("audit.did.notification.tested", { name: "ntfy:a, telegram:7" }), say("audit.did.notification.tested", { name: say("audit.who.nobody") })]);
    const kinds = await page.locator("[data-name=verb] > option").evaluateAll((/** @type {HTMLOptionElement[]} */ all) => all.map((one) => one.value));
    assert.deepEqual(RECORDED.filter((kind) => !kinds.includes(`${kind}.`)), []);
    await context.close();
  });

  test("a node that is gone is soon called away, and an open question stays open", async () => {
    const { context, page } = await openPage(lab, { width: PHONE });
    let here = true;
    await rewrite(page, "**/api/nodes", (value) => {
      const seen_at = new Date().toISOString();
      value.nodes = [{ name: "nas", state: "joined", here, seen_at, version: "1.0.0", skew: "same", drift: null, twin_at: null, fingerprint: "SHA256:a", invite_expires_at: null, actions: 2 }];
      return value;
    });
    await page.clock.install();
    for (const place of ["lab", "settings/nodes"]) {
      here = true;
      await page.goto(`${lab.base}/#/${place}`);
      const main = page.locator("main");
      await main.locator(".pill", { hasText: say("node.here") }).waitFor();
      const isAsking = place !== "lab";
      if (isAsking) await main.getByRole("button", { name: say("nodes.remove_named", { name: "nas" }) }).click();
      here = false;
      await page.clock.fastForward(LOOKED_AGAIN_MS);
      await main.locator(".pill:not(.bad, .ok)", { hasText: say("node.away") }).waitFor();
      if (isAsking) await main.getByRole("button", { name: say("nodes.remove_yes") }).waitFor();
    }
    await context.close();
  });

  test("how long ago something was stays right on Home: it counts, it is read anew, and nothing moves", async () => {
    for (const width of [PHONE, DESK]) {
      const { context, page, seen } = await openPage(lab, { width });
      await page.clock.install();
      await watchShifts(page);
      const began = Date.now();
      let now = began;
      // A lab whose services were looked at three seconds before it was asked, whenever that is.
      await rewrite(page, "**/api/home", (value) => {
        value.status.at = new Date(now).toISOString();
        for (const service of [...value.services.services, ...value.cards.flatMap((/** @type {any} */ card) => card.evidence)]) service.checked_at = new Date(now - 3000).toISOString();
        for (const row of value.recent) row.resolved_at = new Date(began - 4000).toISOString();
        return value;
      });
      await page.goto(`${lab.base}/#/home`);
      await settled(page, seen);
      const asked = () => seen.requests.filter((url) => url.endsWith("/api/home")).length;
      const before = asked();
      let oldest = 0;
      for (let second = 0; second < 75; second += 1) {
        now += 1000;
        await page.clock.runFor(1000);
        await settled(page, seen);
        const ages = await page.locator(".truth-line time, main a[href^='#/lab/services/'] time, .evidence time[data-form=ago]").allTextContents();
        oldest = Math.max(oldest, ...ages.map((/** @type {string} */ words) => Number(/^(\d+) s ago$/.exec(words)?.[1] ?? Infinity)));
      }
      assert.ok(oldest >= 8, "it counts between two looks");
      assert.ok(oldest <= 16, `${oldest} s were shown for what is never older than 3 s`);
      assert.ok(asked() - before <= 10, `${asked() - before} requests in 75 s`);
      const { sum, what } = await shifted(page);
      assert.ok(sum < 0.001, `${width} px: ${sum} ${what}`);
      await context.close();
    }
  });

  test("when a browser was last seen is right, and a question about it stays open while it is looked at again", async () => {
    const answer = await fetch(`${lab.base}/api/session`, { method: "POST", headers: { "content-type": "application/json", "user-agent": FIREFOX }, body: JSON.stringify({ token: lab.token }) });
    const cookie = (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const { context, page, seen } = await openPage(lab, { width: PHONE });
    await page.goto(`${lab.base}/#/home`);
    await settled(page, seen);
    // As after forty minutes in which Void wrote nothing down of it.
    alter(lab, "UPDATE sessions SET last_seen_at = last_seen_at - ?", 40 * 60_000);
    await page.goto(`${lab.base}/#/settings/sign-in`);
    const row = (/** @type {string} */ name) => page.locator("main li", { hasText: name }).filter({ hasText: say("sessions.seen") });
    const age = async (/** @type {any} */ place) => (await place.locator("time").last().innerText());
    await row(say("sessions.this")).waitFor();
    assert.match(await age(row(say("sessions.this"))), /^\d s ago$/, "the one that asks is here");
    const other = row("Firefox on Android");
    await other.getByRole("button").click();
    await other.getByRole("button", { name: say("sessions.end_yes") }).waitFor();
    await fetch(`${lab.base}/api/session`, { headers: { cookie } });
    await until("it is seen again", async () => /^1?\d s ago$/.test(await age(other)), LOOKED_AGAIN_MS);
    await other.getByRole("button", { name: say("sessions.end_yes") }).waitFor();
    await context.close();
  });

  test("on a phone one goes through a request step by step", async () => {
    await lab.owner("POST", "/api/actions/restart-jellyfin/run", { reason: "it stutters" });
    const { entries } = await lab.owner("GET", "/api/audit?verb=proposal.created&limit=1");
    const { context, page } = await openPage(lab, { width: PHONE });
    await page.goto(`${lab.base}/#/audit/${entries[0].seq}?actor=owner`);
    const stepper = page.getByRole("navigation", { name: say("audit.chain") });
    const step = page.locator(".chain [aria-current=step]");
    /** @type {string[]} */
    const seen = [];
    for (let at = 1; at <= 5; at += 1) {
      await stepper.getByText(say("audit.chain_at", { n: at, all: 5 })).waitFor();
      seen.push(await step.locator("strong").textContent());
      if (at < 5) await stepper.getByRole("link", { name: say("audit.chain_after") }).click();
    }
    assert.deepEqual(seen, ["outcome.created", "step.let_through", "step.started", "outcome.executed", "step.verified"].map((word) => say(`audit.${word}`)));
    assert.equal(await stepper.getByRole("link", { name: say("audit.chain_after") }).count(), 0);
    await stepper.getByRole("link", { name: say("audit.chain_before") }).click();
    await stepper.getByText(say("audit.chain_at", { n: 4, all: 5 })).waitFor();
    assert.equal(await page.getByRole("link", { name: say("audit.back") }).getAttribute("href"), "#/audit?actor=owner");
    await context.close();
  });

  test("a guest has its last lines of the record, and follows what happens", async () => {
    const { context, page } = await openPage(lab, { width: PHONE });
    await page.goto(`${lab.base}/#/lab/guests/pve1/101`);
    const record = page.locator("section", { has: page.getByRole("heading", { name: say("lab.record") }) }).last();
    const agent = await lab.agent("watchful");
    const asked = await agent("POST", "/api/actions/reboot-ct101/run", { reason: "it hangs" });
    await record.getByText(say("audit.did.proposal.created").trim()).first().waitFor();
    const { digest } = await lab.owner("GET", `/api/proposals/${asked.action_row_id}`);
    await lab.owner("POST", `/api/proposals/${asked.action_row_id}/decide`, { decision: "reject", digest });
    await record.getByText(say("audit.did.proposal.rejected").trim()).first().waitFor();
    await page.goto(`${lab.base}/#/lab/nodes/pve1`);
    await record.getByText(say("audit.did.proposal.rejected").trim()).first().waitFor();
    assert.ok(await record.getByRole("link").count() <= 5);
    await context.close();
  });

  test("no way is offered that does not exist, and copying works on plain HTTP too", async () => {
    for (const isSecure of [true, false]) {
      const { context, page } = await openPage(lab, { width: PHONE });
      if (!isSecure) await page.addInitScript(() => {
        Object.defineProperty(window, "isSecureContext", { value: false });
        Object.defineProperty(navigator, "clipboard", { value: undefined });
      });
      await page.goto(`${lab.base}/#/settings/channels`);
      await page.getByText("ntfy", { exact: true }).click();
      assert.equal(await page.locator("main").getByText(/push/i).count(), 0, "Void pushes to no browser");
      const copy = page.getByRole("button", { name: say("settings.copy_what", { what: "ntfy" }) });
      await copy.click();
      await copy.getByText(say("settings.copied")).waitFor();
      await context.close();
    }
  });
});
