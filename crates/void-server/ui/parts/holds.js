// @ts-check
// What agents above whoever asked, and the owner, put on a request: who it was, with their words marked as theirs, and
// the step that lifts a hold. A yes is a step of its own after it.

import { post, sentence } from "../lib/api.js";
import { el, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { notice } from "./empties.js";
import { asOneself } from "./identity.js";

/** @import { Row } from "../types/api.js" */

/** @param {Row} row */
export const isHeld = (row) => row.holds.some((hold) => hold.kind === "hold" && hold.lifted_at === null);

/**
 * @param {Row} row
 * @returns {HTMLElement[]}
 */
export const heldParts = (row) =>
  row.holds.map((hold) =>
    el(
      "blockquote",
      { class: "why" },
      el("p", { class: "small" }, t("card.from_above", { what: hold.sentence })),
      hold.words === null ? null : el("p", {}, hold.words),
      el("footer", { class: "muted small" }, hold.words_of),
      hold.taint.length > 0
        ? el("p", { class: "muted small" }, t("card.hold_read", { list: hold.taint.join(", ") }))
        : null,
    ),
  );

/**
 * In place of the yes, which does not count while it is held.
 * @param {Row} row
 * @param {() => void} reject
 */
export function heldStep(row, reject) {
  const said = el("div", { "aria-live": "polite" });
  const lift = el(
    "button",
    {
      type: "button",
      class: "button primary whole",
      "data-keep": "lift",
      onclick: async () => {
        lift.toggleAttribute("disabled", true);
        try {
          await asOneself(() => post(`/api/proposals/${row.id}/lift`));
        } catch (error) {
          mount(said, notice("problem", sentence(error)));
          lift.toggleAttribute("disabled", false);
        }
      },
    },
    t("card.lift"),
  );
  return el(
    "div",
    { class: "decide" },
    el("p", { class: "muted small wide" }, t("card.held_why")),
    lift,
    el("button", { type: "button", class: "button reject", onclick: reject }, t("card.reject")),
    said,
  );
}
