// @ts-check
// The one helper that makes elements. Text goes in as text; nothing here reads HTML.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {Child | Child[] | Child[][]} Content
 * @typedef {Record<string, unknown>} Props
 */

/**
 * Makes an element. `on…` are listeners, `class`, `role`, `for` and names with a dash are attributes, the
 * rest are properties where there is one.
 * @param {string} tag
 * @param {Props} [props]
 * @param {...Content} children
 * @returns {HTMLElement}
 */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) set(node, name, value);
  append(node, children);
  return node;
}

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {...SVGElement} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return /** @type {SVGElement} */ (node);
}

/** @param {HTMLElement} node @param {string} name @param {unknown} value */
function set(node, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name.startsWith("on")) node.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
  else if (name === "href") node.setAttribute("href", safeHref(String(value)));
  else if (name in node && !/^(class|role|for|.*-.*)$/.test(name)) Reflect.set(node, name, value);
  else node.setAttribute(name, value === true ? "" : String(value));
}

/** @param {Element} node @param {Content[]} children */
function append(node, children) {
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : visible(String(child)));
  }
}

/** Control, bidirectional and invisible characters: what makes a reader see something else than what is there. */
const DECEPTIVE =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\u{13430}-\u{1345f}\u{16fe4}\u{1bca0}-\u{1bca3}\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\p{Noncharacter_Code_Point}]/gu;

/**
 * Text as it is: what would not show as itself is shown as an escape, as on every other surface. Line
 * breaks and tabs stay.
 * @param {string} text
 */
export const visible = (text) =>
  text
    .replaceAll("\r\n", "\n")
    .replace(DECEPTIVE, (character) =>
      character === "\t" ? "    " : `\\u{${character.codePointAt(0)?.toString(16)}}`,
    );

/**
 * Replaces everything in an element.
 * @param {Element} node
 * @param {...Content} children
 */
export function mount(node, ...children) {
  node.replaceChildren();
  append(node, children);
}

/**
 * Shows a list in a container so that what stays, stays: nodes are found by key, moved only where the
 * order changed, and told of their new value. Focus and what is folded out survive.
 * @template T
 * @param {HTMLElement} container
 * @param {T[]} items
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => HTMLElement & {update?: (item: T) => void}} make
 */
export function keyed(container, items, keyOf, make) {
  /** @type {Map<string, HTMLElement & {update?: (item: T) => void}>} */
  const old = new Map();
  for (const node of [...container.children]) {
    const key = /** @type {HTMLElement} */ (node).dataset.key;
    if (key === undefined) node.remove();
    else old.set(key, /** @type {HTMLElement} */ (node));
  }
  /** @type {ChildNode | null} */
  let at = container.firstChild;
  for (const item of items) {
    const key = keyOf(item);
    let node = old.get(key);
    if (node?.update) node.update(item);
    else if (!node || node.dataset.stamp !== JSON.stringify(item)) {
      const next = make(item);
      next.dataset.key = key;
      if (!next.update) next.dataset.stamp = JSON.stringify(item);
      if (node === at) at = node?.nextSibling ?? null;
      node?.remove();
      node = next;
    }
    old.delete(key);
    if (node === at) at = at?.nextSibling ?? null;
    else container.insertBefore(node, at);
  }
  for (const node of old.values()) node.remove();
}

/**
 * Addresses of this page, of the web and of mailboxes; everything else goes nowhere.
 * @param {string} href
 */
function safeHref(href) {
  const plain = /^[^\s\\\u0000-\u001f]*$/.test(href);
  return plain && /^(#|\/(?!\/)|https?:\/\/|mailto:)/i.test(href) ? href : "#";
}

/** @param {string} selector @param {ParentNode} [root] */
export const find = (selector, root = document) => /** @type {HTMLElement | null} */ (root.querySelector(selector));
