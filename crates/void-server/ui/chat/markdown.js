// @ts-check
// The tree that the server made of a Markdown text, as elements. Only text goes in; nothing is fetched and
// nothing runs. Nothing here reads Markdown.

import { typed } from "../lib/commands.js";
import { el } from "../lib/dom.js";
import { MOMENTS, time, withTimes } from "../lib/time.js";
import { t } from "../lib/words.js";
import { copyFromChat } from "./copying.js";

/**
 * @typedef {{type: "text", text: string} | {type: "code", text: string} | {type: "break"} | {type: "image", alt:
 *   string}
 *   | {type: "link", to: string, inlines: Inline[]} | {type: "strong" | "emphasis" | "strikethrough", inlines:
 *   Inline[]}} Inline
 * @typedef {{type: "paragraph", inlines: Inline[]} | {type: "heading", level: number, inlines: Inline[]}
 *   | {type: "code", language: string, text: string} | {type: "quote", blocks: Block[]}
 *   | {type: "list", start: number | null, tight: boolean, items: Block[][]}
 *   | {type: "table", head: Inline[][], rows: Inline[][][]} | {type: "rule"}} Block
 */

/**
 * @param {Block} block
 * @returns {HTMLElement}
 */
export function blockNode(block) {
  switch (block.type) {
    case "paragraph":
      return el("p", {}, inlineNodes(block.inlines));
    case "heading":
      return el("p", { class: "said-heading" }, el("strong", {}, inlineNodes(block.inlines)));
    case "rule":
      return el("hr");
    case "code":
      return codeNode(block.text, block.language);
    case "quote":
      return quoteNode(block.blocks);
    case "list":
      return listNode(block.start, block.items, block.tight);
    case "table":
      return tableNode(block.head, block.rows);
  }
}

/**
 * A line of a checklist without its brackets, and whether it is done; null where it is none.
 * @param {Block[]} item
 * @returns {[Block[], boolean | null]}
 */
function ticked(item) {
  const [block, ...rest] = item;
  const [words, ...more] = block?.type === "paragraph" ? block.inlines : [];
  const [all = "", box] = words?.type === "text" ? (/^\[([ xX])\]\s+/.exec(words.text) ?? []) : [];
  if (words?.type !== "text" || box === undefined) return [item, null];
  const without = { type: "text", text: words.text.slice(all.length) };
  return [[/** @type {Block} */ ({ type: "paragraph", inlines: [without, ...more] }), ...rest], box !== " "];
}

/** A quote; one that begins with a kind, as `[!warning] Mind this`, has that as its head. @param {Block[]} blocks */
function quoteNode(blocks) {
  const [block, ...rest] = blocks;
  const [words, ...more] = block?.type === "paragraph" ? block.inlines : [];
  const [all = "", kind = "", title = ""] =
    words?.type === "text" ? (/^\[!(\w+)\][+-]?[ \t]*([^\n]*)\n?/.exec(words.text) ?? []) : [];
  if (words?.type !== "text" || !kind) return el("blockquote", {}, blocks.map(blockNode));
  const left = words.text.slice(all.length);
  const under = [...(left ? [/** @type {Inline} */ ({ type: "text", text: left })] : []), ...more];
  return el(
    "blockquote",
    {},
    el("p", {}, el("strong", {}, title || kind)),
    under.length > 0 ? el("p", {}, inlineNodes(under)) : null,
    rest.map(blockNode),
  );
}

/** @param {number | null} start @param {Block[][]} items @param {boolean} isTight */
function listNode(start, items, isTight) {
  const nodes = items.map(ticked).map(([item, isDone]) =>
    el(
      "li",
      isDone === null ? {} : { class: "ticked" },
      isDone === null
        ? null
        : el(
            "span",
            { class: "tick-box", role: "img", "aria-label": t(isDone ? "doc.done" : "doc.open") },
            isDone ? "☑" : "☐",
          ),
      item.map((block) => (isTight && block.type === "paragraph" ? inlineNodes(block.inlines) : [blockNode(block)])),
    ),
  );
  return start === null ? el("ul", {}, nodes) : el("ol", start === 1 ? {} : { start }, nodes);
}

/**
 * @param {Inline[]} inlines
 * @returns {Array<Node | string>}
 */
export function inlineNodes(inlines) {
  return inlines.flatMap((inline) => {
    switch (inline.type) {
      case "text":
        return textNodes(inline.text);
      case "code":
        return [el("code", {}, typed(inline.text))];
      case "break":
        return [el("br")];
      case "image":
        return [t("chat.image", { alt: inline.alt })];
      case "link":
        return linkNodes(inline.to, inline.inlines);
      case "strong":
        return [el("strong", {}, inlineNodes(inline.inlines))];
      case "emphasis":
        return [el("em", {}, inlineNodes(inline.inlines))];
      case "strikethrough":
        return [el("del", {}, inlineNodes(inline.inlines))];
    }
  });
}

/** Moments, told in UTC, by the reader's clock. @param {string} text @returns {Array<Node | string>} */
const textNodes = (text) => text.split(MOMENTS).map((part, at) => (at % 2 === 1 ? time(part, "clock") : part));

/**
 * A link says where it leads, unless its words do.
 * @param {string} to
 * @param {Inline[]} inlines
 */
function linkNodes(to, inlines) {
  const isOwn = to.startsWith("#/");
  const words = inlineWords(inlines).trim();
  const link = el(
    "a",
    isOwn ? { href: to } : { href: to, rel: "noopener noreferrer nofollow", target: "_blank" },
    words ? inlineNodes(inlines) : to,
  );
  const isSaid = isOwn || !words || words === to || `mailto:${words}` === to;
  return isSaid ? [link] : [link, " ", el("span", { class: "said-target" }, `(${to})`)];
}

/** @param {string} text @param {string} language */
function codeNode(text, language) {
  const code = el("code", {}, text);
  const copy = el(
    "button",
    { type: "button", class: "said-copy", onclick: () => void copyFromChat(code.textContent ?? "", copy) },
    t("chat.copy"),
  );
  return el(
    "div",
    { class: "said-code" },
    el("div", { class: "said-code-bar" }, el("span", { class: "grow" }, language), copy),
    el("pre", { tabIndex: 0, role: "group", "aria-label": t("chat.code") }, code),
  );
}

/** @param {Inline[][]} head @param {Inline[][][]} rows */
function tableNode(head, rows) {
  return el(
    "div",
    { class: "said-table", tabIndex: 0, role: "group", "aria-label": t("chat.table") },
    el(
      "table",
      {},
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          head.map((cell) => el("th", { scope: "col" }, inlineNodes(cell))),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((row) =>
          el(
            "tr",
            {},
            row.map((cell) => el("td", {}, inlineNodes(cell))),
          ),
        ),
      ),
    ),
  );
}

/** What blocks say, a line for each. @param {Block[]} blocks @returns {string} */
export const blockWords = (blocks) =>
  blocks
    .map((block) => {
      switch (block.type) {
        case "paragraph":
        case "heading":
          return inlineWords(block.inlines);
        case "code":
          return block.text;
        case "quote":
          return blockWords(block.blocks);
        case "list":
          return block.items.map(blockWords).join("\n");
        case "table":
          return [block.head, ...block.rows].map((row) => row.map(inlineWords).join(", ")).join("\n");
        case "rule":
          return "";
      }
    })
    .join("\n");

/** @param {Inline[]} inlines @returns {string} */
const inlineWords = (inlines) =>
  inlines
    .map((inline) => {
      switch (inline.type) {
        case "text":
          return withTimes(inline.text);
        case "code":
          return inline.text;
        case "break":
          return "\n";
        case "image":
          return inline.alt;
        default:
          return inlineWords(inline.inlines);
      }
    })
    .join("");
