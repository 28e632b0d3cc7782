// @ts-check
// The requests that a turn made, where it was said: the same rows as in the Inbox, by id. What waits is
// a whole card; what is over is a line that opens.

import { ApiError, get } from "../lib/api.js";
import { el, mount } from "../lib/dom.js";
import { isOfProposal, onEvent } from "../lib/live.js";
import { t } from "../lib/words.js";
import { proposalCard } from "../parts/cards.js";
import { statePill } from "../parts/states.js";
import { rowTitle } from "../parts/titles.js";

/** @import { Row, TruthItemResponse, TruthResponse } from "../types/api.js" */

/** Rows are read when they come near, not with the whole history. */
const NEAR = "300px";

/** Everything that a turn's truth names, once. @param {TruthResponse} truth @returns {TruthItemResponse[]} */
export function requestsOf(truth) {
  const all = [...truth.waits, ...truth.unverified, ...truth.ran, ...truth.refused];
  return all.filter((item, index) => all.findIndex((other) => keyOfRequest(other) === keyOfRequest(item)) === index);
}

/** A draft of a turn that still runs. @param {{id: string, summary: string}} draft @returns {TruthItemResponse} */
export const liveItem = ({ id, summary }) => ({
  id,
  action_id: "",
  code: "",
  label: summary,
  reason: null,
  status: "pending",
});

/** @param {TruthItemResponse} item */
export const keyOfRequest = (item) => item.id || `wish-${item.action_id}-${item.label}`;

/**
 * @param {TruthItemResponse} item of a turn's truth
 * @param {() => boolean} isLast whether nothing later in the conversation names it; only there it is a whole card
 * @returns {HTMLElement & {update: (item: TruthItemResponse) => void}}
 */
export function requestNode(item, isLast) {
  const node = el("div", { class: "request" });
  if (!item.id) {
    mount(
      node,
      el(
        "p",
        { class: "request-line" },
        statePill({ display_state: "refused" }),
        el(
          "span",
          { class: "grow wrap" },
          item.label || item.action_id,
          item.reason ? el("span", { class: "muted" }, ` · ${item.reason}`) : null,
        ),
      ),
    );
    return Object.assign(node, { update: () => {} });
  }
  /** @type {Row | null} */
  let row = null;
  /** @type {(HTMLElement & {update: (row: Row) => void}) | null} */
  let card = null;
  let isNear = false;
  const draw = () => {
    const now = row ?? item;
    if (row && ((row.status === "pending" && isLast()) || card)) {
      if (!card) {
        card = proposalCard(row, { level: 2, isBrief: true });
        mount(node, card);
      } else card.update(row);
      return;
    }
    const open = el(
      "details",
      {
        class: "request-more",
        ontoggle: () => {
          if (/** @type {HTMLDetailsElement} */ (open).open && row && open.childElementCount === 1)
            open.append(proposalCard(row, { level: 2, isBrief: true }));
        },
      },
      el(
        "summary",
        { class: "request-line" },
        el(
          "span",
          { class: "grow wrap" },
          row ? rowTitle(row) : now.label,
          " ",
          el("code", { class: "muted" }, now.code),
        ),
        row ? statePill(row) : el("span", { class: "muted small" }, t("loading")),
      ),
    );
    mount(node, open);
  };
  const read = async () => {
    try {
      row = await get(`/api/proposals/${item.id}`);
      node.dispatchEvent(new CustomEvent("standing", { bubbles: true, detail: row }));
      const open = /** @type {HTMLDetailsElement | null} */ (node.querySelector("details"));
      // An open card keeps itself fresh.
      if (!open?.open) draw();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (!row)
        mount(
          node,
          el(
            "p",
            { class: "request-line" },
            el("a", { class: "grow wrap", href: `#/inbox/${item.id}` }, item.label),
            el("span", { class: "muted small" }, t("chat.request_unread")),
          ),
        );
    }
  };
  const near = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      isNear = true;
      near.disconnect();
      void read();
    },
    { rootMargin: NEAR },
  );
  near.observe(node);
  const off = onEvent((event) => {
    if (!node.isConnected) return off();
    if (isNear && isOfProposal(event) && event.data.id === item.id) void read();
    return undefined;
  });
  const update = () => {
    if (!card || isLast() || node.contains(document.activeElement)) return;
    card = null;
    draw();
  };
  draw();
  return Object.assign(node, { update });
}
