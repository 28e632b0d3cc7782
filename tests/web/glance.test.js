// What one sees at a glance: how busy the lab is, one line for each request in the record, a palette that
// forgives a slip, a chat that keeps out of the way and says an outcome once, and Little Blue once.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { axe, openPage, overflow, rewrite, say, settled } from "./browsers.js";
import { demo } from "./labs.js";
import { until } from "./waiting.js";

const CADDY = "Restart Caddy (rehearsal)";

/** @param {any} page */
const bluesInSight = (page) => page.locator(".blue:visible").count();

describe("at a glance", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => { lab = await demo(); });
  after(() => lab.stop());

  test("nodes and guests tell their load and how long they are up, and names wrap", async () => {
    for (const width of [390, 820, 1280]) {
      const { context, page, seen } = await openPage(lab, { width });
      await rewrite(page, "**/api/lab", (value) => {
        value.nodes[0].guests[0].name = "a-guest-with-a-name-that-is-much-longer-than-any-column-of-a-table";
        value.nodes[0].load = { ...value.nodes[0].load, disk_bytes: 95, disk_bytes_max: 100 };
        return value;
      });
      await page.goto(`${lab.base}/#/lab`);
      await settled(page, seen);
      const head = page.locator(".machine > header").first();
      await head.getByText(/^CPU \d+ %$/).waitFor();
      await head.getByText(/^Memory \d+ %$/).waitFor();
      assert.match(await head.innerText(), /up for \d+ d/, "a node says for how long it is up");
      assert.equal(await head.locator(".fill.full").count(), 1, "what is nearly full is told apart");
      const toggle = page.locator(".machine-toggle").first();
      if (await toggle.getAttribute("aria-expanded") === "false") await toggle.click();
      await page.locator(".guests .load-cell").first().getByText(/^Memory \d+ %$/).waitFor();
      assert.equal(await overflow(page), 0, `${width} px`);
      const isWhole = await page.locator(".guests th a").first().evaluate((/** @type {HTMLElement} */ name) => name.scrollWidth <= name.clientWidth + 1 || getComputedStyle(name).display === "inline");
      assert.ok(isWhole, "a long name wraps");
      assert.deepEqual(await axe(page), []);
      await page.goto(`${lab.base}/#/lab/nodes/pve1`);
      await page.getByText(/\d+ %, .* of .*/).first().waitFor();
      await context.close();
    }
  });

  test("what Proxmox does not say is left out, and is no zero", async () => {
    const { context, page } = await openPage(lab);
    await rewrite(page, "**/api/lab", (value) => {
      for (const node of value.nodes) for (const one of [node, ...node.guests]) one.load = { cpu_permille: null, cpus: null, memory_bytes: null, memory_bytes_max: null, disk_bytes: null, disk_bytes_max: null };
      return value;
    });
    await page.goto(`${lab.base}/#/lab`);
    await page.locator(".guests th a").first().waitFor();
    assert.equal(await page.locator(".load").count(), 0);
    await context.close();
  });

  test("the record has one line for each request, with seconds, and its filters fold", async () => {
    const ran = await lab.owner("POST", "/api/actions/restart-caddy/run", { reason: "it is down" });
    await until("it was checked", async () => (await lab.owner("GET", `/api/proposals/${ran.action_row_id}`)).verification);
    const { entries } = await lab.owner("GET", `/api/audit?subject=${ran.action_row_id}`);
    assert.ok(entries.length >= 4);
    const { context, page } = await openPage(lab);
    await page.goto(`${lab.base}/#/audit`);
    const lines = page.locator(".lines > li", { hasText: CADDY });
    await lines.first().waitFor();
    assert.equal(await lines.count(), 1, "all its steps are one line");
    assert.match(await lines.first().innerText(), /\d\d:\d\d:\d\d/);
    assert.match(await lines.first().innerText(), /Asked by you \(program\), safe: runs without a yes/);
    assert.ok(!(await page.getByLabel(say("audit.filter.who")).isVisible()), "the filters are folded");
    await lines.first().getByRole("link").first().click();
    for (const step of ["outcome.created", "step.let_through", "step.started", "outcome.executed"]) await lines.first().locator(".chain").getByText(say(`audit.${step}`), { exact: true }).waitFor();
    // A step in the middle leads to the same line.
    const page2 = (await openPage(lab)).page;
    await page2.goto(`${lab.base}/#/audit?at=${entries[2].seq}`);
    await until("its line has the focus", () => page2.locator(":focus").evaluate((/** @type {Element} */ node) => node.textContent?.includes("Caddy")).catch(() => false));
    await page.getByText(say("audit.filters")).click();
    await page.getByLabel(say("audit.filter.who")).waitFor();
    assert.deepEqual(await axe(page), []);
    await context.close();
  });

  test("the palette forgives a slip, and finds what is over and where hosts are", async () => {
    const { recent } = await lab.owner("GET", "/api/actions/recent");
    const { context, page } = await openPage(lab);
    await rewrite(page, "**/api/hosts", (value) => ({ ...value, hosts: [...value.hosts, { name: "nas", address: "192.168.7.9", port: 22, user: "voidact", actions: 0, trusted: [], pinned: false }] }));
    await page.goto(`${lab.base}/#/home`);
    await page.locator(".truth-line").waitFor();
    const found = page.locator("#palette-list > li");
    for (const [typed, words] of [["cady", /Caddy/], ["cadyd", /Caddy/], ["cadddy", /Caddy/], ["jelyfin", /Jellyfin/], ["grafsna", /Grafana/], [recent[0].code, new RegExp(recent[0].code)], ["192.168.7", /nas/]]) {
      await page.keyboard.press("Control+k");
      await page.keyboard.type(String(typed));
      await found.filter({ hasText: /** @type {RegExp} */ (words) }).first().waitFor();
      await page.keyboard.press("Escape");
    }
    // A slip is no wild card.
    await page.keyboard.press("Control+k");
    await page.keyboard.type("cobby");
    await page.getByText(say("palette.nothing")).waitFor();
    assert.deepEqual(await axe(page), []);
    await context.close();
  });

  test("the chat is folded where there is little room, and Little Blue is there once, in one mood", async () => {
    for (const [width, isOpen] of [[1280, false], [1439, false], [1440, true]]) {
      const { context, page, seen } = await openPage(lab, { width: Number(width) });
      await page.goto(`${lab.base}/#/home`);
      await settled(page, seen);
      assert.equal(await page.locator(".chat-rail .composer").count() > 0, isOpen, `${width} px`);
      assert.equal(await bluesInSight(page), 1, `Home at ${width} px`);
      for (const place of ["chat", "inbox", "lab"]) {
        await page.goto(`${lab.base}/#/${place}`);
        await settled(page, seen);
        assert.ok(await bluesInSight(page) <= 1, `${place} at ${width} px`);
      }
      await context.close();
    }
  });

  test("the chat says an outcome once", async () => {
    const { context, page } = await openPage(lab);
    await page.goto(`${lab.base}/#/chat`);
    const box = page.getByLabel(say("chat.say_to", { name: "Little Blue" }));
    await box.fill("restart jellyfin");
    await page.getByRole("button", { name: say("chat.send") }).click();
    const turn = page.locator(".turn:not(.mine)").last();
    await turn.locator(".request").first().waitFor();
    await turn.locator(".pill", { hasText: say("state.verified") }).waitFor();
    assert.equal(await turn.locator(".truth").count(), 0, "what stands in a row is not told again below it");
    assert.equal((await turn.innerText()).match(/Done, checked/g)?.length, 1);
    await box.fill("what can you do?");
    await page.getByRole("button", { name: say("chat.send") }).click();
    // Where nothing was asked for, Void says so itself.
    await page.locator(".turn:not(.mine)").last().locator(".truth").waitFor();
    await context.close();
  });

  test("the card alone is marked as a rehearsal, and who is signed out is told to sign in", async () => {
    for (const js of [true, false]) {
      const { context, page } = await openPage(lab, { width: 390, js });
      await page.goto(`${lab.base}/inbox/${lab.facts.waiting}`);
      await page.getByText(/^REHEARSAL/).waitFor();
      await page.getByText("Proxmox is asked afterwards").or(page.getByText("Void looks afterwards")).waitFor();
      if (!js) assert.match(await page.locator("time").first().innerText(), /^\d+ \w{3} \d{4}, \d\d:\d\d \S+$/);
      await context.close();
    }
    const { context, page } = await openPage(lab, { width: 390, signedIn: false });
    await page.goto(`${lab.base}/inbox/${lab.facts.waiting}`);
    await page.getByRole("heading", { level: 1, name: say("link.sign_in") }).waitFor();
    await page.getByRole("link", { name: say("link.sign_in"), exact: true }).click();
    await page.getByRole("button", { name: say("login.go") }).first().waitFor();
    await context.close();
  });
});
