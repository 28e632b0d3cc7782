// Where a page sends somebody: what it says is so, the command it prints runs as it stands, and what is gone or was
// never there is named, in words of the catalogue.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { axe, openPage, overflow, PHONE, rewrite, say, settled } from "./browsers.js";
import { demo, serve } from "./labs.js";
import { until } from "./waiting.js";

const PHONE_LARGE = 390;
const TABLET = 820;
const WIDE = 1440;
const STOP = "Stop iVentoy (rehearsal)";

describe("signposts", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  /** The program as it is called for this lab. */
  let called = "";
  before(async () => {
    lab = await demo();
    called = (await lab.owner("GET", "/api/home")).setup.called;
    assert.match(called, / --data /);
  });
  after(() => lab.stop());

  test("a link that was used takes nothing from whoever is signed in, here or in another tab", async () => {
    const { context, page } = await openPage(lab);
    await page.goto(`${lab.base}/#/lab`);
    await page.locator("main .machine").first().waitFor();
    const other = await context.newPage();
    for (let round = 0; round < 2; round += 1) {
      await other.goto("about:blank");
      await other.goto(`${lab.base}/#/setup/${"x".repeat(43)}`);
      await other.getByText(say("setup_link.already")).waitFor();
      await other.locator(".truth-line").waitFor();
      assert.equal(new URL(other.url()).hash, "#/home", "the code is in no address");
    }
    assert.equal(await page.locator("main.login").count(), 0, "the other tab stays");
    await other.reload();
    await other.locator(".truth-line").waitFor();
    await context.close();
  });

  test("whoever is not in hears that the link is used, and the command for another one makes one", async () => {
    const { context, page } = await openPage(lab, { signedIn: false, width: PHONE });
    await page.goto(`${lab.base}/#/setup/${"x".repeat(43)}`);
    const told = page.locator(".notice", { hasText: say("setup_link.spent") });
    await told.waitFor();
    const command = await told.locator("code").innerText();
    assert.equal(command, `${called} setup-link`);
    await page.getByText(say("login.another_way")).or(page.getByText(say("login.token_demo"))).first().waitFor();
    assert.equal(await overflow(page), 0);
    assert.deepEqual(await axe(page), []);
    const { stdout } = await promisify(execFile)("sh", ["-c", command]);
    const link = stdout.split("\n").find((line) => line.includes("#/setup/")) ?? "";
    await page.goto("about:blank");
    await page.goto(`${lab.base}/${new URL(link.trim()).hash}`);
    await page.getByText(say("setup_link.welcome")).waitFor();
    await context.close();
  });

  test("a server that is no rehearsal names no folder to whoever is not in", async () => {
    const real = await serve();
    try {
      const { context, page } = await openPage(real, { signedIn: false });
      await page.goto(`${real.base}/#/setup/${"x".repeat(43)}`);
      const told = page.locator(".notice", { hasText: say("setup_link.spent") });
      await told.getByText(say("setup_link.new_flags")).waitFor();
      assert.equal(await told.locator("code").innerText(), "void setup-link");
      assert.ok(!(await page.content()).includes(real.data));
      await context.close();
    } finally {
      await real.stop();
    }
  });

  test("the first request to decide is in the Inbox while one waits, else among the actions", async () => {
    const { context, page } = await openPage(lab);
    await page.goto(`${lab.base}/#/home`);
    const step = page.locator(".checklist").getByRole("link", { name: say("setup.decided_once") });
    await step.click();
    await page.waitForURL(/#\/inbox/);
    await page.locator("main[data-page=inbox]").getByText(STOP).first().waitFor();
    await rewrite(page, "**/api/home", (value) => {
      value.inbox.items = [];
      value.inbox.counts.proposal = 0;
      value.cards = [];
      return value;
    });
    await page.goto("about:blank");
    await page.goto(`${lab.base}/#/home`);
    await step.waitFor();
    assert.equal(await step.getAttribute("href"), "#/lab/actions");
    await context.close();
  });

  test("what is gone and what never was is said, and nothing else takes its place", async () => {
    const { context, page, seen } = await openPage(lab, { width: PHONE });
    await page.goto(`${lab.base}/#/lab/actions/gone`);
    await page.getByText(say("actions.unknown", { id: "gone" })).waitFor();
    await page.getByText(say("actions.unknown_way")).waitFor();
    for (const hash of ["#/nope", "#/lab/nope/1", "#/constructor"]) {
      await page.evaluate((/** @type {string} */ to) => { location.hash = to; }, hash);
      await page.getByText(say("page.unknown", { address: hash })).waitFor();
      assert.equal(new URL(page.url()).hash, hash);
      await page.reload();
      await page.getByText(say("page.unknown", { address: hash })).waitFor();
      assert.deepEqual(await axe(page), []);
    }
    await page.getByRole("link", { name: say("page.unknown_way") }).click();
    await page.locator(".truth-line").waitFor();
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("the commands for a channel are for this Void; a rehearsal says that they are for another", async () => {
    const real = await serve();
    try {
      for (const { of, isRehearsal } of [{ of: lab, isRehearsal: true }, { of: real, isRehearsal: false }]) {
        const { setup } = await of.owner("GET", "/api/home");
        const { context, page, seen } = await openPage(of);
        await page.goto(`${of.base}/#/settings/channels`);
        await settled(page, seen);
        assert.equal(await page.getByText(say("channels.rehearsal")).count(), isRehearsal ? 1 : 0);
        const details = page.locator("details", { hasText: "Telegram" });
        await details.locator("summary").click();
        const printed = (await details.locator(".snippet, pre").allInnerTexts()).join("\n");
        const own = isRehearsal ? setup.program : setup.called;
        assert.ok(printed.includes(`${own} notify pair telegram`), printed);
        assert.doesNotMatch(printed, /^void /m);
        assert.equal(printed.includes(`${own} serve`), isRehearsal, "a server is started as it was started");
        await context.close();
      }
    } finally {
      await real.stop();
    }
  });

  test("the chat beside the page is loaded after the page that was asked for", async () => {
    const { context, page } = await openPage(lab, { width: WIDE });
    /** @type {(() => void)[]} */
    const held = [];
    await page.route("**/pages/lab.js", async (/** @type {any} */ route) => {
      await new Promise((resolve) => { held.push(() => resolve(undefined)); });
      await route.continue();
    });
    const asked = () => page.evaluate(() => performance.getEntriesByType("resource").some((one) => one.name.endsWith("/pages/chat.js")));
    await page.goto(`${lab.base}/#/lab`);
    await until("the frame is there, and its page is not", async () => held.length > 0 && (await page.locator(".live-dot", { hasText: say("live.live") }).count()) === 1);
    assert.equal(await asked(), false, "nothing of the chat is in the way");
    held.forEach((go) => go());
    await page.locator("main .machine").first().waitFor();
    await page.locator("aside textarea").waitFor();
    assert.equal(await asked(), true);
    await context.close();
  });

  test("values of one card begin at one edge, and neighbours in the Lab are laid out alike", async () => {
    const { actions } = JSON.parse(readFileSync(join(lab.data, "actions.json"), "utf8"));
    const file = JSON.parse(readFileSync(join(lab.data, "actions.json"), "utf8"));
    file.actions = actions.map((/** @type {any} */ one) => ({ ...one, tier: "risky" }));
    const change = await lab.owner("POST", "/api/actions/patch", { file: JSON.stringify(file, null, 2), reason: "a test" });
    const { context, page, seen } = await openPage(lab, { width: PHONE_LARGE });
    await page.goto(`${lab.base}/#/inbox/${change.id}`);
    await page.locator(".bound").waitFor();
    const edges = await page.locator(".bound dd").evaluateAll((/** @type {Element[]} */ all) => all.map((one) => Math.round(one.getBoundingClientRect().left)));
    assert.ok(edges.length > 5);
    assert.equal(new Set(edges).size, 1, `${edges}`);
    assert.equal(await overflow(page), 0);
    const words = await page.locator("article.approval").innerText();
    assert.doesNotMatch(words, /next start/, "one card does not say two things");
    await page.goto(`${lab.base}/#/lab/services/caddy`);
    await settled(page, seen);
    const every = page.getByText(/looked at every \d+\ss/);
    const lines = await every.evaluate((/** @type {Element} */ one) => {
      const text = /** @type {Text} */ (one.firstChild);
      const range = document.createRange();
      range.setStart(text, text.length - 3);
      range.setEnd(text, text.length);
      return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size;
    });
    assert.equal(lines, 1, "a number stands with its unit");
    await page.setViewportSize({ width: TABLET, height: 900 });
    await page.goto(`${lab.base}/#/lab`);
    await page.locator(".machine > header .loads").first().waitFor();
    const heads = await page.locator(".machine > header").evaluateAll((/** @type {Element[]} */ all) => all.map((head) => {
      const box = head.getBoundingClientRect();
      const pill = /** @type {Element} */ (head.querySelector(".pill")).getBoundingClientRect();
      return { height: Math.round(box.height), above: Math.round(pill.top - box.top) };
    }));
    assert.equal(heads.length, 2);
    assert.deepEqual(heads[0], heads[1], "the one is as the other");
    assert.ok((heads[0]?.above ?? 0) >= 8, "nothing is at the edge of its card");
    await context.close();
  });
});

test("every sentence that a page asks for is in the catalogue of words", () => {
  const ui = process.env.VOID_UI_DIR ?? join(import.meta.dirname, "../../crates/void-server/ui");
  const files = readdirSync(ui, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".js") && !name.endsWith("strings.js"));
  const missing = files.flatMap((name) => {
    const keys = [...readFileSync(join(ui, name), "utf8").matchAll(/\bt\(\s*"([^"]+)"/g)].map((found) => String(found[1]));
    return keys.filter((key) => { try { say(key); return false; } catch { return true; } }).map((key) => `${name}: ${key}`);
  });
  assert.deepEqual(missing, []);
});
