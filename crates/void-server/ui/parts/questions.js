// @ts-check
// A question of an agent to the owner: its words, marked as its own, and two ways to answer: a button for each option,
// and a field. An answer approves nothing.

import { post, sentence } from "../lib/api.js";
import { el, mount } from "../lib/dom.js";
import { isLive, onConnection } from "../lib/live.js";
import { clock, time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { notice } from "./empties.js";
import { readNodes } from "./taints.js";

/** @import { QuestionItem } from "../types/api.js" */
/** @import { CardNode } from "./cards.js" */

const WORDS_MAX = 4096;

/**
 * @param {QuestionItem} item
 * @returns {CardNode}
 */
export function questionCard(item) {
  const node = /** @type {CardNode} */ (el("article", { class: "card approval", "aria-label": item.code }));
  const foot = el("div", { class: "stack", "aria-live": "polite" });
  const field = /** @type {HTMLInputElement} */ (
    el("input", { class: "input", maxLength: WORDS_MAX, autocomplete: "off", "aria-label": t("question.words") })
  );
  let step = /** @type {"rest" | "sending" | "answered" | "cancelled"} */ ("rest");
  /** Why the last answer was not taken. @type {string | null} */
  let refusal = null;
  /** @param {"answered" | "cancelled"} then @param {() => Promise<unknown>} act */
  const send = async (then, act) => {
    refusal = null;
    step = "sending";
    draw();
    try {
      await act();
      step = then;
    } catch (error) {
      refusal = sentence(error);
      step = "rest";
    }
    draw();
  };
  /** @param {{text: string} | {option: number}} answer */
  const reply = (answer) => void send("answered", () => post(`/api/questions/${item.id}/answer`, answer));
  /** @param {string} words */
  const still = (words) =>
    el("div", { class: "decide" }, el("button", { type: "button", class: "button wide", disabled: true }, words));
  const decision = () => {
    if (step === "answered" || step === "cancelled") return notice("info", t(`question.${step}`));
    if (!isLive()) return still(t("card.not_connected"));
    if (step === "sending") return still(t("card.sending"));
    return el(
      "form",
      {
        class: "stack",
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          if (field.value.trim()) reply({ text: field.value });
        },
      },
      item.options.map((option, at) =>
        el("button", { type: "button", class: "button wide wrap", onclick: () => reply({ option: at + 1 }) }, option),
      ),
      field,
      el(
        "div",
        { class: "decide" },
        el("button", { type: "submit", class: "button primary" }, t("question.answer")),
        el(
          "button",
          {
            type: "button",
            class: "button reject",
            onclick: () => void send("cancelled", () => post(`/api/questions/${item.id}/cancel`)),
          },
          t("question.cancel"),
        ),
      ),
    );
  };
  const draw = () => mount(foot, refusal ? notice("problem", refusal) : null, decision());
  mount(
    node,
    el("h2", {}, t("question.title", { name: item.asker })),
    el(
      "blockquote",
      { class: "why" },
      el("p", { class: "wrap" }, item.text),
      el("footer", { class: "muted small" }, t("card.words_of", { name: item.asker })),
    ),
    item.taint.length > 0 ? el("p", { class: "wrap" }, t("question.read"), " ", ...readNodes(item.taint)) : null,
    el(
      "p",
      { class: "muted small" },
      `${item.code} · `,
      time(item.asked_at),
      ` · ${t("question.expires", { at: clock(item.expires_at) })}`,
    ),
    foot,
  );
  draw();
  const end = onConnection(() => (node.isConnected || step === "rest" ? draw() : end()));
  node.update = () => {};
  node.done = () => "pending";
  node.ask = () => foot.querySelector("button")?.focus();
  return node;
}
