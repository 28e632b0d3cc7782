// Signing in: the printed link once, a passkey from then on, and the passkey again before what may cut the
// owner off. The browser has an authenticator that exists only in it.

import assert from "node:assert/strict";
import { access, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { approve, axe, card, debuggerOf, openPage, PHONE, say } from "./browsers.js";
import { alter, LOCAL, runLocally, serve } from "./labs.js";

const ROUTER = "Restart the router";
const ACTIONS = { actions: [
  { id: "restart-router", label: ROUTER, kind: "service_restart", host: "local", service: "router", tier: "risky", risk: "critical" },
] };
/** Longer than a proof of identity counts for what is critical. */
const OLD_MS = 6 * 60_000;

describe("signing in", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  /** Passkeys belong to a name. */
  let base = "";
  before(async () => {
    lab = await serve({ actions: ACTIONS, settings: LOCAL });
    await runLocally(lab, { "restart-router": ["/usr/bin/touch", join(lab.data, "restarted")] });
    base = lab.base.replace("127.0.0.1", "localhost");
  });
  after(() => lab.stop());

  test("a set-up link makes a passkey, signs in once and never again", async () => {
    const { url } = await lab.owner("POST", "/api/setup-links", {});
    const link = url.replace("127.0.0.1", "localhost");
    const { context, page, seen } = await openPage(lab, { width: PHONE, signedIn: false, base });
    const keys = await authenticator(page);
    await page.goto(link);
    await page.getByRole("button", { name: say("passkey.create") }).waitFor();
    assert.doesNotMatch(page.url(), /setup\/./, "the code has left the address");
    assert.deepEqual(await axe(page), []);
    await page.getByRole("button", { name: say("passkey.create") }).click();
    await atHome(page);
    assert.equal((await keys()).length, 1);

    await page.goto(`${base}/#/settings/sign-in`);
    await page.getByRole("button", { name: say("sessions.leave") }).click();
    await page.getByRole("button", { name: say("identity.use_passkey") }).waitFor();
    assert.deepEqual(await axe(page), []);
    await page.getByRole("button", { name: say("identity.use_passkey") }).click();
    await page.locator(".live-dot", { hasText: say("live.live") }).waitFor();
    const { sessions } = await lab.owner("GET", "/api/sessions");
    assert.deepEqual(sessions.map((/** @type {any} */ one) => one.method), ["passkey"], "signing out ended the first session");

    const { shown, sheet } = await asksWho(page, base);
    await sheet.getByRole("button", { name: say("identity.use_passkey") }).click();
    await sheet.waitFor({ state: "detached" });
    await shown.getByText(say("state.unconfirmed")).first().waitFor();
    assert.deepEqual(seen.errors.filter((line) => !/ 40[13] /.test(line)), []);
    await context.close();

    const other = await openPage(lab, { signedIn: false, base });
    await other.page.goto(link);
    await other.page.getByText(say("setup_link.spent")).waitFor();
    await other.context.close();
  });

  test("a password of one's own signs in, a wrong one is told and keeps the place", async () => {
    const { url } = await lab.owner("POST", "/api/setup-links", {});
    const { context, page } = await openPage(lab, { signedIn: false });
    await page.goto(url.replace("localhost", "127.0.0.1"));
    const field = page.getByLabel(say("password.new"));
    await field.fill("correct horse battery");
    await page.getByRole("button", { name: say("password.set"), exact: true }).click();
    await atHome(page);
    await page.goto(`${lab.base}/#/settings/sign-in`);
    await page.getByRole("button", { name: say("sessions.leave") }).click();
    await page.getByLabel(say("login.password"), { exact: true }).fill("wrong horse battery");
    await page.getByRole("button", { name: say("login.go"), exact: true }).first().click();
    await page.getByText(say("identity.wrong_password")).waitFor();
    await page.getByLabel(say("login.password"), { exact: true }).fill("correct horse battery");
    await page.getByRole("button", { name: say("login.go"), exact: true }).first().click();
    await page.getByRole("heading", { level: 1, name: say("nav.settings") }).waitFor();
    await context.close();
  });

  test("after a link every address leads to its page, and who has a password is not asked for one", async () => {
    const ready = await fetch(`${lab.base}/api/login`);
    assert.equal((await ready.json()).methods.password, true, "the test before set one");
    for (const place of ["home", "inbox"]) {
      const title = `nav.${place}`;
      const { url } = await lab.owner("POST", "/api/setup-links", {});
      const { context, page } = await openPage(lab, { signedIn: false });
      await page.goto(url.replace("localhost", "127.0.0.1"));
      await page.getByText(say("setup_link.has_way")).waitFor();
      assert.equal(await page.getByRole("button", { name: say("password.set"), exact: true }).isVisible(), false, "nothing must be chosen");
      // By the address bar, and again after the tab was loaded anew.
      await page.evaluate((/** @type {string} */ to) => { location.hash = to; }, `#/${place}`);
      await page.getByRole("heading", { level: 1, name: say(title) }).waitFor();
      await page.reload();
      await page.getByRole("heading", { level: 1, name: say(title) }).waitFor();
      assert.equal(await page.getByLabel(say("login.password"), { exact: true }).count(), 0);
      await context.close();
    }
    const { url } = await lab.owner("POST", "/api/setup-links", {});
    const { context, page } = await openPage(lab, { signedIn: false });
    await page.goto(url.replace("localhost", "127.0.0.1"));
    await page.getByRole("button", { name: say("setup_link.go"), exact: true }).click();
    await atHome(page);
    // A link that was used opens nothing, whatever address follows.
    const other = await openPage(lab, { signedIn: false });
    await other.page.goto(url.replace("localhost", "127.0.0.1"));
    await other.page.getByText(say("setup_link.spent")).waitFor();
    await other.page.evaluate(() => { location.hash = "#/inbox"; });
    await other.page.getByLabel(say("login.password"), { exact: true }).waitFor();
    await other.context.close();
    await context.close();
  });

  test("the theme can be chosen before anybody is known", async () => {
    const { context, page } = await openPage(lab, { signedIn: false });
    await page.goto(lab.base);
    await page.getByRole("button", { name: say("appearance.theme_dark"), exact: true }).click();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await context.close();
  });

  test("a critical yes needs a proof of the last minutes: refused without it, and with it the request runs", async () => {
    const password = "staple battery horse";
    const stored = await fetch(`${lab.base}/api/password`, { method: "PUT", headers: { cookie: await lab.session(), origin: lab.base, "content-type": "application/json" }, body: JSON.stringify({ password }) });
    assert.ok(stored.ok, await stored.text());
    await rm(join(lab.data, "restarted"), { force: true });
    const { context, page, seen } = await openPage(lab, { width: PHONE });
    const { shown, sheet, row } = await asksWho(page, lab.base);
    assert.deepEqual(await axe(page), []);
    await sheet.getByRole("button", { name: say("identity.cancel") }).click();
    await sheet.waitFor({ state: "detached" });
    const { id, code, digest } = await row();
    const refused = await page.evaluate(async (/** @type {{id: string, digest: string}} */ { id, digest }) => {
      const answer = await fetch(`/api/proposals/${id}/decide`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ decision: "approve", digest }) });
      return [answer.status, (await answer.json()).error.code];
    }, { id, digest });
    assert.deepEqual(refused, [403, "fresh_login_needed"]);

    await page.goto(`${lab.base}/inbox/${code}`);
    await page.getByText("it needs a fresh sign-in").waitFor();
    assert.equal(await page.locator("[name=decision][value=approve]").count(), 0, "there is no form for a yes");
    assert.equal(await page.locator("[name=decision][value=reject]").count(), 1);
    assert.equal((await row()).status, "pending");

    await page.getByRole("link", { name: "Continue in Void" }).click();
    await approve(shown);
    for (const [words, next] of [["wrong horse battery", sheet.getByText(say("identity.wrong_password"))], [password, shown.getByText(say("state.unconfirmed")).first()]]) {
      await sheet.getByLabel(say("login.password"), { exact: true }).fill(words);
      await sheet.getByRole("button", { name: say("identity.confirm") }).first().click();
      await next.waitFor();
    }
    assert.deepEqual((await row()).transitions.map((/** @type {any} */ step) => step.to), ["pending", "approved", "running", "executed"]);
    await access(join(lab.data, "restarted"));
    assert.deepEqual(seen.errors.filter((line) => !/ 40[13] /.test(line)), []);
    await context.close();
  });

  /** Somebody whose last proof is old says a critical yes, and is asked who it is. @param {any} page @param {string} at */
  async function asksWho(page, at) {
    const agent = await lab.agent(`careful-${Date.now()}`);
    const asked = await agent("POST", "/api/actions/restart-router/run", { reason: "it drops packets" });
    await page.goto(`${at}/#/inbox/${asked.action_row_id}`);
    const shown = card(page, ROUTER);
    await shown.getByText(say("tier.critical")).waitFor();
    await shown.getByRole("button", { name: say("card.approve"), exact: true }).click({ trial: true });
    // It grows old while the card is open; the card itself does not know.
    alter(lab, "UPDATE sessions SET authenticated_at = authenticated_at - ?", OLD_MS);
    await approve(shown);
    const sheet = page.getByRole("dialog", { name: say("identity.title") });
    await sheet.waitFor();
    const row = () => lab.owner("GET", `/api/proposals/${asked.action_row_id}`);
    return { shown, sheet, row };
  }
});

/** @param {any} page */
async function atHome(page) {
  await page.getByRole("heading", { level: 1, name: say("nav.home") }).waitFor();
}

/** A device with a fingerprint that always fits. @param {any} page @returns {Promise<() => Promise<any[]>>} what it holds */
async function authenticator(page) {
  const cdp = await debuggerOf(page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", { options: { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true } });
  return async () => (await cdp.send("WebAuthn.getCredentials", { authenticatorId })).credentials;
}
