// Everything by keys, and no key that decides.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { axe, card, openPage, rewrite, say } from "./browsers.js";
import { alter, demo } from "./labs.js";
import { until } from "./waiting.js";

const STOP = "Stop iVentoy (rehearsal)";
const PROXY = "Reboot the proxy (rehearsal)";
/** A run that a crash cut off, as a start finds it when nobody can tell how it ended. The lab's Proxmox tells after a minute. */
const CUT_OFF = `WITH now(at) AS (SELECT unixepoch() * 1000) UPDATE proposals SET status = 'unknown', approved_by = 'owner-web', approved_at = now.at, started_at = now.at, ticket_expires_at = now.at,
  lease_until = now.at, ended_by = 'system', ended_at = now.at, failure_code = 'no_end', failure_message = 'it began, and no end was recorded' FROM now WHERE status = 'pending' AND action_id = ?`;

describe("keys", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => {
    lab = await demo();
    const agent = await lab.agent("nightly");
    for (const action of ["reboot-ct100", "reboot-ct101"]) await agent("POST", `/api/actions/${action}/run`, { reason: "updates" });
  });
  after(() => lab.stop());

  test("g and a letter go to each page", async () => {
    const { context, page, seen } = await begin();
    for (const [key, name] of [["i", "nav.inbox"], ["l", "nav.lab"], ["c", "nav.chat"], ["k", "nav.knowledge"], ["a", "nav.agents"], ["u", "nav.audit"], ["s", "nav.settings"], ["h", "nav.home"]]) {
      await page.keyboard.press("g");
      await page.keyboard.press(key ?? "");
      await page.getByRole("heading", { level: 1, name: say(name ?? "") }).waitFor();
      // A page may put the cursor into a field; keys are for the page again after Escape or a blur.
      await page.evaluate(() => /** @type {HTMLElement} */ (document.activeElement)?.blur());
    }
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("the palette finds pages, requests, services and actions, and gives the focus back", async () => {
    const { context, page, seen } = await begin();
    const button = page.getByRole("button", { name: say("keys.palette") });
    await button.focus();
    await page.keyboard.press("Control+k");
    const box = page.getByRole("combobox", { name: say("palette.placeholder") });
    await box.waitFor();
    for (const words of ["inbox", lab.facts.waiting, "jellyfin", "restart-caddy"]) {
      await box.fill(words);
      await page.getByRole("option").first().waitFor();
      assert.equal(await page.getByRole("option", { selected: true }).count(), 1, words);
    }
    await box.fill("no such thing at all");
    await page.getByText(say("palette.nothing")).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.ok(await button.evaluate((/** @type {Element} */ node) => node === document.activeElement), "the focus is where it was");
    await page.keyboard.press("Control+k");
    assert.deepEqual(seen.errors, []);
    await box.waitFor();
    await page.keyboard.type("audit");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: say("nav.audit") }).waitFor();
    await context.close();
  });

  test("j and k walk through the Inbox, Enter opens, and focus stays in the list while it changes", async () => {
    const { context, page } = await begin("inbox");
    const links = page.locator("main .rows a");
    await links.nth(2).waitFor();
    const at = () => links.evaluateAll((/** @type {Element[]} */ all) => all.indexOf(/** @type {Element} */ (document.activeElement)));
    const walked = [];
    for (const key of ["j", "j", "j", "k"]) {
      await page.keyboard.press(key);
      walked.push(await at());
    }
    assert.deepEqual(walked, [0, 1, 2, 1]);
    const row = () => page.evaluate(() => document.activeElement?.getAttribute("href"));
    const was = await row();
    const agent = await lab.agent("another");
    await agent("POST", "/api/actions/reboot-vm200/run", { reason: "arrives while somebody is here" });
    await page.getByRole("link", { name: /Reboot Home Assistant/ }).waitFor();
    assert.equal(await row(), was);
    await page.keyboard.press("Enter");
    await page.locator("article.approval").waitFor();
    await context.close();
  });

  test("a and r open the two steps and decide nothing, however often they are pressed", async () => {
    const { context, page } = await begin(`inbox/${lab.facts.waiting}`);
    const asked = card(page, STOP);
    await asked.getByRole("button", { name: say("card.approve"), exact: true }).waitFor();
    const head = await lab.head();
    await page.keyboard.press("a");
    await asked.getByRole("button", { name: say("card.yes") }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), say("card.back"), "the focus is on the way back");
    for (const key of ["a", "a", "a", "y", "r"]) await page.keyboard.press(key);
    await asked.getByText(say("card.why_not")).waitFor();
    for (const key of ["Escape", "a", "a"]) await page.keyboard.press(key);
    await page.getByRole("heading", { level: 1 }).waitFor();
    assert.equal(await lab.head(), head);
    await context.close();
  });

  test("/ filters the Inbox while a card is opened and closed, and is the palette where there is no list", async () => {
    const { context, page, seen } = await begin("inbox");
    const links = page.locator("main .rows a");
    await links.nth(2).waitFor();
    const count = await links.count();
    await page.keyboard.press("/");
    await page.keyboard.type("PROXY nightly");
    await page.getByText(say("inbox.found", { n: 1, all: count })).waitFor();
    assert.equal(await links.count(), 1);
    for (const key of ["Enter", "Enter"]) await page.keyboard.press(key);
    await card(page, PROXY).waitFor();
    await page.goBack();
    const field = page.getByRole("searchbox", { name: say("inbox.filter") });
    assert.equal(await field.inputValue(), "PROXY nightly");
    await field.fill("no such thing");
    await page.getByText(say("inbox.filtered")).waitFor();
    assert.deepEqual(await axe(page), []);
    await page.getByRole("button", { name: say("inbox.unfilter") }).click();
    await page.getByRole("combobox", { name: say("inbox.node"), exact: true }).selectOption("pve2");
    assert.deepEqual(await links.locator(".title").allTextContents(), ["Reboot Home Assistant (rehearsal)"]);
    await page.locator("main").focus();
    for (const key of ["g", "h"]) await page.keyboard.press(key);
    await page.getByRole("heading", { level: 1, name: say("nav.home") }).waitFor();
    await page.keyboard.press("/");
    await page.getByRole("combobox", { name: say("palette.placeholder") }).waitFor();
    for (const key of ["Escape", "g", "i"]) await page.keyboard.press(key);
    await links.nth(count - 1).waitFor();
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("the filter finds one of a thousand", async () => {
    const { context, page } = await openPage(lab);
    await rewrite(page, "**/api/home", (value) => {
      const row = value.inbox.items.at(-1);
      value.inbox.items = Array.from({ length: 1000 }, (_, at) => ({ ...row, id: `01a1e321-ecf2-763d-bcde-${String(at).padStart(12, "0")}`, code: `C${at}`, label: `Request ${at}` }));
      return value;
    });
    await page.goto(`${lab.base}/#/inbox`);
    const links = page.locator("main .rows a");
    await links.first().waitFor();
    assert.ok((await links.count()) < 200, "only what is near is there");
    await page.keyboard.press("/");
    await page.keyboard.type("c987");
    await page.getByText(say("inbox.found", { n: 1, all: 1000 })).waitFor();
    assert.deepEqual(await links.locator(".title").allTextContents(), ["Request 987"]);
    await page.keyboard.press("Escape");
    await links.nth(49).waitFor();
    await context.close();
  });

  test("e leads to settling what nobody knows, and ends nothing by itself", async () => {
    alter(lab, CUT_OFF, "reboot-ct100");
    const { context, page, seen } = await begin("inbox");
    const rows = page.locator("main .rows a");
    await rows.filter({ hasText: say("state.unknown") }).waitFor();
    const head = await lab.head();
    for (const key of ["j", "j", "e", "e"]) await page.keyboard.press(key);
    await page.getByText(say("done.waits")).waitFor();
    assert.equal(await page.locator(".toast").count(), 1, "said twice it is one note");
    for (const key of ["k", "e"]) await page.keyboard.press(key);
    const question = page.getByRole("group", { name: say("settle.title") });
    await question.waitFor();
    await page.locator("article.approval details").first().waitFor();
    await until("the focus is at the question, on none of its answers", () => question.evaluate((/** @type {Element} */ node) => node === document.activeElement));
    for (const key of ["Enter", " ", "e", "y"]) await page.keyboard.press(key);
    assert.equal(await lab.head(), head);
    await question.getByRole("button", { name: say("settle.ran") }).click();
    await page.locator(".result", { hasText: say("result.unverified") }).waitFor();
    await page.keyboard.press("e");
    await page.getByText(say("done.ended")).waitFor();
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("the yes cannot be pressed by the same tap that asked", async () => {
    const { context, page } = await begin(`inbox/${lab.facts.waiting}`);
    const head = await lab.head();
    const first = card(page, STOP).getByRole("button", { name: say("card.approve"), exact: true });
    // Enabled and at rest: until the card is read it is another button.
    await first.click({ trial: true });
    const box = await first.boundingBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    for (let taps = 0; taps < 5; taps += 1) await page.mouse.click(x, y);
    assert.equal(await lab.head(), head);
    await context.close();
  });

  test("shortcuts can be turned off; the palette stays", async () => {
    const { context, page } = await openPage(lab, { kept: { shortcuts: "off" } });
    await page.goto(`${lab.base}/#/inbox`);
    await page.getByRole("heading", { level: 1, name: say("nav.inbox") }).waitFor();
    for (const key of ["g", "h", "?", "j", "/"]) await page.keyboard.press(key);
    await page.getByRole("heading", { level: 1, name: say("nav.inbox") }).waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: say("palette.placeholder") }).waitFor();
    await context.close();
  });

  test("the first tab stop skips to the content", async () => {
    const { context, page } = await begin();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), say("nav.skip"));
    const box = await page.locator("a.skip").boundingBox();
    assert.ok(box && box.y >= 0 && box.height >= 24, "it is seen while it has the focus");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "main");
    assert.match(page.url(), /#\/home$/, "the address is the page's own still");
    await context.close();
  });

  test("help lists the keys and a sheet gives the focus back", async () => {
    const { context, page } = await begin();
    const brand = page.getByRole("navigation").getByRole("link", { name: say("nav.inbox") }).first();
    await brand.focus();
    await page.keyboard.press("?");
    const sheet = page.getByRole("dialog", { name: say("keys.title") });
    await sheet.getByText(say("keys.note")).waitFor();
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
    assert.ok(await brand.evaluate((/** @type {Element} */ node) => node === document.activeElement));
    await context.close();
  });

  /** @param {string} [at] */
  async function begin(at = "home") {
    const opened = await openPage(lab);
    await opened.page.goto(`${lab.base}/#/${at}`);
    await opened.page.getByRole("heading", { level: 1 }).waitFor();
    await opened.page.locator(".live-dot", { hasText: say("live.live") }).waitFor();
    return opened;
  }
});
