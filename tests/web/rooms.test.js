// The Lab, the Audit and the Settings as they change under the eye: what is shown is what the server
// says now, in characters that show as themselves, and what the owner chose stays chosen.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openPage, PHONE, rewrite, say } from "./browsers.js";
import { demo } from "./labs.js";
import { until } from "./waiting.js";

/** Turns the order of what follows around. */
const HIDDEN = "\u202e";
const SHOWN = "\\u{202e}";

describe("the rooms", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => { lab = await demo(); });
  after(async () => lab.stop());

  test("no name of a guest and no entry of the record hides a character (I7)", async () => {
    const { context, page } = await openPage(lab);
    const name = `proxy${HIDDEN}yxorp`;
    await rewrite(page, "**/api/lab", (value) => {
      for (const node of value.nodes) for (const guest of node.guests) guest.name = name;
      return value;
    });
    await rewrite(page, /\/api\/audit\?/, (value) => {
      for (const entry of value.entries) Object.assign(entry, { verb: "node.joined", detail: { name } });
      return value;
    });
    for (const [place, line] of [["lab", ".guests th a"], ["audit", ".lines .words"]]) {
      await page.goto(`${lab.base}/#/${place}`);
      await page.locator(String(line)).first().waitFor();
      const words = await page.locator("main").evaluate((/** @type {HTMLElement} */ node) => [node.textContent, ...[...node.querySelectorAll("[aria-label], [title]")].map((one) => `${one.getAttribute("aria-label")} ${one.getAttribute("title")}`)].join("\n"));
      assert.ok(words.includes(`proxy${SHOWN}yxorp`), `${place} shows the character`);
      assert.ok(!words.includes(HIDDEN), `${place} has it nowhere as itself`);
    }
    await context.close();
  });
});
