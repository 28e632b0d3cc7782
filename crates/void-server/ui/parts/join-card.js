// @ts-check
// The card of a machine that asks to be a node: its fingerprint is compared, and then it is let in or not.

import { del, post, sentence } from "../lib/api.js";
import { el, mount } from "../lib/dom.js";
import { isLive, onConnection } from "../lib/live.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { notice } from "./empties.js";
import { asOneself } from "./identity.js";

/** @import { CardNode } from "./cards.js" */
/** @import { JoinItem } from "../types/api.js" */

/**
 * A machine that asks to be a node.
 * @param {JoinItem} item
 * @returns {CardNode}
 */
export function joinCard(item) {
  const node = /** @type {CardNode} */ (el("article", { class: "card approval", "aria-label": item.name }));
  const foot = el("div", { class: "stack", "aria-live": "polite" });
  /** @typedef {"rest" | "sure" | "sending" | "admitted" | "refused"} JoinStep */
  let step = /** @type {JoinStep} */ ("rest");
  /** Why the last answer was not taken. @type {string | null} */
  let refusal = null;
  /** @param {"admitted" | "refused"} then @param {() => Promise<unknown>} act */
  const send = async (then, act) => {
    refusal = null;
    go("sending");
    try {
      // Whoever thought better of it is asked again.
      go((await asOneself(act)) ? then : "rest");
    } catch (error) {
      refusal = sentence(error);
      go("rest");
    }
  };
  /** @param {JoinStep} next @param {string} [focus] */
  const go = (next, focus) => {
    step = next;
    draw();
    if (focus) /** @type {HTMLElement | null} */ (foot.querySelector(focus))?.focus();
  };
  const draw = () => mount(foot, refusal ? notice("problem", refusal) : null, decision());
  const decision = () => {
    if (step === "admitted" || step === "refused") return notice("info", t(`join.${step}`));
    if (!isLive())
      return el(
        "div",
        { class: "decide" },
        el("button", { type: "button", class: "button wide", disabled: true }, t("card.not_connected")),
      );
    if (step === "sending")
      return el(
        "div",
        { class: "decide" },
        el("button", { type: "button", class: "button wide", disabled: true }, t("card.sending")),
      );
    if (step === "sure") return sure();
    return el(
      "div",
      { class: "decide" },
      el(
        "button",
        { type: "button", class: "button primary approve", onclick: () => go("sure", ".back") },
        t("join.admit"),
      ),
      el(
        "button",
        {
          type: "button",
          class: "button reject",
          onclick: () => void send("refused", () => del(`/api/nodes/${item.name}`)),
        },
        t("join.refuse"),
      ),
    );
  };
  const sure = () =>
    el(
      "div",
      { class: "decide", role: "group", "aria-label": t("card.sure") },
      el("p", { class: "wide" }, t("join.sure", { name: item.name })),
      el("button", { type: "button", class: "button back", onclick: () => go("rest", ".approve") }, t("card.back")),
      el(
        "button",
        {
          type: "button",
          class: "button danger yes",
          onclick: () =>
            void send("admitted", () => post(`/api/nodes/${item.name}/approve`, { fingerprint: item.fingerprint })),
        },
        t("join.yes"),
      ),
    );
  mount(
    node,
    el("h2", {}, t("join.title", { name: item.name })),
    el("p", {}, t("join.compare")),
    el("p", {}, el("code", { class: "wrap" }, item.fingerprint)),
    el(
      "dl",
      { class: "facts" },
      el("dt", {}, t("join.from")),
      el("dd", {}, item.from),
      el("dt", {}, t("join.version")),
      el("dd", {}, item.version ?? "–"),
      el("dt", {}, t("card.asked_by")),
      el("dd", {}, time(item.asked_at)),
    ),
    foot,
  );
  draw();
  const end = onConnection(() => (node.isConnected || step === "rest" ? draw() : end()));
  node.update = () => {};
  node.done = () => "pending";
  node.ask = (answer) =>
    /** @type {HTMLElement | null} */ (foot.querySelector(answer === "approve" ? ".approve" : ".reject"))?.[
      answer === "approve" ? "click" : "focus"
    ]();
  return node;
}
