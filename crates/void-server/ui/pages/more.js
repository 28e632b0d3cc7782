// @ts-check
// The rest of the pages, for a phone whose bar has room for five.

import { el } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { askFreeze } from "../shell/frame.js";
import { icon } from "../shell/icons.js";

export function morePage() {
  const node = el("ul", { class: "list" },
    ["audit", "settings"].map((page) => el("li", {}, el("a", { href: `#/${page}` }, icon(page), t(`nav.${page}`)))),
    el("li", {}, el("button", { type: "button", class: "item", onclick: askFreeze }, icon("freeze"), t("freeze.button"))));
  return { node, title: t("nav.more") };
}
