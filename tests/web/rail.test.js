// The chat beside every page: folded and made wider by keys and by hand, and so again after a reload; who answers in a space; what
// it is told of the page; drafts that are decided where they were said; what was said before.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { axe, openPage, overflow, PHONE, say } from "./browsers.js";
import { serve } from "./labs.js";
import { Model } from "./models.js";
import { filledSpace } from "./spaces.js";
import { until } from "./waiting.js";

const WIDE = 1440;
const TABLET = 768;
const WIDTH = { least: 300, first: 360, most: 640, step: 24 };

describe("the chat beside a page", () => {
  /** @type {Model} */
  let model;
  /** @type {import("./labs.js").Lab} */
  let lab;
  /** @type {Awaited<ReturnType<typeof filledSpace>>} */
  let kept;
  before(async () => {
    model = await Model.start();
    lab = await serve({ env: model.env });
    kept = await filledSpace(lab);
  });
  after(async () => {
    await lab.stop();
    await model.stop();
  });

  test("it is folded to a tab and opened again by keys, and stays so over a reload", async () => {
    const { context, page, seen } = await begin("home");
    const fold = page.locator(".chat-rail .fold");
    await composer(page).waitFor();
    for (const isOpen of [false, true]) {
      await fold.focus();
      await page.keyboard.press("Enter");
      await until(isOpen ? "it is open" : "it is folded", async () => (await composer(page).count()) === (isOpen ? 1 : 0));
      assert.equal(await fold.getAttribute("aria-expanded"), String(isOpen));
      assert.ok(await fold.evaluate((/** @type {Element} */ one) => one === document.activeElement), "the focus stays on the tab");
      assert.equal(await overflow(page), 0);
      assert.deepEqual(await axe(page), []);
      await page.reload();
      await page.locator(".live-dot", { hasText: say("live.live") }).waitFor();
      await until("it is as it was left", async () => (await composer(page).count()) === (isOpen ? 1 : 0));
    }
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("it is made wider and narrower by keys and by hand, within its bounds, and remembered", async () => {
    const { context, page } = await begin("home");
    await composer(page).waitFor();
    const grip = page.getByRole("separator", { name: say("chat.width") });
    const width = async () => Math.round((await page.locator(".chat-rail").boundingBox()).width);
    assert.equal(await width(), WIDTH.first);
    await grip.focus();
    await page.keyboard.press("ArrowLeft");
    assert.deepEqual([await width(), await grip.getAttribute("aria-valuenow")], [WIDTH.first + WIDTH.step, String(WIDTH.first + WIDTH.step)]);
    for (let at = 0; at < 20; at += 1) await page.keyboard.press("ArrowLeft");
    assert.equal(await width(), WIDTH.most);
    for (let at = 0; at < 20; at += 1) await page.keyboard.press("ArrowRight");
    assert.equal(await width(), WIDTH.least);
    const box = await grip.boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 200);
    await page.mouse.down();
    await page.mouse.move(WIDE - 500, box.y + 220, { steps: 4 });
    await page.mouse.up();
    const dragged = await width();
    assert.ok(Math.abs(dragged - 500) < 8, `${dragged} px`);
    // Let go, it follows no more.
    await page.mouse.move(WIDE - 350, box.y + 240);
    assert.equal(await width(), dragged);
    await page.reload();
    await composer(page).waitFor();
    assert.equal(await width(), dragged);
    assert.equal(await overflow(page), 0);
    await context.close();
  });

  test("beside a space its companion answers; who was chosen there stays there, and elsewhere whoever was last", async () => {
    const { context, page } = await begin("home");
    const who = page.locator(".chat-rail .chat-who strong");
    await until("Little Blue is beside Home", async () => /Little Blue/.test((await who.textContent()) ?? ""));
    await page.goto(`${lab.base}/#/knowledge/pages/${kept.page}`);
    await until("the companion is beside a page of a space", async () => /Companion/.test((await who.textContent()) ?? ""));
    await page.goto(`${lab.base}/#/lab`);
    await until("Little Blue is beside the Lab", async () => /Little Blue/.test((await who.textContent()) ?? ""));
    await page.goto(`${lab.base}/#/knowledge/spaces/${kept.space}`);
    await until("the companion again", async () => /Companion/.test((await who.textContent()) ?? ""));
    await page.locator(".chat-rail .chat-who").click();
    await page.getByRole("dialog").getByRole("button", { name: /Little Blue/ }).click();
    await until("who was chosen answers", async () => /Little Blue/.test((await who.textContent()) ?? ""));
    await page.reload();
    await until("here it stays so", async () => /Little Blue/.test((await who.textContent()) ?? ""));
    const other = (await lab.owner("POST", "/api/spaces", { title: "House" })).id;
    await page.goto(`${lab.base}/#/knowledge/spaces/${other}`);
    await until("another space has its companion", async () => /Companion/.test((await who.textContent()) ?? ""));
    await context.close();
  });

  test("a message says what its writer looks at, unless that is kept back; the chip says which", async () => {
    const { context, page } = await begin(`knowledge/pages/${kept.page}`);
    /** @type {any[]} */
    const sent = [];
    page.on("request", (/** @type {any} */ request) => { if (request.method() === "POST" && /conversations\/[^/]+\/messages/.test(request.url())) sent.push(request.postDataJSON()); });
    const chip = page.locator(".chat-rail .chat-context");
    await chip.getByText(say("chat.context_sees", { what: "Caddy" })).waitFor();
    model.answers.push([{ text: "It is the proxy." }]);
    await ask(page, "what is this?");
    await page.getByText("It is the proxy.").first().waitFor();
    await chip.click();
    await chip.getByText(say("chat.context_not", { what: "Caddy" })).waitFor();
    model.answers.push([{ text: "I do not know." }]);
    await ask(page, "and now?");
    await page.getByText("I do not know.").first().waitFor();
    await page.goto(`${lab.base}/#/home`);
    await composer(page).waitFor();
    assert.deepEqual(sent, [{ text: "what is this?", view: { entityType: "page", entityId: kept.page } }, { text: "and now?" }]);
    await context.close();
  });

  test("drafts of a turn are cards in it, the same as in the Inbox on another screen, and can be decided together", async () => {
    const rail = await begin(`knowledge/spaces/${kept.space}`);
    await rail.page.evaluate((/** @type {string} */ space) => localStorage.setItem(`space-agent-${space}`, "companion"), kept.space);
    await rail.page.reload();
    const other = await begin("inbox/drafts", PHONE);
    model.answers.push(
      [{ tool: "propose_change", args: { entity: "task", op: "create", fields: { title: "Check the fans" }, reason: "You asked." } }],
      [{ tool: "propose_change", args: { entity: "page", op: "create", fields: { title: "Fans", body: "# Fans\n\nTwo of them." }, reason: "You asked." } }],
      [{ text: "Two drafts wait." }],
    );
    await ask(rail.page, "make a task and a page about the fans");
    await rail.page.getByText("Two drafts wait.").first().waitFor();
    await rail.page.locator(".chat-rail .request").nth(1).waitFor();
    await other.page.getByRole("link", { name: /Check the fans/ }).waitFor();
    await other.page.getByRole("link", { name: /Write a page: Fans/ }).waitFor();
    await rail.page.locator(".chat-rail").getByRole("button", { name: say("together.open", { n: 2 }) }).click();
    const sheet = rail.page.getByRole("dialog");
    await sheet.getByText("Two of them.").waitFor();
    assert.deepEqual(await axe(rail.page), []);
    await sheet.getByRole("button", { name: say("together.approve", { n: 2 }) }).click();
    await sheet.getByRole("button", { name: say("together.yes", { n: 2 }) }).click();
    await sheet.getByText(say("together.approved", { n: 2 })).waitFor();
    await other.page.getByRole("link", { name: /Check the fans/ }).waitFor({ state: "detached" });
    const { tasks } = await lab.owner("GET", `/api/spaces/${kept.space}/tasks?order=due`);
    assert.ok(tasks.some((/** @type {any} */ one) => one.title === "Check the fans"));
    assert.deepEqual([...rail.seen.errors, ...other.seen.errors], []);
    for (const { context } of [rail, other]) await context.close();
  });

  test("what was said is found by its words, and a talk in a space begins anew without it", async () => {
    const { context, page, seen } = await begin(`knowledge/spaces/${kept.space}`);
    const rail = page.locator(".chat-rail");
    await rail.locator(".turn").first().waitFor();
    await rail.getByRole("button", { name: say("chat.history.open") }).click();
    const sheet = page.getByRole("dialog");
    const rows = sheet.locator("ul.list > li");
    await rows.first().waitFor();
    await sheet.getByRole("searchbox", { name: say("chat.history.search") }).fill("what is this");
    await until("only what has the words is there", async () => (await rows.count()) === 1);
    await sheet.getByRole("searchbox", { name: say("chat.history.search") }).fill("marmalade");
    await sheet.getByText(say("chat.history.not_found")).waitFor();
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
    const path = `/api/spaces/${kept.space}/conversation`;
    const before = await lab.owner("GET", path);
    await rail.getByRole("button", { name: say("chat.new"), exact: true }).click();
    await until("nothing stands in it", async () => (await rail.locator(".turn").count()) === 0);
    const now = await lab.owner("GET", path);
    assert.notEqual(now.conversation_id, before.conversation_id);
    const { conversations } = await lab.owner("GET", `/api/conversations?space=${kept.space}`);
    assert.ok(conversations.some((/** @type {any} */ one) => one.conversation_id === before.conversation_id), "it can still be read");
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("one talks about one thing, in a conversation of its own", async () => {
    const { context, page, seen } = await begin(`knowledge/pages/${kept.page}`);
    await page.locator("main").getByLabel(say("kb.more")).first().click();
    await page.getByRole("link", { name: say("talk_about") }).click();
    const about = page.locator("main .chat-about");
    await about.getByText(say("chat.about", { what: say("chat.kind.page") })).waitFor();
    assert.deepEqual(await axe(page), []);
    await page.locator("main textarea").fill("what is it about?");
    await page.locator("main").getByRole("button", { name: say("chat.send") }).click();
    await page.locator("main .turn.mine").filter({ hasText: "what is it about?" }).waitFor();
    const list = `/api/conversations?kind=page&id=${kept.page}`;
    await until("it is of the page", async () => (await lab.owner("GET", list)).conversations.length === 1);
    await page.reload();
    await page.locator("main .turn.mine").filter({ hasText: "what is it about?" }).waitFor();
    await about.getByRole("link", { name: say("chat.about_end") }).click();
    await about.waitFor({ state: "detached" });
    await page.goto(`${lab.base}/#/chat?about=page:01999999-0000-7000-8000-000000000001`);
    await page.getByText(say("chat.about_gone")).waitFor();
    assert.deepEqual(seen.errors.filter((/** @type {string} */ one) => !one.includes("404")), []);
    await context.close();
  });

  test("what was said before can be read, taken along and deleted for good", async () => {
    const { context, page } = await begin(`knowledge/spaces/${kept.space}`);
    await page.locator(".chat-rail").getByRole("button", { name: say("chat.history.open") }).click();
    const sheet = page.getByRole("dialog");
    await sheet.getByRole("button", { name: /what is this/ }).click();
    const way = sheet.getByRole("link", { name: say("chat.history.export") });
    const got = page.waitForEvent("download");
    await way.click();
    assert.match((await got).suggestedFilename(), /^conversation-.*\.json$/);
    await sheet.getByRole("button", { name: say("chat.history.delete") }).click();
    await sheet.getByRole("button", { name: say("chat.history.yes") }).click();
    await page.getByText(say("chat.history.deleted")).waitFor();
    await until("it is gone", async () => !(await lab.owner("GET", `/api/conversations?space=${kept.space}`)).conversations.some((/** @type {any} */ one) => /what is this/.test(one.words)));
    await context.close();
  });

  test("on a tablet it comes over the page from the side, and knows the page; on a phone it fills the screen", async () => {
    const tablet = await begin(`knowledge/pages/${kept.page}`, TABLET);
    await tablet.page.getByRole("heading", { level: 2, name: "Caddy" }).waitFor();
    await tablet.page.getByRole("button", { name: say("chat.over") }).click();
    const sheet = tablet.page.getByRole("dialog", { name: say("nav.chat") });
    await sheet.getByRole("textbox").waitFor();
    await sheet.getByText(say("chat.context_sees", { what: "Caddy" })).waitFor();
    assert.deepEqual(await axe(tablet.page), []);
    await tablet.page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
    const phone = await begin(`knowledge/pages/${kept.page}`, PHONE);
    await phone.page.getByRole("heading", { level: 2, name: "Caddy" }).waitFor();
    assert.equal(await phone.page.getByRole("button", { name: say("chat.over") }).isVisible(), false);
    await phone.page.getByRole("navigation", { name: say("nav.main_phone") }).getByRole("link", { name: say("nav.chat") }).click();
    await phone.page.locator("main").getByText(say("chat.context_sees", { what: "Caddy" })).waitFor();
    assert.equal(await overflow(phone.page), 0);
    for (const { context } of [tablet, phone]) await context.close();
  });

  /** @param {string} place @param {number} [width] */
  async function begin(place, width = WIDE) {
    const opened = await openPage(lab, { width });
    await opened.page.goto(`${lab.base}/#/${place}`);
    await opened.page.locator(".live-dot", { hasText: say("live.live") }).waitFor();
    return opened;
  }
});

/** Where one writes, beside the page. @param {any} page */
const composer = (page) => page.locator(".chat-rail textarea");

/** @param {any} page @param {string} words */
async function ask(page, words) {
  await composer(page).fill(words);
  await page.locator(".chat-rail").getByRole("button", { name: say("chat.send") }).click();
  await page.locator(".chat-rail .turn.mine").filter({ hasText: words }).last().waitFor();
}
