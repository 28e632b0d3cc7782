// @ts-check
// Asking again. A no is final in the record and nothing takes it back; what there is instead is a new
// request of the same action with the same parameters, by the owner. A risky one waits like any other.

import { get, post, sentence } from "../lib/api.js";
import { typed } from "../lib/commands.js";
import { el } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { t } from "../lib/words.js";
import { toast } from "./toasts.js";

/** @import { ActionResponse, Card, Row } from "../types/api.js" */

/** What may be asked for again: it ended without anything having been done. */
const UNDONE = ["rejected", "expired"];

/**
 * @typedef {object} Again
 * @property {(row: Row, card: Card | null) => HTMLElement | null} part what the card shows of it
 * @property {(row: Row, card: Card | null, takesFocus: boolean) => void} offer right after a no, for a moment
 */

/**
 * @param {(focus?: string) => void} redraw shows the part anew, and puts the focus where it was
 * @returns {Again}
 */
export function askingAgain(redraw) {
  /** The catalogue as it is now. @type {ActionResponse[] | null} */
  let all = null;
  let isReading = false;
  /** Why it could not be read. @type {string | null} */
  let problem = null;
  let isSending = false;
  /** The new request. @type {string | null} */
  let made = null;
  let endOffer = () => {};

  const read = async () => {
    isReading = true;
    try {
      all = (await get("/api/actions")).actions;
      problem = null;
    } catch (error) {
      problem = sentence(error);
    }
    isReading = false;
  };
  /** @param {Row} row @param {Card | null} card @returns {Promise<string | null>} why it was not sent */
  const send = async (row, card) => {
    // As the catalogue is at this moment, not when the card was drawn.
    await read();
    const trouble = problem ?? whyNot(row, card, all ?? []);
    if (trouble) return trouble;
    try {
      const answer = await post(`/api/actions/${encodeURIComponent(row.action_id ?? "")}/run?wait=0`, {
        params: row.params,
        reason: t(`again.reason_${row.status}`, { code: row.code }),
      });
      made = answer.action_row_id;
    } catch (error) {
      return sentence(error);
    }
    return null;
  };
  /** @param {Row} row @param {Card | null} card @param {string} [focus] */
  const ask = async (row, card, focus) => {
    if (isSending || made) return;
    isSending = true;
    endOffer();
    redraw();
    const trouble = await send(row, card);
    if (trouble) toast(trouble, { isProblem: true });
    isSending = false;
    redraw(focus);
  };
  return {
    part: (row, card) => {
      if (!UNDONE.includes(row.status)) return null;
      if (made)
        return el(
          "div",
          { class: "row-line" },
          el("a", { class: "button again", href: `#/inbox/${made}` }, t("again.look")),
        );
      if (isSending)
        return el(
          "div",
          { class: "row-line" },
          el("button", { type: "button", class: "button again", disabled: true }, t("card.sending")),
        );
      if (!isLive()) {
        problem = null;
        return el(
          "div",
          { class: "row-line" },
          el("button", { type: "button", class: "button again", disabled: true }, t("card.not_connected")),
          el("span", { class: "muted small" }, t("again.not_connected")),
        );
      }
      if (problem) return el("p", { class: "muted" }, t("again.unread", { why: problem }));
      if (!all) {
        if (!isReading) void read().then(() => redraw());
        return null;
      }
      const words = whyNot(row, card, all);
      const action = actionOf(row, all);
      if (words || !action)
        return el(
          "p",
          { class: "muted wrap" },
          words,
          " ",
          action ? el("a", { href: `#/lab/actions/${encodeURIComponent(action.id)}` }, t("again.changed_way")) : null,
        );
      return el(
        "div",
        { class: "row-line" },
        el(
          "button",
          { type: "button", class: "button again", "data-keep": "again", onclick: () => void ask(row, card, ".again") },
          t("again.ask"),
        ),
        el("span", { class: "muted small" }, t(runsAtOnce(action) ? "card.inverse_runs" : "card.inverse_waits")),
      );
    },
    offer: (row, card, takesFocus) => {
      const onclick = async () => {
        await ask(row, card);
        if (made)
          toast(t(runsAtOnce(actionOf(row, all ?? []) ?? row) ? "run.sent" : "run.queued"), {
            href: `#/inbox/${made}`,
            label: t("run.look"),
            takesFocus,
          });
      };
      endOffer = toast(t(runsAtOnce(row) ? "again.rejected_safe" : "again.rejected"), {
        label: t("again.ask"),
        onclick: () => void onclick(),
        takesFocus,
      });
    },
  };
}

/** @param {Row} row @param {ActionResponse[]} all */
const actionOf = (row, all) => all.find((action) => action.id === row.action_id);

/** Whether nobody is asked when the owner names it. @param {{tier: string, risk: string}} action */
export const runsAtOnce = ({ tier, risk }) => tier === "safe" && risk === "nominal";

/** @param {Row} row @param {Card | null} card @param {ActionResponse[]} all @returns {string | null} */
function whyNot(row, card, all) {
  if (row.subject === "change") return t("again.change", { command: typed("void actions propose") });
  const action = actionOf(row, all);
  if (!action) return t("again.gone", { id: row.action_id ?? "" });
  // The digest binds the parameters too; with some, the server knows.
  const isPlain = Object.keys(row.params ?? {}).length === 0;
  return (isPlain ? action.digest === row.digest : card?.changed !== true) ? null : t("again.changed");
}
