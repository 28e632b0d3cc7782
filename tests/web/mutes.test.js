// Being told, on the page: that nobody is told, what is muted, by whom, why and until when, and the way back.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { axe, openPage, overflow, say, settled } from "./browsers.js";
import { serve } from "./labs.js";
import { until } from "./waiting.js";

/** Nothing listens there. */
const CHECK = { kind: "tcp", address: "127.0.0.1:1" };
const SERVICES = { services: [{ id: "web", label: "The web", host: "ct100", check: CHECK, interval_s: 1 }, { id: "files", label: "Files", host: "ct100", check: CHECK, interval_s: 1 }] };

describe("muting", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => {
    lab = await serve({ services: SERVICES });
    await until("both are down", async () => (await lab.owner("GET", "/api/status")).services_untold === 2);
  });
  after(() => lab.stop());

  test("a worry is muted with a reason and an end, stays a worry, and is unmuted", async () => {
    for (const width of [360, 1280]) {
      const { context, page, seen } = await openPage(lab, { width });
      await page.goto(`${lab.base}/#/home`);
      await settled(page, seen);
      // Said once, calmly, with the way to mend it.
      await page.getByText(say("home.nobody_told", { n: 2 })).waitFor();
      assert.equal(await page.getByRole("link", { name: say("home.nobody_told_way") }).getAttribute("href"), "#/settings/channels");
      const card = page.locator(".worry", { hasText: "The web" });
      await card.getByRole("button", { name: say("mute.ask_it", { label: "The web" }) }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("button", { name: say("mute.8h") }).click();
      await dialog.getByText(say("mute.why")).waitFor();
      assert.deepEqual((await lab.owner("GET", "/api/mutes")).mutes, [], "nothing without a reason");
      assert.equal(await overflow(page), 0, `${width} px`);
      assert.deepEqual(await axe(page), []);
      await dialog.getByLabel(say("mute.reason")).fill("a new disk <b>");
      await dialog.getByRole("button", { name: say("mute.8h") }).click();
      await dialog.waitFor({ state: "hidden" });
      await card.getByText(/^Muted until .*\d\d:\d\d by you: a new disk <b>$/i).waitFor();
      assert.ok(await card.getByText(say("health.down"), { exact: true }).isVisible(), "it is still shown as down");
      await page.locator("main li", { hasText: "The web" }).getByText(/muted until .*\d\d:\d\d/).waitFor();
      assert.equal(await card.getByRole("button", { name: say("mute.ask") }).count(), 0);
      const [mute] = (await lab.owner("GET", "/api/mutes")).mutes;
      assert.deepEqual([mute.service, mute.host, mute.by, mute.reason], ["web", null, "owner-web", "a new disk <b>"]);
      assert.equal(await overflow(page), 0, `${width} px`);
      assert.deepEqual(await axe(page), []);
      await card.getByRole("button", { name: say("mute.unmute") }).click();
      await card.getByRole("button", { name: say("mute.ask_it", { label: "The web" }) }).waitFor();
      assert.deepEqual((await lab.owner("GET", "/api/mutes")).mutes, []);
      assert.deepEqual(seen.errors, []);
      await context.close();
    }
  });

  test("a host is muted from one of its services, and every place shows it", async () => {
    const { context, page, seen } = await openPage(lab);
    await page.goto(`${lab.base}/#/lab/services/files`);
    await settled(page, seen);
    await page.getByRole("button", { name: say("mute.ask_it", { label: "Files" }) }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(say("mute.reason")).fill("moving house");
    await dialog.getByLabel(say("mute.whole", { host: "ct100" })).check();
    await dialog.getByRole("button", { name: say("mute.1h") }).click();
    await dialog.waitFor({ state: "hidden" });
    const line = /Everything on ct100 is muted until .* by you: moving house/i;
    await page.getByText(line).waitFor();
    const [mute] = (await lab.owner("GET", "/api/mutes")).mutes;
    assert.deepEqual([mute.service, mute.host], [null, "ct100"]);
    await page.goto(`${lab.base}/#/home`);
    for (const name of ["The web", "Files"]) await page.locator(".worry", { hasText: name }).getByText(line).waitFor();
    await page.goto(`${lab.base}/#/settings/channels`);
    await page.getByRole("heading", { name: say("channels.muted"), exact: true }).waitFor();
    await page.getByText(line).waitFor();
    assert.deepEqual(await axe(page), []);
    // Somewhere else it is lifted: the page follows.
    await lab.owner("DELETE", `/api/mutes/${mute.id}`);
    await page.getByText(line).waitFor({ state: "detached" });
    await page.goto(`${lab.base}/#/audit`);
    await page.getByText(say("audit.did.mute.lifted", { what: "host:ct100" })).first().waitFor();
    assert.deepEqual(seen.errors, []);
    await context.close();
  });
});
