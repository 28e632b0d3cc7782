// @ts-check
// The one helper that makes elements. Text goes in as text; nothing here reads HTML.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {Record<string, any>} Props
 */

/**
 * Makes an element. `on…` are listeners, `class` and `data-…` and `aria-…` attributes, the rest properties
 * where there is one.
 * @param {string} tag
 * @param {Props} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  set(node, props);
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

/** @param {HTMLElement} node @param {Props} props */
function set(node, props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "href") node.setAttribute("href", safeHref(String(value)));
    else if (name === "class" || name === "role" || name === "for" || name.includes("-")) {
      node.setAttribute(name, value === true ? "" : String(value));
    } else if (name in node) Reflect.set(node, name, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
}

/** @param {Element} node @param {any[]} children */
function append(node, children) {
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Replaces everything in an element.
 * @param {Element} node
 * @param {...(Child | Child[])} children
 */
export function mount(node, ...children) {
  node.replaceChildren();
  append(node, children);
}

/**
 * Addresses of this page, of the web and of mailboxes; everything else goes nowhere.
 * @param {string} href
 */
export function safeHref(href) {
  const plain = /^[^\s\\\u0000-\u001f]*$/.test(href);
  return plain && /^(#|\/(?!\/)|https?:\/\/|mailto:)/i.test(href) ? href : "#";
}

/** @param {string} selector @param {ParentNode} [root] */
export const find = (selector, root = document) =>
  /** @type {HTMLElement | null} */ (root.querySelector(selector));
