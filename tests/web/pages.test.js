// Every page, light and dark, on a phone and on a desk, empty, typical and broken: nothing to scroll
// sideways, nothing in the console, nothing that axe-core objects to. A picture of each is kept.

import assert from "node:assert/strict";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { axe, DESK, openPage, overflow, PHONE, say, settled } from "./browsers.js";
import { demo, serve } from "./labs.js";
import { IS_DEEP, SCREENSHOTS } from "./packages.js";
import { filledSpace } from "./spaces.js";

const PLACES = ["home", "inbox", "inbox/done", "lab", "lab/actions", "chat", "knowledge", "agents", "audit", "settings", "more"];
const NARROW = 320;
const FAILURE = { status: 500, contentType: "application/json", body: JSON.stringify({ error: { code: "store_unavailable", message: "the store cannot be read", hint: "look at the disk" } }) };

describe("every page", () => {
  /** @type {Record<string, import("./labs.js").Lab>} */
  const labs = {};
  /** @type {Awaited<ReturnType<typeof filledSpace>>} */
  let kept;
  before(async () => {
    await rm(SCREENSHOTS, { recursive: true, force: true });
    await mkdir(SCREENSHOTS, { recursive: true });
    labs.typical = await demo();
    labs.error = labs.typical;
    labs.empty = await serve();
    await makeHistory(labs.typical);
    kept = await filledSpace(labs.typical);
  });
  after(async () => {
    await labs.typical?.stop();
    await labs.empty?.stop();
  });

  for (const state of ["typical", "empty", "error"]) {
    for (const width of [PHONE, DESK]) {
      test(`${state} at ${width} px: no sideways scroll, no console error, no violation, light and dark`, async () => {
        const lab = /** @type {import("./labs.js").Lab} */ (labs[state]);
        const { context, page, seen } = await openPage(lab, { width });
        if (state === "error") await page.route(/\/api\/(?!home|events|session)/, (/** @type {any} */ route) => route.fulfill(FAILURE));
        const found = [];
        for (const place of [...PLACES, ...sections(state, lab, kept)]) {
          await page.goto(`${lab.base}/${place.startsWith("/") ? place.slice(1) : `#/${place}`}`);
          found.push(...await look(page, seen, `${state}-${place.startsWith("/") ? `link${place}` : place}`, width));
        }
        // A browser writes every refused reading down, the ones that were wanted too.
        found.push(...seen.errors.filter((line) => !(state === "error" ? line.includes("500") : /404.*\/0000/.test(line))));
        await context.close();
        assert.deepEqual(gathered(found), []);
      });
    }
  }

  test("signing in looks right before anybody is known, and when nothing can be read", async () => {
    const lab = /** @type {import("./labs.js").Lab} */ (labs.typical);
    for (const width of [PHONE, DESK]) {
      const found = [];
      const stranger = await openPage(lab, { width, signedIn: false });
      await stranger.page.goto(lab.base);
      found.push(...await look(stranger.page, stranger.seen, "login", width), ...stranger.seen.errors);
      await stranger.context.close();
      const broken = await openPage(lab, { width });
      await broken.page.route("**/api/home", (/** @type {any} */ route) => route.fulfill(FAILURE));
      await broken.page.goto(lab.base);
      await broken.page.getByText("The store cannot be read. Look at the disk.").waitFor();
      found.push(...await look(broken.page, broken.seen, "nothing-readable", width));
      await broken.context.close();
      assert.deepEqual(gathered(found), []);
    }
  });

  test("a place beside a list is filled by what is chosen in it", async () => {
    const lab = /** @type {import("./labs.js").Lab} */ (labs.typical);
    for (const width of [1100, DESK, 1440]) {
      for (const [place, words] of [["inbox", "inbox.choose"], ["audit", "audit.choose"]]) {
        const { context, page, seen } = await openPage(lab, { width, kept: { "chat-folded": "yes" } });
        await page.goto(`${lab.base}/#/${place}`);
        await settled(page, seen);
        const blank = page.getByText(say(words ?? ""));
        const isBeside = await blank.isVisible();
        assert.ok(isBeside || width < 1440, `${place} at ${width} px has its place beside the list`);
        if (isBeside) {
          await page.locator("main").getByText("Stop iVentoy (rehearsal)").first().click();
          await blank.waitFor({ state: "hidden" });
          assert.ok(await page.locator("main :is(.split, .audit-split) > :first-child").isVisible(), `${place} at ${width} px: the list is still there`);
        }
        await context.close();
      }
    }
  });

  test("nothing scrolls sideways at 320 px, with long foreign words", async () => {
    const lab = /** @type {import("./labs.js").Lab} */ (labs.typical);
    const agent = await lab.agent("a-very-long-agent-name-that-nobody-would-choose-but-somebody-w");
    const asked = await agent("POST", "/api/actions/reboot-ct101/run", { reason: `${"unbreakable".repeat(30)} https://example.org/${"path/".repeat(40)}` });
    const { context, page, seen } = await openPage(lab, { width: NARROW });
    const wide = [];
    for (const place of [...PLACES, `inbox/${asked.action_row_id}`, `/inbox/${asked.action_row_id}`]) {
      await page.goto(`${lab.base}/${place.startsWith("/") ? place.slice(1) : `#/${place}`}`);
      await settled(page, seen);
      if ((await overflow(page)) > 0) wide.push(place);
    }
    await context.close();
    assert.deepEqual(wide, []);
  });
});

/** @param {string} state @param {import("./labs.js").Lab} lab @param {Awaited<ReturnType<typeof filledSpace>>} kept */
function sections(state, lab, kept) {
  const settings = ["channels", "sign-in", "appearance", "nodes", "agents", "backups", "tokens", "integrations", "doctor", "about"].map((one) => `settings/${one}`);
  if (state !== "typical") return IS_DEEP ? settings : [];
  return [...settings, ...ofKnowledge(kept), `inbox/${lab.facts.waiting}`, "inbox/0000", "lab/services/caddy", "lab/guests/pve1/101", "lab/nodes/pve1", "lab/actions/restart-caddy", "lab/actions/stop-ct107", "audit/3", `/inbox/${lab.facts.waiting}`, "/inbox/0000"];
}

/** @param {Awaited<ReturnType<typeof filledSpace>>} kept */
const ofKnowledge = ({ space, page, other, task, ref, project, draft }) => [
  `inbox/${draft}`,
  ...[`spaces/${space}`, ...["pages", "tasks", "refs", "projects", "bin", "files", "edit"].map((one) => `spaces/${space}/${one}`), `pages/${page}`, `pages/${page}/edit`, `pages/${other}/history`,
    `tasks/${task}`, `refs/${ref}`, `projects/${project}`, `new/page?space=${space}`, "new/space", "pages/0000"].map((one) => `knowledge/${one}`),
];

/** Light with every rule, dark with those that colours can break; all of them in a deep run. @param {any} page @param {any} seen @param {string} name @param {number} width */
async function look(page, seen, name, width) {
  await settled(page, seen);
  const found = [];
  for (const theme of /** @type {const} */ (["light", "dark"])) {
    await page.emulateMedia({ colorScheme: theme });
    const wide = await overflow(page);
    if (wide > 0) found.push(`${name}: ${wide} px too wide`);
    const rules = theme === "light" || IS_DEEP ? undefined : ["color-contrast", "link-in-text-block"];
    for (const violation of await axe(page, rules)) found.push(`${name} ${width} ${theme}: ${violation}`);
    await page.screenshot({ path: join(SCREENSHOTS, `${name.replace(/\W+/g, "-")}-${width}-${theme}.jpeg`), type: "jpeg", quality: 80 });
  }
  await page.emulateMedia({ colorScheme: "light" });
  return found;
}

/** The same finding on several pages, once. @param {string[]} found */
function gathered(found) {
  /** @type {Map<string, string[]>} */
  const places = new Map();
  for (const line of found) {
    const [, place = "", what = line] = /^(\S+ \d+ \w+): (.*)$/.exec(line) ?? [];
    places.set(what, [...places.get(what) ?? [], place]);
  }
  return [...places].map(([what, where]) => `${what} (${where.length}: ${where.slice(0, 3).join(", ")})`);
}

/** Something ran, something failed, something was said. @param {import("./labs.js").Lab} lab */
async function makeHistory(lab) {
  const agent = await lab.agent("nightly");
  await lab.owner("POST", "/api/actions/restart-jellyfin/run", { reason: "it stutters" });
  const asked = await agent("POST", "/api/actions/reboot-vm200/run", { reason: "Updates wait." });
  const row = await lab.owner("GET", `/api/proposals/${asked.action_row_id}`);
  await lab.owner("POST", `/api/proposals/${row.id}/decide?wait=0`, { decision: "reject", digest: row.digest, reason: say("reason.not_now") });
  await agent("POST", "/api/actions/reboot-ct100/run", { reason: "A film is over." });
  const { conversation_id: id } = await lab.owner("GET", "/api/agents/little-blue/conversation");
  await lab.owner("POST", `/api/conversations/${id}/messages`, { text: "what is wrong?" });
}
