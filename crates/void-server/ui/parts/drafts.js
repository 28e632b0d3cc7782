// @ts-check
// Asking again for a draft that was not stored: the same, made of what is there now. It waits for the owner like any
// other.

import { ApiError, post, sentence } from "../lib/api.js";
import { el } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { t } from "../lib/words.js";
import { notice } from "./empties.js";

/** @import { MergeConflict, Row } from "../types/api.js" */

/** What ended without anything having been stored. */
const UNDONE = ["rejected", "expired", "cancelled"];

/** @param {() => void} redraw */
export function againOf(redraw) {
  let isSending = false;
  /** The new draft. @type {string | null} */
  let made = null;
  /** @type {ApiError | null} */
  let refusal = null;
  /** @param {Row} row */
  const ask = async (row) => {
    isSending = true;
    redraw();
    try {
      made = (await post(`/api/proposals/${row.id}/again`)).id;
      refusal = null;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusal = error;
    }
    isSending = false;
    redraw();
  };
  /** @param {Row} row */
  const part = (row) =>
    made
      ? el(
          "p",
          { class: "row-line" },
          t("card.again_made"),
          el("a", { class: "button again", href: `#/inbox/${made}` }, t("again.look")),
        )
      : el(
          "div",
          { class: "stack tight" },
          refusal ? notice("problem", sentence(refusal), bothChanged(refusal.conflicts ?? [])) : null,
          el(
            "div",
            { class: "row-line" },
            el(
              "button",
              {
                type: "button",
                class: "button again",
                "data-keep": "again",
                disabled: isSending || !isLive(),
                onclick: () => void ask(row),
              },
              t(isSending ? "card.sending" : "card.again_draft"),
            ),
            el("span", { class: "muted small" }, t("card.again_draft_why")),
          ),
        );
  return {
    part,
    /** @param {Row} row */
    ended: (row) => (UNDONE.includes(row.status) ? part(row) : null),
    state: () => `${isSending} ${made} ${refusal?.message}`,
  };
}

/** Where both changed the same, each otherwise. @param {MergeConflict[]} conflicts */
const bothChanged = (conflicts) =>
  conflicts.map(({ line, draft, now }) =>
    el(
      "div",
      { class: "stack tight" },
      el("p", { class: "small" }, t("diff.line", { n: line })),
      el(
        "pre",
        { class: "diff", tabIndex: 0, "aria-label": t("card.diff") },
        el("span", { class: "diff-line removed" }, `${t("card.moved_now")}: ${now}\n`),
        el("span", { class: "diff-line added" }, `${t("card.in_draft")}: ${draft}\n`),
      ),
    ),
  );
