// The chat shows its newest message unless the owner moved away from it: only a wheel, a finger, a key or a pointer
// of the owner does that, and an own message always brings the end back.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openPage, PHONE, say } from "./browsers.js";
import { serve } from "./labs.js";
import { Model } from "./models.js";
import { until } from "./waiting.js";

const LONG = Array.from({ length: 40 }, (_, at) => `Line ${at} of an answer that is longer than the window.`).join("\n\n");

describe("the chat's end", () => {
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

  /** A chat with more than fits. */
  const longChat = async () => {
    const opened = await openPage(lab, { width: PHONE });
    await opened.page.goto(`${lab.base}/#/chat`);
    model.answers.push([{ text: LONG }]);
    await ask(opened.page, "tell me much");
    await until("the end is in sight", () => isAtEnd(opened.page));
    return opened;
  };

  test("a place that the browser moved while an answer was redrawn is not where the owner went", async () => {
    const { context, page, seen } = await longChat();
    await shrinkAndRegrow(page);
    model.answers.push([{ text: LONG }]);
    // Said elsewhere: nothing but following brings this page to the end.
    const { conversation_id: id } = await lab.owner("GET", "/api/agents/little-blue/conversation");
    await lab.owner("POST", `/api/conversations/${id}/messages`, { text: "and from elsewhere" });
    await ended(page);
    await until("the end is in sight", () => isAtEnd(page));
    assert.equal(await page.locator("main .chat-jump").isVisible(), false);
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("the wheel leads away from an answer that is being written", async () => {
    const { context, page } = await longChat();
    model.answers.push([{ words: LONG.match(/[^]{1,3}/g) ?? [], everyMs: 8 }]);
    await page.locator("main").getByRole("textbox").fill("tell me slowly");
    await page.locator("main").getByRole("button", { name: say("chat.send") }).click();
    await page.locator("main .turn.mine").filter({ hasText: "tell me slowly" }).waitFor();
    await until("it is being written", () => page.locator("main .turn").last().evaluate((/** @type {HTMLElement} */ turn) => turn.textContent.includes("Line 3 of") && !turn.textContent.includes("Line 39 of")));
    await page.locator("main .chat-log").hover();
    await page.mouse.wheel(0, -900);
    await page.locator("main .chat-jump").waitFor();
    await page.locator("main .turn").last().getByText("Line 39 of").waitFor();
    assert.equal(await isAtEnd(page), false, "it stays where the owner went");
    await context.close();
  });

  for (const [by, move] of /** @type {[string, (page: any) => Promise<void>][]} */ ([
    ["the wheel", async (page) => {
      await page.locator("main .chat-log").hover();
      // A turn of the wheel that a busy machine tells too late is not known to be the owner's; whoever sees that turns again.
      await until("it leads away", async () => {
        await page.mouse.wheel(0, -900);
        return page.locator("main .chat-jump").isVisible();
      });
    }],
    ["a key", async (page) => {
      await page.locator("main .chat-log").focus();
      await page.keyboard.press("PageUp");
      await page.keyboard.press("PageUp");
    }],
  ]))
    test(`whoever moved up by ${by} stays there while an answer comes, and an own message goes to the end`, async () => {
      const { context, page } = await longChat();
      await move(page);
      await page.locator("main .chat-jump").waitFor();
      const { conversation_id: id } = await lab.owner("GET", "/api/agents/little-blue/conversation");
      model.answers.push([{ text: LONG }]);
      await lab.owner("POST", `/api/conversations/${id}/messages`, { text: "and from elsewhere" });
      await ended(page);
      assert.equal(await isAtEnd(page), false, "it stays where the owner went");
      model.answers.push([{ text: "short" }]);
      await ask(page, "back to now");
      await until("the end is in sight", () => isAtEnd(page));
      await context.close();
    });
});

/**
 * What an answer that is drawn anew does: it is gone for a layout, and as high as before when the scroll is told.
 * @param {any} page
 */
const shrinkAndRegrow = (page) => page.evaluate(() => new Promise((resolve) => {
  const log = /** @type {HTMLElement} */ (document.querySelector("main .chat-log"));
  const last = /** @type {HTMLElement} */ (log.querySelector(".turn:last-child"));
  log.addEventListener("scroll", () => requestAnimationFrame(resolve), { once: true });
  const before = log.scrollTop;
  last.hidden = true;
  last.style.setProperty("display", "none");
  if (log.scrollTop >= before) throw new Error("the browser left the place where it was");
  last.hidden = false;
  last.style.removeProperty("display");
}));

/** @param {any} page @returns {Promise<boolean>} */
const isAtEnd = (page) => page.locator("main .chat-log").evaluate((/** @type {HTMLElement} */ log) => log.scrollHeight - log.scrollTop - log.clientHeight < 2);

/** The answer to what was said elsewhere is there. @param {any} page */
async function ended(page) {
  await page.locator("main .turn.mine").filter({ hasText: "and from elsewhere" }).last().waitFor({ state: "attached" });
  await until("the answer is whole", () => page.locator("main .turn").last().evaluate((/** @type {HTMLElement} */ turn) => !turn.classList.contains("mine") && turn.querySelector(".turn-foot time") !== null));
}

/** @param {any} page @param {string} words */
async function ask(page, words) {
  await page.locator("main").getByRole("textbox").fill(words);
  await page.locator("main").getByRole("button", { name: say("chat.send") }).click();
  await page.locator("main .turn.mine").filter({ hasText: words }).last().waitFor();
  await until("the answer is whole", () => page.locator("main .turn").last().evaluate((/** @type {HTMLElement} */ turn) => !turn.classList.contains("mine") && turn.querySelector(".turn-foot time") !== null));
}
