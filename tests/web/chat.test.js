// The chat: an answer comes word by word and survives a reload and a lost connection, and what an agent
// asks for is decided where it was said.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { approve, card, DESK, openPage, PHONE, say } from "./browsers.js";
import { demo, serve } from "./labs.js";
import { Model } from "./models.js";
import { until } from "./waiting.js";

const STOP = "Stop iVentoy (rehearsal)";
const WORDS = Array.from({ length: 60 }, (_, at) => `word${at} `);
const WHOLE = WORDS.join("").trim();

describe("the chat with a model", () => {
  /** @type {Model} */
  let model;
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => {
    model = await Model.start();
    lab = await serve({ env: model.env });
  });
  after(async () => {
    await lab.stop();
    await model.stop();
  });

  test("an answer comes word by word, and ends with what Void's own record says", async () => {
    const { context, page, seen } = await openPage(lab, { width: DESK });
    await page.goto(`${lab.base}/#/chat`);
    model.answers.push([{ words: WORDS, everyMs: 60 }]);
    await ask(page, "count");
    const lengths = new Set();
    await until("it is whole", async () => {
      const text = (await answer(page).textContent().catch(() => "")) ?? "";
      lengths.add(text.length);
      return text.trim() === WHOLE;
    });
    assert.ok(lengths.size > 3, `it grew in ${lengths.size} steps`);
    await page.getByText(say("chat.void")).first().waitFor();
    await page.getByRole("button", { name: say("chat.send") }).waitFor();
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("a reload in the middle of a turn goes on where it was", async () => {
    const { context, page, seen } = await openPage(lab, { width: PHONE });
    await page.goto(`${lab.base}/#/chat`);
    const before = model.asked.length;
    model.answers.push([{ words: WORDS, everyMs: 130 }]);
    await ask(page, "count slowly");
    await answer(page).getByText("word5").waitFor();
    await page.reload();
    await answer(page).getByText("word9").waitFor();
    assert.ok(!((await answer(page).textContent()) ?? "").includes("word59"), "it is still being written");
    await until("it is whole", async () => ((await answer(page).textContent()) ?? "").trim() === WHOLE, 20_000);
    assert.equal(model.asked.length, before + 1, "the model was asked once");
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("a connection that is lost in the middle of a turn loses no word", async () => {
    const { context, page } = await openPage(lab, { width: PHONE });
    await page.goto(`${lab.base}/#/chat`);
    model.answers.push([{ words: WORDS, everyMs: 40 }]);
    await ask(page, "count on");
    await answer(page).getByText("word5").waitFor();
    await context.setOffline(true);
    await until("the model has said all", async () => (await lab.owner("GET", "/api/agents/little-blue/conversation")).messages.at(-1)?.body.trim() === WHOLE);
    await context.setOffline(false);
    await until("it is whole", async () => ((await answer(page).textContent()) ?? "").trim() === WHOLE, 15_000);
    await context.close();
  });

  test("stopping ends the turn, keeps what was said, and says so", async () => {
    const { context, page } = await openPage(lab);
    await page.goto(`${lab.base}/#/chat`);
    model.answers.push([{ words: WORDS, everyMs: 200 }]);
    await ask(page, "count very slowly");
    await answer(page).getByText("word2").waitFor();
    await page.getByRole("button", { name: say("chat.stop") }).click();
    await page.getByText(say("chat.stopped")).first().waitFor();
    assert.match((await answer(page).textContent()) ?? "", /word2/);
    await context.close();
  });

  test("what is written stays through a reload until it is sent", async () => {
    const { context, page } = await openPage(lab, { width: PHONE });
    await page.goto(`${lab.base}/#/chat`);
    await composer(page).fill("half a thought");
    await page.reload();
    await composer(page).waitFor();
    assert.equal(await composer(page).inputValue(), "half a thought");
    await context.close();
  });
});

describe("the chat without a model", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => { lab = await demo(); });
  after(() => lab.stop());

  test("asked what is wrong she looks and offers; nothing runs until a yes to that", async () => {
    const { context, page, seen } = await openPage(lab, { width: PHONE });
    await page.goto(`${lab.base}/#/chat`);
    await until("caddy is seen down", async () => (await lab.owner("GET", "/api/services/caddy")).status === "down");
    await ask(page, "don't restart caddy");
    await page.getByText("I leave it alone").first().waitFor();
    await ask(page, "what is wrong?");
    await page.getByText("Shall I run restart-caddy?").first().waitFor();
    assert.equal((await lab.owner("GET", "/api/services/caddy")).status, "down");
    await ask(page, "yes");
    await page.getByText("I run restart-caddy").first().waitFor();
    await page.getByText(new RegExp("It ran, and the check confirmed it")).first().waitFor();
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("what an agent asks for is approved on its card in the chat, and the Inbox says the same", async () => {
    const chat = await openPage(lab, { width: PHONE });
    const inbox = await openPage(lab);
    await chat.page.goto(`${lab.base}/#/chat`);
    await inbox.page.goto(`${lab.base}/#/inbox/${lab.facts.waiting}`);
    await ask(chat.page, "stop iventoy");
    const asked = card(chat.page, STOP);
    await asked.getByRole("button", { name: say("card.approve"), exact: true }).waitFor();
    await approve(asked);
    for (const { page } of [chat, inbox]) await card(page, STOP).getByText(new RegExp(`${say("state.verified")}|${say("state.unconfirmed")}`)).first().waitFor();
    assert.deepEqual([...chat.seen.errors, ...inbox.seen.errors], []);
    await chat.context.close();
    await inbox.context.close();
  });

  test("the seeds' address leads to the chat", async () => {
    const { context, page } = await openPage(lab);
    await page.goto(`${lab.base}/#/little-blue`);
    await page.getByRole("heading", { level: 1, name: say("nav.chat") }).waitFor();
    await context.close();
  });
});

/** Where one writes. @param {any} page */
const composer = (page) => page.locator("main").getByRole("textbox");

/** The newest answer. @param {any} page */
const answer = (page) => page.locator("main .turn:not(.mine) .said").last();

/** @param {any} page @param {string} words */
async function ask(page, words) {
  await composer(page).fill(words);
  await page.locator("main").getByRole("button", { name: say("chat.send") }).click();
  await page.locator("main .turn.mine").filter({ hasText: words }).last().waitFor();
}
