// @ts-check
// Markdown as elements: whole for what is over, growing for what is being written. Only text goes in;
// nothing is fetched and nothing runs, whatever the model wrote.

import { el, mount, visible } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { copyFromChat } from "./copying.js";
import { cleanMarkdown } from "./markdown-links.js";
import { wordsOf } from "./markdown-spans.js";
import { parseMarkdown, settledBlocks } from "./markdown.js";

/** @typedef {import("./markdown.js").Block} Block */
/** @typedef {import("./markdown-spans.js").Inline} Inline */

/** Drawing takes at most this share of the time. */
const REST_FACTOR = 4;
/** A machine that was busy with something else for a moment does not hold the words back. */
const REST_MAX_MS = 250;
const LATE_MS = 400;

/** @param {string} text */
export const markdownNodes = (text) => parseMarkdown(text).map((block) => blockNode(block));

/**
 * @param {Block} block
 * @returns {HTMLElement}
 */
function blockNode(block) {
  switch (block.type) {
    case "paragraph": return el("p", {}, inlineNodes(block.inline));
    case "heading": return el("p", { class: "said-heading" }, el("strong", {}, inlineNodes(block.inline)));
    case "rule": return el("hr");
    case "code": return codeNode(block.text, block.info);
    case "quote": return el("blockquote", {}, block.blocks.map(blockNode));
    case "list": return el(block.isOrdered ? "ol" : "ul", block.isOrdered && block.start !== 1 ? { start: block.start } : {}, block.items.map((item) => el("li", {}, itemNodes(item, block.isTight))));
    case "table": return tableNode(block.head, block.rows);
  }
}

/** @param {Block[]} blocks @param {boolean} isTight */
const itemNodes = (blocks, isTight) => blocks.map((block) => isTight && block.type === "paragraph" ? inlineNodes(block.inline) : [blockNode(block)]);

/**
 * @param {Inline[]} nodes
 * @returns {Array<Node | string>}
 */
function inlineNodes(nodes) {
  return nodes.flatMap((node) => {
    switch (node.type) {
      case "text": return [node.text];
      case "code": return [el("code", {}, node.text)];
      case "break": return [el("br")];
      case "image": return [t("chat.image", { alt: node.alt })];
      case "link": return linkNodes(node.to, node.children);
      default: return [el(node.type, {}, inlineNodes(node.children))];
    }
  });
}

/**
 * A link says where it leads, unless its words do.
 * @param {string} to
 * @param {Inline[]} children
 */
function linkNodes(to, children) {
  const isOwn = to.startsWith("#/");
  const words = wordsOf(children).trim();
  const link = el("a", isOwn ? { href: to } : { href: to, rel: "noopener noreferrer nofollow", target: "_blank" }, words ? inlineNodes(children) : to);
  const isSaid = isOwn || !words || words === to || `mailto:${words}` === to;
  return isSaid ? [link] : [link, " ", el("span", { class: "said-target" }, `(${to})`)];
}

/** @param {string} text @param {string} info */
function codeNode(text, info) {
  const code = el("code", {}, text);
  const copy = el("button", { type: "button", class: "said-copy", onclick: () => void copyFromChat(code.textContent ?? "", copy) }, t("chat.copy"));
  return el("div", { class: "said-code" }, el("div", { class: "said-code-bar" }, el("span", { class: "grow" }, info.split(/\s/)[0] ?? ""), copy),
    el("pre", { tabIndex: 0, role: "group", "aria-label": t("chat.code") }, code));
}

/** @param {Inline[][]} head @param {Inline[][][]} rows */
function tableNode(head, rows) {
  return el("div", { class: "said-table", tabIndex: 0, role: "group", "aria-label": t("chat.table") }, el("table", {},
    el("thead", {}, el("tr", {}, head.map((cell) => el("th", { scope: "col" }, inlineNodes(cell))))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => el("td", {}, inlineNodes(cell))))))));
}

/**
 * The end of a text as it will most likely be, so that half a mark is not seen for a moment.
 * @param {string} tail
 */
function completed(tail) {
  const from = tail.lastIndexOf("\n") + 1;
  let line = tail.slice(from).replace(/\]\([^()\s]*$/, "]");
  if (line.split("`").length % 2 === 0) line = line.endsWith("`") ? line.slice(0, -1) : `${line}\``;
  else if (line.split("**").length % 2 === 0) line = /\*\*\s*$/.test(line) ? line.replace(/\*\*\s*$/, "") : `${line.trimEnd()}**`;
  else if (/(?:^|[\s(])\*(?![\s*])[^*]*[^*\s]$/.test(line)) line += "*";
  return tail.slice(0, from) + line;
}

/**
 * A text that is being written. What is settled stays as it is; only its last block is drawn anew, at
 * most once a frame and less often if that takes long.
 */
export class GrowingText {
  /** @param {HTMLElement} place @param {() => void} drawn */
  constructor(place, drawn) {
    this.place = place;
    this.drawn = drawn;
    /** All of it, as it came. */
    this.text = "";
    /** What is not settled yet. */
    this.tail = "";
    /** How much of the text is in the tail or settled. */
    this.read = 0;
    /** @type {HTMLElement[]} */
    this.last = [];
    /** The block that the only unsettled element shows, if it is code that goes on. @type {Block | null} */
    this.code = null;
    this.frame = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.late = undefined;
    this.restUntil = 0;
  }

  /** @param {string} text everything so far */
  show(text) {
    if (!text.startsWith(this.text.slice(0, 64)) || text.length < this.text.length) this.reset();
    if (text.length === this.text.length) return;
    this.text = text;
    if (!this.frame) this.#schedule();
  }

  /** At the next frame; a page that gets none, because it is hidden or the machine is busy, is not left behind. */
  #schedule() {
    this.frame = requestAnimationFrame((at) => this.#tick(at));
    clearTimeout(this.late);
    this.late = setTimeout(() => this.#tick(Infinity), LATE_MS);
  }

  #unschedule() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.late);
    this.frame = 0;
  }

  /** Draws what is left at once; nothing comes after. */
  finish() {
    this.#unschedule();
    this.#draw(true);
  }

  /** As if nothing had been written. */
  reset() {
    this.#unschedule();
    mount(this.place);
    this.text = "";
    this.tail = "";
    this.read = 0;
    this.last = [];
    this.code = null;
  }

  /** @param {number} at */
  #tick(at) {
    if (at < this.restUntil) {
      this.frame = requestAnimationFrame((next) => this.#tick(next));
      return;
    }
    this.#unschedule();
    const start = performance.now();
    this.#draw(false);
    this.drawn();
    const end = performance.now();
    this.restUntil = end + Math.min((end - start) * REST_FACTOR, REST_MAX_MS);
  }

  /** @param {boolean} isFinal */
  #draw(isFinal) {
    this.tail += cleanMarkdown(this.text.slice(this.read));
    this.read = this.text.length;
    let blocks = parseMarkdown(this.tail);
    const count = settledBlocks(blocks, this.tail);
    if (count === 0 && this.#extend(blocks)) return;
    const whole = isFinal || blocks.at(-1)?.type === "code" ? this.tail : completed(this.tail);
    if (whole !== this.tail) blocks = parseMarkdown(whole);
    const nodes = blocks.map((block) => blockNode(block));
    for (const node of this.last) node.remove();
    this.place.append(...nodes);
    this.last = nodes.slice(count);
    const open = blocks.length === count + 1 ? blocks[count] : undefined;
    this.code = open?.type === "code" && open.isOpen ? { ...open, from: 0 } : null;
    if (count > 0) this.tail = this.tail.slice(blocks[count]?.from ?? 0);
  }

  /** Adds to code that goes on, without drawing it anew. @param {Block[]} blocks */
  #extend(blocks) {
    const [next] = blocks;
    const now = this.code;
    if (blocks.length !== 1 || next?.type !== "code" || now?.type !== "code" || next.info !== now.info || !next.text.startsWith(now.text)) return false;
    this.last[0]?.querySelector("code")?.append(visible(next.text.slice(now.text.length)));
    this.code = next.isOpen ? next : null;
    return true;
  }
}
