// @ts-check
// Markdown within a paragraph: code, emphasis, links, addresses. What is not allowed stays the text it is.

import { ADDRESS_MAX, entityMeant, isHarmless, targetAfter, trimAddress } from "./markdown-links.js";
import { nestPieces, pairMarks } from "./markdown-spans.js";

/** @typedef {import("./markdown-spans.js").Inline} Inline */
/** @typedef {import("./markdown-spans.js").Piece} Piece */
/** @typedef {import("./markdown-spans.js").Mark} Mark */
/** @typedef {{piece: number, isImage: boolean, marks: number}} Bracket */

const PLAIN = /[^\\`*_~[\]!<&\nhH]+/y;
const BARE = /https?:\/\/[^\s<>`\\[\]]{1,2100}/iy;
const ANGLE = /<(https?:\/\/[^\s<>\\]{1,2048}|mailto:[^\s<>\\]{1,512}|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})>/iy;
const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/y;
const MARKS = /\*+|_+|~+/y;
const TICKS = /`+/y;

/**
 * @param {string} text a clean one
 * @returns {Inline[]}
 */
export const parseInline = (text) => nestPieces(new InlineReader(text).read());

/** A line or paragraph on its way to pieces. */
class InlineReader {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.at = 0;
    /** @type {Piece[]} */
    this.pieces = [];
    /** @type {Mark[]} */
    this.marks = [];
    /** @type {Bracket[]} */
    this.brackets = [];
    /** Below this place a bracket opens no link, since there is one within it. */
    this.linkless = 0;
    this.ticks = tickRuns(text);
  }

  read() {
    while (this.at < this.text.length) {
      const plain = this.#match(PLAIN);
      if (plain) this.#say(plain[0]);
      this.at += plain ? plain[0].length : this.#readSpecial(this.text[this.at] ?? "");
    }
    pairMarks(this.marks, 0, this.pieces);
    return this.pieces;
  }

  /** @param {string} words */
  #say(words) {
    const last = this.pieces.at(-1);
    if (last?.isPlain) last.text += words;
    else this.pieces.push({ text: words, isPlain: true });
  }

  /** @param {RegExp} sticky */
  #match(sticky) {
    sticky.lastIndex = this.at;
    return sticky.exec(this.text);
  }

  /** @param {string} letter @returns {number} how far it went */
  #readSpecial(letter) {
    switch (letter) {
      case "\\": return this.#readEscape();
      case "`": return this.#readCode();
      case "*": case "_": case "~": return this.#readMarks();
      case "!":
        if (this.text[this.at + 1] === "[") return this.#openBracket(true);
        break;
      case "[": return this.#openBracket(false);
      case "]": return this.#closeBracket();
      case "<": return this.#readAngle();
      case "&": return this.#readEntity();
      case "\n": return this.#readNewline();
      case "h": case "H": return this.#readBare();
      default: break;
    }
    this.#say(letter);
    return 1;
  }

  #readEscape() {
    const next = this.text[this.at + 1] ?? "";
    if (next === "\n") {
      this.pieces.push({ text: "", node: { type: "break" } });
      return 2;
    }
    const isMark = /[!-/:-@[-`{-~]/.test(next);
    this.#say(isMark ? next : "\\");
    return isMark ? 2 : 1;
  }

  #readCode() {
    const run = this.#match(TICKS)?.[0] ?? "`";
    const end = this.ticks(run.length, this.at + run.length);
    if (end < 0) {
      this.#say(run);
      return run.length;
    }
    const inside = this.text.slice(this.at + run.length, end).replaceAll("\n", " ");
    const isPadded = inside.length > 2 && inside.startsWith(" ") && inside.endsWith(" ") && inside.trim() !== "";
    this.pieces.push({ text: "", node: { type: "code", text: isPadded ? inside.slice(1, -1) : inside } });
    return end + run.length - this.at;
  }

  #readMarks() {
    const run = this.#match(MARKS)?.[0] ?? "";
    const [before = " ", after = " "] = [this.text[this.at - 1], this.text[this.at + run.length]];
    const isSpace = (/** @type {string} */ one) => /\s/.test(one);
    const isSign = (/** @type {string} */ one) => /[\p{P}\p{S}]/u.test(one);
    const leansLeft = !isSpace(after) && (!isSign(after) || isSpace(before) || isSign(before));
    const leansRight = !isSpace(before) && (!isSign(before) || isSpace(after) || isSign(after));
    const isWord = run.startsWith("_");
    const canOpen = leansLeft && (!isWord || !leansRight || isSign(before));
    const canClose = leansRight && (!isWord || !leansLeft || isSign(after));
    const isWrong = run.startsWith("~") && run.length !== 2;
    this.pieces.push({ text: run });
    if (!isWrong && (canOpen || canClose)) this.marks.push({ piece: this.pieces.length - 1, mark: run[0] ?? "", left: run.length, size: run.length, canOpen, canClose });
    return run.length;
  }

  /** @param {boolean} isImage */
  #openBracket(isImage) {
    const words = isImage ? "![" : "[";
    this.pieces.push({ text: words });
    this.brackets.push({ piece: this.pieces.length - 1, isImage, marks: this.marks.length });
    return words.length;
  }

  #closeBracket() {
    const open = this.brackets.pop();
    const isActive = open !== undefined && (open.isImage || this.brackets.length >= this.linkless);
    this.linkless = Math.min(this.linkless, this.brackets.length);
    const target = isActive ? targetAfter(this.text, this.at + 1) : null;
    if (!open || !target) {
      this.#say("]");
      return 1;
    }
    pairMarks(this.marks, open.marks, this.pieces);
    this.marks.length = open.marks;
    const first = this.pieces[open.piece];
    if (first) {
      first.text = "";
      if (open.isImage) first.image = true;
      else first.link = target.to;
    }
    this.pieces.push({ text: "", ends: true });
    if (!open.isImage) this.linkless = this.brackets.length;
    return target.end - this.at;
  }

  #readAngle() {
    const found = this.#match(ANGLE);
    if (!found) {
      this.#say("<");
      return 1;
    }
    const shown = found[1] ?? "";
    const to = /^(https?:|mailto:)/i.test(shown) ? shown : `mailto:${shown}`;
    this.pieces.push({ text: "", node: isHarmless(to) ? { type: "link", to, children: [{ type: "text", text: shown }] } : { type: "text", text: found[0] } });
    return found[0].length;
  }

  #readEntity() {
    const found = this.#match(ENTITY);
    const meant = found ? entityMeant(found) : "";
    this.#say(meant || "&");
    return meant && found ? found[0].length : 1;
  }

  #readNewline() {
    const last = this.pieces.at(-1);
    const isHard = last?.isPlain === true && last.text.endsWith("  ");
    if (last?.isPlain) last.text = last.text.trimEnd();
    if (isHard) this.pieces.push({ text: "", node: { type: "break" } });
    else this.pieces.push({ text: "\n", isPlain: true });
    return 1;
  }

  #readBare() {
    const isInWord = /\w/.test(this.text[this.at - 1] ?? " ");
    const found = isInWord ? null : this.#match(BARE);
    if (found && found[0].length > ADDRESS_MAX) {
      this.#say(found[0]);
      return found[0].length;
    }
    const address = found ? trimAddress(found[0]) : "";
    if (address.length < 9 || !isHarmless(address)) {
      this.#say(this.text[this.at] ?? "");
      return 1;
    }
    this.pieces.push({ text: "", node: { type: "link", to: address, children: [{ type: "text", text: address }] } });
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
