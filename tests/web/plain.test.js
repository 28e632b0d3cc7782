// The link from a message, in a browser without JavaScript: the card is there, a yes takes two steps, and
// nothing but the form of that page decides.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { axe, openPage, overflow, PHONE, say } from "./browsers.js";
import { demo, LOCAL, runLocally, serve } from "./labs.js";
import { ForeignSite } from "./foreign.js";
import { until } from "./waiting.js";

describe("the link without JavaScript", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => { lab = await demo(); });
  after(() => lab.stop());

  test("the card is whole, and opening it decides nothing", async () => {
    const { context, page, seen } = await openPage(lab, { width: PHONE, js: false });
    const head = await lab.head();
    const answer = await page.goto(`${lab.base}/inbox/${lab.facts.waiting}`);
    assert.equal(answer.status(), 200);
    await page.getByRole("heading", { level: 1, name: "Stop iVentoy (rehearsal)" }).waitFor();
    for (const words of ["Nobody has booted anything", "little-blue", "stop-ct107", "If yes"]) await page.getByText(words).first().waitFor();
    assert.equal(await page.getByRole("button", { name: /^Yes/ }).isVisible(), false, "the yes is the second step");
    assert.ok((await overflow(page)) <= 0);
    for (const query of ["?decision=approve", "?decision=approve&digest=x", "/approve"]) await page.goto(`${lab.base}/inbox/${lab.facts.waiting}${query}`);
    assert.equal(await lab.head(), head);
    assert.deepEqual(seen.errors.filter((line) => !line.includes("404")), []);
    await context.close();
  });

  test("the card alone has no accessibility violation, light and dark", async () => {
    for (const theme of /** @type {const} */ (["light", "dark"])) {
      const { context, page } = await openPage(lab, { width: PHONE, theme });
      await page.goto(`${lab.base}/inbox/${lab.facts.waiting}`);
      assert.deepEqual(await axe(page), []);
      await page.locator("summary").first().click();
      assert.deepEqual(await axe(page), []);
      await context.close();
    }
  });

  test("whoever is not signed in sees a way in and nothing of the request", async () => {
    const { context, page } = await openPage(lab, { width: PHONE, js: false, signedIn: false });
    const answer = await page.goto(`${lab.base}/inbox/${lab.facts.waiting}`);
    assert.equal(answer.status(), 401);
    assert.equal(await page.getByText("iVentoy").count(), 0);
    await page.getByRole("link", { name: "Sign in" }).waitFor();
    await context.close();
  });

  test("the form from another origin is refused, and nothing changes", async () => {
    const row = await lab.owner("GET", `/api/proposals/${lab.facts.waiting}`);
    const site = await ForeignSite.start();
    const head = await lab.head();
    const form = `<form method="post" action="${lab.base}/inbox/${row.id}"><input name="digest" value="${row.digest}"><input name="decision" value="approve"><button>Win</button></form>`;
    for (const host of ["evil.localhost", "evil.example"]) {
      const { context, page } = await openPage(lab, { js: false });
      await page.goto(site.at(host, "/form", form));
      const [answer] = await Promise.all([page.waitForResponse(`**/inbox/${row.id}`), page.getByRole("button").click()]);
      assert.equal(answer.status(), 403);
      await context.close();
    }
    assert.equal(await lab.head(), head);
    await site.stop();
  });

  test("Approve… and then Yes: the form decides, once", async () => {
    const { context, page } = await openPage(lab, { width: PHONE, js: false });
    await page.goto(`${lab.base}/inbox/${lab.facts.waiting}`);
    await page.getByText("Approve…").click();
    await page.getByRole("button", { name: /^Yes: it / }).click();
    await page.getByText(/Approved, sent|Running|Done, checked|Ran, not confirmed/).waitFor();
    await until("it ended", async () => (await lab.owner("GET", `/api/proposals/${lab.facts.waiting}`)).status === "executed");
    await page.reload();
    await page.getByText(/Done, checked|Ran, not confirmed/).waitFor();
    assert.equal(await page.locator("form").count(), 0);
    await context.close();
  });
});

describe("the link without JavaScript, while it runs", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  let id = "";
  const actions = { actions: [{ id: "mend-wiki", label: "Mend the wiki", kind: "service_restart", host: "local", service: "wiki", tier: "risky" }] };
  before(async () => {
    lab = await serve({ actions, settings: LOCAL });
    // It runs until it may end.
    await runLocally(lab, { "mend-wiki": ["/bin/sh", "-c", `until [ -e ${join(lab.data, "may-end")} ]; do sleep 0.1; done`] });
    const asked = await (await lab.agent("nightly"))("POST", "/api/actions/mend-wiki/run", { reason: "it is slow" });
    id = asked.action_row_id;
  });
  after(() => lab.stop());
  const refresh = "meta[http-equiv=refresh]";

  test("it looks again by itself until it is over, sends nothing again, and speaks in the past then", async () => {
    const { context, page } = await openPage(lab, { width: PHONE, js: false });
    /** @type {string[]} */
    const sent = [];
    page.on("request", (/** @type {any} */ request) => { if (request.method() !== "GET") sent.push(request.url()); });
    await page.goto(`${lab.base}/inbox/${id}`);
    assert.equal(await page.locator(refresh).count(), 0, "what waits is not moved under a finger");
    assert.equal(await page.getByRole("link", { name: say("link.look_again") }).count(), 0);
    await page.getByText(say("link.binds"), { exact: true }).waitFor();
    await page.getByText(say("link.no_commit")).waitFor();
    await page.getByText(say("link.approve")).click();
    await page.getByRole("button", { name: /^Yes: it / }).click();
    const again = page.getByRole("link", { name: say("link.look_again") });
    await again.waitFor();
    assert.match(await page.locator(refresh).getAttribute("content"), new RegExp(`^\\d+; url=/inbox/${id}\\?look=1$`));
    await again.click();
    await page.getByText(say("state.running"), { exact: true }).waitFor();
    // Not for ever: then there is the link.
    for (const look of ["100", "4294967295", "99999999999", "-1", "x"]) {
      await page.goto(`${lab.base}/inbox/${id}?look=${look}`);
      assert.equal(await page.locator(refresh).count(), 0, look);
      await again.waitFor();
    }
    await page.goto(`${lab.base}/inbox/${id}?look=99`);
    assert.match(await page.locator(refresh).getAttribute("content"), /look=100$/);
    await page.goto(`${lab.base}/inbox/${id}`);
    await writeFile(join(lab.data, "may-end"), "");
    await page.getByText(/^(Done, checked|Ran, not confirmed|Ran, and its check failed)$/).waitFor();
    assert.equal(await page.locator(refresh).count(), 0);
    assert.equal(await again.count(), 0);
    await page.getByText(say("link.bound"), { exact: true }).waitFor();
    assert.equal(await page.getByText(say("link.binds"), { exact: true }).count(), 0);
    assert.deepEqual(sent, [`${lab.base}/inbox/${id}`], "the form, once");
    await context.close();
  });

  test("where a script runs, nothing but the script loads the page again", async () => {
    const { context, page } = await openPage(lab, { width: PHONE });
    await page.goto(`${lab.base}/inbox/${id}`);
    assert.equal(await page.locator(`head > ${refresh}`).count(), 0);
    await context.close();
  });
});
