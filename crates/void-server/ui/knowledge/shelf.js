// @ts-check
// The pages of a space beside the one that is read, where there is room for three.

import { get } from "../lib/api.js";
import { el, keyed } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { hrefOf, listOf } from "./data.js";

const ROWS = 40;
/** Narrower than this there is no room, and nothing is asked. */
const WIDE = "(min-width: 1440px)";

/** @param {string} space @param {string} id of the one that is read */
export function pageShelf(space, id) {
  const list = el("ul", { class: "plain" });
  const node = el("nav", { class: "kb-shelf", "aria-label": t("kb.shelf") }, list);
  const wide = matchMedia(WIDE);
  const source = listOf(async () => {
    const { pages, next } = await get(`/api/spaces/${space}/pages?limit=${ROWS}`);
    return { items: pages, next };
  });
  let off = () => {};
  const draw = () => {
    off();
    off = wide.matches
      ? source.watch(({ value }) =>
          keyed(
            list,
            (value?.items ?? []).map((one) => ({ id: one.id, title: one.title })),
            (one) => one.id,
            (one) =>
              el(
                "li",
                {},
                el(
                  "a",
                  { class: "wrap", href: hrefOf("page", one.id), "aria-current": one.id === id ? "page" : null },
                  one.title,
                ),
              ),
          ),
        )
      : () => {};
  };
  wide.addEventListener("change", draw);
  draw();
  return {
    node,
    stop: () => {
      wide.removeEventListener("change", draw);
      off();
    },
  };
}
