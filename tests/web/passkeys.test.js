// Signing in: the printed link once, a passkey from then on, and the passkey again before what may cut the
// owner off. The browser has an authenticator that exists only in it.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { axe, card, debuggerOf, openPage, PHONE, say } from "./browsers.js";
import { serve } from "./labs.js";
import { until } from "./waiting.js";

const ACTIONS = { hosts: { edge: "127.0.0.1" }, actions: [
  { id: "restart-router", label: "Restart the router", kind: "service_restart", host: "edge", service: "router", tier: "risky", risk: "critical" },
] };

describe("signing in", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  /** Passkeys belong to a name. */
  let base = "";
  before(async () => {
    lab = await serve({ actions: ACTIONS });
    base = lab.base.replace("127.0.0.1", "localhost");
  });
  after(() => lab.stop());

  /** @param {any} t @param {string} path */
  async function isMissing(t, path) {
    const { status } = await fetch(lab.base + path, path.endsWith("challenge") ? { method: "POST", headers: { "content-type": "application/json" }, body: "{}" } : {});
    if (status === 404 || status === 405) t.skip(`this server has no ${path} yet`);
    return status === 404 || status === 405;
  }

  test("a set-up link makes a passkey, signs in once and never again", async (t) => {
    if (await isMissing(t, "/api/login") || await isMissing(t, "/api/session/challenge")) return;
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

    await asksAgain(page);
    assert.deepEqual(seen.errors.filter((line) => !/ 401 /.test(line)), []);
    await context.close();

    const other = await openPage(lab, { signedIn: false, base });
    await other.page.goto(link);
    await other.page.getByText(say("setup_link.spent")).waitFor();
    await other.context.close();
  });

  test("a password of one's own signs in, a wrong one is told and keeps the place", async (t) => {
    if (await isMissing(t, "/api/login")) return;
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

  test("the theme can be chosen before anybody is known", async (t) => {
    if (await isMissing(t, "/api/login")) return;
    const { context, page } = await openPage(lab, { signedIn: false });
    await page.goto(lab.base);
    await page.getByRole("button", { name: say("appearance.theme_dark"), exact: true }).click();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await context.close();
  });

  /** A critical yes wants to know anew who it is; the session is made to look old. @param {any} page */
  async function asksAgain(page) {
    const agent = await lab.agent("careful");
    const asked = await agent("POST", "/api/actions/restart-router/run", { reason: "it drops packets" });
    await page.route("**/api/proposals/*/card", async (/** @type {any} */ route) => {
      const answer = await route.fetch();
      const value = await answer.json();
      await route.fulfill({ response: answer, json: { ...value, needs_login: true } });
    });
    await page.goto(`${base}/#/inbox/${asked.action_row_id}`);
    const shown = card(page, "Restart the router");
    await shown.getByText(say("tier.critical")).waitFor();
    await shown.getByRole("button", { name: say("card.approve"), exact: true }).click();
    await shown.getByRole("button", { name: say("card.yes") }).click();
    const sheet = page.getByRole("dialog", { name: say("identity.title") });
    await sheet.waitFor();
    assert.equal((await lab.owner("GET", `/api/proposals/${asked.action_row_id}`)).status, "pending");
    await sheet.getByRole("button", { name: say("identity.use_passkey") }).click();
    await sheet.waitFor({ state: "detached" });
    await until("it is decided", async () => (await lab.owner("GET", `/api/proposals/${asked.action_row_id}`)).status !== "pending");
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
