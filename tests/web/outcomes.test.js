// What follows a decision: the buttons at hand on a phone, the result in one line, why something failed, one
// name for each, and nothing approved while everything is frozen.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { approve, axe, card, isInSight, openPage, overflow, say, settled } from "./browsers.js";
import { demo, LOCAL, runLocally, serve } from "./labs.js";
import { until } from "./waiting.js";

const STOP = "Stop iVentoy (rehearsal)";
const CADDY = "Restart Caddy (rehearsal)";
const SMALL = { width: 390, height: 740 };

describe("what follows a decision", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => { lab = await demo(); });
  after(() => lab.stop());

  test("on a phone the buttons stay on the screen, each step is in sight, and the result is one line", async () => {
    const { context, page, seen } = await openPage(lab, SMALL);
    await page.goto(`${lab.base}/#/inbox/${lab.facts.waiting}`);
    const asked = card(page, STOP);
    const first = asked.getByRole("button", { name: say("card.approve"), exact: true });
    await until("a yes can be given", () => first.isEnabled());
    assert.ok(await page.evaluate(() => document.documentElement.scrollHeight > innerHeight), "the card is longer than the screen");
    assert.ok(await isInSight(first), "without scrolling");
    // What the yes binds is there outside any fold, and what will check it.
    assert.ok((await asked.innerText()).includes("Proxmox is asked afterwards whether CT 107 is stopped.") || (await asked.innerText()).includes("Void looks afterwards whether"));
    assert.equal(await asked.locator("details .bound").count(), 0);
    assert.ok(await asked.locator(".bound").isVisible());
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight / 3));
    assert.ok(await isInSight(first), "wherever one has scrolled to");
    await first.click();
    const yes = asked.getByRole("button", { name: say("card.yes") });
    await until("the second step can be used", () => yes.isEnabled());
    assert.ok(await isInSight(yes), "the second step scrolled itself into view");
    assert.deepEqual(await axe(page), []);
    await yes.click();
    const result = asked.locator(".result");
    await result.getByText(/^Done, checked: .* is (stopped|down) \(\d+(\.\d)? (s|min)\)$/).waitFor();
    assert.equal(await result.count(), 1);
    assert.ok(await isInSight(result), "the result is what one sees");
    // What is over speaks in the past, and what one had to read for a yes is out of the way.
    await asked.getByText(say("card.all")).click();
    await asked.getByText("It has pulled the plug of CT 107 on pve1.").or(asked.getByText(/^It has (shut down|stopped|pulled)/)).first().waitFor();
    assert.equal(await asked.getByText(say("card.if_yes"), { exact: true }).count(), 0);
    await asked.locator(".steps").getByText(`${say("step.approved")} by you`).waitFor();
    assert.equal(await overflow(page), 0);
    assert.deepEqual(await axe(page), []);
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("what the owner stopped is grey and no worry, until it is started", async () => {
    const { context, page, seen } = await openPage(lab, SMALL);
    await page.goto(`${lab.base}/#/home`);
    const line = page.locator("li", { hasText: "iVentoy" }).first();
    await line.locator(".pill:not(.bad)", { hasText: /^Stopped by you \d\d:\d\d$/ }).waitFor();
    assert.equal(await page.locator("article.worry", { hasText: "iVentoy" }).count(), 0);
    const { services_stopped: stopped } = await lab.owner("GET", "/api/status");
    assert.equal(stopped, 1);
    assert.match(await page.locator(".truth-line").innerText(), /^(Caddy|1 thing)/, "one worry is left, and it is another one");
    await page.goto(`${lab.base}/#/lab`);
    await settled(page, seen);
    await page.getByText(say("home.stopped", { n: 1 })).waitFor();
    // Started by Void and fallen over is a worry again; the server's tests let it fall, here it is started.
    const started = await lab.owner("POST", "/api/actions/start-ct107/run", {});
    if (started.queued) {
      const { digest } = await lab.owner("GET", `/api/proposals/${started.action_row_id}`);
      await lab.owner("POST", `/api/proposals/${started.action_row_id}/decide`, { decision: "approve", digest });
    }
    await page.getByText(say("home.stopped", { n: 1 })).waitFor({ state: "detached" });
    await context.close();
  });

  test("a no is told as one's own, with its reason, and nobody is called by the way they came", async () => {
    const agent = await lab.agent("nightly");
    const asked = await agent("POST", "/api/actions/reboot-ct101/run", { reason: "it hangs" });
    const { context, page } = await openPage(lab, SMALL);
    await page.goto(`${lab.base}/#/inbox/${asked.action_row_id}`);
    const shown = page.locator("article.approval");
    await shown.getByRole("button", { name: say("card.reject"), exact: true }).click();
    const reason = shown.getByRole("button", { name: say("reason.not_now") });
    assert.ok(await isInSight(reason));
    await reason.click();
    await shown.locator(".result", { hasText: "You said no: not now" }).waitFor();
    await shown.getByText(say("card.all")).click();
    await shown.getByText("It would have rebooted CT 101 on pve1.").waitFor();
    for (const place of [`inbox/${asked.action_row_id}`, "inbox/done", "home", "lab/guests/pve1/101", "audit"]) {
      await page.goto(`${lab.base}/#/${place}`);
      await page.locator("main").getByText(/Caddy|iVentoy|CT 101|DNS|Pi-hole|Reboot/i).first().waitFor();
      for (const fold of await page.locator("main details:not([open]) > summary").all()) await fold.click();
      const words = await page.locator("main").innerText();
      assert.doesNotMatch(words, /owner-(web|api|cli)|agent-nightly/, place);
    }
    await context.close();
  });

  test("safe is one tap on Home and in the Lab, with its result in the same card", async () => {
    const { context, page, seen } = await openPage(lab, SMALL);
    await page.goto(`${lab.base}/#/home`);
    const worry = page.locator("article.worry", { hasText: "Caddy" });
    await worry.getByRole("button", { name: CADDY }).click();
    await worry.locator(".result", { hasText: /^Done, checked: caddy is up/ }).waitFor();
    await worry.getByText(say("home.up_again")).waitFor();
    assert.deepEqual(await axe(page), []);
    // Who let it through is policy, not the one who tapped.
    await worry.getByText(/let through by policy/).waitFor();
    await page.goto(`${lab.base}/#/lab/services/caddy`);
    const line = page.locator("li", { has: page.getByRole("button", { name: say("lab.run_it", { label: CADDY }) }) });
    await line.getByRole("button").click();
    await line.locator(".result", { hasText: /^Done, checked: caddy is up/ }).waitFor();
    // What is read again meanwhile takes nothing away.
    await page.waitForResponse((/** @type {any} */ answer) => answer.url().includes("/api/services/caddy"));
    await line.locator(".result").waitFor();
    const first = page.locator(".list .action-line").first();
    assert.ok((await first.innerText()).includes(say("tier.safe")), "what is safe comes first");
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("while everything is frozen no yes can be given, in a colour of its own and with the way out", async () => {
    const agent = await lab.agent("late");
    const asked = await agent("POST", "/api/actions/reboot-ct101/run", { reason: "again" });
    const { context, page } = await openPage(lab, SMALL);
    await page.goto(`${lab.base}/#/inbox/${asked.action_row_id}`);
    const shown = page.locator("article.approval");
    const first = shown.getByRole("button", { name: say("card.approve"), exact: true });
    await until("a yes can be given", () => first.isEnabled());
    await first.click();
    await shown.getByRole("button", { name: say("card.yes") }).waitFor();
    await lab.owner("POST", "/api/freeze", { reason: "storm" });
    await shown.getByText(say("card.frozen")).waitFor();
    assert.equal(await shown.getByRole("button", { name: say("card.yes") }).count(), 0, "a yes that was begun is over");
    assert.ok(await first.isDisabled());
    assert.ok(await shown.getByRole("button", { name: say("card.reject"), exact: true }).isEnabled(), "a no still counts");
    const colours = await shown.locator(".frozen-note").evaluate((/** @type {Element} */ node) => [".pill.risky", ".pill.waiting"].map((one) => document.querySelector(one)).filter(Boolean).map((one) => getComputedStyle(/** @type {Element} */ (one)).color === getComputedStyle(node).color));
    assert.ok(colours.every((/** @type {boolean} */ isSame) => !isSame), "neither risky nor waiting");
    assert.deepEqual(await axe(page), []);
    await shown.getByRole("button", { name: say("freeze.thaw") }).click();
    await until("a yes can be given again", () => first.isEnabled());
    await lab.owner("POST", `/api/proposals/${asked.action_row_id}/cancel`);
    await context.close();
  });
});

describe("what failed", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  const actions = { actions: [
    { id: "break-wiki", label: "Break the wiki", kind: "service_restart", host: "local", service: "wiki", tier: "risky" },
  ] };
  before(async () => {
    lab = await serve({ actions, settings: LOCAL });
    await runLocally(lab, { "break-wiki": ["/bin/sh", "-c", "echo half way; echo no such unit >&2; exit 3"] });
  });
  after(() => lab.stop());

  test("why comes first, with what the machine said, in a block that folds, and the next command", async () => {
    const agent = await lab.agent("liar");
    const long = `It is slow. ${"And it was slow yesterday. ".repeat(40)}`.trim();
    const asked = await agent("POST", "/api/actions/break-wiki/run", { reason: long });
    for (const width of [390, 820, 1280]) {
      const { context, page, seen } = await openPage(lab, { width });
      await page.goto(`${lab.base}/#/inbox/${asked.action_row_id}`);
      const shown = card(page, "Break the wiki");
      const isFirst = width === 390;
      if (isFirst) {
        const more = shown.getByRole("button", { name: say("card.reason_all", { n: long.length }) });
        await more.click();
        assert.ok((await shown.innerText()).includes(long.slice(-80)), "long words can be seen whole");
        await shown.getByRole("button", { name: say("card.reason_less") }).click();
        await approve(shown);
      }
      await shown.locator(".result.bad", { hasText: /^Failed: / }).waitFor();
      const said = shown.locator("details.said");
      assert.ok(await said.getByText("no such unit").isVisible());
      assert.ok(await said.getByText("half way").isVisible());
      assert.ok((await said.locator("summary").innerText()).includes("3"));
      const order = await shown.evaluate((/** @type {Element} */ node) => {
        const at = (/** @type {string} */ selector) => [...node.querySelectorAll("*")].findIndex((one) => one.matches(selector));
        return [at(".result"), at("details.said"), at("details.all")];
      });
      assert.deepEqual(order, [...order].sort((one, other) => one - other), "why stands before what it was");
      await said.locator("summary").click();
      assert.ok(!(await said.getByText("no such unit").isVisible()), "it folds");
      const { code } = await lab.owner("GET", `/api/proposals/${asked.action_row_id}`);
      await shown.locator(".next-command code", { hasText: ` --data ${lab.data} --url ${lab.base} inbox show ${code}` }).waitFor();
      assert.equal(await overflow(page), 0);
      assert.deepEqual(await axe(page), []);
      assert.deepEqual(seen.errors, []);
      await context.close();
    }
  });
});
