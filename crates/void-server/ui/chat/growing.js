// @ts-check
// A text that is being written: the server tells what became of its blocks, and only what changed is drawn.

import { mount, visible } from "../lib/dom.js";
import { MOMENTS } from "../lib/time.js";
import { blockNode } from "./markdown.js";

/** @typedef {import("./markdown.js").Block} Block */
/** @typedef {import("./markdown.js").Inline} Inline */
/** @typedef {{from: number, blocks: Block[], more: string, finished: number}} BlockChange */

/**
 * Blocks before `from` stay, the others are now `blocks`, then `more` is added to the last text of the last one.
 * @param {Block[]} blocks
 * @param {BlockChange} change
 */
export function changeBlocks(blocks, change) {
  blocks.splice(change.from, Infinity, ...change.blocks);
  const leaf = lastText(blocks.at(-1));
  if (leaf) leaf.text += change.more;
}

/**
 * What more is added to.
 * @param {Block | Inline | undefined} node
 * @returns {{text: string} | null}
 */
function lastText(node) {
  switch (node?.type) {
    case "text":
    case "code":
      return node;
    case "paragraph":
    case "heading":
    case "strong":
    case "emphasis":
    case "strikethrough":
      return lastText(node.inlines.at(-1));
    case "quote":
      return lastText(node.blocks.at(-1));
    case "list":
      return lastText(node.items.at(-1)?.at(-1));
    default:
      return null;
  }
}

/** Draws blocks in a place. What is the same as before stays as it is, with what is selected in it. */
export class GrowingText {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    /** @type {Block[]} */
    this.blocks = [];
    /** How much of the last text is drawn. */
    this.letters = 0;
  }

  /**
   * @param {Block[]} blocks everything so far; those that stay are the same objects
   * @returns {boolean} whether anything is different
   */
  show(blocks) {
    const hasGrown = this.#grow();
    const same = this.blocks.findIndex((block, at) => block !== blocks[at]);
    const kept = same < 0 ? this.blocks.length : same;
    const isDifferent = hasGrown || kept < Math.max(this.blocks.length, blocks.length);
    for (const node of [...this.place.children].slice(kept)) node.remove();
    this.place.append(...blocks.slice(kept).map(blockNode));
    this.blocks = [...blocks];
    this.letters = lastText(blocks.at(-1))?.text.length ?? 0;
    return isDifferent;
  }

  /** Adds to the last text, without drawing it anew. */
  #grow() {
    const text = lastText(this.blocks.at(-1))?.text ?? "";
    const more = text.slice(this.letters);
    if (!more) return false;
    /** @type {Node | null} */
    let last = this.place.lastElementChild;
    while (last?.lastChild) last = last.lastChild;
    if (last instanceof Text) last.appendData(visible(more));
    this.letters = text.length;
    return true;
  }

  /** As if nothing had been written. */
  reset() {
    mount(this.place);
    this.blocks = [];
    this.letters = 0;
  }

  /** Shows a text that is over; what stands there stays if it is the same. @param {Block[]} blocks */
  finish(blocks) {
    this.#grow();
    // A moment that came in pieces is not one yet.
    const isWhole = !(this.place.textContent ?? "").match(MOMENTS);
    if (isWhole && JSON.stringify(this.blocks) === JSON.stringify(blocks)) return;
    this.reset();
    this.show(blocks);
  }
}
