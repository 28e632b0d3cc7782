// I18: what others write is text wherever it is shown. No script of theirs runs, nothing of theirs is
// fetched, and a link says where it leads.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openPage, rewrite, say, settled } from "./browsers.js";
import { ForeignSite } from "./foreign.js";
import { demo, serve } from "./labs.js";
import { Model } from "./models.js";
import { IS_DEEP } from "./packages.js";
import { payloads } from "./payloads.js";
import { until } from "./waiting.js";

const COUNT = IS_DEEP ? 1500 : 220;
/** So many messages in one conversation as it is shown. */
const PER_PAGE = 110;
/** What a diff may hold. */
const DIFF_BYTES = 6000;
/** Members of answers whose words come from others, or could one day. */
const FOREIGN = new Set(["label", "reason", "name", "message", "hint", "about", "consequence", "past", "checked_by", "diff", "body", "alt", "to", "language", "truth_line", "args_summary", "device", "from", "version", "model", "resolved_by", "by", "text", "words", "commit", "problem", "tool", "actor", "progress", "output", "stderr", "stdout", "title"]);
const PLACES = ["home", "inbox", "inbox/done", "lab", "lab/actions", "chat", "audit", "settings/channels", "settings/sign-in", "settings/nodes", "settings/agents", "settings/backups", "settings/tokens", "settings/doctor", "settings/about"];

describe("foreign text (I18)", () => {
  /** @type {Model} */
  let model;
  /** @type {import("./labs.js").Lab} */
  let lab;
  /** @type {import("./labs.js").Lab} */
  let busy;
  /** @type {ForeignSite} */
  let site;
  /** @type {string[]} */
  let corpus;
  /** What the server makes of each. @type {Map<string, any[]>} */
  let trees;
  before(async () => {
    model = await Model.start();
    site = await ForeignSite.start();
    lab = await demo();
    busy = await serve({ env: model.env });
    corpus = payloads(COUNT, `http://evil.example:${site.port}`);
    trees = await treesOf(corpus);
  });
  after(async () => {
    await lab.stop();
    await busy.stop();
    await model.stop();
    await site.stop();
  });

  test("chat answers are text: whole conversations of payloads", async (t) => {
    for (let at = 0; at < corpus.length; at += PER_PAGE) {
      const { context, page, seen } = await openPage(lab);
      const some = corpus.slice(at, at + PER_PAGE);
      await rewrite(page, "**/api/agents/*/conversation", (value) => ({ ...value, next: null, messages: some.map((payload, index) => said(payload, [...trees.get(payload) ?? [], ...rawTree(payload)], value.conversation_id, index)) }));
      await page.goto(`${lab.base}/#/chat`);
      await page.waitForFunction((/** @type {number} */ count) => document.querySelectorAll("main .turn").length >= count, some.length);
      await harmless(page, seen, lab.base);
      const unsaid = await page.evaluate(() => [...document.querySelectorAll("main .said a[href^=http]")].filter((link) => {
        const to = link.getAttribute("href") ?? "";
        return link.textContent !== to && !(link.parentElement?.textContent ?? "").includes(to);
      }).map((link) => link.outerHTML));
      assert.deepEqual(unsaid, [], "every link says where it leads");
      await context.close();
    }
    t.diagnostic(`${corpus.length} payloads`);
  });

  test("an answer that streams in is text while it grows", async () => {
    const { context, page, seen } = await openPage(busy);
    await page.goto(`${busy.base}/#/chat`);
    const some = corpus.filter((payload) => payload.length < 400).slice(0, 60);
    for (let at = 0; at < some.length; at += 20) {
      // In pieces that break inside of tags and addresses.
      const text = some.slice(at, at + 20).join("\n\n");
      model.answers.push([{ words: text.match(/[^]{1,7}/g) ?? [], everyMs: 1 }]);
      await page.locator("main").getByRole("textbox").fill(`go ${at}`);
      await page.locator("main").getByRole("button", { name: say("chat.send") }).click();
      await until("the turn is over", async () => (await busy.owner("GET", "/api/agents/little-blue/conversation")).messages.at(-1)?.turn?.status === "done");
      await page.getByRole("button", { name: say("chat.send") }).waitFor();
      await harmless(page, seen, busy.base);
    }
    await context.close();
  });

  test("every page is harmless when every answer of the API is full of payloads", async () => {
    const { context, page, seen } = await openPage(lab);
    let next = 0;
    /** @param {any} value @param {string} [key] @returns {any} */
    const poison = (value, key = "") => {
      if (Array.isArray(value)) return value.map((/** @type {any} */ one) => poison(one, key));
      if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, poison(one, name)]));
      return typeof value === "string" && FOREIGN.has(key) ? corpus[next++ % corpus.length] : value;
    };
    await rewrite(page, /\/api\/(?!events|conversations)/, (value) => poison(value));
    for (const place of [...PLACES, `inbox/${lab.facts.waiting}`, "lab/services/caddy", "lab/guests/pve1/101", "lab/nodes/pve1", "lab/actions/stop-ct107", "audit/3"]) {
      await page.goto(`${lab.base}/#/${place}`);
      await settled(page, seen);
      await harmless(page, seen, lab.base);
    }
    assert.ok(next > 100, `${next} payloads were shown`);
    await page.keyboard.press("Control+k");
    await harmless(page, seen, lab.base);
    await context.close();
  });

  test("reasons and diffs of agents are text on the card and on the link's page", async () => {
    const agent = await lab.agent("hostile");
    const { context, page, seen } = await openPage(lab);
    const parts = [];
    for (let rest = IS_DEEP ? corpus : corpus.slice(0, 140); rest.length > 0;) {
      let taken = 0;
      for (let bytes = 0; taken < rest.length && bytes < DIFF_BYTES; taken += 1) bytes += Buffer.byteLength(rest[taken] ?? "") + 2;
      parts.push(rest.slice(0, taken));
      rest = rest.slice(taken);
    }
    for (const part of parts) {
      const asked = await agent("POST", "/api/actions/reboot-ct101/run", { reason: (part.find((payload) => payload.length < 300) ?? "").replaceAll("\u0000", ""), diff: part.join("\n").replaceAll("\u0000", "") });
      const { id, digest } = await lab.owner("GET", `/api/proposals/${asked.action_row_id}`);
      for (const address of [`/inbox/${id}`, `/#/inbox/${id}`]) {
        await page.goto(lab.base + address);
        await page.locator("article").first().waitFor();
        await harmless(page, seen, lab.base);
      }
      await lab.owner("POST", `/api/proposals/${id}/decide?wait=0`, { decision: "reject", digest });
    }
    await context.close();
  });

  /** What the server makes of answers of a model. @param {string[]} answers */
  async function treesOf(answers) {
    const found = new Map();
    const { conversation_id: id } = await busy.owner("GET", "/api/agents/little-blue/conversation");
    for (const answer of answers) {
      model.answers.push([{ text: answer }]);
      const { assistant_message_id: message } = await busy.owner("POST", `/api/conversations/${id}/messages`, { text: "go" });
      const newest = async () => (await busy.owner("GET", `/api/conversations/${id}/messages?limit=1`)).messages[0];
      const said = await until("the turn is over", async () => {
        const one = await newest();
        return one.id === message && one.turn.status === "done" && one;
      });
      assert.ok(said.blocks.length > 0, JSON.stringify(said.body));
      found.set(answer, said.blocks);
    }
    await busy.owner("POST", "/api/agents/little-blue/conversation");
    return found;
  }

  /** @param {any} page @param {import("./browsers.js").Seen} seen @param {string} base */
  async function harmless(page, seen, base) {
    assert.deepEqual(await page.evaluate(findHarm), []);
    assert.deepEqual(seen.dialogs, []);
    assert.deepEqual(seen.requests.filter((url) => !url.startsWith(`${base}/`)), []);
    assert.deepEqual(site.asked, []);
    assert.deepEqual(seen.errors, [], "nothing was left for the browser's own rules to stop");
  }
});

/** What must not be in a page, whatever others write. Runs in the page. */
function findHarm() {
  const harm = [];
  if ("__pwned" in window) harm.push("a script ran");
  const own = ["script[src^='/ui/']", "link[href^='/ui/']", "link[rel=manifest]", "meta[name]", "meta[charset]", "form:not([action])", "form[action^='/inbox/']"].join(",");
  const bad = "script, iframe, frame, object, embed, img, picture, source, video, audio, base, meta, link, style, template, noscript, form, math, marquee, svg image, svg use, svg a, svg animate, foreignObject, [srcdoc], [ping], [formaction], [srcset]";
  for (const node of document.querySelectorAll(bad)) if (!node.matches(own)) harm.push(node.outerHTML.slice(0, 200));
  for (const node of document.querySelectorAll("*")) {
    for (const { name, value } of node.attributes) {
      if (name.startsWith("on") || (name === "style" && /url\(|expression/.test(value))) harm.push(`${name} on ${node.outerHTML.slice(0, 200)}`);
      if (/^(href|src|action|xlink:href|data|poster)$/.test(name) && !/^(#|\/(?!\/|\\)|https?:\/\/|mailto:)/.test(value)) harm.push(`${name}=${value}`);
    }
  }
  return harm;
}

/** A tree as no server makes it: a payload in every place that holds text. @param {string} payload */
function rawTree(payload) {
  const text = { type: "text", text: payload };
  const inlines = [text, { type: "code", text: payload }, { type: "image", alt: payload }, { type: "link", to: payload, inlines: [] }, { type: "strong", inlines: [text] }];
  return [{ type: "paragraph", inlines }, { type: "heading", level: payload, inlines }, { type: "code", language: payload, text: payload },
    { type: "list", start: payload, tight: true, items: [[{ type: "paragraph", inlines }]] }, { type: "table", head: [inlines], rows: [[inlines]] }, { type: "quote", blocks: [{ type: "paragraph", inlines }] }];
}

/** An agent's message that is all payload. @param {string} payload @param {any[]} blocks @param {string} conversation @param {number} index */
function said(payload, blocks, conversation, index) {
  const id = `01a1e321-ecf2-763d-bcde-${String(index).padStart(12, "0")}`;
  const item = { id: "", code: payload, action_id: payload, label: payload, status: "refused", reason: payload };
  const usage = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0, cost_micros: 1 };
  const turn = { status: index % 5 === 0 ? "failed" : "done", ended_at: "2026-01-01T00:00:00Z", brain: payload, model: payload, trace: [{ tool: payload, args_summary: payload, status: "ok" }], usage,
    truth: { ran: [], waits: [], refused: [item], unverified: [] }, truth_line: payload, tainted_by: [payload], error: index % 5 === 0 ? { code: payload, message: payload } : null };
  return { id, conversation_id: conversation, seq: index + 1, role: index % 7 === 0 ? "user" : "assistant", body: payload, blocks, created_at: "2026-01-01T00:00:00Z", turn: index % 7 === 0 ? null : turn };
}
