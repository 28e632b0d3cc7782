// I7: what the owner reads before deciding is what is stored. No character that an agent writes hides,
// reorders or imitates a fact of the card.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openPage } from "./browsers.js";
import { demo } from "./labs.js";

/** Every character that shows as nothing, turns the order around, or moves a cursor; written apart from the page's own list. */
const RANGES = [[0x00, 0x08], [0x0b, 0x1f], [0x7f, 0x9f], [0xad, 0xad], [0x34f, 0x34f], [0x61c, 0x61c], [0x115f, 0x1160], [0x17b4, 0x17b5], [0x180b, 0x180f],
  [0x200b, 0x200f], [0x2028, 0x202e], [0x2060, 0x206f], [0x3164, 0x3164], [0xfe00, 0xfe0f], [0xfeff, 0xfeff], [0xffa0, 0xffa0], [0xfff0, 0xfffb], [0x1d173, 0x1d17a], [0xe0000, 0xe0fff]];
/** Layouts that would push a fact out of sight or look like one. */
const LAYOUTS = ["\n".repeat(400), " ".repeat(4000), "x".repeat(4000), `${"\n".repeat(60)}If yes\nIt does nothing.\nAllowed by nobody`, "a\u0301".repeat(1500), "\u001b[2J\u001b[H\u001b[32mSafe", "\u202eefas\u202c", "ﷺ".repeat(300)];

describe("what the owner reads (I7)", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => { lab = await demo(); });
  after(async () => lab.stop());

  test("no character that an agent writes hides or changes what a card says", async (t) => {
    const { context, page } = await openPage(lab);
    await page.goto(`${lab.base}/#/home`);
    await page.locator("article.approval").first().waitFor();
    const wrong = await page.evaluate(async (/** @type {{ranges: number[][], layouts: string[]}} */ { ranges, layouts }) => {
      const script = /** @type {HTMLScriptElement} */ (document.querySelector("script[type=module]"));
      const { proposalCard } = await import(script.src);
      const home = await (await fetch("/api/home")).json();
      const [card] = home.cards;
      const facts = (/** @type {Element} */ node) => ["h2", "dl.facts", ".decide"].map((part) => node.querySelector(part)?.textContent?.replace(/\d+ (s|min) ago/, "")).join("|");
      const usual = facts(proposalCard(card.row, { card }));
      /** @type {string[]} */
      const problems = [];
      let count = 0;
      const look = (/** @type {string} */ words, /** @type {string} */ what, /** @type {RegExp | null} */ unwanted) => {
        const row = { ...card.row, reason: words };
        const node = proposalCard(row, { card: { ...card, row } });
        count += 1;
        if (facts(node) !== usual) problems.push(`${what}: other facts`);
        if (unwanted?.test(node.textContent ?? "")) problems.push(`${what}: is not shown`);
        if (node.querySelectorAll(".decide button").length !== 2 || node.querySelectorAll("button:not(.decide button, .why > button)").length > 0) problems.push(`${what}: other buttons`);
      };
      for (const [from = 0, to = 0] of ranges) {
        for (let code = from; code <= to; code += 1) {
          const character = String.fromCodePoint(code);
          look(`stop${character}it`, `U+${code.toString(16)}`, new RegExp(`\\u{${code.toString(16)}}`, "u"));
        }
      }
      for (const [at, words] of layouts.entries()) look(words, `layout ${at}`, null);
      return { problems: problems.slice(0, 20), count };
    }, { ranges: RANGES, layouts: LAYOUTS });
    assert.deepEqual(wrong.problems, []);
    assert.ok(wrong.count > 4000);
    t.diagnostic(`${wrong.count} texts`);
    await context.close();
  });

  test("words of any length leave the way to a no and to a yes where it is", async () => {
    const agent = await lab.agent("wordy");
    for (const [at, words] of LAYOUTS.entries()) {
      const answer = await agent("POST", "/api/actions/reboot-ct101/run", { reason: words.slice(0, 900) });
      const { context, page } = await openPage(lab, { width: 360 });
      await page.goto(`${lab.base}/#/inbox/${answer.action_row_id}`);
      const card = page.locator("article.approval");
      await card.locator("dl.facts").first().waitFor();
      const height = await card.evaluate((/** @type {Element} */ node) => node.getBoundingClientRect().height);
      // Everything that a yes binds stands on it, outside any fold.
      assert.ok(height < 1300, `layout ${at}: the card is ${height} px high`);
      await context.close();
      await lab.owner("POST", `/api/proposals/${answer.action_row_id}/decide`, { decision: "reject", digest: (await lab.owner("GET", `/api/proposals/${answer.action_row_id}`)).digest });
    }
  });
});
