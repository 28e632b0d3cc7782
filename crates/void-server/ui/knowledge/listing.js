// @ts-check
// A page of Knowledge that is one list: the wait, what is wrong, what stands around it, its rows, and the way to more.

import { watchTogether } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { loading } from "../parts/empties.js";
import { spaceList } from "./data.js";
import { notThere, oldNote } from "./pieces.js";

/**
 * @template T
 * @typedef {object} Listing
 * @property {ReturnType<typeof import("./data.js").listOf<T>>} source
 * @property {import("../lib/data.js").Watched[]} [beside] what else the rows show
 * @property {HTMLElement} list
 * @property {(list: HTMLElement, foot: HTMLElement) => HTMLElement[]} around all of the page, once
 * @property {(items: T[], list: HTMLElement) => void} rows
 * @property {() => HTMLElement} none what is said where there is none
 */

/** @template T @param {Listing<T>} how */
export function listing({ source, beside = [], list, around, rows, none }) {
  const foot = el("div", { class: "stack tight" });
  const node = el("div", { class: "stack kb" }, loading());
  let isDrawn = false;
  const draw = () => {
    const { value, error } = source;
    if (!value)
      return mount(
        node,
        notThere(error, () => void source.read()),
      );
    if (!isDrawn) {
      isDrawn = true;
      mount(node, ...around(list, foot));
    }
    rows(value.items, list);
    list.hidden = value.items.length === 0;
    mount(
      foot,
      oldNote(error),
      value.items.length === 0 ? none() : null,
      value.next === null
        ? null
        : el(
            "p",
            {},
            el("button", { type: "button", class: "button", onclick: () => void source.more() }, t("inbox.more")),
          ),
    );
    return undefined;
  };
  const { stop } = watchTogether([source, ...beside, spaceList], draw);
  return { node, title: t("nav.knowledge"), stop };
}
