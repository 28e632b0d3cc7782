// @ts-check
// Saying no to many at once. The button names how many, a second one confirms exactly those, each is sent
// by itself with what it was asked with, and what was not taken is said. There is no such thing for a yes.

import { post, sentence } from "../lib/api.js";
import { el, mount } from "../lib/dom.js";
import { isRow } from "../lib/items.js";
import { isLive } from "../lib/live.js";
import { t } from "../lib/words.js";
import { notice } from "../parts/empties.js";

/** @import { Row } from "../types/api.js" */
/** @import { Item } from "./filter.js" */

/** Fewer are answered one by one. */
const MANY = 3;

/** @param {() => Item[]} shown what the list shows now */
export function bulkReject(shown) {
  const node = el("div", { class: "stack tight", "aria-live": "polite" });
  /** Those that were meant when it was first pressed. @type {Row[] | null} */
  let meant = null;
  /** How far it is. @type {number | null} */
  let sent = null;
  /** @type {HTMLElement | null} */
  let told = null;
  /** What is drawn, so that a button under a finger stays. */
  let stamp = "";

  const waiting = () =>
    shown()
      .filter(isRow)
      .filter((item) => item.status === "pending");
  const send = async (/** @type {string} */ reason) => {
    const rows = meant ?? [];
    /** @type {string[]} */
    const problems = [];
    for (const [at, row] of rows.entries()) {
      sent = at;
      draw();
      try {
        await post(`/api/proposals/${row.id}/decide?wait=0`, {
          decision: "reject",
          digest: row.digest,
          ...(reason ? { reason } : {}),
        });
      } catch (error) {
        problems.push(`${row.label} (${row.code}): ${sentence(error)}`);
      }
    }
    const n = rows.length - problems.length;
    told = notice(
      problems.length > 0 ? "problem" : "info",
      el("p", {}, t("bulk.rejected", { n })),
      problems.length > 0
        ? el(
            "ul",
            { class: "plain" },
            problems.map((one) => el("li", { class: "wrap" }, one)),
          )
        : null,
    );
    meant = null;
    sent = null;
    draw();
  };
  const draw = () => {
    const n = waiting().length;
    const next = JSON.stringify([meant ? null : n >= MANY ? n : 0, meant?.length, sent, told !== null, isLive()]);
    if (next === stamp) return;
    stamp = next;
    if (sent !== null)
      return mount(node, el("p", { class: "muted" }, t("bulk.sending", { at: sent + 1, n: meant?.length ?? 0 })));
    if (!meant)
      return mount(
        node,
        told,
        n >= MANY
          ? el(
              "p",
              {},
              el(
                "button",
                { type: "button", class: "button quiet flush", disabled: !isLive(), onclick: () => begin() },
                t("bulk.ask", { n }),
              ),
            )
          : null,
      );
    const reason = /** @type {HTMLInputElement} */ (
      el("input", { class: "input", maxLength: 400, autocomplete: "off" })
    );
    return mount(
      node,
      el(
        "form",
        {
          class: "card stack tight",
          onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            void send(reason.value.trim());
          },
        },
        el("p", {}, t("bulk.sure", { n: meant.length })),
        el("label", { class: "field" }, el("span", {}, t("card.own_reason")), reason),
        el(
          "div",
          { class: "row-line" },
          el(
            "button",
            {
              type: "button",
              class: "button back",
              onclick: () => {
                meant = null;
                draw();
              },
            },
            t("card.back"),
          ),
          el("button", { class: "button danger", disabled: !isLive() }, t("bulk.yes", { n: meant.length })),
        ),
      ),
    );
  };
  const begin = () => {
    meant = waiting();
    told = null;
    draw();
    /** @type {HTMLElement | null} */ (node.querySelector(".back"))?.focus();
  };
  return { node, draw };
}
