// @ts-check
// Every sentence of the page comes from the catalogue, by key. Nothing is put together from pieces.

import { AUDIT_STRINGS } from "../audit/strings.js";
import { CARD_STRINGS } from "../parts/strings.js";
import { STRINGS } from "../strings.js";

const plural = new Intl.PluralRules("en");

/** @typedef {Record<string, string | {one: string, other: string}>} Catalogue */

/** @type {Catalogue} */
const catalogue = { ...STRINGS, ...CARD_STRINGS, ...AUDIT_STRINGS };

/** The sentences of a page that is loaded when it is first wanted. @param {Catalogue} more */
export const addStrings = (more) => void Object.assign(catalogue, more);

/** Whether the owner wants no persona. */
export const isPlainVoice = () => localStorage.getItem("voice") === "plain";

/**
 * The text of a key. `{name}` is filled in; an entry with `one` and `other` is chosen by `n`.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const plain = catalogue[`${key}.plain`];
  const entry = plain !== undefined && isPlainVoice() ? plain : catalogue[key];
  if (entry === undefined) {
    console.error(`no text for ${key}`);
    return key;
  }
  const text =
    typeof entry === "string" ? entry : entry[plural.select(Number(values.n ?? 0)) === "one" ? "one" : "other"];
  return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}
