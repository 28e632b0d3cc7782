// @ts-check
// How a proposal goes on once it was decided: its steps, who ended it, what the owner says of an outcome that nobody
// knows, and the way back.

import { post, sentence } from "../lib/api.js";
import { el } from "../lib/dom.js";
import { person, requesterName } from "../lib/people.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { asOneself } from "./identity.js";
import { toast } from "./toasts.js";

/** @import { Card, Inverse, Row } from "../types/api.js" */

/**
 * @param {Row} row
 * @param {Card | null} card
 * @param {{again: import("./again.js").Again, redraft: ReturnType<typeof import("./drafts.js").againOf>}} ways
 */
export function cardEnding(row, card, { again, redraft }) {
  const parts = [];
  const progress = row.result?.progress;
  if (progress)
    parts.push(el("pre", { class: "log", tabIndex: 0, "aria-label": t("card.progress") }, progress.join("\n")));
  if (["approved", "running"].includes(row.status)) parts.push(steps(row));
  if (row.resolved_at) parts.push(el("p", { class: "muted small" }, endedBy(row), " ", time(row.resolved_at)));
  if (row.status === "unknown") parts.push(settle(row));
  parts.push(row.change?.target === "knowledge" ? redraft.ended(row) : again.part(row, card));
  if (row.status === "executed" && card?.inverse) {
    const { inverse } = card;
    parts.push(
      el(
        "div",
        { class: "row-line" },
        el(
          "button",
          { type: "button", class: "button", onclick: () => void runInverse(inverse, row) },
          t("card.inverse", { label: inverse.label }),
        ),
        el("span", { class: "muted small" }, t(inverse.tier === "risky" ? "card.inverse_waits" : "card.inverse_runs")),
      ),
    );
  }
  return parts;
}

/** Who asked and who let it through, in few words. @param {Row} row */
function endedBy(row) {
  const asked = requesterName(row.requested_by);
  const approved = row.transitions.find((step) => step.to === "approved")?.by;
  if (approved === "policy") return t("card.ended_policy", { name: asked });
  return approved ? t("card.ended_approved", { name: asked, by: person(approved) }) : t("card.ended", { name: asked });
}

/** Every step that the server recorded. @param {Row} row */
export function steps(row) {
  const checked =
    row.verification === "verified" ? "verified" : row.verification === "failed" ? "check_failed" : "unverified";
  return el(
    "ol",
    { class: "steps" },
    row.transitions.map((step) => {
      const isPolicy = step.to === "approved" && step.by === "policy";
      return el(
        "li",
        {},
        t(isPolicy ? "step.let_through" : `step.${step.to}`),
        " ",
        el(
          "span",
          { class: "muted" },
          isPolicy ? "" : [t("step.by", { name: person(step.by) }), " · "],
          time(step.at, "clock"),
        ),
      );
    }),
    row.verification ? el("li", {}, t(`step.${checked}`)) : null,
  );
}

/** @param {Row} row */
function settle(row) {
  /** @param {"executed" | "failed"} outcomeWord */
  const say = async (outcomeWord) => {
    try {
      await asOneself(() => post(`/api/proposals/${row.id}/settle`, { outcome: outcomeWord }));
    } catch (error) {
      toast(sentence(error), { isProblem: true });
    }
  };
  return el(
    "div",
    {
      class: "stack tight settle",
      role: "group",
      "aria-label": t("settle.title"),
      tabIndex: -1,
      "data-keep": "settle",
    },
    el("p", {}, t("settle.ask")),
    el(
      "div",
      { class: "decide" },
      el(
        "button",
        { type: "button", class: "button", "data-keep": "ran", onclick: () => void say("executed") },
        t("settle.ran"),
      ),
      el(
        "button",
        { type: "button", class: "button", "data-keep": "not", onclick: () => void say("failed") },
        t("settle.not"),
      ),
    ),
  );
}

/** @param {Inverse} inverse @param {Row} row */
async function runInverse(inverse, row) {
  try {
    const answer = await post(`/api/actions/${inverse.id}/run?wait=0`, {
      reason: t("card.inverse_reason", { code: row.code }),
    });
    toast("queued" in answer ? t("run.queued") : t("run.sent"), {
      href: `#/inbox/${answer.action_row_id}`,
      label: t("run.look"),
    });
  } catch (error) {
    toast(sentence(error), { isProblem: true });
  }
}
