// @ts-check
// Credentials that came back with an older copy of the database: confirmed or removed one by one.

import { get, post } from "../lib/api.js";
import { Resource } from "../lib/data.js";
import { el, keyed, mount } from "../lib/dom.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { asOneself } from "../parts/identity.js";
import { pill } from "../parts/states.js";
import { part, showing, twoStep } from "./pieces.js";

/** @import { Quarantined } from "../types/api.js" */

/** Nothing at all where nothing is in quarantine. @returns {import("./pieces.js").Section} */
export function quarantinePart() {
  const quarantine = new Resource(() => get("/api/quarantine"), /^access\./);
  const place = el("div", {});
  const list = el("ul", { class: "list" });
  const off = showing(
    quarantine,
    place,
    (value) => {
      if (value.quarantined.length === 0) return mount(place);
      if (!list.isConnected) mount(place, part(t("quarantine.title"), t("quarantine.about"), list));
      keyed(
        list,
        value.quarantined,
        (one) => `${one.kind} ${one.id}`,
        (one) => row(one, () => quarantine.refresh()),
      );
      return undefined;
    },
    { isSmall: true },
  );
  return { node: place, stop: off };
}

/** @param {Quarantined} one @param {() => void} refresh */
function row(one, refresh) {
  /** @param {"confirm" | "remove"} verb */
  const step = (verb) =>
    twoStep({
      word: t(`quarantine.${verb}`),
      label: `${t(`quarantine.${verb}`)}: ${one.name}`,
      ask: t(`quarantine.${verb}_ask`, { name: one.name }),
      yes: t(`quarantine.${verb}_yes`),
      act: async () => {
        await asOneself(() => post(`/api/quarantine/${verb}`, { kind: one.kind, id: one.id }));
        refresh();
      },
    });
  return el(
    "li",
    {},
    el(
      "div",
      { class: "item tall" },
      el(
        "span",
        { class: "grow" },
        el("span", { class: "row-line" }, el("strong", { class: "wrap" }, one.name), pill("waiting", "", one.kind)),
        el("span", { class: "muted small line wrap" }, t("tokens.made"), " ", time(one.made_at)),
      ),
      step("confirm"),
      step("remove"),
    ),
  );
}
