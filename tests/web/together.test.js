// A phone, a desk and a chat program look at the same request. They agree, and whoever comes second is
// told who was first.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { approve, card, openPage, PHONE, say } from "./browsers.js";
import { demo } from "./labs.js";
import { BotApi } from "./telegram.js";
import { until } from "./waiting.js";

const STOP = "Stop iVentoy (rehearsal)";
const REBOOT = "Reboot the media stack (rehearsal)";
/** They agree within a second; a busy machine gets three. */
const AGREE_MS = 3000;
/** A guest that was told to stop is looked at; one that was told to boot anew is not. */
const ENDED = new RegExp(`${say("state.verified")}|${say("state.unconfirmed")}`);
const DECIDED = ["state.starting", "state.waits_for_target", "state.running", "state.being_checked", "state.unconfirmed", "state.verified"];

describe("several places at once", () => {
  /** @type {BotApi} */
  let api;
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => {
    api = await BotApi.start();
    lab = await demo({ telegram: api.url });
  });
  after(async () => {
    await lab.stop();
    await api.stop();
  });

  test("a yes on the phone shows on the desk within a second", async (t) => {
    const phone = await openPage(lab, { width: PHONE });
    const desk = await openPage(lab);
    const address = `${lab.base}/#/inbox/${lab.facts.waiting}`;
    await Promise.all([phone, desk].map(async ({ page }) => {
      await page.goto(address);
      await card(page, STOP).getByRole("button", { name: say("card.approve"), exact: true }).waitFor();
    }));
    const seenAt = Promise.all([phone, desk].map(({ page }) => whenDecided(page)));
    await approve(card(phone.page, STOP));
    const [onPhone = 0, onDesk = 0] = await seenAt;
    t.diagnostic(`the desk was ${onDesk - onPhone} ms behind the phone`);
    assert.ok(Math.abs(onDesk - onPhone) < AGREE_MS, `${onDesk - onPhone} ms apart`);
    for (const { page } of [phone, desk]) await card(page, STOP).getByText(ENDED).first().waitFor();
    assert.deepEqual([...phone.seen.errors, ...desk.seen.errors], []);
    await phone.context.close();
    await desk.context.close();
  });

  test("whoever taps second is told who was first", async () => {
    const row = await ask("reboot-ct100");
    const phone = await openPage(lab, { width: PHONE });
    const desk = await openPage(lab);
    for (const { page } of [phone, desk]) await page.goto(`${lab.base}/#/inbox/${row.id}`);
    // The desk has asked "are you sure" and hears of nothing more.
    await card(desk.page, REBOOT).getByRole("button", { name: say("card.approve"), exact: true }).click();
    const yes = card(desk.page, REBOOT).getByRole("button", { name: say("card.yes") });
    await yes.waitFor();
    let isHeld = true;
    await desk.page.route(/\/api\/(proposals\/[^/]+\/card|home)/, async (/** @type {any} */ route) => {
      await until("the desk may read again", () => !isHeld);
      await route.continue();
    });
    await approve(card(phone.page, REBOOT));
    await until("the server has it", async () => (await lab.owner("GET", `/api/proposals/${row.id}`)).status !== "pending");
    await yes.click();
    isHeld = false;
    await card(desk.page, REBOOT).getByText(/already approved by you/i).waitFor();
    await card(phone.page, REBOOT).getByText(ENDED).first().waitFor();
    const after = await lab.owner("GET", `/api/proposals/${row.id}`);
    assert.equal(after.transitions.filter((/** @type {any} */ step) => step.to === "approved").length, 1);
    await phone.context.close();
    await desk.context.close();
  });

  test("a decision in Telegram is seen live on the page", async () => {
    const { context, page, seen } = await openPage(lab);
    api.open(lab.facts.telegram);
    await until("the phone is paired", () => api.messages().length > 0);
    const row = await ask("reboot-vm200");
    await page.goto(`${lab.base}/#/inbox/${row.id}`);
    const shown = card(page, "Reboot Home Assistant (rehearsal)");
    await shown.getByRole("button", { name: say("card.approve"), exact: true }).waitFor();
    await api.tap(row.code, /^Approve/);
    await api.tap(row.code, /^Yes/);
    await shown.getByText(ENDED).first().waitFor();
    await shown.getByText(/approved by you/i).first().waitFor({ state: "attached" });
    assert.match((await lab.owner("GET", `/api/proposals/${row.id}`)).resolved_by, /^owner-telegram-/);
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  /** @param {string} action */
  async function ask(action) {
    const agent = await lab.agent(`asks-${action}`);
    const asked = await agent("POST", `/api/actions/${action}/run`, { reason: "because" });
    return lab.owner("GET", `/api/proposals/${asked.action_row_id}`);
  }
});

/** The time at which a page first says that it is decided. @param {any} page @returns {Promise<number>} */
function whenDecided(page) {
  return page.evaluate((/** @type {string[]} */ words) => new Promise((resolve) => {
    const look = () => {
      const said = document.querySelector(".approval .pill.running, .approval .pill:last-of-type")?.parentElement?.textContent ?? "";
      if (words.some((word) => said.includes(word))) resolve(Date.now());
      else requestAnimationFrame(look);
    };
    look();
  }), DECIDED.map((key) => say(key)));
}
