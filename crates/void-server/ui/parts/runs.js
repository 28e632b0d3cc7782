// @ts-check
// What is safe is one tap: it runs where it is named, and its result is shown there. Lists are drawn anew
// while it runs; its card is kept and put back into its place.

import { get, post, sentence } from "../lib/api.js";
import { ended, home } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { t } from "../lib/words.js";
import { runsAtOnce } from "./again.js";
import { proposalCard } from "./cards.js";
import { notice } from "./empties.js";

/** @import { ActionResponse } from "../types/api.js" */

/** A result that nobody looked at any more is not shown again. */
const KEPT_MS = 10 * 60_000;

/** What was run here, by action. @type {Map<string, {node: HTMLElement, at: number}>} */
const kept = new Map();
/** @type {Set<string>} */
const sending = new Set();

/**
 * Whether one tap is enough: nobody is asked, and there is nothing to fill in.
 * @param {Pick<ActionResponse, "tier" | "risk" | "params">} action
 */
export const isOneTap = (action) => runsAtOnce(action) && Object.keys(action.params).length === 0;

/** Where the result of an action is shown. @param {string} id */
export const runSlot = (id) => el("div", { class: "run-slot", "data-run": id, "aria-live": "polite" });

/** Puts results back into their places. @param {ParentNode} root */
export function fillSlots(root) {
  for (const slot of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(".run-slot"))) {
    const found = kept.get(slot.dataset.run ?? "");
    if (!found || Date.now() - found.at > KEPT_MS) continue;
    if (found.node.parentNode !== slot) mount(slot, found.node);
  }
}

/**
 * @param {Pick<ActionResponse, "id">} action
 * @param {{words: string, name?: string, isPrimary?: boolean, began?: () => void}} how `name`: for whoever does not
 *   see what it stands beside
 */
export function runButton(action, { words, name, isPrimary = false, began }) {
  const isFrozen = home.value?.freeze.frozen === true;
  const isBusy = sending.has(action.id);
  const why = !isLive() ? t("card.not_connected") : isFrozen ? t("actions.frozen") : isBusy ? t("card.sending") : "";
  const button = /** @type {HTMLButtonElement} */ (
    el(
      "button",
      {
        type: "button",
        class: `button ${isPrimary ? "primary" : "small"} run-now`,
        disabled: why !== "",
        onclick: () => void run(),
      },
      why || words,
    )
  );
  if (name && !why) button.setAttribute("aria-label", name);
  /** @param {HTMLElement} node */
  const show = (node) => {
    kept.set(action.id, { node, at: Date.now() });
    fillSlots(document);
  };
  const run = async () => {
    if (sending.has(action.id)) return;
    sending.add(action.id);
    began?.();
    button.disabled = true;
    mount(button, t("card.sending"));
    try {
      const answer = await post(`/api/actions/${encodeURIComponent(action.id)}/run?wait=0`, {});
      show(proposalCard(await get(`/api/proposals/${answer.action_row_id}`), { level: 3, isBrief: true }));
      void ended.read();
    } catch (error) {
      show(notice("problem", sentence(error)));
    }
    sending.delete(action.id);
    button.disabled = false;
    mount(button, words);
  };
  return button;
}
