// @ts-check
// Emphasis, links and images from a row of pieces into a tree: marks are matched first and nested after.

import { isHarmless } from "./markdown-links.js";

/**
 * @typedef {{type: "text", text: string} | {type: "code", text: string} | {type: "break"} | {type: "image", alt: string}
 *   | {type: "link", to: string, children: Inline[]} | {type: "strong" | "em" | "del", children: Inline[]}} Inline
 * @typedef {{text: string, isPlain?: boolean, node?: Inline, opens?: Array<"strong" | "em" | "del">, closes?: number, link?: string, image?: boolean, ends?: boolean}} Piece
 * @typedef {{piece: number, mark: string, left: number, size: number, canOpen: boolean, canClose: boolean}} Mark
 */

/** Bold within italic within a link; deeper marks are dropped. */
const SPAN_DEPTH_MAX = 16;

/**
 * Pairs marks of emphasis from a place on, as CommonMark does it; every mark is looked at a bounded number of times.
 * @param {Mark[]} marks
 * @param {number} from
 * @param {Piece[]} pieces
 */
export function pairMarks(marks, from, pieces) {
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
export function nestPieces(pieces) {
  /** @type {Inline[]} */
  const root = [];
  /** What is open; one that is not shown adds to the one around it. @type {Array<{children: Inline[], isImage?: boolean, node?: Inline}>} */
  const stack = [{ children: root }];
  let depth = 0;
  let linksOpen = 0;
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
    if (done.node?.type === "link") linksOpen -= 1;
    if (done.isImage) add({ type: "image", alt: wordsOf(done.children) });
    else if (done.node) add(done.node);
  };
  /** @param {Inline[]} children @param {{isImage?: boolean, node?: Inline}} what */
  const open = (children, what) => {
    if (depth >= SPAN_DEPTH_MAX) return hide();
    depth += 1;
    if (what.node?.type === "link") linksOpen += 1;
    return void stack.push({ children, ...what });
  };
  for (const piece of pieces) {
    for (let times = piece.closes ?? 0; times > 0; times -= 1) close();
    if (piece.ends) close();
    // An address within a link is part of its words.
    if (piece.node?.type === "link" && linksOpen > 0) for (const child of piece.node.children) add(child);
    else if (piece.node) add(piece.node);
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
