// @ts-check
// Deciding the drafts of one turn together: all of what each changes is shown, and exactly what was shown is sent.
// One that cannot be stored holds up none of the others.

import { get, post, sentence } from "../lib/api.js";
import { el, mount } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { t } from "../lib/words.js";
import { differenceNode } from "./differences.js";
import { cannotTell, loading, notice } from "./empties.js";
import { asOneself } from "./identity.js";
import { sheet } from "./sheets.js";
import { rowTitle } from "./titles.js";

/** @import { Card, DraftResult, Row } from "../types/api.js" */

/** A second tap in the same place is no second thought. */
const THINK_MS = 500;

/** @param {{id: string, status: string, change?: Row["change"]}} row */
export const isDraftThatWaits = (row) => row.status === "pending" && row.change?.target === "knowledge";

/** @param {string[]} ids */
export function decideTogether(ids) {
  const body = el("div", { class: "stack" }, loading());
  const foot = el("div", { class: "stack tight", "aria-live": "polite" });
  const dialog = sheet(t("together.title", { n: ids.length }), body, foot);
  dialog.classList.add("together");
  /** Those that can be decided, as they are shown. @type {Card[]} */
  let cards = [];
  const read = async () => {
    mount(body, loading());
    mount(foot);
    try {
      cards = await Promise.all(ids.map((id) => get(`/api/proposals/${id}/card`)));
    } catch (error) {
      mount(
        body,
        cannotTell(error, () => void read()),
      );
      return;
    }
    const left = cards.filter((card) => !isDraftThatWaits(card.row) || card.moved);
    cards = cards.filter((card) => !left.includes(card));
    mount(
      body,
      left.length > 0 ? notice("caution", t("together.left", { n: left.length })) : null,
      ...cards.map(draftPart),
    );
    rest();
  };
  /** @param {string} [focus] */
  const rest = (focus) => {
    if (cards.length === 0) return mount(foot, el("p", { class: "muted" }, t("together.none")));
    mount(
      foot,
      el(
        "div",
        { class: "decide" },
        el(
          "button",
          { type: "button", class: "button primary approve", disabled: !isLive(), onclick: sure },
          t("together.approve", { n: cards.length }),
        ),
        el(
          "button",
          { type: "button", class: "button reject", disabled: !isLive(), onclick: why },
          t("together.reject", { n: cards.length }),
        ),
      ),
    );
    if (focus) /** @type {HTMLElement | null} */ (foot.querySelector(focus))?.focus();
    return undefined;
  };
  const sure = () => {
    const yes = /** @type {HTMLButtonElement} */ (
      el(
        "button",
        { type: "button", class: "button danger yes", disabled: true, onclick: () => void send("approve") },
        t("together.yes", { n: cards.length }),
      )
    );
    setTimeout(() => {
      yes.disabled = false;
    }, THINK_MS);
    const back = el(
      "button",
      { type: "button", class: "button back", onclick: () => rest(".approve") },
      t("card.back"),
    );
    mount(
      foot,
      el(
        "div",
        { class: "decide", role: "group", "aria-label": t("card.sure") },
        el("p", { class: "wide" }, t("together.sure", { n: cards.length })),
        back,
        yes,
      ),
    );
    back.focus();
  };
  const why = () => {
    const reason = /** @type {HTMLInputElement} */ (
      el("input", {
        class: "input",
        maxLength: 400,
        "aria-label": t("card.own_reason"),
        placeholder: t("card.own_reason"),
      })
    );
    mount(
      foot,
      el(
        "form",
        {
          class: "decide",
          onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            void send("reject", reason.value.trim());
          },
        },
        el("div", { class: "wide" }, reason),
        el("button", { type: "button", class: "button back", onclick: () => rest(".reject") }, t("card.back")),
        el("button", { class: "button danger" }, t("together.reject_yes", { n: cards.length })),
      ),
    );
    reason.focus();
  };
  /** @param {"approve" | "reject"} decision @param {string} [reason] */
  const send = async (decision, reason = "") => {
    mount(foot, el("p", { class: "muted" }, t("card.sending")));
    const drafts = cards.map(({ row }) => ({ id: row.id, digest: row.digest, revision: row.revision }));
    try {
      const sent = { decision, drafts, ...(decision === "reject" && reason ? { reason } : {}) };
      const answer = await asOneself(() => post("/api/pending-changes/decide", sent));
      if (!answer) return rest(".approve");
      told(decision, answer.results);
    } catch (error) {
      rest();
      foot.prepend(notice("problem", sentence(error)));
    }
    return undefined;
  };
  /** @param {"approve" | "reject"} decision @param {DraftResult[]} results */
  const told = (decision, results) => {
    const failed = results.filter((one) => one.error);
    const nameOf = (/** @type {string} */ id) => cards.map(({ row }) => row).find((row) => row.id === id);
    mount(
      body,
      notice(
        failed.length > 0 ? "problem" : "info",
        t(decision === "approve" ? "together.approved" : "together.rejected", { n: results.length - failed.length }),
      ),
      failed.length > 0
        ? el(
            "ul",
            { class: "plain" },
            failed.map(({ id, error }) => {
              const row = nameOf(id);
              return el(
                "li",
                { class: "wrap" },
                el("a", { href: `#/inbox/${id}` }, row ? rowTitle(row) : id),
                `: ${error?.message ?? ""}`,
              );
            }),
          )
        : null,
    );
    const done = el("button", { type: "button", class: "button", onclick: () => dialog.close() }, t("sheet.close"));
    mount(foot, el("p", {}, done));
    done.focus();
  };
  void read();
}

/** @param {Card} card */
const draftPart = (card) =>
  el(
    "section",
    { class: "card stack tight" },
    el("h3", { class: "wrap" }, rowTitle(card.row)),
    el(
      "ul",
      { class: "plain small" },
      (card.row.change?.summary ?? []).map((line) => el("li", {}, line)),
    ),
    card.row.reason ? el("blockquote", { class: "why" }, el("p", {}, card.row.reason)) : null,
    card.difference
      ? differenceNode(card.difference, null)
      : el("pre", { class: "diff", tabIndex: 0, "aria-label": t("card.diff") }, card.row.change?.diff ?? ""),
  );
