// A folder of Markdown, in and out by the page: what would be done is shown first, a broken connection is taken up where it broke,
// and what goes out is what came in, byte for byte.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { computed } from "../../crates/void-server/ui/lib/sha256.js";
import { entriesOf, ZipWriter } from "../../crates/void-server/ui/lib/zips.js";
import { axe, openPage, overflow, PHONE, say } from "./browsers.js";
import { serve } from "./labs.js";

/** @type {Record<string, string | Uint8Array>} */
const FILES = {
  "Start.md": "# Start\n\nSee [[Caddy]] and ![[pixel.png]].\n",
  "lab/Caddy.md": "---\ntags: [proxy]\nservices: caddy\n---\n\nRestart it.\r\n",
  "lab/a task.md": "---\nkind: task\nstatus: done\n---\nBuy a fuse.\n",
  "lab/a ref.md": "---\nkind: ref\nurl: \"https://example.org/a\"\n---\nWords of others.\n",
  "lab/Grün & ü.md": "\ufeffWith a mark before it.\n",
  "pixel.png": Uint8Array.from({ length: 3000 }, (_, n) => (n * 7) & 255),
  "broken.md": Uint8Array.of(0x23, 0xff, 0xfe, 0x00),
  ...Object.fromEntries(Array.from({ length: 70 }, (_, n) => [`many/Note ${n}.md`, `Note ${n} of many. [[Note ${n + 1}]]\n`])),
};
const COUNT = Object.keys(FILES).length;
/** What no import takes. */
const HIDDEN = { ".obsidian/app.json": "{}", "lab/.trash": "x" };

/** @param {string | Uint8Array} content */
const bytesOf = (content) => (typeof content === "string" ? new TextEncoder().encode(content) : content);

describe("a folder of Markdown in the page", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  let folder = "";
  before(async () => {
    lab = await serve();
    folder = join(await mkdtemp(join(tmpdir(), "void-vault-")), "Vault");
    for (const [path, content] of Object.entries({ ...FILES, ...HIDDEN })) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
  });
  after(async () => {
    await lab.stop();
    await rm(dirname(folder), { recursive: true });
  });

  /** @param {string} title @param {number} [width] */
  const begin = async (title, width = 1280) => {
    const { id } = await lab.owner("POST", "/api/spaces", { title });
    const opened = await openPage(lab, { width });
    await opened.page.goto(`${lab.base}/#/knowledge/spaces/${id}/files`);
    const picker = opened.page.getByLabel(say("vault.choose_folder"));
    await picker.waitFor();
    return { ...opened, space: id, picker };
  };
  /** @param {string} space */
  const pages = async (space) => (await lab.owner("GET", `/api/spaces/${space}`)).page_count;
  /** @param {any} page */
  const exported = async (page) => {
    const got = page.waitForEvent("download");
    await page.getByRole("button", { name: say("vault.export_do") }).click();
    const saved = await got;
    assert.match(saved.suggestedFilename(), /\.zip$/);
    const entries = await entriesOf(new Blob([await readFile(await saved.path())]));
    return Object.fromEntries(await Promise.all(entries.map(async (one) => [one.path, await one.bytes()])));
  };

  test("it is shown before it is done, goes on where it was cut off, and comes back as it went in", async () => {
    const { context, page, seen, space, picker } = await begin("Whole");
    await picker.setInputFiles(folder);
    await page.getByText(say("vault.would")).waitFor();
    assert.equal(await pages(space), 0, "nothing was written");
    assert.deepEqual(await axe(page), []);
    // The second piece does not arrive.
    let sent = 0;
    await page.route("**/vault/import", (/** @type {any} */ route) => (++sent === 2 ? route.abort() : route.continue()));
    await page.getByRole("button", { name: say("vault.do") }).click();
    await page.getByRole("alert").filter({ hasText: say("vault.goes_on") }).waitFor();
    const half = await pages(space);
    assert.ok(half > 0 && half < COUNT - 4, `${half} pages`);
    await page.unroute("**/vault/import");
    seen.errors.length = 0;
    await picker.setInputFiles([]);
    await picker.setInputFiles(folder);
    await page.getByText(say("vault.would")).waitFor();
    await page.getByRole("button", { name: say("vault.do") }).click();
    await page.getByText(say("vault.did")).waitFor();
    const whole = await lab.owner("GET", `/api/spaces/${space}`);
    // Two are files, one is a task and one a ref.
    assert.deepEqual([whole.page_count, whole.task_count, whole.ref_count], [COUNT - 4, 1, 1]);
    const out = await exported(page);
    assert.deepEqual(Object.keys(out).sort(), Object.keys(FILES).sort());
    for (const [path, content] of Object.entries(FILES)) assert.deepEqual(out[path], new Uint8Array(bytesOf(content)), path);
    // Once more there is nothing to do.
    await picker.setInputFiles([]);
    await picker.setInputFiles(folder);
    await page.getByText(say("vault.nothing")).waitFor();
    assert.deepEqual(seen.errors, []);
    await context.close();
  });

  test("a zip archive does the same, on a phone; what it does not have any more goes only if one says so", async () => {
    const { context, page, space } = await begin("Packed", PHONE);
    /** @param {Record<string, string | Uint8Array>} files */
    const choose = async (files) => {
      const zip = new ZipWriter();
      for (const [path, content] of Object.entries(files)) zip.add(path, new Uint8Array(bytesOf(content)));
      const buffer = Buffer.from(await zip.end().arrayBuffer());
      await page.getByLabel(say("vault.choose_files")).setInputFiles({ name: "vault.zip", mimeType: "application/zip", buffer });
      await page.getByText(say("vault.would")).waitFor();
    };
    const few = { "Start.md": FILES["Start.md"] ?? "", "lab/Caddy.md": FILES["lab/Caddy.md"] ?? "", ".obsidian/x": "{}" };
    await choose(few);
    assert.equal(await overflow(page), 0);
    await page.getByRole("button", { name: say("vault.do") }).click();
    await page.getByText(say("vault.did")).waitFor();
    assert.equal(await pages(space), 2);
    await choose({ "Start.md": "Changed.\n" });
    await page.getByRole("button", { name: say("vault.do") }).click();
    await page.getByText(say("vault.did")).waitFor();
    assert.equal(await pages(space), 2, "nobody said that it may go");
    await choose({ "Start.md": "Changed.\n" });
    await page.getByRole("checkbox", { name: say("vault.remove_gone") }).check();
    await page.getByRole("button", { name: say("vault.do") }).click();
    await page.getByText(say("vault.did")).waitFor();
    assert.equal(await pages(space), 1);
    assert.deepEqual(Object.keys(await exported(page)), ["Start.md"]);
    await context.close();
  });

  test("a few files by themselves let nothing go, and what is no archive is said", async () => {
    const { context, page, space, picker } = await begin("Few");
    await picker.setInputFiles(folder);
    await page.getByRole("button", { name: say("vault.do") }).click();
    await page.getByText(say("vault.did")).waitFor();
    const before = await pages(space);
    const files = page.getByLabel(say("vault.choose_files"));
    await files.setInputFiles({ name: "New.md", mimeType: "text/markdown", buffer: Buffer.from("New.\n") });
    await page.getByText(say("vault.would")).waitFor();
    assert.equal(await page.getByRole("checkbox", { name: say("vault.remove_gone") }).count(), 0);
    await page.getByRole("button", { name: say("vault.do") }).click();
    await page.getByText(say("vault.did")).waitFor();
    assert.equal(await pages(space), before + 1);
    await files.setInputFiles({ name: "fake.zip", mimeType: "application/zip", buffer: Buffer.from("no archive") });
    await page.getByRole("alert").filter({ hasText: say("zip.none") }).waitFor();
    await context.close();
  });

  test("a hash is the same with and without the browser's own", async () => {
    for (const size of [0, 55, 56, 63, 64, 65, 5000]) {
      const bytes = Uint8Array.from({ length: size }, (_, n) => (n * 31) & 255);
      const own = Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
      assert.equal(computed(bytes), own, `${size}`);
    }
  });

  test("an export of Karakeep tells how far it is", async () => {
    const { context, page, space } = await begin("Kept");
    const bookmarks = Array.from({ length: 80 }, (_, n) => ({ createdAt: 1_714_560_000 + n, title: `Page ${n}`, tags: [], content: { type: "link", url: `https://example.org/${n}` } }));
    const buffer = Buffer.from(JSON.stringify({ bookmarks }));
    await page.getByLabel(say("kb.karakeep_file")).setInputFiles({ name: "karakeep.json", mimeType: "application/json", buffer });
    /** @type {() => void} */
    let goOn = () => {};
    const held = new Promise((done) => { goOn = () => done(undefined); });
    await page.route("**/import/karakeep*", async (/** @type {any} */ route) => { await held; await route.continue(); });
    await page.getByRole("button", { name: say("kb.karakeep_do"), exact: true }).click();
    await page.locator("progress").waitFor();
    goOn();
    await page.getByText(say("kb.karakeep_did")).waitFor();
    assert.equal(await page.locator("progress").count(), 0);
    assert.equal((await lab.owner("GET", `/api/spaces/${space}`)).ref_count, 80);
    await context.close();
  });
});
