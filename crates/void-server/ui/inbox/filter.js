// @ts-check
// The filter of the Inbox: words, tier, who asked, where it acts. It stays while cards are opened and
// closed, and ends with the Inbox. It hides rows and says how many; it decides nothing.

import { actions } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";

/** @import { JoinItem, QuestionItem } from "../types/api.js" */
/** @import { RepeatedRow } from "../parts/repeats.js" */
/**
 * What waits, or what ended: that has no `kind`.
 * @typedef {RepeatedRow & {kind?: "proposal" | "draft" | "failure", group?: string | null}} RowItem
 * @typedef {JoinItem | QuestionItem | RowItem} Item
 */

/** From so many rows on it is there by itself; `/` brings it earlier. */
const ROWS_MIN = 4;

/** What a row can be chosen by, beside words. */
const CHOICES = /** @type {const} */ (["tier", "agent", "node"]);
const nothing = () => ({ words: "", tier: "", agent: "", node: "", isWanted: false });
let kept = nothing();

/**
 * @param {() => void} draw shows the list anew
 * @param {() => void} enter goes to the first row
 */
export function inboxFilter(draw, enter) {
  /** Where each action acts. @type {Map<string, string>} */
  let places = new Map();
  /** @type {Item[]} */
  let items = [];
  const field = /** @type {HTMLInputElement} */ (
    el("input", {
      class: "input",
      type: "search",
      placeholder: t("inbox.filter"),
      "aria-label": t("inbox.filter"),
      autocomplete: "off",
      value: kept.words,
      oninput: () => {
        kept.words = field.value;
        draw();
      },
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Escape" && !field.value) field.blur();
        if (event.key !== "Enter" && event.key !== "ArrowDown") return;
        event.preventDefault();
        enter();
      },
    })
  );
  const selects = CHOICES.map((name) => {
    const node = /** @type {HTMLSelectElement} */ (
      el("select", {
        class: "input",
        onchange: () => {
          kept[name] = node.value;
          draw();
        },
      })
    );
    return {
      name,
      node,
      label: el("label", { class: "inline" }, el("span", { class: "hidden-text" }, t(`inbox.${name}`)), node),
      shown: "",
    };
  });
  const found = el("span", { class: "muted small", role: "status" });
  const choices = el(
    "div",
    { class: "filter-choices" },
    selects.map(({ label }) => label),
  );
  const bar = el(
    "div",
    { class: "stack tight", role: "search", hidden: true },
    el("div", { class: "filter-words" }, field, found),
    choices,
  );

  /** @param {Item} item */
  const placeOf = (item) =>
    item.kind === "join" ? item.name : item.kind === "question" ? "" : (places.get(item.action_id ?? "") ?? "");
  /** @param {Item} item @returns {Record<typeof CHOICES[number], string>} */
  const factsOf = (item) =>
    item.kind === "join"
      ? { tier: "", agent: "", node: placeOf(item) }
      : item.kind === "question"
        ? { tier: "", agent: item.asker, node: "" }
        : { tier: item.tier, agent: item.requested_by.name, node: placeOf(item) };
  /** @param {Item} item */
  const textOf = (item) =>
    [
      ...(item.kind === "join"
        ? [item.name, item.from]
        : item.kind === "question"
          ? [item.code, item.asker, item.text, ...item.options]
          : [item.label, item.code, item.action_id, item.reason]),
      ...Object.values(factsOf(item)),
    ]
      .join(" ")
      .toLowerCase();
  const isOn = () => kept.words.trim() !== "" || CHOICES.some((name) => kept[name] !== "");
  const drawChoices = () => {
    for (const select of selects) {
      const { name, node, label } = select;
      const values = [...new Set([...items.map((item) => factsOf(item)[name]), kept[name]])].filter(Boolean).sort();
      // With one to choose there is no choice.
      label.hidden = values.length < 2 && !kept[name];
      if (select.shown !== values.join("\n")) {
        select.shown = values.join("\n");
        mount(
          node,
          el("option", { value: "" }, t(`inbox.all_${name}s`)),
          ...values.map((value) => el("option", { value }, name === "tier" ? t(`tier.${value}`) : value)),
        );
      }
      node.value = kept[name];
    }
    choices.hidden = selects.every(({ label }) => label.hidden);
  };
  const off = actions.watch(({ value }) => {
    if (!value) return;
    places = new Map(value.actions.map((action) => [action.id, action.node ?? action.host ?? ""]));
    draw();
  });
  return {
    bar,
    isOn,
    /** Those of all that fit, and the bar as it is with them. @param {Item[]} all @returns {Item[]} */
    pass: (all) => {
      items = all;
      bar.hidden = !isOn() && !(kept.isWanted && all.length > 0) && all.length < ROWS_MIN;
      drawChoices();
      const words = kept.words.toLowerCase().split(/\s+/).filter(Boolean);
      const fitting = isOn()
        ? all.filter((item) => {
            const facts = factsOf(item);
            return (
              CHOICES.every((name) => !kept[name] || facts[name] === kept[name]) &&
              (words.length === 0 || words.every((word) => textOf(item).includes(word)))
            );
          })
        : all;
      const said = isOn() ? t("inbox.found", { n: fitting.length, all: all.length }) : "";
      if (found.textContent !== said) found.textContent = said;
      return fitting;
    },
    /** Puts the cursor into it. @returns {boolean} whether there is a list to filter */
    open: () => {
      if (items.length === 0 || !bar.parentElement?.checkVisibility()) return false;
      kept.isWanted = true;
      draw();
      field.focus();
      field.select();
      return true;
    },
    clear: () => {
      kept = { ...nothing(), isWanted: kept.isWanted };
      field.value = "";
      draw();
      field.focus();
    },
    /** @param {boolean} isOver whether the Inbox is left */
    stop: (isOver) => {
      off();
      if (isOver) kept = nothing();
    },
  };
}
