// What the owner sees of what is kept, where it is easily shown wrong: how a draft ended, notes as others write them, a ref
// without an address, rows in a narrow window, what was read from outside, and the way from the palette to something new.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { card, openPage, overflow, PHONE, say } from "./browsers.js";
import { serve } from "./labs.js";
import { filledSpace } from "./spaces.js";

const NOTE = `# Water

- [ ] look at the filter
- [x] call the plumber
- [y] is no box
- \`[ ]\` is code

> [!warning] Mind the valve
> It sticks.

> A quote.
`;

describe("notes", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  /** @type {Awaited<ReturnType<typeof filledSpace>>} */
  let kept;
  before(async () => {
    lab = await serve();
    kept = await filledSpace(lab);
  });
  after(() => lab.stop());

  /** @param {string} path @param {number} [width] */
  const begin = async (path, width = 1280) => {
    const opened = await openPage(lab, { width });
    await opened.page.goto(`${lab.base}/#/${path}`);
    return opened;
  };

  test("a yes to a draft says that it is stored and leads to it; nothing has to be reloaded", async () => {
    const draft = await kept.drafter("POST", `/api/spaces/${kept.space}/drafts`, { entity: "task", op: "create", fields: { title: "Buy a fuse" }, reason: "It blew." });
    const { context, page, seen } = await begin(`inbox/${draft.id}`);
    const asked = card(page, "Make a task");
    await asked.getByRole("button", { name: say("card.approve"), exact: true }).click();
    await asked.getByRole("button", { name: say("card.yes") }).click();
    await asked.locator(".result").getByText(say("result.kept"), { exact: true }).waitFor();
    assert.equal(await asked.getByText("void reload").count(), 0);
    await asked.getByRole("link", { name: say("result.kept_look") }).click();
    await page.getByRole("heading", { level: 2, name: "Buy a fuse" }).waitFor();
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("a yes to throwing something away leads nowhere, and Home names what it was", async () => {
    const { id } = await lab.owner("POST", `/api/spaces/${kept.space}/pages`, { title: "Old wiring", body: "x" });
    const draft = await kept.drafter("POST", `/api/spaces/${kept.space}/drafts`, { entity: "page", op: "delete", id, base_revision: 1, reason: "It is gone." });
    const row = await lab.owner("GET", `/api/proposals/${draft.id}`);
    await lab.owner("POST", `/api/pending-changes/${draft.id}/approve`, { digest: row.digest, revision: row.revision });
    const { context, page } = await begin(`inbox/${draft.id}`);
    await page.locator(".result").getByText(say("result.kept_gone"), { exact: true }).waitFor();
    assert.equal(await page.getByRole("link", { name: say("result.kept_look") }).count(), 0);
    await page.goto(`${lab.base}/#/home`);
    await page.getByRole("link", { name: /Old wiring/ }).first().waitFor();
    await context.close();
  });

  test("a checklist has boxes, a callout a head, and a title stands once", async () => {
    const { id } = await lab.owner("POST", `/api/spaces/${kept.space}/pages`, { title: "Water", body: NOTE });
    const { context, page, seen } = await begin(`knowledge/pages/${id}`);
    const shown = page.locator("article .doc");
    await shown.getByRole("img", { name: say("doc.open") }).waitFor();
    assert.equal(await shown.getByRole("img", { name: say("doc.open") }).count(), 1);
    assert.equal(await shown.getByRole("img", { name: say("doc.done") }).count(), 1);
    const text = await shown.innerText();
    assert.ok(text.includes("look at the filter") && !text.includes("[ ] look") && !text.includes("[x]"), text);
    assert.ok(text.includes("[y] is no box") && text.includes("[ ] is code"), "what only looks like one is text");
    assert.equal(await shown.locator("blockquote").first().locator("strong").innerText(), "Mind the valve");
    assert.ok(text.includes("It sticks.") && !text.includes("[!"), text);
    assert.equal(await page.getByRole("heading", { name: "Water", exact: true }).count(), 1);
    await lab.owner("PUT", `/api/pages/${id}`, { base_revision: 1, body: "# Water\n" });
    await page.locator("article .doc").getByRole("heading", { name: "Water" }).waitFor();
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("a ref that was made from a file shows no address that leads nowhere", async () => {
    const path = `${lab.base}/api/spaces/${kept.space}/refs/file?name=fuses.txt`;
    const headers = { authorization: `Bearer ${lab.token}`, "content-type": "application/octet-stream" };
    const made = await (await fetch(path, { method: "POST", headers, body: "All about fuses.\n" })).json();
    const { context, page } = await begin(`knowledge/refs/${made.id}`);
    await page.getByText(say("kb.captured_file")).waitFor();
    assert.equal(await page.locator('a[href^="void:"]').count(), 0);
    assert.ok(!(await page.locator("main").innerText()).includes("void:attachment"));
    await context.close();
  });

  test("a page of the web that is captured becomes a ref with its words", async () => {
    const web = createServer((_, response) => {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end("<title>All about fuses</title><p>They blow at 16 A.");
    });
    await new Promise((listening) => web.listen(0, "127.0.0.1", () => listening(undefined)));
    const { port } = /** @type {import("node:net").AddressInfo} */ (web.address());
    const open = await serve({ settings: `[captures]\nallowed = ["127.0.0.1:${port}"]\n` });
    const { id } = await open.owner("POST", "/api/spaces", { title: "Garage" });
    const { context, page, seen } = await openPage(open, { width: 1280 });
    await page.goto(`${open.base}/#/knowledge/spaces/${id}/refs`);
    const line = page.getByRole("textbox", { name: say("kb.capture.ref") });
    await line.waitFor();
    await line.fill(`http://127.0.0.1:${port}/fuses`);
    await page.keyboard.press("Enter");
    await page.locator(".kb-row .title", { hasText: "All about fuses" }).click();
    await page.locator("article .doc").getByText("They blow at 16 A.").waitFor();
    assert.deepEqual(seen.errors, []);
    await context.close();
    await open.stop();
    web.close();
  });

  test("a runbook stands on the page of its service and in the menu of the page that is one", async () => {
    const services = { services: [{ id: "caddy", label: "Caddy", host: "ct100", check: { kind: "tcp", address: "127.0.0.1:1" } }] };
    const own = await serve({ services });
    const { page: book } = await filledSpace(own);
    const { context, page, seen } = await openPage(own, { width: 1280 });
    await page.goto(`${own.base}/#/lab/services/caddy`);
    await page.locator("main").getByRole("link", { name: "Caddy" }).first().click();
    await page.getByRole("heading", { level: 2, name: "Caddy" }).waitFor();
    assert.ok(page.url().endsWith(`/knowledge/pages/${book}`), page.url());
    await page.locator("main").getByLabel(say("kb.more")).first().click();
    await page.getByRole("button", { name: say("kb.runbook_menu") }).click();
    await page.getByRole("dialog").waitFor();
    assert.deepEqual(seen.errors, []);
    await context.close();
    await own.stop();
  });

  test("on a phone a ref's title has the row, and what was thrown away is told below its title", async () => {
    const { context, page } = await begin(`knowledge/spaces/${kept.space}/refs`, PHONE);
    const title = page.locator(".kb-row .title", { hasText: "Automatic HTTPS" });
    await title.waitFor();
    const { width } = await title.evaluate((/** @type {HTMLElement} */ node) => node.getBoundingClientRect());
    assert.ok(width > 150, `${width} px`);
    assert.equal(await overflow(page), 0);
    const { id } = await lab.owner("POST", `/api/spaces/${kept.space}/pages`, { title: "Torn page", body: "x" });
    await lab.owner("DELETE", `/api/pages/${id}`);
    await page.goto(`${lab.base}/#/knowledge/spaces/${kept.space}/bin`);
    const row = page.getByRole("listitem").filter({ hasText: "Torn page" });
    await row.waitFor();
    const [top, below] = await row.locator(".grow > *").evaluateAll((/** @type {HTMLElement[]} */ nodes) => nodes.map((node) => node.getBoundingClientRect()));
    assert.ok(below.top >= top.bottom - 1, "two lines");
    await page.goto(`${lab.base}/#/knowledge/search?q=nothing&space=${kept.space}`);
    const kinds = page.getByRole("group", { name: say("kb.search_kind") }).getByRole("button");
    const tops = await kinds.evaluateAll((/** @type {HTMLElement[]} */ nodes) => nodes.map((node) => node.getBoundingClientRect().top));
    assert.equal(new Set(tops).size, 1, "the kinds are one row");
    await context.close();
  });

  test("a note of what was done covers nothing that one sends with", async () => {
    const { context, page } = await begin(`knowledge/spaces/${kept.space}/tasks`);
    await page.getByRole("textbox", { name: say("kb.task_new") }).fill("Sweep");
    await page.keyboard.press("Enter");
    await page.getByRole("checkbox", { name: say("kb.tick", { title: "Sweep" }) }).click();
    await page.locator(".toast").waitFor();
    await page.goto(`${lab.base}/#/knowledge/pages/${kept.other}/edit`);
    const save = page.getByRole("button", { name: say("kb.save"), exact: true });
    await save.waitFor();
    const [note, button] = [await page.locator(".toast").boundingBox(), await save.boundingBox()];
    assert.ok(note && button && note.x + note.width < button.x, "beside it");
    await context.close();
  });

  test("the palette begins something new in the space where one was", async () => {
    const { context, page } = await begin(`knowledge/spaces/${kept.space}`);
    await page.getByRole("heading", { name: say("kb.recent") }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: say("palette.placeholder") }).fill("new task");
    await page.locator("#palette-list > li", { hasText: say("palette.new_task") }).first().waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: say("kb.title") }).fill("From the palette");
    await page.getByRole("button", { name: say("kb.save") }).click();
    await page.getByRole("heading", { level: 2, name: "From the palette" }).waitFor();
    const { tasks } = await lab.owner("GET", `/api/spaces/${kept.space}/tasks`);
    assert.ok(tasks.some((/** @type {any} */ one) => one.title === "From the palette"));
    await context.close();
  });

  test("a page that may not be fetched is told with the file and the setting as they are written", async () => {
    const { context, page } = await begin(`knowledge/spaces/${kept.space}/refs`);
    const line = page.getByRole("textbox", { name: say("kb.capture.ref") });
    await line.fill("http://127.0.0.1:9/");
    await line.press("Enter");
    const told = page.locator(".notice", { hasText: "[captures]" });
    await told.waitFor();
    const text = await told.innerText();
    assert.ok(text.includes("void.toml") && !text.includes("127.0.0.1 is at 127.0.0.1"), text);
    await context.close();
  });

  test("what was read from outside is a way to it, and no row of numbers", async () => {
    const drafter = await lab.agent("reader", ["suggest"]);
    await drafter("GET", `/api/refs/${kept.ref}`);
    const draft = await drafter("POST", `/api/spaces/${kept.space}/drafts`, { entity: "task", op: "create", fields: { title: "Read more" }, reason: "I read." });
    const { context, page } = await begin(`inbox/${draft.id}`);
    const way = card(page, "Make a task").getByRole("link", { name: say("read.ref"), exact: true });
    await way.waitFor();
    assert.equal(await way.getAttribute("href"), `#/knowledge/refs/${kept.ref}`);
    await page.goto(`${lab.base}/#/settings/tokens`);
    await page.getByRole("link", { name: say("read.ref"), exact: true }).waitFor();
    await context.close();
  });
});
