// What an older copy of the database brought back: the page says so, shows each credential, and the owner
// lets it in again or removes it.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { openPage, say } from "./browsers.js";
import { serve } from "./labs.js";
import { until } from "./waiting.js";

/** Whether a token opens anything. @param {() => Promise<any>} call */
const opens = async (call) => {
  try { await call(); return true; } catch (error) { assert.match(String(error), / 401 /); return false; }
};

describe("quarantine", () => {
  test("what came back is shown and opens nothing until the owner confirms it", async () => {
    const before = await serve();
    const [known, stranger] = [await before.agent("known"), await before.agent("stranger")];
    assert.deepEqual([await opens(() => known("GET", "/api/freeze")), await opens(() => stranger("GET", "/api/freeze"))], [true, true]);
    await before.stop();
    // The note beside the database has seen more than the database: an older copy is in place.
    const note = join(before.data, "witness.json");
    const noted = JSON.parse(await readFile(note, "utf8"));
    await writeFile(note, JSON.stringify({ ...noted, audit_seq: noted.audit_seq + 50 }));
    const lab = await serve({ data: before.data, port: Number(new URL(before.base).port) });
    try {
      const { context, page } = await openPage(lab);
      await page.goto(`${lab.base}/#/settings/tokens`);
      await page.getByText(say("frame.quarantined", { n: 2 })).waitFor();
      await page.getByRole("heading", { name: say("quarantine.title") }).waitFor();
      assert.deepEqual([await opens(() => known("GET", "/api/freeze")), await opens(() => stranger("GET", "/api/freeze"))], [false, false]);
      /** @param {string} verb @param {string} name */
      const button = (verb, name) => page.getByRole("button", { name: `${say(`quarantine.${verb}`)}: agent ${name}` });

      // Asked and not answered, nothing changes.
      await button("confirm", "known").click();
      await page.getByRole("button", { name: say("settings.keep") }).click();
      assert.equal((await lab.owner("GET", "/api/quarantine")).quarantined.length, 2);

      await button("confirm", "known").click();
      await page.getByRole("button", { name: say("quarantine.confirm_yes") }).click();
      await until("the known one is let out", async () => (await lab.owner("GET", "/api/quarantine")).quarantined.length === 1);
      await button("confirm", "known").waitFor({ state: "detached" });
      assert.deepEqual([await opens(() => known("GET", "/api/freeze")), await opens(() => stranger("GET", "/api/freeze"))], [true, false]);

      await button("remove", "stranger").click();
      await page.getByRole("button", { name: say("quarantine.remove_yes") }).click();
      await until("the stranger is removed", async () => (await lab.owner("GET", "/api/quarantine")).quarantined.length === 0);
      await page.getByRole("heading", { name: say("quarantine.title") }).waitFor({ state: "detached" });
      assert.equal(await opens(() => stranger("GET", "/api/freeze")), false);
      const { tokens } = await lab.owner("GET", "/api/tokens");
      // The page itself makes Little Blue known.
      const made = tokens.filter((/** @type {any} */ one) => one.name !== "little-blue");
      const facts = made.map((/** @type {any} */ one) => [one.name, one.quarantined, one.revoked_at !== null]).sort();
      assert.deepEqual(facts, [["known", false, false], ["stranger", false, true]]);
      const { entries } = await lab.owner("GET", "/api/audit?limit=50");
      const verbs = entries.map((/** @type {any} */ entry) => entry.verb).filter((/** @type {string} */ verb) => /^quarantine\./.test(verb));
      assert.deepEqual(verbs, ["quarantine.removed", "quarantine.confirmed", "quarantine.set"]);
      await context.close();
    } finally {
      await lab.stop();
    }
  });
});
