// @ts-check
// A kept text as a document: the tree that the server made of it, with headings that one can walk by.

import { blockNode, inlineNodes } from "../chat/markdown.js";
import { el } from "../lib/dom.js";

/** @import { Block } from "../types/api.js" */

const DEEPEST = 6;

/**
 * The headings of a text are below the one that it stands under, none of them more than one step deeper than the one
 *   before.
 * @param {Block[]} blocks
 * @param {number} above the level of the heading above
 */
export function docNodes(blocks, above) {
  /** The text's own levels of the headings that are open. @type {number[]} */
  const open = [];
  return blocks.map((block) => {
    if (block.type !== "heading") return blockNode(block);
    while (open.length > 0 && (open.at(-1) ?? 0) >= block.level) open.pop();
    open.push(block.level);
    return el(`h${Math.min(above + open.length, DEEPEST)}`, { class: "doc-heading" }, inlineNodes(block.inlines));
  });
}
