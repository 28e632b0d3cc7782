// @ts-check
// Where a link in a model's text may lead, and what its letters mean.

export const ADDRESS_MAX = 2048;
/** Brackets within an address. */
const BRACKETS_MAX = 32;

/** They turn the reading order around, or only choose how a sign is drawn. */
const UNSEEN_MARKS = /[\u202a-\u202e\u2066-\u2069\ufe00-\ufe0f]|(?<=\p{Extended_Pictographic}\ufe0f?)\u200d(?=\p{Extended_Pictographic})/gu;
/** @type {Record<string, string>} */
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", hellip: "…", ndash: "–", mdash: "—" };

/** A text without marks that nobody sees. @param {string} text */
export const cleanMarkdown = (text) => text.replace(/\r/g, "").replace(UNSEEN_MARKS, "");

/**
 * A whole address of the web, of a mailbox, or of this page, without anything that browsers strip or rewrite.
 * @param {string} to
 */
export function isHarmless(to) {
  return /^(?:https?:\/\/|mailto:|#\/)/i.test(to) && !/[\s\\\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/.test(to);
}

/**
 * `(address "title")` after a bracket. The address counts only if it is harmless.
 * @param {string} text
 * @param {number} from
 * @returns {{to: string, end: number} | null}
 */
export function targetAfter(text, from) {
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
  // any, because a match and the arguments of a replacement have no common type
  const plain = to.replace(/\\([!-/:-@[-`{-~])/g, "$1").replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/g, (whole, ...parts) => entityMeant(/** @type {any} */ ([whole, ...parts])) || whole);
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
    if (open > BRACKETS_MAX) return -1;
  }
  return -1;
}

/** Signs at the end of a sentence are not part of an address. @param {string} address */
export function trimAddress(address) {
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

/** The letter that an entity means; nothing if there is none. @param {RegExpExecArray} found */
export function entityMeant(found) {
  const [, decimal, hex, name] = found;
  if (name) return ENTITIES[name] ?? "";
  const code = decimal ? Number.parseInt(decimal, 10) : Number.parseInt(hex ?? "", 16);
  const isLetter = code >= 32 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) && !(code >= 0x7f && code < 0xa0);
  return isLetter ? String.fromCodePoint(code).replace(UNSEEN_MARKS, "\ufffd") : "\ufffd";
}
