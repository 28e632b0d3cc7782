// @ts-check
// The tree as the server has it, and what is in it by name.

import { get } from "../lib/api.js";
import { LOOK_OFTEN_MS, Resource } from "../lib/data.js";

/** @import { AgentProcess, Member, TopologyResponse } from "../types/api.js" */

/** How processes stand comes with it; one that falls asleep says nothing by event. */
export const topology = new Resource(
  () => get("/api/agents/topology"),
  /^(agent|topology|access|turn)\./,
  LOOK_OFTEN_MS,
);

/** The root: it stands under nobody and is no agent that could be moved. */
export const isRoot = (/** @type {Member} */ member) => member.depth === 0;

/** @param {TopologyResponse} tree @param {string} name */
export const memberOf = (tree, name) => tree.agents.find((member) => member.name === name) ?? null;

/** @param {TopologyResponse} tree @param {string} name */
export const childrenOf = (tree, name) =>
  tree.agents.filter((member) => member.parent === name && member.depth !== null);

/** @param {TopologyResponse} tree @param {string} name @returns {AgentProcess | null} */
export const processOf = (tree, name) => tree.processes.find((process) => process.name === name) ?? null;

/** Everybody below somebody, and it itself. @param {TopologyResponse} tree @param {string} name */
export function subtreeOf(tree, name) {
  const found = new Set([name]);
  // Parents come before their children.
  for (const member of tree.agents)
    if (member.depth !== null && member.parent !== null && found.has(member.parent)) found.add(member.name);
  return found;
}

/** Under whom it could stand: not under itself, not below itself, not where it stands. */
export function parentsFor(/** @type {TopologyResponse} */ tree, /** @type {Member} */ member) {
  const below = subtreeOf(tree, member.name);
  return tree.agents.filter((other) => other.depth !== null && !below.has(other.name) && other.name !== member.parent);
}

/** @param {string} name */
export const agentHref = (name) => `#/agents/${encodeURIComponent(name)}`;
