// @ts-check
// What a draft changes, word by word or line by line, all of it: what a yes is for. And what is there now instead,
// where what it was made of was changed meanwhile.

import { el, mount } from "../lib/dom.js";
import { person } from "../lib/people.js";
import { clock } from "../lib/time.js";
import { t } from "../lib/words.js";
import { notice } from "./empties.js";
import { spansNode } from "./spans.js";

/** @import { Difference, MovedBase } from "../types/api.js" */

/** How something hides, before it is read. @param {string[]} hidden */
export const hidesNote = (hidden) =>
  hidden.length === 0
    ? null
    : notice(
        "caution",
        el("p", {}, t("card.hides")),
        el(
          "ul",
          { class: "plain" },
          hidden.map((one) => el("li", {}, one)),
        ),
      );

/**
 * A choice between words and lines, and what was chosen.
 * @param {() => HTMLElement | HTMLElement[]} byWords
 * @param {(() => HTMLElement) | null} byLines
 */
export function twoWays(byWords, byLines) {
  const body = el("div", { class: "stack tight" });
  const buttons = /** @type {const} */ (["words", "lines"]).map((way) =>
    el("button", { type: "button", "data-way": way, onclick: () => show(way) }, t(`diff.${way}`)),
  );
  /** @param {"words" | "lines"} way */
  const show = (way) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.way === way));
    mount(body, way === "lines" && byLines ? byLines() : byWords());
  };
  show("words");
  const choice = byLines
    ? el("div", { class: "segmented small", role: "group", "aria-label": t("diff.way") }, buttons)
    : null;
  return { body, choice };
}

/**
 * @param {Difference} difference
 * @param {(() => HTMLElement) | null} byLines
 */
export function differenceNode(difference, byLines) {
  const { parts, hidden } = difference;
  const { body, choice } = twoWays(
    () =>
      parts.map((part) =>
        el(
          "div",
          { class: "difference-part" },
          el(
            "p",
            { class: "muted small" },
            t("diff.line", { n: part.line }),
            part.grain === "words" ? "" : ` · ${t(`diff.by_${part.grain}`)}`,
          ),
          spansNode(part.spans, { isWhole: true }),
        ),
      ),
    byLines,
  );
  return el(
    "div",
    { class: "difference stack tight" },
    choice ? el("div", { class: "row-line difference-way" }, choice) : null,
    hidesNote(hidden),
    body,
  );
}

/** Both sides: what the draft was made of is not there any more. @param {MovedBase} moved */
export const movedNote = (moved) =>
  el(
    "div",
    { class: "notice caution stack tight moved" },
    el(
      "p",
      {},
      el("strong", {}, t(moved.gone ? "card.gone_base" : "card.moved")),
      " ",
      moved.gone
        ? ""
        : t("card.moved_by", {
            name: person(moved.updated_by ?? "system"),
            at: clock(moved.updated_at ?? ""),
            n: moved.revision ?? 0,
          }),
    ),
    moved.gone ? null : el("p", {}, t("card.moved_why")),
    moved.difference
      ? el(
          "details",
          {},
          el("summary", {}, t("card.moved_since")),
          moved.difference.parts.map((part) => spansNode(part.spans, { isWhole: true })),
        )
      : null,
    moved.body !== null
      ? el(
          "details",
          {},
          el("summary", {}, t("card.moved_now")),
          el("pre", { class: "diff", tabIndex: 0, "aria-label": t("card.moved_now") }, moved.body),
        )
      : null,
  );
