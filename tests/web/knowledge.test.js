// What the owner keeps: written, changed by two at once, gone back in, ticked, thrown away and taken back, drafted by an agent and
// decided, marked as a stranger's and answered for. Nothing that others wrote is more than text.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { axe, card, openPage, PHONE, say } from "./browsers.js";
import { ForeignSite } from "./foreign.js";
import { serve } from "./labs.js";
import { Model } from "./models.js";
import { payloads } from "./payloads.js";
import { filledSpace } from "./spaces.js";
import { until } from "./waiting.js";

const PAYLOADS = 120;

describe("what the owner keeps", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  /** @type {Awaited<ReturnType<typeof filledSpace>>} */
  let kept;
  before(async () => {
    lab = await serve();
    kept = await filledSpace(lab);
  });
  after(() => lab.stop());

  test("a page is written with what it will look like beside, stored, found in its space, and changed", async () => {
    const { context, page, seen } = await begin(`spaces/${kept.space}`);
    await page.getByRole("link", { name: say("kb.page_new") }).click();
    await page.getByRole("textbox", { name: say("kb.title") }).fill("Power cut");
    await page.getByRole("textbox", { name: say("kb.text"), exact: true }).fill("# First\n\nSee [[Caddy]] and <b>this</b>.");
    await page.getByRole("textbox", { name: say("kb.tags") }).fill("ups, #night");
    const shown = page.getByRole("region", { name: say("kb.preview") });
    await shown.getByRole("heading", { name: "First" }).waitFor();
    assert.match(await shown.getByRole("link", { name: "Caddy" }).getAttribute("href"), new RegExp(`#/knowledge/pages/${kept.page}$`));
    await shown.getByText("<b>this</b>").waitFor();
    assert.deepEqual((await lab.owner("GET", `/api/spaces/${kept.space}/pages`)).pages.filter((/** @type {any} */ one) => one.title === "Power cut"), [], "nothing is stored before it is saved");
    await page.getByRole("button", { name: say("kb.save") }).click();
    await page.getByRole("heading", { level: 2, name: "Power cut" }).waitFor();
    const [made] = (await lab.owner("GET", `/api/spaces/${kept.space}/pages`)).pages;
    assert.deepEqual([made.title, made.revision, made.tags, made.updated_by], ["Power cut", 1, ["night", "ups"], "owner-web"]);
    await page.getByRole("link", { name: say("kb.edit"), exact: true }).click();
    await page.getByRole("textbox", { name: say("kb.text"), exact: true }).fill("Second.");
    await page.keyboard.press("Control+s");
    await page.locator("article").getByText("Second.").waitFor();
    const now = await lab.owner("GET", `/api/pages/${made.id}`);
    assert.deepEqual([now.revision, now.body, now.tags], [2, "Second.", ["night", "ups"]]);
    assert.equal(await page.evaluate(() => Object.keys(localStorage).filter((name) => name.startsWith("kb-draft-")).length), 0, "what is stored is kept here no longer");
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("what was not saved is there after a reload, and can be thrown away", async () => {
    const { context, page } = await begin(`pages/${kept.other}/edit`);
    const text = page.getByRole("textbox", { name: say("kb.text"), exact: true });
    const before = await text.inputValue();
    await text.fill(`${before}A line that nobody stored.\n`);
    await page.getByText(say("kb.kept_here")).waitFor();
    await page.reload();
    await page.getByText(/You began this here at/).waitFor();
    assert.match(await text.inputValue(), /A line that nobody stored/);
    await page.getByRole("link", { name: say("kb.cancel") }).click();
    await page.getByRole("status").filter({ hasText: say("kb.left_kept") }).waitFor();
    await page.goto(`${lab.base}/#/knowledge/pages/${kept.other}/edit`);
    await page.getByRole("button", { name: say("kb.begin_anew") }).click();
    assert.equal(await text.inputValue(), before);
    assert.equal((await lab.owner("GET", `/api/pages/${kept.other}`)).revision, 2, "nothing was stored");
    await context.close();
  });

  test("two who write the same page: the second one is shown both, and nothing is lost", async () => {
    const { id } = await lab.owner("POST", `/api/spaces/${kept.space}/pages`, { title: "Shared", body: "one\ntwo\nthree\n" });
    const first = await begin(`pages/${id}/edit`);
    const second = await begin(`pages/${id}/edit`, PHONE);
    const text = (/** @type {any} */ page) => page.getByRole("textbox", { name: say("kb.text"), exact: true });
    await text(second.page).fill("one\nZWEI\nthree\n");
    await text(first.page).fill("one\ntwo\nDREI\n");
    await first.page.getByRole("button", { name: say("kb.save") }).click();
    await first.page.getByRole("heading", { level: 2, name: "Shared" }).waitFor();
    await second.page.getByRole("button", { name: say("kb.save") }).click();
    const both = second.page.getByRole("group", { name: say("kb.conflict") });
    await both.waitFor();
    assert.equal((await lab.owner("GET", `/api/pages/${id}`)).body, "one\ntwo\nDREI\n", "nothing of the second was stored");
    const lines = async (/** @type {string} */ title, /** @type {string} */ kind) => (await both.getByRole("group", { name: title }).locator(`.diff-line.${kind}`).allTextContents()).map((/** @type {string} */ line) => line.replace(/^.*: /, "").trim());
    assert.deepEqual(await lines(say("kb.theirs", { n: 2 }), "removed"), ["two", "DREI"]);
    assert.deepEqual(await lines(say("kb.mine"), "added"), ["ZWEI", "three"]);
    assert.deepEqual(await axe(second.page), []);
    // Take what is stored, think again, and store one's own over it after all.
    await both.getByRole("button", { name: say("kb.take_theirs") }).click();
    assert.equal(await text(second.page).inputValue(), "one\ntwo\nDREI\n");
    await second.page.getByRole("button", { name: say("kb.undo") }).click();
    assert.equal(await text(second.page).inputValue(), "one\nZWEI\nthree\n");
    await lab.owner("PUT", `/api/pages/${id}`, { base_revision: 2, body: "four\n" });
    await second.page.getByRole("button", { name: say("kb.save") }).click();
    await second.page.getByRole("button", { name: say("kb.save_mine", { n: 3 }) }).click();
    await second.page.locator("article").getByText("ZWEI").waitFor();
    const now = await lab.owner("GET", `/api/pages/${id}`);
    assert.deepEqual([now.revision, now.body], [4, "one\nZWEI\nthree\n"]);
    for (const { context } of [first, second]) await context.close();
  });

  test("history tells what differs by words, and going back is a revision of its own that can be undone", async () => {
    const { context, page, seen } = await begin(`pages/${kept.other}/history`);
    const words = page.getByRole("group", { name: say("card.diff") });
    await words.waitFor();
    assert.deepEqual([await words.locator("del").allTextContents(), (await words.locator("ins").allTextContents())[0]], [["removed: −90"], "added: +60"]);
    await page.getByRole("button", { name: say("diff.lines") }).click();
    await page.locator(".diff-line.added", { hasText: "60 days" }).waitFor();
    await page.getByRole("link", { name: /Revision 1/ }).click();
    await page.getByRole("heading", { name: say("kb.first_revision") }).waitFor();
    await page.getByRole("button", { name: say("kb.restore", { n: 1 }) }).click();
    await page.locator("article").getByText("They last 90 days.").waitFor();
    await page.getByRole("button", { name: say("kb.undo") }).click();
    await page.locator("article").getByText("They last 60 days now").waitFor();
    assert.equal((await lab.owner("GET", `/api/pages/${kept.other}`)).revision, 4);
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("a task is made and ticked by keys, the focus stays in the list, and the tick can be undone", async () => {
    const { context, page, seen } = await begin(`spaces/${kept.space}/tasks`);
    await page.getByRole("textbox", { name: say("kb.task_new") }).fill("Test the battery");
    await page.keyboard.press("Enter");
    await page.getByRole("checkbox", { name: say("kb.tick", { title: "Test the battery" }) }).waitFor();
    const box = page.getByRole("checkbox", { name: say("kb.tick", { title: "Order two disks for the NAS" }) });
    await box.focus();
    await page.keyboard.press("Space");
    await box.waitFor({ state: "detached" });
    await page.getByRole("status").filter({ hasText: say("kb.task_now.done", { title: "Order two disks for the NAS" }) }).waitFor();
    assert.equal((await lab.owner("GET", `/api/tasks/${kept.task}`)).state, "done");
    const next = page.getByRole("checkbox", { name: say("kb.tick", { title: "Renew the domain" }) });
    await until("the next one has the focus", () => next.evaluate((/** @type {Element} */ one) => one === document.activeElement));
    await page.getByRole("button", { name: say("kb.undo") }).first().click();
    await box.waitFor();
    assert.equal((await lab.owner("GET", `/api/tasks/${kept.task}`)).state, "open");
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("a tick of something that was changed meanwhile is not stored, and says so", async () => {
    const { id } = await lab.owner("POST", `/api/spaces/${kept.space}/tasks`, { title: "Water the plants" });
    const { context, page } = await begin(`spaces/${kept.space}/tasks`);
    const box = page.getByRole("checkbox", { name: say("kb.tick", { title: "Water the plants" }) });
    await box.waitFor();
    await page.route("**/api/events*", (/** @type {any} */ route) => route.abort());
    // What changes is not heard of in time.
    await page.route(/\/api\/spaces\/.*tasks/, () => {});
    await lab.owner("PUT", `/api/tasks/${id}`, { base_revision: 1, title: "Water the plants" , due: "2099-01-01" });
    await box.click();
    await page.getByText(say("kb.task_moved", { title: "Water the plants" })).waitFor();
    assert.equal((await lab.owner("GET", `/api/tasks/${id}`)).state, "open");
    assert.equal(await box.isChecked(), false, "what is shown is what is stored");
    await context.close();
  });

  test("what is thrown away comes back by the note, or out of what was thrown away", async () => {
    const { id } = await lab.owner("POST", `/api/spaces/${kept.space}/pages`, { title: "Old notes", body: "keep me" });
    const { context, page } = await begin(`pages/${id}`);
    const throwAway = async () => {
      await page.locator("summary", { hasText: "⋯" }).click();
      await page.getByRole("button", { name: say("kb.throw_away") }).click();
    };
    await throwAway();
    await page.getByText(say("kb.thrown_away", { title: "Old notes" })).waitFor();
    await assert.rejects(lab.owner("GET", `/api/pages/${id}`), /404/);
    await page.getByRole("button", { name: say("kb.undo") }).click();
    await page.locator("article").getByText("keep me").waitFor();
    await throwAway();
    await page.getByText(say("kb.thrown_away", { title: "Old notes" })).waitFor();
    await page.goto(`${lab.base}/#/knowledge/spaces/${kept.space}/bin`);
    await page.getByRole("listitem").filter({ hasText: "Old notes" }).getByRole("button", { name: say("kb.take_back") }).click();
    await page.getByText(say("kb.bin_empty")).waitFor();
    assert.equal((await lab.owner("GET", `/api/pages/${id}`)).body, "keep me");
    await context.close();
  });

  test("a draft waits in its space, is decided on one of two screens, and both show the page as it is then", async () => {
    const one = await begin(`pages/${kept.page}`);
    const other = await begin(`spaces/${kept.space}`, PHONE);
    const label = "Change a page";
    const row = other.page.getByRole("link", { name: /Change a page: Caddy/ });
    await row.click();
    const shown = card(other.page, label);
    await shown.getByRole("heading", { name: "Change a page: Caddy" }).waitFor();
    const desk = await begin("", 1280, `inbox/${kept.draft}`);
    await card(desk.page, label).getByRole("button", { name: say("card.approve"), exact: true }).waitFor();
    await card(desk.page, label).getByRole("button", { name: say("card.approve"), exact: true }).click();
    await card(desk.page, label).getByRole("button", { name: say("card.yes") }).click();
    await shown.locator(".result").waitFor();
    await one.page.locator("article").getByText("then wait a minute").waitFor();
    assert.match((await lab.owner("GET", `/api/pages/${kept.page}`)).body, /then wait a minute/);
    await other.page.goto(`${lab.base}/#/knowledge/spaces/${kept.space}`);
    await other.page.getByRole("heading", { name: say("kb.recent") }).waitFor();
    await row.waitFor({ state: "detached" });
    for (const { context } of [one, other, desk]) await context.close();
  });

  test("words are found as they are typed, in a space and everywhere, and by the palette", async () => {
    const { context, page, seen } = await begin(`spaces/${kept.space}`);
    await page.getByRole("link", { name: say("kb.search") }).click();
    const field = page.getByRole("searchbox", { name: say("kb.search_words") });
    await field.fill("certific");
    const found = page.locator("main .kb-row", { hasText: "Certificates" }).first();
    await found.waitFor();
    assert.ok((await found.locator("mark").count()) > 0, "what was looked for is marked");
    await field.fill("kind:ref https");
    const ref = page.locator("main .kb-row", { hasText: "Automatic HTTPS" });
    await ref.getByText(say("kb.foreign")).waitFor();
    assert.deepEqual(await axe(page), []);
    await field.fill("nothing-of-this-name");
    await page.getByText(say("kb.search_none", { words: "nothing-of-this-name" })).waitFor();
    await page.getByRole("button", { name: say("kb.kinds.page") }).click();
    await page.reload();
    assert.equal(await field.inputValue(), "nothing-of-this-name", "a reload keeps what was looked for");
    assert.equal(await page.getByRole("button", { name: say("kb.kinds.page") }).getAttribute("aria-pressed"), "true");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: say("palette.placeholder") }).fill("certificates");
    await page.locator("#palette-list .excerpt mark").first().waitFor();
    await page.getByRole("option", { name: /Certificates.*page/ }).click();
    await page.getByRole("heading", { level: 2, name: "Certificates" }).waitFor();
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("a draft whose page was changed meanwhile shows both, cannot be stored, and is asked again", async () => {
    const { id } = await lab.owner("POST", `/api/spaces/${kept.space}/pages`, { title: "Fans", body: "one\ntwo\nthree\nfour\nfive\nsix\n" });
    const row = await kept.drafter("POST", `/api/spaces/${kept.space}/drafts`, { entity: "page", op: "update", id, edits: [{ find: "one", replace: "ONE" }], reason: "louder" });
    await lab.owner("PUT", `/api/pages/${id}`, { base_revision: 1, body: "one\ntwo\nthree\nfour\nfive\nSIX\n" });
    const { context, page, seen } = await begin("", 1280, `inbox/${row.id}`);
    const shown = card(page, "Change a page");
    await shown.getByText(say("card.moved")).waitFor();
    assert.equal(await shown.getByRole("button", { name: say("card.approve"), exact: true }).count(), 0);
    assert.deepEqual(await axe(page), []);
    await shown.getByRole("button", { name: say("card.again_draft") }).click();
    await shown.getByRole("link", { name: say("again.look") }).click();
    await card(page, "Change a page").getByRole("button", { name: say("card.approve"), exact: true }).click();
    await card(page, "Change a page").getByRole("button", { name: say("card.yes") }).click();
    await until("it is stored", async () => (await lab.owner("GET", `/api/pages/${id}`)).body === "ONE\ntwo\nthree\nfour\nfive\nSIX\n");
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("a draft is edited, and what the owner wrote is stored with the yes", async () => {
    const row = await kept.drafter("POST", `/api/spaces/${kept.space}/drafts`, { entity: "page", op: "create", fields: { title: "Spare parts", body: "A fan.\n" }, reason: "for later" });
    const { context, page, seen } = await begin("", 1280, `inbox/${row.id}`);
    await card(page, "Write a page").getByRole("link", { name: say("card.edit_draft") }).click();
    const text = page.getByRole("textbox", { name: say("kb.text"), exact: true });
    await until("it is what was drafted", async () => (await text.inputValue()) === "A fan.\n");
    await text.fill("Two fans.\n");
    await page.getByRole("button", { name: say("kb.save_draft") }).click();
    await card(page, "Write a page").locator(".result").waitFor();
    const made = (await lab.owner("GET", `/api/spaces/${kept.space}/pages`)).pages.find((/** @type {any} */ one) => one.title === "Spare parts");
    assert.equal((await lab.owner("GET", `/api/pages/${made.id}`)).body, "Two fans.\n");
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  /** @param {string} place @param {number} [width] @param {string} [address] */
  async function begin(place, width, address = `knowledge/${place}`) {
    const opened = await openPage(lab, width ? { width } : {});
    await opened.page.goto(`${lab.base}/#/${address}`);
    await opened.page.locator(".live-dot", { hasText: say("live.live") }).waitFor();
    return opened;
  }
});

describe("what strangers wrote, in what the owner keeps (I18)", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  /** @type {ForeignSite} */
  let site;
  /** @type {Model} */
  let model;
  before(async () => {
    model = await Model.start();
    lab = await serve({ env: model.env });
    site = await ForeignSite.start();
  });
  after(async () => {
    await lab.stop();
    await model.stop();
    await site.stop();
  });

  test("no title, tag, text or address is more than text, wherever it is shown", async () => {
    const corpus = payloads(PAYLOADS, `http://evil.example:${site.port}`);
    const space = (await lab.owner("POST", "/api/spaces", { title: titleOf(corpus[0]), body: corpus.slice(0, 20).join("\n\n") })).id;
    const made = [];
    for (const [at, words] of corpus.entries()) {
      const noun = ["pages", "tasks", "refs", "projects"][at % 4] ?? "pages";
      const body = { title: titleOf(words), body: words.replaceAll("\u0000", ""), ...(noun === "refs" ? { url: `https://evil.example/${encodeURIComponent(titleOf(words)).slice(0, 400)}` } : {}) };
      made.push([noun, (await lab.owner("POST", `/api/spaces/${space}/${noun}`, body)).id]);
    }
    const { context, page, seen } = await openPage(lab);
    const places = [`spaces/${space}`, ...["pages", "tasks", "refs", "projects", "bin"].map((one) => `spaces/${space}/${one}`), ...made.slice(0, 24).flatMap(([noun, id]) => [`${noun}/${id}`, `${noun}/${id}/history`, `${noun}/${id}/edit`])];
    for (const place of places) {
      await page.goto(`${lab.base}/#/knowledge/${place}`);
      await page.locator("main .kb").first().waitFor();
      await until(`${place} is drawn`, () => page.locator("main .loading").count().then((/** @type {number} */ n) => n === 0));
      const wrong = await page.evaluate(() => [...document.querySelectorAll("main :is(script, img, iframe, object, embed, video, audio, style, link, meta, base, form[action], svg use, math)")].map((node) => node.outerHTML.slice(0, 80)));
      assert.deepEqual(wrong, [], place);
      assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll("main a")].map((link) => link.getAttribute("href") ?? "").filter((href) => !/^(#|https?:\/\/|mailto:)/.test(href))), [], place);
    }
    assert.equal(await page.evaluate(() => /** @type {any} */ (window).__pwned), undefined);
    assert.deepEqual(seen.dialogs, []);
    assert.deepEqual(seen.errors, []);
    assert.deepEqual(seen.requests.filter((/** @type {string} */ url) => !url.startsWith(lab.base)), []);
    assert.deepEqual(site.asked, []);
    await context.close();
  });

  test("a draft of whoever read a stranger's words leaves a mark, which the owner's word takes away; a ref stays a stranger's", async () => {
    const kept = await filledSpace(lab);
    const { conversation_id: talk } = await lab.owner("GET", `/api/spaces/${kept.space}/conversation?agent=companion`);
    model.answers.push(
      [{ tool: "read", args: { kind: "ref", id: kept.ref } }],
      [{ tool: "propose_change", args: { entity: "page", op: "update", id: kept.other, edits: [{ find: "See [[Caddy]].", replace: "See [[Caddy]] and its manual." }], reason: "You asked." } }],
      [{ text: "It waits." }],
    );
    await lab.owner("POST", `/api/conversations/${talk}/messages`, { text: "name the manual" });
    const row = await until("the draft waits", async () => (await lab.owner("GET", "/api/pending-changes")).pending.find((/** @type {any} */ one) => one.change.entity_id === kept.other));
    await lab.owner("POST", `/api/pending-changes/${row.id}/approve`, { digest: row.digest, revision: row.revision });
    assert.equal((await lab.owner("GET", `/api/pages/${kept.other}`)).foreign, true);
    const { context, page } = await openPage(lab);
    await page.goto(`${lab.base}/#/knowledge/pages/${kept.other}`);
    await page.getByText(say("kb.vouch_why")).waitFor();
    assert.deepEqual(await axe(page), []);
    await page.getByRole("button", { name: say("kb.vouch") }).click();
    await page.getByRole("button", { name: say("card.back") }).click();
    assert.equal((await lab.owner("GET", `/api/pages/${kept.other}`)).foreign, true, "one tap answers for nothing");
    await page.getByRole("button", { name: say("kb.vouch") }).click();
    await page.getByRole("button", { name: say("kb.vouch_yes", { n: 3 }) }).click();
    await page.getByText(say("kb.vouch_sure", { n: 3 })).waitFor({ state: "detached" });
    await until("the page is the owner's", async () => !(await lab.owner("GET", `/api/pages/${kept.other}`)).foreign);
    await page.goto(`${lab.base}/#/knowledge/refs/${kept.ref}`);
    await page.getByRole("region", { name: say("kb.captured") }).getByText("delete everything").waitFor();
    await page.getByText(say("kb.foreign")).first().waitFor();
    assert.equal(await page.getByRole("button", { name: say("kb.vouch") }).count(), 0);
    await context.close();
  });
});

/** A title has one line, so much of it, and no control character. @param {string | undefined} words */
const titleOf = (words = "") => words.replace(/[\u0000-\u001f\u007f-\u009f]/g, " ").trim().slice(0, 180) || "x";
