// @ts-check
// Markdown of a model, read into a tree of plain values: no HTML, no images, and links to web and mail
// addresses and to this page only. Every step is bounded, whatever the text is. Knows nothing of a page.

import { parseInline } from "./markdown-inline.js";
import { cleanMarkdown } from "./markdown-links.js";

/** @typedef {import("./markdown-spans.js").Inline} Inline */

/**
 * @typedef {{type: "paragraph", inline: Inline[]} | {type: "heading", level: number, inline: Inline[]}
 *   | {type: "code", text: string, info: string, isOpen: boolean} | {type: "quote", blocks: Block[]}
 *   | {type: "list", isOrdered: boolean, start: number, isTight: boolean, items: Block[][]}
 *   | {type: "table", head: Inline[][], rows: Inline[][][]} | {type: "rule"}} Plain
 * @typedef {Plain & {from: number}} Block with the place in the text where it begins
 */

/** Lists within lists; what nests deeper is shown without the deeper marks, as the server does it. */
const DEPTH_MAX = 32;
const COLUMNS_MAX = 32;

const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*(.*)$/;
const HEADING = /^ {0,3}(#{1,6})(?=[ \t]|$)/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])([ \t]+|$)/;
const COLUMNS = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$/;

/**
 * A text as blocks. A later block never changes an earlier one once its own first line is whole.
 * @param {string} text
 * @returns {Block[]}
 */
export function parseMarkdown(text) {
  return readBlocks(cleanMarkdown(text).split("\n"), 0);
}

/**
 * How many of the blocks cannot change any more, whatever is added to the text.
 * @param {Block[]} blocks
 * @param {string} text a clean one
 */
export function settledBlocks(blocks, text) {
  const last = blocks.at(-1);
  if (!last) return 0;
  // Half a line may still turn out to belong to the block before it.
  let end = text.indexOf("\n", last.from);
  if (end >= 0 && last.type === "table") end = text.indexOf("\n", end + 1);
  return end >= 0 ? blocks.length - 1 : Math.max(0, blocks.length - 2);
}

/**
 * @param {string[]} lines
 * @param {number} depth
 * @returns {Block[]}
 */
function readBlocks(lines, depth) {
  /** @type {Block[]} */
  const blocks = [];
  let offset = 0;
  let at = 0;
  const isDeep = depth >= DEPTH_MAX;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (isBlank(line)) {
      offset += line.length + 1;
      at += 1;
      continue;
    }
    const [block, next] = isDeep ? readParagraph(lines, at, () => false) : readBlock(lines, at, depth);
    blocks.push({ ...block, from: offset });
    for (; at < next; at += 1) offset += (lines[at] ?? "").length + 1;
  }
  return blocks;
}

/** @param {string} line */
const isBlank = (line) => /^[ \t]*$/.test(line);

/**
 * @param {string[]} lines
 * @param {number} at
 * @param {number} depth
 * @returns {[Plain, number]} the block and the line after it
 */
function readBlock(lines, at, depth) {
  const line = lines[at] ?? "";
  const fence = fenceOf(line);
  if (fence) return readFence(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading) return [{ type: "heading", level: heading[1]?.length ?? 1, inline: parseInline(titleOf(line.slice(heading[0].length))) }, at + 1];
  if (RULE.test(line)) return [{ type: "rule" }, at + 1];
  if (QUOTE.test(line)) return readQuote(lines, at, depth);
  if (ITEM.test(line)) return readList(lines, at, depth);
  if (/^(?: {4}|\t)/.test(line)) return readIndented(lines, at);
  if (isTable(lines, at)) return readTable(lines, at);
  return readParagraph(lines, at, (next) => isTable(lines, next));
}

/** A heading's words without the marks that may close it. @param {string} rest */
function titleOf(rest) {
  const words = rest.trim();
  let end = words.length;
  while (words[end - 1] === "#") end -= 1;
  return end === 0 || /[ \t]/.test(words[end - 1] ?? "") ? words.slice(0, end).trimEnd() : words;
}

/** @param {string} line */
function fenceOf(line) {
  const found = FENCE.exec(line);
  if (!found) return null;
  const [, mark = "", info = ""] = found;
  return mark.startsWith("`") && info.includes("`") ? null : { mark, info: info.trim(), indent: line.length - line.trimStart().length };
}

/** @param {string} line @param {string} mark */
function closesFence(line, mark) {
  const bare = line.trim();
  return bare.length >= mark.length && line.length - line.trimStart().length < 4 && bare === (mark[0] ?? "").repeat(bare.length);
}

/**
 * @param {string[]} lines
 * @param {number} at
 * @param {{mark: string, info: string, indent: number}} fence
 * @returns {[Plain, number]}
 */
function readFence(lines, at, fence) {
  const inside = [];
  let next = at + 1;
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? "";
    if (closesFence(line, fence.mark)) return [{ type: "code", text: inside.join("\n"), info: fence.info, isOpen: false }, next + 1];
    inside.push(dedent(line, fence.indent));
  }
  return [{ type: "code", text: inside.join("\n"), info: fence.info, isOpen: true }, next];
}

/** @param {string} line @param {number} columns */
function dedent(line, columns) {
  let at = 0;
  while (at < columns && line[at] === " ") at += 1;
  return line.slice(at);
}

/** @param {string[]} lines @param {number} at @returns {[Plain, number]} */
function readIndented(lines, at) {
  const inside = [];
  let next = at;
  let end = at;
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? "";
    if (!isBlank(line) && !/^(?: {4}|\t)/.test(line)) break;
    inside.push(line.replace(/^(?: {1,4}|\t)/, ""));
    if (!isBlank(line)) end = next + 1;
  }
  return [{ type: "code", text: inside.slice(0, end - at).join("\n"), info: "", isOpen: false }, end];
}

/**
 * Whether a line ends a paragraph by beginning something else.
 * @param {string} line
 */
function interrupts(line) {
  if (QUOTE.test(line) || HEADING.test(line) || RULE.test(line) || fenceOf(line)) return true;
  const item = ITEM.exec(line);
  // "1986. A good year" and a lone dash within a paragraph begin no list.
  return item !== null && line.length > item[0].length && (/^[-*+]$/.test(item[2] ?? "") || /^1[.)]$/.test(item[2] ?? ""));
}

/**
 * @param {string[]} lines
 * @param {number} at
 * @param {(at: number) => boolean} ends
 * @returns {[Plain, number]}
 */
function readParagraph(lines, at, ends) {
  const inside = [];
  let next = at;
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? "";
    if (isBlank(line) || (next > at && (interrupts(line) || ends(next)))) break;
    inside.push(line.trimStart());
  }
  return [{ type: "paragraph", inline: parseInline(inside.join("\n").trimEnd()) }, next];
}

/** @param {string[]} lines @param {number} at @param {number} depth @returns {[Plain, number]} */
function readQuote(lines, at, depth) {
  const inside = [];
  let next = at;
  let isText = false;
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? "";
    const isMarked = QUOTE.test(line);
    // A paragraph goes on without the mark.
    if (!isMarked && (isBlank(line) || !isText || interrupts(line))) break;
    const rest = isMarked ? line.replace(QUOTE, "") : line;
    inside.push(rest);
    isText = !isBlank(rest) && !fenceOf(rest) && !HEADING.test(rest) && !RULE.test(rest);
  }
  return [{ type: "quote", blocks: readBlocks(inside, depth + 1) }, next];
}

/** @param {string[]} lines @param {number} at @param {number} depth @returns {[Plain, number]} */
function readList(lines, at, depth) {
  const kind = markOf(ITEM.exec(lines[at] ?? ""));
  const start = Number.parseInt(ITEM.exec(lines[at] ?? "")?.[2] ?? "1", 10);
  /** @type {Block[][]} */
  const items = [];
  let isTight = true;
  let next = at;
  while (next < lines.length) {
    const line = lines[next] ?? "";
    const found = ITEM.exec(line);
    if (!found || markOf(found) !== kind || RULE.test(line)) break;
    const [inside, after, isLoose] = readItem(lines, next, found);
    items.push(readBlocks(inside, depth + 1));
    let following = after;
    while (following < lines.length && isBlank(lines[following] ?? "")) following += 1;
    const more = ITEM.exec(lines[following] ?? "");
    const goesOn = more !== null && markOf(more) === kind && !RULE.test(lines[following] ?? "");
    if (isLoose || (goesOn && following > after)) isTight = false;
    next = goesOn ? following : after;
    if (!goesOn) break;
  }
  const isOrdered = /\d/.test(lines[at]?.trimStart()[0] ?? "");
  return [{ type: "list", isOrdered, start: isOrdered ? start : 1, isTight, items }, next];
}

/** @param {RegExpExecArray | null} found */
const markOf = (found) => found?.[2]?.at(-1) ?? "";

/**
 * The lines of an item without its indent.
 * @param {string[]} lines
 * @param {number} at
 * @param {RegExpExecArray} found
 * @returns {[string[], number, boolean]} the lines, the line after it, whether blank lines part it
 */
function readItem(lines, at, found) {
  const [, before = "", mark = "", space = ""] = found;
  const first = (lines[at] ?? "").slice(found[0].length);
  // More than four spaces are those of code within the item.
  const gap = space.length === 0 || space.length > 4 ? 1 : space.length;
  const width = before.length + mark.length + gap;
  const inside = [" ".repeat(Math.max(0, space.length - gap)) + first];
  let fence = fenceOf(inside[0] ?? "")?.mark ?? "";
  let blanks = 0;
  let isLoose = false;
  let next = at + 1;
  for (; next < lines.length; next += 1) {
    const line = (lines[next] ?? "").replace(/^\t+/, (tabs) => "    ".repeat(tabs.length));
    if (isBlank(line)) {
      blanks += 1;
      continue;
    }
    const isInside = line.startsWith(" ".repeat(width));
    const isLazy = blanks === 0 && !fence && !interrupts(line) && !ITEM.test(line);
    if (!isInside && !isLazy) break;
    // A blank line counts if it parts blocks of the item, not within code.
    if (blanks > 0 && !fence) isLoose = true;
    for (; blanks > 0; blanks -= 1) inside.push("");
    const rest = isInside ? line.slice(width) : line;
    if (fence ? closesFence(rest, fence) : false) fence = "";
    else if (!fence) fence = fenceOf(rest)?.mark ?? "";
    inside.push(rest);
  }
  return [inside, next - blanks, isLoose];
}

/** @param {string[]} lines @param {number} at */
function isTable(lines, at) {
  const [head = "", under = ""] = [lines[at], lines[at + 1]];
  return head.includes("|") && under.includes("-") && COLUMNS.test(under.trim()) && cellsOf(head).length === cellsOf(under).length;
}

/** @param {string} line */
function cellsOf(line) {
  const bare = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return bare.split(/(?<!\\)\|/, COLUMNS_MAX).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** @param {string[]} lines @param {number} at @returns {[Plain, number]} */
function readTable(lines, at) {
  const head = cellsOf(lines[at] ?? "").map(parseInline);
  /** @type {Inline[][][]} */
  const rows = [];
  let next = at + 2;
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? "";
    if (isBlank(line) || interrupts(line)) break;
    const cells = cellsOf(line).slice(0, head.length);
    while (cells.length < head.length) cells.push("");
    rows.push(cells.map(parseInline));
  }
  return [{ type: "table", head, rows }, next];
}
