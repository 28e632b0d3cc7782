// The Inbox with many in it: saying no to exactly those that are shown, and a list that stays beside its card.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { axe, card, openPage, PHONE, say } from "./browsers.js";
import { serve } from "./labs.js";

const NAMES = ["wiki", "mail", "music", "photos"];
const ACTIONS = { actions: NAMES.map((name) => ({ id: `restart-${name}`, label: `Restart ${name}`, kind: "service_restart", host: "local", service: name, tier: "risky" })) };
const WIDE = 1600;

describe("many in the Inbox", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  /** @type {Record<string, string>} */
  const ids = {};
  before(async () => {
    lab = await serve({ actions: ACTIONS });
    const agent = await lab.agent("nightly");
    for (const name of NAMES) {
      const diff = name === "wiki" ? "--- a/wiki\n+++ b/wiki\n-image: 1\n+image: 2\n port: 80" : undefined;
      const asked = await agent("POST", `/api/actions/restart-${name}/run`, { reason: name === "mail" ? "it is slow" : "a restart is due", ...(diff ? { diff } : {}) });
      ids[name] = asked.action_row_id;
    }
  });
  after(() => lab.stop());
  const row = (/** @type {string} */ name) => lab.owner("GET", `/api/proposals/${ids[name]}`);

  test("beside its card the list stays, and a change shows what is added and removed", async () => {
    const { context, page, seen } = await openPage(lab, { width: WIDE, kept: { "chat-folded": "yes" } });
    await page.goto(`${lab.base}/#/inbox`);
    const list = page.locator(".split .list");
    await list.getByText("Restart mail").click();
    await card(page, "Restart mail").waitFor();
    await list.evaluate((/** @type {any} */ node) => { node.isTheSame = true; });
    await list.getByText("Restart wiki").click();
    const shown = card(page, "Restart wiki");
    await shown.locator(".diff-line.added").waitFor();
    assert.deepEqual(await shown.locator(".diff-line.added, .diff-line.removed").allTextContents(), [`${say("card.diff_removed")} -image: 1\n`, `${say("card.diff_added")} +image: 2\n`]);
    assert.ok(await list.evaluate((/** @type {any} */ node) => node.isTheSame), "the list was not made anew");
    assert.equal(await list.locator("[aria-current]").count(), 1);
    await page.goBack();
    await card(page, "Restart mail").waitFor();
    assert.match(await list.locator("[aria-current]").textContent() ?? "", /Restart mail/);
    assert.deepEqual(await axe(page), []);
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("a no to many goes to exactly those that are shown, and says what was not taken", async () => {
    const { context, page } = await openPage(lab, { width: PHONE });
    await page.goto(`${lab.base}/#/inbox`);
    await page.getByRole("searchbox", { name: say("inbox.filter") }).fill("due");
    await page.getByRole("button", { name: say("bulk.ask", { n: 3 }) }).click();
    assert.deepEqual(await axe(page), []);
    // Somebody else is quicker with one of them.
    const { digest } = await row("music");
    await lab.owner("POST", `/api/proposals/${ids.music}/decide?wait=0`, { decision: "reject", digest, reason: "by hand" });
    await page.getByLabel(say("card.own_reason")).fill("not this week");
    await page.getByRole("button", { name: say("bulk.yes", { n: 3 }) }).click();
    await page.getByText(say("bulk.rejected", { n: 2 })).waitFor();
    await page.getByText(/^Restart music \(\w+\): /).waitFor();
    assert.deepEqual(await Promise.all(NAMES.map(async (name) => (await row(name)).status)), ["rejected", "pending", "rejected", "rejected"]);
    const { entries } = await lab.owner("GET", "/api/audit?verb=proposal.rejected&limit=10");
    assert.equal(entries.filter((/** @type {any} */ entry) => JSON.stringify(entry).includes("not this week")).length, 2);
    await context.close();
  });
});
