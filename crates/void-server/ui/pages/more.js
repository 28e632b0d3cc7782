// @ts-check
// The rest of the pages, for a phone whose bar has room for five.

import { home } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { askFreeze, thaw } from "../shell/freezing.js";
import { icon } from "../shell/icons.js";

export function morePage() {
  const freezer = el("button", {
    type: "button",
    class: "item",
    onclick: () => {
      if (home.value?.freeze.frozen) void thaw();
      else askFreeze();
    },
  });
  const node = el(
    "ul",
    { class: "list" },
    ["knowledge", "agents", "audit", "settings"].map((page) =>
      el("li", {}, el("a", { href: `#/${page}` }, icon(page), t(`nav.${page}`))),
    ),
    el("li", {}, freezer),
  );
  const stop = home.watch(({ value }) =>
    mount(freezer, icon("freeze"), t(value?.freeze.frozen ? "freeze.thaw" : "freeze.button")),
  );
  return { node, title: t("nav.more"), stop };
}
