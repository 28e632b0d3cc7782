// @ts-check
// Moving an agent: chosen by keyboard, pointer or drag, and done only after the difference in rights was shown. What is
// confirmed is the tree that was looked at: if it is another one by then, nothing is done.

import { ApiError, post, sentence } from "../lib/api.js";
import { el, mount, visible } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { t } from "../lib/words.js";
import { loading, notice } from "../parts/empties.js";
import { asOneself } from "../parts/identity.js";
import { sheet } from "../parts/sheets.js";
import { toast } from "../parts/toasts.js";
import { parentsFor, topology } from "./data.js";

/** @import { AgentMoveResponse, Member, TopologyResponse } from "../types/api.js" */

/**
 * @param {TopologyResponse} tree
 * @param {Member} member
 * @param {string} [wanted] whom it was dragged to
 */
export function askMove(tree, member, wanted) {
  const parents = parentsFor(tree, member).map(({ name }) => name);
  const title = t("agents.move_title", { name: visible(member.name) });
  if (parents.length === 0) return void sheet(title, el("p", {}, t("agents.move_nowhere")));
  const choice = /** @type {HTMLSelectElement} */ (
    el(
      "select",
      { class: "input", name: "parent", onchange: () => void look() },
      parents.map((name) => el("option", { value: name, selected: name === wanted }, name)),
    )
  );
  const told = el("div", { class: "stack tight move-told", "aria-live": "polite" });
  const go = /** @type {HTMLButtonElement} */ (
    el(
      "button",
      { type: "button", class: "button primary", disabled: true, onclick: () => void send() },
      t("agents.move_do"),
    )
  );
  /** The difference that is shown. @type {AgentMoveResponse | null} */
  let seen = null;
  let looks = 0;
  const path = /** @type {const} */ (`/api/agents/${encodeURIComponent(member.name)}/move`);
  const look = async () => {
    looks += 1;
    const mine = looks;
    seen = null;
    go.disabled = true;
    mount(told, loading());
    /** @type {AgentMoveResponse | null} */
    let answer = null;
    try {
      const asked = await asOneself(() => post(path, { parent: choice.value, dry_run: true }));
      answer = asked || null;
    } catch (error) {
      if (mine === looks) mount(told, notice("problem", sentence(error)));
      return;
    }
    if (mine !== looks) return;
    if (!answer) return void dialog.close();
    seen = answer;
    go.disabled = false;
    mount(told, difference(answer));
  };
  const send = async () => {
    if (!seen) return;
    if (!isLive()) return mount(told, difference(seen), notice("problem", t("freeze.not_connected")));
    const { before, to } = seen;
    go.disabled = true;
    try {
      const done = await asOneself(() => post(path, { parent: to, ...(before ? { commit: before } : {}) }));
      if (!done) return void (go.disabled = false);
    } catch (error) {
      if (error instanceof ApiError && error.code === "changed") await look();
      told.append(notice("problem", sentence(error)));
      return void (go.disabled = seen === null);
    }
    dialog.close();
    toast(t("agents.move_done", { name: visible(member.name), parent: to }));
    return void topology.read();
  };
  const dialog = sheet(
    title,
    el("label", { class: "field" }, el("span", {}, t("agents.move_to")), choice),
    told,
    el("div", { class: "row-line" }, go),
  );
  choice.focus();
  void look();
}

/** @param {AgentMoveResponse} answer */
const difference = (answer) =>
  el(
    "section",
    { class: "stack tight" },
    answer.below > 0 ? el("p", {}, t("agents.move_below", { n: answer.below })) : null,
    el("h3", {}, t("agents.move_changes")),
    answer.words.length === 0
      ? el("p", {}, t("agents.move_same"))
      : el(
          "ul",
          { class: "plain-list" },
          answer.words.map((words) => el("li", { class: "wrap" }, words)),
        ),
  );
