// What the chat draws of the tree that the server makes of a model's Markdown. How the server reads it is
// tested beside its reader (crates/void-server/src/markdown).

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openPage, rewrite, say } from "./browsers.js";
import { serve } from "./labs.js";
import { Model } from "./models.js";
import { until } from "./waiting.js";

const SOURCE = `# One

two *three* **four ~~five~~** \`six\` line\\
broken, [docs](https://docs.example/a?b=c&d), https://plain.example/x, <a@mail.example>, [Inbox](#/inbox), ![a cat](https://track.example/cat.png)
and [press](javascript:alert(1)) <b>bold</b>

3. a
   - b
   - c
4. d

- loose

- list

> quoted
> - item

| a | b |
|---|:-:|
| 1 | **2** |
| 3 |

\`\`\`sh title
ls -l
  # indented
\`\`\`

---

The end.`;

describe("Markdown in the chat", () => {
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

  test("every kind of block and inline is drawn", async () => {
    const { context, page, seen } = await openPage(lab);
    await page.goto(`${lab.base}/#/chat`);
    model.answers.push([{ text: SOURCE }]);
    await ask(page, "everything");
    const said = answer(page);
    const all = (/** @type {string} */ selector) => said.locator(selector).allTextContents();
    assert.deepEqual(await all(":scope > .said-heading > strong"), ["One"]);
    assert.deepEqual(await all("em"), ["three"]);
    assert.deepEqual(await all("p > strong > del"), ["five"]);
    assert.deepEqual(await all("p > code"), ["six"]);
    assert.equal(await said.locator("br").count(), 1);
    assert.equal(await said.locator(":scope > hr").count(), 1);
    assert.equal(await said.locator(":scope > ol").getAttribute("start"), "3");
    assert.deepEqual(await all(":scope > ol > li > ul > li"), ["b", "c"]);
    assert.deepEqual(await all(":scope > ul > li > p"), ["loose", "list"]);
    assert.deepEqual(await all(":scope > blockquote > ul > li"), ["item"]);
    assert.deepEqual(await all("th[scope=col]"), ["a", "b"]);
    assert.deepEqual(await all("td"), ["1", "2", "3", ""]);
    assert.deepEqual(await all(".said-code-bar > span"), ["sh"]);
    assert.deepEqual(await all(".said-code pre > code"), ["ls -l\n  # indented"]);
    const words = (await said.textContent()) ?? "";
    for (const part of [say("chat.image", { alt: "a cat" }), "and press <b>bold</b>"]) assert.ok(words.includes(part), `${part} in ${words}`);
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("a link says where it leads, unless its words do", async () => {
    const { context, page } = await openPage(lab);
    await page.goto(`${lab.base}/#/chat`);
    await answer(page).getByText("The end.").waitFor();
    const links = await answer(page).locator("a").evaluateAll((/** @type {HTMLAnchorElement[]} */ found) => found.map((link) => [link.getAttribute("href"), link.textContent, link.target, link.rel]));
    const away = ["_blank", "noopener noreferrer nofollow"];
    assert.deepEqual(links, [
      ["https://docs.example/a?b=c&d", "docs", ...away], ["https://plain.example/x", "https://plain.example/x", ...away],
      ["mailto:a@mail.example", "a@mail.example", ...away], ["#/inbox", "Inbox", "", ""],
    ]);
    assert.deepEqual(await answer(page).locator(".said-target").allTextContents(), ["(https://docs.example/a?b=c&d)"]);
    await context.close();
  });

  test("the code of a block is copied as it is", async () => {
    const { context, page } = await openPage(lab);
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(`${lab.base}/#/chat`);
    const block = answer(page).locator(".said-code");
    await block.getByRole("button", { name: say("chat.copy") }).click();
    await block.getByRole("button", { name: say("chat.copied") }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "ls -l\n  # indented");
    await context.close();
  });

  test("an answer that came in pieces looks as the stored one does", async () => {
    const { context, page, seen } = await openPage(lab);
    await page.goto(`${lab.base}/#/chat`);
    model.answers.push([{ words: SOURCE.match(/[^]{1,3}/g) ?? [], everyMs: 25 }]);
    await answer(page).waitFor();
    // The page itself counts: whoever asks it from outside, on a busy machine, sees two steps of many.
    await page.evaluate(() => {
      const lengths = new Set();
      new MutationObserver(() => lengths.add(document.querySelector("main .turn:last-child .said")?.textContent?.length))
        .observe(/** @type {Element} */ (document.querySelector("main .turns")), { childList: true, subtree: true, characterData: true });
      Object.assign(window, { lengths });
    });
    await ask(page, "in pieces");
    await answer(page).getByText("The end.").waitFor();
    const steps = await page.evaluate(() => /** @type {any} */ (window).lengths.size);
    assert.ok(steps > 5, `it grew in ${steps} steps`);
    const streamed = await html(page);
    await page.reload();
    await answer(page).getByText("The end.").waitFor();
    assert.equal(await html(page), streamed);
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("code that goes on is added to, not drawn anew", async () => {
    const { context, page } = await openPage(lab);
    await page.goto(`${lab.base}/#/chat`);
    const lines = Array.from({ length: 40 }, (_, at) => `line ${at}\n`);
    model.answers.push([{ words: ["First.\n\n", "```sh\n", ...lines, "```\n", "\nLast."], everyMs: 40 }]);
    await page.locator("main").getByRole("textbox").fill("some code");
    await page.locator("main").getByRole("button", { name: say("chat.send") }).click();
    await answer(page).getByText("line 3").waitFor();
    const [paragraph, code] = [await answer(page).locator(":scope > p").first().elementHandle(), await answer(page).locator("pre > code").elementHandle()];
    await answer(page).getByText("Last.").waitFor({ timeout: 15_000 });
    assert.equal(await code.evaluate((/** @type {HTMLElement} */ node) => node.isConnected && node.textContent), lines.join("").trimEnd());
    assert.equal(await paragraph.evaluate((/** @type {HTMLElement} */ node) => node.isConnected && node.textContent), "First.");
    await context.close();
  });

  test("the page reads no Markdown by itself", async () => {
    const { context, page } = await openPage(lab);
    const marks = "**a** [b](https://c.example) `d` https://e.example\n\n- f";
    await rewrite(page, "**/api/agents/*/conversation", (value) => ({ ...value, messages: value.messages.map((/** @type {any} */ one) => ({ ...one, blocks: [{ type: "paragraph", inlines: [{ type: "text", text: marks }] }] })) }));
    await page.goto(`${lab.base}/#/chat`);
    await answer(page).waitFor();
    assert.equal(await answer(page).innerHTML(), `<p>${marks}</p>`);
    await context.close();
  });
});

/** The newest answer. @param {any} page */
const answer = (page) => page.locator("main .turn:not(.mine) .said").last();

/** How the newest answer is drawn. @param {any} page @returns {Promise<string>} */
const html = (page) => answer(page).evaluate((/** @type {HTMLElement} */ said) => {
  // Where texts next to each other part is not seen.
  said.normalize();
  return said.innerHTML;
});

/** Says something and waits until it is answered. @param {any} page @param {string} words */
async function ask(page, words) {
  await page.locator("main").getByRole("textbox").fill(words);
  await page.locator("main").getByRole("button", { name: say("chat.send") }).click();
  await page.locator("main .turn.mine").filter({ hasText: words }).last().waitFor();
  await page.locator("main .turn:not(.mine):last-child .turn-foot time").waitFor();
}
