// @ts-check
// What differs between two texts, by words: what went, what came, and how something of it hides from a reader. By
// sign and colour for those who see, by a word for those who hear. Long stretches that are the same are folded, not
// left out.

import { el } from "../lib/dom.js";
import { t } from "../lib/words.js";

/** @import { DiffSpan } from "../types/api.js" */

/** Of what is the same, so much stays around a change. */
const AROUND_LINES = 2;
/** Fewer lines are not worth a fold. */
const FOLD_FROM = 6;

const SIGNS = { added: "+", removed: "−", same: "" };

/**
 * @param {DiffSpan[]} spans
 * @param {{isWhole?: boolean}} [how] whole: nothing is folded
 */
export const spansNode = (spans, { isWhole = false } = {}) =>
  el(
    "div",
    { class: isWhole ? "spans whole" : "spans", tabIndex: 0, role: "group", "aria-label": t("card.diff") },
    spans.flatMap((span, at) =>
      span.kind !== "same"
        ? [changed(span)]
        : isWhole
          ? [span.text]
          : same(span.text, at === 0, at === spans.length - 1),
    ),
  );

/** @param {DiffSpan} span */
function changed({ kind, text, hidings = [] }) {
  const node = el(
    kind === "added" ? "ins" : "del",
    { class: hidings.length > 0 ? "hides" : "" },
    el("span", { class: "hidden-text" }, t(`card.diff_${kind}`), " "),
    el("span", { class: "sign", "aria-hidden": "true" }, SIGNS[kind]),
    shownBlanks(text, hidings),
  );
  if (hidings.length === 0) return node;
  return el("span", {}, node, el("span", { class: "hides-why" }, hidings.map((one) => t(`hides.${one}`)).join(", ")));
}

/** Where only blanks change, they are seen. @param {string} text @param {string[]} hidings */
const shownBlanks = (text, hidings) =>
  hidings.includes("blanks_only") || text.trim() === ""
    ? text.replaceAll(" ", "·").replaceAll("\t", "→").replaceAll("\n", "↵\n")
    : text;

/** @param {string} text @param {boolean} isFirst @param {boolean} isLast @returns {(string | HTMLElement)[]} */
function same(text, isFirst, isLast) {
  const lines = text.split("\n");
  const before = isFirst ? 0 : AROUND_LINES;
  const after = isLast ? 0 : AROUND_LINES;
  const hidden = lines.length - before - after;
  if (hidden < FOLD_FROM) return [text];
  const [head, middle, tail] = [
    lines.slice(0, before),
    lines.slice(before, lines.length - after),
    lines.slice(lines.length - after),
  ].map((part) => part.join("\n"));
  return [
    head ? `${head}\n` : "",
    el("details", {}, el("summary", {}, t("card.same_lines", { n: hidden })), middle ?? ""),
    tail ?? "",
  ];
}
