// @ts-check
// The tree: who stands under whom and how each stands. A row can be dragged onto another one; whoever has no pointer
// moves an agent on its own page. Nothing moves before the difference was shown.

import { agents, watchTogether } from "../lib/data.js";
import { el, find, mount, visible } from "../lib/dom.js";
import { costWords } from "../parts/money.js";
import { t } from "../lib/words.js";
import { cannotTell, loading, notice } from "../parts/empties.js";
import { sentence } from "../lib/api.js";
import { agentHref, childrenOf, isRoot, memberOf, parentsFor, processOf, topology } from "./data.js";
import { askMove } from "./moving.js";
import { placeWords, processPill } from "./pieces.js";

/** @import { Agent, Member, TopologyResponse } from "../types/api.js" */

const DRAGGED = "application/x-void-agent";

export function treePage() {
  const troubles = el("div", { class: "stack tight" });
  const rows = el("div");
  const place = el("div", { class: "stack" }, loading());
  const node = el("div", { class: "stack agents" }, place);
  let drawn = "";
  const draw = () => {
    const { value, error } = topology;
    if (!value) return mount(place, error ? cannotTell(error, () => void topology.read()) : loading());
    if (!rows.isConnected) mount(place, el("p", { class: "muted" }, t("agents.what")), troubles, rows);
    mount(troubles, error ? notice("problem", sentence(error), " ", t("agents.old")) : null, problems(value));
    const known = agents.value?.agents ?? [];
    const stamp = JSON.stringify([value, known]);
    // A row under a finger, or one that is dragged, stays.
    if (stamp === drawn) return;
    drawn = stamp;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.agent : undefined;
    mount(rows, whole(value, known));
    if (focused !== undefined) find(`[data-agent="${CSS.escape(focused)}"]`, rows)?.focus({ preventScroll: true });
  };
  const together = watchTogether([topology, agents], draw);
  return {
    node,
    title: t("nav.agents"),
    stop: () => together.stop(),
    keys: { j: () => step(rows, 1), k: () => step(rows, -1) },
  };
}

/** @param {HTMLElement} rows @param {number} by */
function step(rows, by) {
  const links = /** @type {HTMLElement[]} */ ([...rows.querySelectorAll("a[data-agent]")]);
  const at = links.findIndex((link) => link === document.activeElement);
  links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
}

/** @param {TopologyResponse} tree */
const problems = (tree) =>
  tree.problems.length === 0
    ? null
    : notice(
        "problem",
        el("p", {}, t("agents.problem")),
        el(
          "ul",
          { class: "plain-list" },
          tree.problems.map((words) => el("li", { class: "wrap" }, words)),
        ),
        el("a", { href: "#/settings/doctor" }, t("agents.problem_way")),
      );

/** @param {TopologyResponse} tree @param {Agent[]} known */
function whole(tree, known) {
  const roots = tree.agents.filter(isRoot);
  const lost = tree.agents.filter((member) => member.depth === null);
  const canDrag = tree.agents.some((member) => !isRoot(member) && parentsFor(tree, member).length > 0);
  return [
    el(
      "section",
      { class: "card", "aria-label": t("agents.tree") },
      el(
        "ul",
        { class: "agent-tree" },
        [...roots, ...lost].map((member) => branch(tree, known, member)),
      ),
    ),
    tree.agents.every((member) => member.kind === "resident")
      ? el("p", { class: "muted" }, t("agents.only_residents"))
      : null,
    canDrag ? el("p", { class: "muted small wide-only" }, t("agents.drag")) : null,
  ].filter((part) => part !== null);
}

/** @param {TopologyResponse} tree @param {Agent[]} known @param {Member} member @returns {HTMLElement} */
function branch(tree, known, member) {
  const children = childrenOf(tree, member.name);
  return el(
    "li",
    {},
    row(tree, known, member),
    children.length > 0
      ? el(
          "ul",
          {},
          children.map((child) => branch(tree, known, child)),
        )
      : null,
  );
}

/** @param {TopologyResponse} tree @param {Agent[]} known @param {Member} member */
function row(tree, known, member) {
  const process = processOf(tree, member.name);
  const speaker = known.find(({ slug }) => slug === member.name);
  const cost = speaker && speaker.used_cost_micros > 0 ? costWords(speaker.used_cost_micros) : "";
  const mayMove = !isRoot(member);
  const node = el(
    "a",
    { class: "agent-row", href: agentHref(member.name), "data-agent": member.name, draggable: mayMove },
    el(
      "span",
      { class: "grow wrap" },
      el("strong", {}, member.name),
      el("span", { class: "line muted small" }, placeWords(member)),
    ),
    cost ? el("span", { class: "muted small" }, cost) : null,
    process ? processPill(process) : null,
  );
  if (mayMove) node.addEventListener("dragstart", (event) => event.dataTransfer?.setData(DRAGGED, member.name));
  node.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes(DRAGGED)) return;
    event.preventDefault();
    node.classList.add("over");
  });
  for (const end of ["dragleave", "drop"]) node.addEventListener(end, () => node.classList.remove("over"));
  node.addEventListener("drop", (event) => {
    const name = event.dataTransfer?.getData(DRAGGED) ?? "";
    const dragged = memberOf(tree, name);
    if (!dragged) return;
    event.preventDefault();
    // Where it cannot stand it does not go; nothing is said to whoever lets go beside.
    if (parentsFor(tree, dragged).some((parent) => parent.name === member.name)) askMove(tree, dragged, member.name);
  });
  node.title = visible(member.name);
  return node;
}
