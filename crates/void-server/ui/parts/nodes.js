// @ts-check
// Nodes and hosts, wherever they are shown: what the server last said of them, and how a node looks.

import { Resource } from "../lib/data.js";
import { t } from "../lib/words.js";
import { pill } from "./states.js";

export const nodesKnown = /** @type {Resource<any>} */ (new Resource("/api/nodes", /^node\./));
export const hostsKnown = /** @type {Resource<any>} */ (new Resource("/api/hosts"));

/** @param {any} node one that fetches its work */
export function presencePill(node) {
  if (node.state !== "joined") return pill("waiting", "waiting", t(`lab.node.${node.state}`));
  return node.here ? pill("up", "ok", t("lab.node.here")) : pill("stale", "", t("lab.node.away"));
}
