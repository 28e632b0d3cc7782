// @ts-check
// Markdown of a model, read into a tree of plain values: no HTML, no images, and links to web and mail
// addresses and to this page only. Every step is bounded, whatever the text is. Knows nothing of a page.

/**
 * @typedef {{type: "text", text: string} | {type: "code", text: string} | {type: "break"} | {type: "image", alt: string}
 *   | {type: "link", to: string, children: Inline[]} | {type: "strong" | "em" | "del", children: Inline[]}} Inline
 * @typedef {{type: "paragraph", inline: Inline[]} | {type: "heading", level: number, inline: Inline[]}
 *   | {type: "code", text: string, info: string, isOpen: boolean} | {type: "quote", blocks: Block[]}
 *   | {type: "list", isOrdered: boolean, start: number, isTight: boolean, items: Block[][]}
 *   | {type: "table", head: Inline[][], rows: Inline[][][]} | {type: "rule"}} Plain
 * @typedef {Plain & {from: number}} Block with the place in the text where it begins
 */

/** Lists within lists; what nests deeper is shown without the deeper marks, as the server does it. */
const DEPTH_MAX = 32;
/** Bold within italic within a link; deeper marks are dropped. */
const SPAN_DEPTH_MAX = 16;
const ADDRESS_MAX = 2048;
const COLUMNS_MAX = 32;

/** They turn the reading order around. */
const DIRECTION_MARKS = /[\u202a-\u202e\u2066-\u2069]/g;
/** @type {Record<string, string>} */
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", hellip: "…", ndash: "–", mdash: "—" };

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

/** A text without what turns its reading order around. @param {string} text */
export const cleanMarkdown = (text) => text.replace(/\r/g, "").replace(DIRECTION_MARKS, "");

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

/**
 * A piece of a line on its way to a tree. Marks of emphasis are matched first and nested after.
 * @typedef {{text: string, isPlain?: boolean, node?: Inline, opens?: Array<"strong" | "em" | "del">, closes?: number, link?: string, image?: boolean, ends?: boolean}} Piece
 * @typedef {{piece: number, mark: string, left: number, size: number, canOpen: boolean, canClose: boolean}} Mark
 * @typedef {{piece: number, isImage: boolean, marks: number}} Bracket
 */

const PLAIN = /[^\\`*_~[\]!<&\nhH]+/y;
const BARE = /https?:\/\/[^\s<>`\\]{1,2100}/iy;
const ANGLE = /<(https?:\/\/[^\s<>\\]{1,2048}|mailto:[^\s<>\\]{1,512}|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})>/iy;
const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/y;
const MARKS = /\*+|_+|~+/y;
const TICKS = /`+/y;

/**
 * @param {string} source
 * @returns {Inline[]}
 */
export function parseInline(source) {
  const text = cleanMarkdown(source);
  /** @type {Piece[]} */
  const pieces = [];
  /** @type {Mark[]} */
  const marks = [];
  /** @type {Bracket[]} */
  const brackets = [];
  /** Below this place a bracket opens no link, since there is one within it. */
  let linkless = 0;
  const ticks = tickRuns(text);
  let at = 0;
  const say = (/** @type {string} */ words) => {
    const last = pieces.at(-1);
    if (last?.isPlain) last.text += words;
    else pieces.push({ text: words, isPlain: true });
  };
  /** @param {RegExp} sticky */
  const match = (sticky) => {
    sticky.lastIndex = at;
    return sticky.exec(text);
  };
  while (at < text.length) {
    const plain = match(PLAIN);
    if (plain) {
      say(plain[0]);
      at += plain[0].length;
      continue;
    }
    const letter = text[at] ?? "";
    at += readSpecial(letter);
  }
  pairMarks(marks, 0, pieces);
  return nest(pieces);

  /** @param {string} letter @returns {number} how far it went */
  function readSpecial(letter) {
    switch (letter) {
      case "\\": return readEscape();
      case "`": return readCode();
      case "*": case "_": case "~": return readMarks();
      case "!":
        if (text[at + 1] === "[") return openBracket(true);
        break;
      case "[": return openBracket(false);
      case "]": return closeBracket();
      case "<": return readAngle();
      case "&": return readEntity();
      case "\n": return readNewline();
      case "h": case "H": return readBare();
      default: break;
    }
    say(letter);
    return 1;
  }

  function readEscape() {
    const next = text[at + 1] ?? "";
    if (next === "\n") {
      pieces.push({ text: "", node: { type: "break" } });
      return 2;
    }
    const isMark = /[!-/:-@[-`{-~]/.test(next);
    say(isMark ? next : "\\");
    return isMark ? 2 : 1;
  }

  function readCode() {
    const run = match(TICKS)?.[0] ?? "`";
    const end = ticks(run.length, at + run.length);
    if (end < 0) {
      say(run);
      return run.length;
    }
    const inside = text.slice(at + run.length, end).replaceAll("\n", " ");
    const isPadded = inside.length > 2 && inside.startsWith(" ") && inside.endsWith(" ") && inside.trim() !== "";
    pieces.push({ text: "", node: { type: "code", text: isPadded ? inside.slice(1, -1) : inside } });
    return end + run.length - at;
  }

  function readMarks() {
    const run = match(MARKS)?.[0] ?? "";
    const [before = " ", after = " "] = [text[at - 1], text[at + run.length]];
    const isSpace = (/** @type {string} */ one) => /\s/.test(one);
    const isSign = (/** @type {string} */ one) => /[\p{P}\p{S}]/u.test(one);
    const leansLeft = !isSpace(after) && (!isSign(after) || isSpace(before) || isSign(before));
    const leansRight = !isSpace(before) && (!isSign(before) || isSpace(after) || isSign(after));
    const isWord = run.startsWith("_");
    const canOpen = leansLeft && (!isWord || !leansRight || isSign(before));
    const canClose = leansRight && (!isWord || !leansLeft || isSign(after));
    const isWrong = run.startsWith("~") && run.length !== 2;
    pieces.push({ text: run });
    if (!isWrong && (canOpen || canClose)) marks.push({ piece: pieces.length - 1, mark: run[0] ?? "", left: run.length, size: run.length, canOpen, canClose });
    return run.length;
  }

  /** @param {boolean} isImage */
  function openBracket(isImage) {
    const words = isImage ? "![" : "[";
    pieces.push({ text: words });
    brackets.push({ piece: pieces.length - 1, isImage, marks: marks.length });
    return words.length;
  }

  function closeBracket() {
    const open = brackets.pop();
    const isActive = open !== undefined && (open.isImage || brackets.length >= linkless);
    linkless = Math.min(linkless, brackets.length);
    const target = isActive ? targetAfter(text, at + 1) : null;
    if (!open || !target) {
      say("]");
      return 1;
    }
    pairMarks(marks, open.marks, pieces);
    marks.length = open.marks;
    const first = pieces[open.piece];
    if (first) {
      first.text = "";
      if (open.isImage) first.image = true;
      else first.link = target.to;
    }
    pieces.push({ text: "", ends: true });
    if (!open.isImage) linkless = brackets.length;
    return target.end - at;
  }

  function readAngle() {
    const found = match(ANGLE);
    if (!found) {
      say("<");
      return 1;
    }
    const shown = found[1] ?? "";
    const to = /^(https?:|mailto:)/i.test(shown) ? shown : `mailto:${shown}`;
    pieces.push({ text: "", node: isHarmless(to) ? { type: "link", to, children: [{ type: "text", text: shown }] } : { type: "text", text: found[0] } });
    return found[0].length;
  }

  function readEntity() {
    const found = match(ENTITY);
    const meant = found ? entity(found) : "";
    say(meant || "&");
    return meant && found ? found[0].length : 1;
  }

  function readNewline() {
    const last = pieces.at(-1);
    const isHard = last?.isPlain === true && last.text.endsWith("  ");
    if (last?.isPlain) last.text = last.text.trimEnd();
    if (isHard) pieces.push({ text: "", node: { type: "break" } });
    else pieces.push({ text: "\n", isPlain: true });
    return 1;
  }

  function readBare() {
    const isInWord = /\w/.test(text[at - 1] ?? " ");
    const found = isInWord ? null : match(BARE);
    if (found && found[0].length > ADDRESS_MAX) {
      say(found[0]);
      return found[0].length;
    }
    const address = found ? trimAddress(found[0]) : "";
    if (address.length < 9 || !isHarmless(address)) {
      say(text[at] ?? "");
      return 1;
    }
    pieces.push({ text: "", node: { type: "link", to: address, children: [{ type: "text", text: address }] } });
    return address.length;
  }
}

/**
 * Finds the next run of ticks of a length. Runs that have no end are not looked for twice.
 * @param {string} text
 */
function tickRuns(text) {
  /** @type {Map<number, number[]> | null} */
  let runs = null;
  return (/** @type {number} */ size, /** @type {number} */ from) => {
    if (!runs) {
      runs = new Map();
      for (const run of text.matchAll(/`+/g)) {
        const all = runs.get(run[0].length);
        if (all) all.push(run.index);
        else runs.set(run[0].length, [run.index]);
      }
    }
    const all = runs.get(size) ?? [];
    let [low, high] = [0, all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((all[middle] ?? 0) < from) low = middle + 1;
      else high = middle;
    }
    return all[low] ?? -1;
  };
}

/** @param {RegExpExecArray} found */
function entity(found) {
  const [, decimal, hex, name] = found;
  if (name) return ENTITIES[name] ?? "";
  const code = decimal ? Number.parseInt(decimal, 10) : Number.parseInt(hex ?? "", 16);
  const isLetter = code >= 32 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) && !(code >= 0x7f && code < 0xa0);
  return isLetter ? String.fromCodePoint(code).replace(DIRECTION_MARKS, "\ufffd") : "\ufffd";
}

/** Signs at the end of a sentence are not part of an address. @param {string} address */
function trimAddress(address) {
  let opened = 0;
  let closed = 0;
  for (const letter of address) {
    if (letter === "(") opened += 1;
    else if (letter === ")") closed += 1;
  }
  let end = address.length;
  for (; end > 0; end -= 1) {
    const last = address[end - 1] ?? "";
    if (last === ")" && closed > opened) closed -= 1;
    else if (!/[.,:;!?'"*_~\]]/.test(last)) break;
  }
  return address.slice(0, end);
}

/**
 * `(address "title")` after a bracket. The address counts only if it is harmless.
 * @param {string} text
 * @param {number} from
 * @returns {{to: string, end: number} | null}
 */
function targetAfter(text, from) {
  if (text[from] !== "(") return null;
  let start = from + 1;
  while (start < from + 64 && /[ \t\n]/.test(text[start] ?? "")) start += 1;
  const isAngled = text[start] === "<";
  const stop = isAngled ? angled(text, start + 1) : balanced(text, start);
  if (stop < 0) return null;
  const to = text.slice(isAngled ? start + 1 : start, stop);
  const after = isAngled ? stop + 1 : stop;
  const end = /^(?:[ \t\n]+(?:"[^"]{0,400}"|'[^']{0,400}'|\([^()]{0,400}\)))?[ \t\n]*\)/.exec(text.slice(after, after + 512));
  if (!end) return null;
  const plain = to.replace(/\\([!-/:-@[-`{-~])/g, "$1").replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/g, (whole, ...parts) => entity(/** @type {any} */ ([whole, ...parts])) || whole);
  return { to: plain, end: after + end[0].length };
}

/** Where an address in angle brackets ends. @param {string} text @param {number} from */
function angled(text, from) {
  const found = /^[^<>\n]*/.exec(text.slice(from, from + ADDRESS_MAX));
  const end = from + (found?.[0].length ?? 0);
  return text[end] === ">" ? end : -1;
}

/** Where an address ends: at a space, or at the bracket that closes it. @param {string} text @param {number} from */
function balanced(text, from) {
  let open = 0;
  for (let at = from; at <= from + ADDRESS_MAX; at += 1) {
    const letter = text[at];
    if (letter === undefined || /\s/.test(letter)) return at;
    if (letter === "\\") at += 1;
    else if (letter === "(") open += 1;
    else if (letter === ")") {
      if (open === 0) return at;
      open -= 1;
    }
    if (open > DEPTH_MAX) return -1;
  }
  return -1;
}

/**
 * A whole address of the web, of a mailbox, or of this page, without anything that browsers strip or rewrite.
 * @param {string} to
 */
export function isHarmless(to) {
  return /^(?:https?:\/\/|mailto:|#\/)/i.test(to) && !/[\s\\\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/.test(to);
}

/**
 * Pairs marks of emphasis from a place on, as CommonMark does it; every mark is looked at a bounded number of times.
 * @param {Mark[]} marks
 * @param {number} from
 * @param {Piece[]} pieces
 */
function pairMarks(marks, from, pieces) {
  /** What may still open, newest last. @type {Mark[]} */
  const open = [];
  /** Below which place nothing opens for a kind of closer. @type {Map<string, number>} */
  const bottom = new Map();
  for (let index = from; index < marks.length; index += 1) {
    const closer = /** @type {Mark} */ (marks[index]);
    while (closer.canClose && closer.left > 0) {
      const key = `${closer.mark}${closer.canOpen ? "o" : ""}${closer.size % 3}`;
      const found = lastOpener(open, closer, bottom.get(key) ?? 0);
      if (found < 0) {
        bottom.set(key, open.length);
        break;
      }
      const opener = /** @type {Mark} */ (open[found]);
      open.length = found + 1;
      for (const [name, place] of bottom) if (place > found) bottom.set(name, found);
      const size = closer.mark === "~" ? 2 : opener.left >= 2 && closer.left >= 2 ? 2 : 1;
      const name = closer.mark === "~" ? "del" : size === 2 ? "strong" : "em";
      const [first, last] = [pieces[opener.piece], pieces[closer.piece]];
      if (first) (first.opens ??= []).push(name);
      if (last) last.closes = (last.closes ?? 0) + 1;
      opener.left -= size;
      closer.left -= size;
      if (opener.left === 0) open.pop();
    }
    if (closer.canOpen && closer.left > 0) open.push(closer);
  }
  for (let index = from; index < marks.length; index += 1) {
    const mark = /** @type {Mark} */ (marks[index]);
    const piece = pieces[mark.piece];
    if (piece) piece.text = mark.mark.repeat(mark.left);
  }
}

/** @param {Mark[]} open @param {Mark} closer @param {number} bottom */
function lastOpener(open, closer, bottom) {
  for (let at = open.length - 1; at >= bottom; at -= 1) {
    const opener = /** @type {Mark} */ (open[at]);
    if (opener.mark !== closer.mark) continue;
    const isOdd = (opener.canClose || closer.canOpen) && (opener.size + closer.size) % 3 === 0 && !(opener.size % 3 === 0 && closer.size % 3 === 0);
    if (!isOdd || closer.mark === "~") return at;
  }
  return -1;
}

/**
 * The pieces as a tree. A piece closes first, says its own text, then opens.
 * @param {Piece[]} pieces
 * @returns {Inline[]}
 */
function nest(pieces) {
  /** @type {Inline[]} */
  const root = [];
  /** What is open; one that is not shown adds to the one around it. @type {Array<{children: Inline[], isImage?: boolean, node?: Inline}>} */
  const stack = [{ children: root }];
  let depth = 0;
  const top = () => /** @type {{children: Inline[]}} */ (stack.at(-1));
  const hide = () => void stack.push({ children: top().children });
  const add = (/** @type {Inline} */ node) => {
    const { children } = top();
    const last = children.at(-1);
    if (node.type === "text" && last?.type === "text") last.text += node.text;
    else children.push(node);
  };
  const close = () => {
    if (stack.length === 1) return;
    const done = /** @type {{children: Inline[], isImage?: boolean, node?: Inline}} */ (stack.pop());
    if (done.isImage || done.node) depth -= 1;
    if (done.isImage) add({ type: "image", alt: wordsOf(done.children) });
    else if (done.node) add(done.node);
  };
  /** @param {Inline[]} children @param {{isImage?: boolean, node?: Inline}} what */
  const open = (children, what) => {
    if (depth >= SPAN_DEPTH_MAX) return hide();
    depth += 1;
    return void stack.push({ children, ...what });
  };
  for (const piece of pieces) {
    for (let times = piece.closes ?? 0; times > 0; times -= 1) close();
    if (piece.ends) close();
    if (piece.node) add(piece.node);
    else if (piece.text) add({ type: "text", text: piece.text });
    /** @type {Inline[]} */
    const inside = [];
    if (piece.image) open(inside, { isImage: true });
    else if (piece.link !== undefined && isHarmless(piece.link)) open(inside, { node: { type: "link", to: piece.link, children: inside } });
    else if (piece.link !== undefined) hide();
    for (const name of piece.opens?.reverse() ?? []) {
      /** @type {Inline[]} */
      const children = [];
      open(children, { node: { type: name, children } });
    }
  }
  while (stack.length > 1) close();
  return root;
}

/** What a tree says, without its marks. @param {Inline[]} nodes @returns {string} */
export function wordsOf(nodes) {
  return nodes.map((node) => {
    switch (node.type) {
      case "text": case "code": return node.text;
      case "break": return "\n";
      case "image": return node.alt;
      default: return wordsOf(node.children);
    }
  }).join("");
}
