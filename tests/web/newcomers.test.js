// What somebody meets who has never seen Void: nothing is promised that does not come, offered that changes nothing,
// or asked for without saying where it is, and every clock is the reader's.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { alter, demo, LOCAL, runLocally, serve } from "./labs.js";
import { approve, axe, card, isInSight, openPage, overflow, PHONE, rewrite, say, settled } from "./browsers.js";
import { FOLDER, VOID } from "./packages.js";
import { until } from "./waiting.js";

const STOP = "Stop iVentoy (rehearsal)";
const START = "Start iVentoy (rehearsal)";
/** Nine hours ahead of UTC, all year. */
const TOKYO = "Asia/Tokyo";
const OLD_MS = 10 * 60_000;
const LONG_AGO = "2026-01-01T00:00:00.000Z";
/** Longer than an open page waits between two looks. */
const LOOK_MS = 15_000;

describe("a newcomer in the rehearsal lab", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => { lab = await demo(); });
  after(() => lab.stop());

  test("a fresh proof of who one is says where the owner token is, as this Void has it", async () => {
    const { context, page } = await openPage(lab, { width: PHONE });
    await page.goto(`${lab.base}/#/home`);
    await page.locator("article.approval").first().waitFor();
    await lab.owner("POST", "/api/freeze", { reason: "a test" });
    alter(lab, "UPDATE sessions SET authenticated_at = authenticated_at - ?", OLD_MS);
    await page.getByRole("button", { name: say("freeze.thaw") }).first().click();
    const dialog = page.getByRole("dialog", { name: say("identity.title") });
    await dialog.getByText(say("identity.token_file")).waitFor();
    assert.equal(await dialog.locator("code").innerText(), `${lab.data}/owner.token`);
    assert.equal(await overflow(page), 0);
    assert.deepEqual(await axe(page), []);
    await dialog.getByLabel(say("login.token")).fill(lab.token);
    await dialog.getByRole("button", { name: say("identity.confirm") }).click();
    await until("it is thawed", async () => !(await lab.owner("GET", "/api/freeze")).frozen);
    await context.close();
  });

  test("on a phone the second step names the act, whole and in sight", async () => {
    const { context, page } = await openPage(lab, { width: PHONE });
    await page.goto(`${lab.base}/#/inbox/${lab.facts.waiting}`);
    const asked = card(page, STOP);
    await asked.getByRole("button", { name: say("card.approve"), exact: true }).click();
    const yes = asked.getByRole("button", { name: "Yes, stop iVentoy (rehearsal)", exact: true });
    await until("it can be used", () => yes.isEnabled());
    assert.ok(await isInSight(yes));
    assert.ok(await yes.evaluate((/** @type {HTMLElement} */ one) => one.scrollWidth <= one.clientWidth), "nothing of it is cut off");
    assert.equal(await overflow(page), 0);
    await context.close();
  });

  test("the Lab and the chat offer nothing that would change nothing; said again it goes its way", async () => {
    const { context, page, seen } = await openPage(lab);
    await page.goto(`${lab.base}/#/lab/guests/pve1/107`);
    await settled(page, seen);
    const line = (/** @type {string} */ label) => page.locator("main .action-line", { hasText: label });
    await line(START).getByText(say("lab.already.running"), { exact: true }).waitFor();
    assert.equal(await line(START).getByRole("button").count(), 0, "it runs already");
    await line(STOP).getByRole("link", { name: say("lab.ask_it", { label: STOP }) }).waitFor();
    await page.goto(`${lab.base}/#/chat`);
    await ask(page, "start iventoy");
    await answer(page).getByText(/would change nothing: Proxmox says that CT 107 on pve1 is running already/).waitFor();
    const ran = async () => (await lab.owner("GET", "/api/actions/recent")).recent.filter((/** @type {any} */ row) => row.action_id === "start-ct107").length;
    assert.equal(await ran(), 0, "nothing was asked for");
    await ask(page, "start iventoy");
    await until("the gate was asked", async () => await ran() === 1);
    await context.close();
  });

  test("moments in the chat are by the reader's clock, as beside the cards", async () => {
    const { context, page } = await openPage(lab, { zone: TOKYO });
    await page.goto(`${lab.base}/#/chat`);
    await ask(page, "what happened today?");
    const moment = answer(page).locator("time").first();
    await moment.waitFor();
    const { at, words } = await moment.evaluate((/** @type {HTMLTimeElement} */ one) => ({ at: one.dateTime, words: one.textContent ?? "" }));
    const there = new Date(Date.parse(at) + 9 * 3_600_000).toISOString().slice(11, 16);
    assert.ok(words.endsWith(there), `${words} is ${there} in Tokyo`);
    assert.doesNotMatch(await answer(page).innerText(), /\d{4}-\d\d-\d\dT|UTC|ago/);
    await context.close();
  });

  test("what is frozen is told once, after it is known", async () => {
    const { context, page } = await openPage(lab);
    await lab.owner("POST", "/api/freeze", { reason: "a test" });
    await page.goto(`${lab.base}/#/chat`);
    await ask(page, "restart caddy");
    await answer(page).getByText(/It did not run: everything is frozen by/).waitFor();
    assert.equal(await page.locator("main .turn:not(.mine)").last().getByText("I run").count(), 0, "nothing was announced");
    await lab.owner("DELETE", "/api/freeze");
    await context.close();
  });

  test("the Audit can be read without the chat, and says in words who let something run", async () => {
    const { context, page } = await openPage(lab, { width: PHONE });
    await lab.owner("POST", "/api/actions/restart-caddy/run", {});
    await page.goto(`${lab.base}/#/audit`);
    await page.getByText(say("audit.asked_policy", { asked: "" }).split(",").at(-1)?.trim() ?? "").first().waitFor();
    const chats = page.locator(".lines .words", { hasText: /^Wrote to | answered$/ });
    await chats.first().waitFor();
    await page.getByText(say("audit.filters")).click();
    await page.getByLabel(say("audit.filter.what")).selectOption("-turn.");
    await chats.first().waitFor({ state: "detached" });
    assert.ok((await page.locator(".lines .words").count()) > 3, "the rest is there");
    assert.equal(await overflow(page), 0);
    await context.close();
  });

  test("what one tab of the browser chose holds in the other: theme, signing out and in", async () => {
    const { context, page, seen } = await openPage(lab);
    const other = await context.newPage();
    for (const tab of [page, other]) {
      await tab.goto(`${lab.base}/#/home`);
      await tab.locator(".truth-line").waitFor();
    }
    await page.goto(`${lab.base}/#/settings/appearance`);
    await page.getByRole("button", { name: say("appearance.theme_dark"), exact: true }).click();
    await other.waitForFunction(() => document.documentElement.dataset.theme === "dark");
    await page.getByRole("button", { name: say("appearance.theme_system"), exact: true }).click();
    await other.waitForFunction(() => document.documentElement.dataset.theme === undefined);
    await page.goto(`${lab.base}/#/settings/sign-in`);
    await settled(page, seen);
    await page.getByRole("button", { name: say("sessions.leave") }).click();
    await other.getByLabel(say("login.token")).waitFor();
    await page.getByLabel(say("login.token")).fill(lab.token);
    await page.getByRole("button", { name: say("login.go"), exact: true }).click();
    await other.locator(".truth-line").waitFor();
    await context.close();
  });
});

describe("a newcomer's own lab", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  const action = (/** @type {string} */ id, /** @type {string} */ tier) => ({ id, label: `Touch ${id}`, kind: "service_restart", host: "local", service: id, tier, verify: { service: "nobody-watches" } });
  before(async () => {
    lab = await serve({ actions: { actions: [action("one", "safe"), action("two", "risky")] }, settings: LOCAL });
  });
  after(() => lab?.stop());

  test("no check is promised that does not come, and nothing took time that did not run", async () => {
    const ask = await lab.owner("POST", "/api/actions/two/run", {});
    const { context, page } = await openPage(lab, { width: PHONE });
    await page.goto(`${lab.base}/#/inbox/${ask.action_row_id}`);
    await card(page, "Touch two").getByText("Nothing looks afterwards: no service nobody-watches is watched.", { exact: false }).waitFor();
    await approve(card(page, "Touch two"));
    await card(page, "Touch two").locator(".result.bad").waitFor();
    // It was refused by the machine, which has no list.
    const again = await lab.owner("POST", "/api/actions/two/run", {});
    await page.goto(`${lab.base}/#/inbox/${again.action_row_id}`);
    await card(page, "Touch two").getByText(say("card.details")).waitFor();
    assert.equal(await card(page, "Touch two").getByText(say("card.usually"), { exact: true }).count(), 0);
    await runLocally(lab, { one: ["/bin/true"], two: ["/bin/true"] });
    await approve(card(page, "Touch two"));
    await card(page, "Touch two").getByText(say("result.unverified")).waitFor();
    const third = await lab.owner("POST", "/api/actions/two/run", {});
    await page.goto(`${lab.base}/#/inbox/${third.action_row_id}`);
    await card(page, "Touch two").getByText(say("card.usually"), { exact: true }).waitFor();
    await context.close();
  });

  test("every command of Void's that the page shows can be pasted where this Void runs", async () => {
    const { COMMANDS } = await import("../../crates/void-server/ui/lib/commands.js");
    const { stdout: help } = await promisify(execFile)(VOID, ["--help"]);
    const listed = help.slice(help.indexOf("Commands:"), help.indexOf("Options:")).matchAll(/^ {2}([a-z-]+) /gm);
    assert.deepEqual([...listed].map(([, name]) => name), COMMANDS.split(" "), "the page knows what is a command");
    const bare = new RegExp(`(^|[^\\w./-])void (${COMMANDS.replaceAll(" ", "|")})(?![\\w-])`, "im");
    await lab.owner("POST", "/api/freeze", { reason: "a test" });
    const { recent } = await lab.owner("GET", "/api/actions/recent");
    const { context, page, seen } = await openPage(lab);
    await rewrite(page, "**/api/doctor", (value) => ({ ...value, findings: [...value.findings, { level: "problem", check: "clock", message: "it jumped. If it is right: void clock accept", next: "void clock accept" }] }));
    /** @type {string[]} */
    const wrong = [];
    const sections = ["channels", "sign-in", "agents", "backups", "tokens", "integrations", "doctor", "about"].map((one) => `settings/${one}`);
    // Refusals have a next command, and so have findings and failures.
    for (const place of ["home", "lab", "lab/actions", "lab/hosts/local", "audit", "inbox/nothing", ...recent.map((/** @type {any} */ row) => `inbox/${row.id}`), ...sections]) {
      await page.goto(`${lab.base}/#/${place}`);
      await settled(page, seen);
      const found = bare.exec(await page.locator("main").innerText());
      if (found) wrong.push(`${place}: ${found[0].trim()}`);
    }
    assert.deepEqual(wrong, []);
    await page.goto(`${lab.base}/#/settings/doctor`);
    const own = `${VOID} --data ${lab.data} --url ${lab.base}`;
    await page.locator(".finding", { hasText: `If it is right: ${own} clock accept` }).locator("code", { hasText: `${own} clock accept` }).waitFor();
    await page.goto(`${lab.base}/#/settings/integrations`);
    assert.equal(JSON.parse(await page.getByLabel(say("integrations.mcp"), { exact: true }).first().innerText()).mcpServers.void.command, VOID);
    await page.route("**/api/backups", (/** @type {any} */ route) => route.fulfill({ status: 500, json: { error: { code: "store", message: "the store cannot be read", hint: "void doctor names the reason" } } }));
    await page.goto(`${lab.base}/#/settings/backups`);
    await page.locator("main").getByText(`The store cannot be read. ${own} doctor names the reason.`).waitFor();
    // Pasted into a terminal that knows nothing of this Void.
    await page.goto(`${lab.base}/#/settings/agents`);
    const command = await page.locator("main code", { hasText: "config show" }).first().innerText();
    const { stdout } = await promisify(execFile)("/bin/sh", ["-c", command], { env: { PATH: process.env.PATH, HOME: FOLDER } });
    assert.ok(stdout.includes(lab.data));
    await lab.owner("DELETE", "/api/freeze");
    await context.close();
  });

  test("what was run in place keeps its own times while the list beside it grows older", async () => {
    const { context, page } = await openPage(lab);
    // The list of last runs has one time, what is run here has another.
    await rewrite(page, /\/api\/actions\/recent/, (value) => {
      for (const row of value.recent) row.resolved_at = LONG_AGO;
      return value;
    });
    await page.goto(`${lab.base}/#/lab/hosts/local`);
    const line = page.locator("main li", { hasText: "Touch one" }).first();
    await line.getByRole("button", { name: say("lab.run_it", { label: "Touch one" }) }).click();
    const times = () => line.locator(".run-slot time").evaluateAll((/** @type {HTMLTimeElement[]} */ all) => all.map((one) => one.dateTime));
    await line.locator(".run-slot .result").getByText(say("result.unverified")).waitFor();
    await page.locator(`main time[datetime="${LONG_AGO}"]`).nth(1).waitFor();
    const own = await times();
    assert.ok(own.length > 0 && !own.includes(LONG_AGO));
    // The page looks by itself, and draws what it sees into the same lines.
    for (let look = 0; look < 2; look += 1) await page.waitForResponse(/\/api\/services$/, { timeout: LOOK_MS });
    await page.evaluate(() => new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve))));
    assert.deepEqual(await times(), own);
    await context.close();
  });
});

/** The newest answer. @param {any} page */
const answer = (page) => page.locator("main .turn:not(.mine) .said").last();

/** @param {any} page @param {string} words */
async function ask(page, words) {
  const before = await page.locator("main .turn.mine").count();
  await page.locator("main").getByRole("textbox").fill(words);
  await page.locator("main").getByRole("button", { name: say("chat.send") }).click();
  await until("it was said", async () => (await page.locator("main .turn.mine").count()) > before);
  await until("the answer is whole", () => page.locator("main .turn").last().evaluate((/** @type {HTMLElement} */ turn) => !turn.classList.contains("mine") && turn.querySelector(".turn-foot time") !== null));
}
