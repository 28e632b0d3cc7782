// Whether it fits, on a phone and on two laptops: the buttons of a card at hand, nothing printed over
// something else or cut where it matters, nothing said more often than needed.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { axe, card, isInSight, openPage, overflow, rewrite, say, settled } from "./browsers.js";
import { demo, LOCAL, runLocally, serve } from "./labs.js";
import { filledSpace } from "./spaces.js";
import { until } from "./waiting.js";

const SIZES = /** @type {const} */ ([{ width: 390, height: 844 }, { width: 1280, height: 800 }, { width: 1366, height: 768 }]);
const LAPTOP = SIZES[1];
/** As many as are longer than any of these windows. */
const NAMES = Array.from({ length: 14 }, (_, at) => `app-${at}`);
const ACTIONS = { actions: [
  ...NAMES.map((name) => ({ id: `restart-${name}`, label: `Restart ${name}`, kind: "service_restart", host: "local", service: name, tier: "risky" })),
  { id: "poke", label: "Poke the wiki", kind: "service_restart", host: "local", service: "wiki", tier: "safe", cooldown_s: 600 },
] };
const FIRST = "Restart app-0";
const STOP = "Stop iVentoy (rehearsal)";

/** Where the words of something begin, without what is around them. @param {any} node @returns {Promise<number>} */
const wordsBegin = (node) => node.evaluate((/** @type {Element} */ one) => {
  const range = document.createRange();
  range.selectNodeContents(one);
  return Math.round(range.getBoundingClientRect().left);
});

/** Whether what a card says of the digest can be read, and is under nothing. @param {any} shown */
async function digestIsRead(shown) {
  const digest = shown.locator(".bound dd").last();
  await digest.evaluate((/** @type {Element} */ one) => one.scrollIntoView({ block: "center" }));
  return isInSight(digest);
}

describe("what waits, at hand", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  /** @type {string[]} */
  const ids = [];
  /** @type {Awaited<ReturnType<import("./labs.js").Lab["agent"]>>} */
  let agent;
  before(async () => {
    lab = await serve({ actions: ACTIONS, settings: LOCAL });
    await runLocally(lab, { poke: ["/bin/true"] });
    agent = await lab.agent("nightly");
    const asked = await agent("POST", "/api/actions/restart-app-0/run", { reason: "Said in this chat: \"stop iventoy, nobody uses it this week\"" });
    ids.push(asked.action_row_id);
  });
  after(() => lab.stop());

  test("wherever one has scrolled to, a button in sight is below the name of what it is about", async () => {
    for (const name of ["app-2", "app-3"]) ids.push((await agent("POST", `/api/actions/restart-${name}/run`, { reason: "a restart is due" })).action_row_id);
    for (const size of SIZES) {
      const { context, page, seen } = await openPage(lab, size);
      await page.goto(`${lab.base}/#/home`);
      await settled(page, seen);
      assert.equal(await page.locator("article.approval").count(), 3);
      const bare = await page.evaluate(() => {
        const covered = [];
        for (let at = 0; at < document.documentElement.scrollHeight; at += 40) {
          scrollTo(0, at);
          for (const one of document.querySelectorAll("article.approval")) {
            const [name, foot] = [one.querySelector("h2"), one.querySelector(".card-foot")].map((part) => part?.getBoundingClientRect());
            if (name && foot && foot.top < innerHeight && name.bottom > foot.top) covered.push(`${one.getAttribute("aria-label")} at ${at}`);
          }
        }
        return covered;
      });
      assert.deepEqual(bare, [], `${size.width}`);
      await context.close();
    }
    for (const id of ids.splice(1)) await lab.owner("POST", `/api/proposals/${id}/cancel`);
  });

  test("it expires when the terminal says, and its row says the useful words whole", async () => {
    for (const size of SIZES) {
      const { context, page } = await openPage(lab, size);
      await page.goto(`${lab.base}/#/inbox`);
      const words = page.locator(".inbox-row .line");
      assert.equal(await words.textContent(), "nightly · \"stop iventoy, nobody uses it this week\"");
      assert.ok(await words.evaluate((/** @type {Element} */ one) => one.scrollHeight <= one.clientHeight + 1 && one.scrollWidth <= one.clientWidth), `${size.width}: nothing is cut`);
      await page.goto(`${lab.base}/#/inbox/${ids[0]}`);
      await card(page, FIRST).getByText(/^tomorrow \d\d:\d\d$/).waitFor();
      await context.close();
    }
  });

  test("a freeze is told once with its end, and how many wait", async () => {
    await lab.owner("POST", "/api/freeze", { reason: "storm", for_s: 900 });
    for (const size of SIZES) {
      const { context, page, seen } = await openPage(lab, size);
      await page.goto(`${lab.base}/#/home`);
      await settled(page, seen);
      const said = await page.locator("body").innerText();
      assert.equal(said.match(/frozen/gi)?.length, 1, said);
      await page.locator(".truth-line").getByText(say("mood.frozen_waits", { n: 1 })).waitFor();
      assert.ok(await card(page, FIRST).getByRole("button", { name: say("card.approve"), exact: true }).isDisabled());
      await page.goto(`${lab.base}/#/inbox/${ids[0]}`);
      await card(page, FIRST).getByText(say("card.frozen")).waitFor();
      assert.equal((await page.locator("body").innerText()).match(/frozen until/gi)?.length, 1);
      await context.close();
    }
    await lab.owner("DELETE", "/api/freeze");
  });

  test("what waits comes first on Home; what ended meanwhile is below it", async () => {
    for (const name of ["app-4", "app-5", "app-6"]) ids.push((await agent("POST", `/api/actions/restart-${name}/run`, { reason: "a restart is due" })).action_row_id);
    for (const size of [LAPTOP, SIZES[0]]) {
      const { context, page, seen } = await openPage(lab, size);
      await page.goto(`${lab.base}/#/home`);
      await settled(page, seen);
      const cards = page.locator("article.approval");
      /** Of each card in its order whether it can be decided. @returns {Promise<boolean[]>} */
      const waiting = () => cards.evaluateAll((/** @type {HTMLElement[]} */ all) => all.map((one) => one.querySelector(".approve") !== null));
      const inOrder = async (/** @type {number} */ ended) => {
        const [now, over] = [await waiting(), await cards.locator(".result").count()];
        return over === ended && now.includes(true) && now.indexOf(false) >= now.lastIndexOf(true);
      };
      // Elsewhere: nobody is at it here.
      const first = ids.find((id) => id !== ids[0]) ?? "";
      ids.splice(ids.indexOf(first), 1);
      await lab.owner("POST", `/api/proposals/${first}/decide`, { decision: "reject", digest: (await lab.owner("GET", `/api/proposals/${first}`)).digest });
      await until("what was rejected elsewhere is last", () => inOrder(1));
      if (size === LAPTOP) assert.ok(await isInSight(cards.first().getByRole("button", { name: say("card.approve"), exact: true })), "what waits can be decided without scrolling");
      // Here: its result is seen where it was, then it makes way, and the focus goes with it.
      const name = await cards.first().getAttribute("aria-label");
      const mine = card(page, name);
      await mine.getByRole("button", { name: say("card.reject"), exact: true }).click();
      const told = page.waitForResponse((/** @type {any} */ answer) => answer.url().endsWith("/api/home"));
      await mine.getByRole("button", { name: say("reason.not_now") }).click();
      await mine.locator(".result").waitFor();
      await told;
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
      assert.equal(await cards.first().getAttribute("aria-label"), name, "it is there to be seen");
      const isMine = () => mine.evaluate((/** @type {HTMLElement} */ one) => one.contains(document.activeElement));
      const hadFocus = await isMine();
      await until("it made way", () => inOrder(2));
      assert.equal(await isMine(), hadFocus);
      await context.close();
      ids.splice(0, ids.length, ...(await lab.owner("GET", "/api/inbox")).items.map((/** @type {any} */ item) => item.id));
      if (ids.length < 3) for (const more of ["app-7", "app-8", "app-9"]) ids.push((await agent("POST", `/api/actions/restart-${more}/run`, { reason: "a restart is due" })).action_row_id);
    }
    for (const id of ids.splice(0)) await lab.owner("POST", `/api/proposals/${id}/cancel`);
    ids.push((await agent("POST", "/api/actions/restart-app-0/run", { reason: "Said in this chat: \"stop iventoy, nobody uses it this week\"" })).action_row_id);
  });

  test("a card on Home that has more to read than fits is short, and all of it is on the whole card", async () => {
    const diff = Array.from({ length: 40 }, (_, at) => `+line ${at}`).join("\n");
    const asked = await agent("POST", "/api/actions/restart-app-1/run", { reason: "a long change", diff });
    const { context, page } = await openPage(lab, SIZES[0]);
    await page.goto(`${lab.base}/#/home`);
    const brief = card(page, "Restart app-1");
    await brief.getByRole("link", { name: say("card.open_whole") }).waitFor();
    assert.equal(await brief.getByRole("button", { name: say("card.approve"), exact: true }).count(), 0);
    assert.equal(await brief.locator(".bound, .diff").count(), 0);
    const { height } = await brief.boundingBox();
    assert.ok(height < 620, `${height} px`);
    await page.goto(`${lab.base}/#/inbox/${asked.action_row_id}`);
    const whole = card(page, "Restart app-1");
    await whole.locator(".bound").waitFor();
    assert.equal(await whole.locator(".diff-line").count(), 40);
    await lab.owner("POST", `/api/proposals/${asked.action_row_id}/cancel`);
    await context.close();
  });

  test("what was refused again and again is one line that says how often", async () => {
    const often = await lab.agent("eager");
    await often("POST", "/api/actions/poke/run", { reason: "poke" });
    await assert.rejects(often("POST", "/api/actions/poke/run", { reason: "poke" }), /cooling_down/);
    const { context, page } = await openPage(lab, LAPTOP);
    // Later ones are rows of their own again; one for another reason stays apart.
    await rewrite(page, /\/api\/actions\/recent/, (value) => ({ recent: value.recent.flatMap((/** @type {any} */ row) => row.status !== "refused" ? [row]
      : [{ ...row, id: "another", error: { ...row.error, code: "other" } }, ...["", "-2", "-3", "-4"].map((more) => ({ ...row, id: row.id + more, code: row.code + more }))]) }));
    await page.goto(`${lab.base}/#/inbox/done`);
    const rows = page.locator(".inbox-row", { hasText: "Poke the wiki" });
    await rows.first().waitFor();
    const said = (await rows.allInnerTexts()).map((/** @type {string} */ words) => /eager · .*/.exec(words)?.[0]);
    assert.deepEqual(said, ["eager · poke", "eager · 4 times · poke", "eager · poke"], "another refusal, the same ones, the run");
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").fill("poke the wiki");
    const found = page.getByRole("option", { name: /Poke the wiki/ });
    await until("those that ended are there", async () => (await found.allInnerTexts()).some((/** @type {string} */ words) => words.includes(say("inbox.times", { n: 4 }))));
    assert.equal(await found.count(), 4, "the action, the run, and the refusals");
    await context.close();
  });

  test("beside a list longer than the window every card can be read whole, with its buttons in sight", async () => {
    for (const name of NAMES.slice(1)) ids.push((await agent("POST", `/api/actions/restart-${name}/run`, { reason: "a restart is due" })).action_row_id);
    for (const size of SIZES.slice(1)) {
      const { context, page, seen } = await openPage(lab, { ...size, kept: { "chat-folded": "yes" } });
      await page.goto(`${lab.base}/#/inbox/${ids[0]}`);
      await settled(page, seen);
      for (const scrolled of [0, 10_000]) {
        await page.evaluate((/** @type {number} */ to) => scrollTo(0, to), scrolled);
        const at = await page.evaluate(() => scrollY);
        const shown = card(page, FIRST);
        const yes = shown.getByRole("button", { name: say("card.approve"), exact: true });
        await until("a yes can be given", () => yes.isEnabled());
        assert.ok(await isInSight(yes), `${size.width} ${at}`);
        const digest = shown.locator(".bound dd").last();
        await digest.evaluate((/** @type {Element} */ one) => one.scrollIntoView({ block: "center" }));
        // The place in the list is as it was.
        await page.evaluate((/** @type {number} */ to) => scrollTo(0, to), at);
        assert.ok(await isInSight(digest), `${size.width} ${at}`);
        assert.ok(await isInSight(yes), `${size.width} ${at}`);
      }
      assert.deepEqual(await axe(page), []);
      const bulk = page.getByRole("button", { name: say("bulk.ask", { n: NAMES.length }) });
      assert.equal(await wordsBegin(bulk), Math.round((await page.locator(".split .list").boundingBox()).x));
      await context.close();
    }
  });
});

describe("a lab on the screen", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  before(async () => {
    lab = await demo();
    for (const name of ["nightly-backups", "the-other-agent"]) {
      const agent = await lab.agent(name);
      for (const id of ["reboot-ct101", "restart-grafana", "reboot-vm200"]) await agent("POST", `/api/actions/${id}/run`, { reason: "a test" }).catch(() => {});
    }
    const { items } = (await lab.owner("GET", "/api/home")).inbox;
    for (const { id, digest } of items.filter((/** @type {any} */ item) => item.label !== STOP)) await lab.owner("POST", `/api/proposals/${id}/decide?wait=0`, { decision: "reject", digest });
    await until("all ended", async () => (await lab.owner("GET", "/api/actions/recent?limit=50")).recent.length >= 6);
  });
  after(() => lab.stop());

  test("the buttons are in sight without scrolling, and what a yes binds can be read above them", async () => {
    for (const size of SIZES) {
      const { context, page, seen } = await openPage(lab, size);
      for (const place of [`inbox/${lab.facts.waiting}`, "home"]) {
        await page.goto(`${lab.base}/#/${place}`);
        await settled(page, seen);
        const shown = card(page, STOP);
        const yes = shown.getByRole("button", { name: say("card.approve"), exact: true });
        await until("a yes can be given", () => yes.isEnabled());
        const where = `${place} ${size.width}`;
        assert.ok(await isInSight(yes), where);
        assert.ok(await isInSight(shown.getByRole("button", { name: say("card.reject"), exact: true })), where);
        assert.equal(await shown.locator("details .bound").count(), 0, "outside any fold");
        assert.ok(await digestIsRead(shown), where);
        assert.ok(await isInSight(yes), `${where}, wherever one has scrolled to`);
        assert.equal(await overflow(page), 0);
        assert.deepEqual(await axe(page), []);
      }
      await context.close();
    }
  });

  test("no word of the record is cut, with and without the chat beside it", async () => {
    const verbs = [["node.joined", { name: "a-node-with-a-name-that-is-longer-than-any-column-beside-a-chat" }], ["proposal.created", { label: "Restart the reverse proxy that all of the other services stand behind", code: "ABCD" }]];
    for (const width of [390, 1280, 1366, 1440]) {
      for (const kept of [{ "chat-folded": "yes" }, { "chat-folded": "no" }]) {
        const { context, page, seen } = await openPage(lab, { width, kept });
        await rewrite(page, /\/api\/audit\?/, (value) => {
          value.entries.slice(0, 4).forEach((/** @type {any} */ entry, /** @type {number} */ at) => Object.assign(entry, { verb: verbs[at % 2]?.[0], detail: verbs[at % 2]?.[1], actor: "agent-nightly-backups-of-everything-that-there-is" }));
          return value;
        });
        await page.goto(`${lab.base}/#/audit`);
        await settled(page, seen);
        await page.locator(".lines .words").nth(3).waitFor();
        assert.equal(await page.locator(".chat-rail .composer").count() > 0, kept["chat-folded"] === "no" && width > 1000, `${width} px`);
        const cut = await page.evaluate(() => [...document.querySelectorAll("main :is(.words, .who, .at, .audit-tools *, summary)")].filter((one) => one.checkVisibility()).flatMap((one) => {
          const range = document.createRange();
          range.selectNodeContents(one);
          const [words, box] = [range.getBoundingClientRect(), one.getBoundingClientRect()];
          return words.right > box.right + 1 || words.bottom > box.bottom + 6 ? [one.textContent] : [];
        }));
        assert.deepEqual(cut, [], `${width} ${JSON.stringify(kept)}`);
        assert.equal(await overflow(page), 0);
        await context.close();
      }
    }
  });

  test("no word of a load is printed over another, with and without the chat beside it", async () => {
    for (const size of SIZES) {
      for (const kept of [{ "chat-folded": "yes" }, { "chat-folded": "no" }]) {
        const { context, page, seen } = await openPage(lab, { ...size, kept });
        await rewrite(page, "**/api/lab", (value) => {
          for (const node of value.nodes) for (const guest of node.guests.slice(1)) guest.load = { ...guest.load, cpu_permille: 1000, memory_bytes: 100, memory_bytes_max: 100, disk_bytes: 100, disk_bytes_max: 100 };
          return value;
        });
        await page.goto(`${lab.base}/#/lab`);
        await settled(page, seen);
        for (const toggle of await page.locator(".machine-toggle[aria-expanded=false]").all()) await toggle.click();
        await page.locator(".load-cell .load-words").first().waitFor();
        const problems = await page.evaluate(() => [...document.querySelectorAll(".load-cell")].flatMap((cell) => {
          const all = [...cell.querySelectorAll(".load-words")].map((words) => {
            const range = document.createRange();
            range.selectNodeContents(words);
            return { words: words.textContent, box: range.getBoundingClientRect() };
          });
          const { right } = cell.getBoundingClientRect();
          return all.flatMap(({ words, box }, at) => {
            const next = all[at + 1];
            const isOver = next && next.box.top < box.bottom && next.box.left < box.right + 2;
            return isOver || box.right > right ? [`${words} reaches ${Math.round(box.right)}, next ${Math.round(next?.box.left ?? right)}`] : [];
          });
        }));
        assert.deepEqual(problems, [], `${size.width} ${JSON.stringify(kept)}`);
        assert.equal(await overflow(page), 0);
        await context.close();
      }
    }
  });

  test("a filter says all of what is chosen in it", async () => {
    for (const size of SIZES) {
      const { context, page, seen } = await openPage(lab, size);
      await page.goto(`${lab.base}/#/inbox/done`);
      await settled(page, seen);
      const choices = page.locator(".filter-choices select:visible");
      assert.equal(await choices.count(), 3);
      const cut = await choices.evaluateAll((/** @type {HTMLSelectElement[]} */ all) => all.filter((one) => {
        const { font, paddingLeft, paddingRight } = getComputedStyle(one);
        const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
        pen.font = font;
        // The arrow has room of its own.
        const room = one.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - 16;
        return pen.measureText(one.selectedOptions[0]?.text ?? "").width > room;
      }).map((one) => one.selectedOptions[0]?.text));
      assert.deepEqual(cut, [], `${size.width}`);
      assert.equal(await overflow(page), 0);
      await context.close();
    }
  });

  test("quiet buttons begin where everything else does", async () => {
    for (const size of SIZES) {
      const { context, page, seen } = await openPage(lab, size);
      await page.goto(`${lab.base}/#/home`);
      await settled(page, seen);
      const worry = page.locator(".card.worry").first();
      const edge = await wordsBegin(worry.locator("h2"));
      const begins = await Promise.all((await worry.locator(".button.quiet").all()).map(async (/** @type {any} */ one) => ({ top: (await one.boundingBox()).y, left: await wordsBegin(one) })));
      assert.ok(begins.length > 1);
      for (const top of new Set(begins.map((one) => one.top))) assert.equal(Math.min(...begins.filter((one) => one.top === top).map((one) => one.left)), edge, `${size.width}`);
      await context.close();
    }
  });
});

describe("what the owner keeps, on the screen", () => {
  /** @type {import("./labs.js").Lab} */
  let lab;
  /** @type {Awaited<ReturnType<typeof filledSpace>>} */
  let kept;
  before(async () => {
    lab = await serve();
    kept = await filledSpace(lab);
  });
  after(() => lab.stop());

  test("where one writes, the way to save is at hand, and nothing is below it that cannot be reached", async () => {
    for (const size of SIZES) {
      const { context, page, seen } = await openPage(lab, { ...size, kept: { "chat-folded": "yes" } });
      await page.goto(`${lab.base}/#/knowledge/pages/${kept.page}/edit`);
      await settled(page, seen);
      const save = page.getByRole("button", { name: say("kb.save") });
      assert.ok(await isInSight(save), `${size.width}`);
      await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
      assert.ok(await isInSight(save), `${size.width} at the end`);
      const text = await page.getByRole("textbox", { name: say("kb.text"), exact: true }).boundingBox();
      const foot = await page.locator(".kb-editor-foot").boundingBox();
      assert.ok(text.y + text.height <= foot.y + 1, `${size.width}: the last line is above the buttons`);
      await context.close();
    }
  });

  test("a menu opens within the window, and a name longer than the window is broken, not cut", async () => {
    const title = "unbreakable".repeat(16);
    const { id } = await lab.owner("POST", `/api/spaces/${kept.space}/pages`, { title, body: `${title}\n\n[[${title}x]]` });
    await lab.owner("POST", `/api/spaces/${kept.space}/tasks`, { title, due: "2020-02-02" });
    for (const size of [...SIZES, { width: 360, height: 740 }]) {
      const { context, page, seen } = await openPage(lab, { ...size, kept: { "chat-folded": "yes" } });
      for (const place of [`pages/${id}`, `pages/${id}/history`, `spaces/${kept.space}`, `spaces/${kept.space}/tasks`, `search?q=${title}`]) {
        await page.goto(`${lab.base}/#/knowledge/${place}`);
        await settled(page, seen);
        assert.equal(await overflow(page), 0, `${place} at ${size.width}`);
      }
      await page.goto(`${lab.base}/#/knowledge/pages/${id}`);
      await page.locator("summary", { hasText: "⋯" }).click();
      const box = await page.locator(".menu-items").boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= size.width, `${size.width}: ${box.x} ${box.width}`);
      assert.deepEqual(await axe(page), []);
      await page.keyboard.press("Escape");
      await page.locator(".menu-items").waitFor({ state: "hidden" });
      await context.close();
    }
  });
});
