// @ts-check
// The agents: an address leads to the tree, or to one in it.

import { agentPage } from "../agents/agent.js";
import { AGENTS_STRINGS } from "../agents/strings.js";
import { treePage } from "../agents/tree.js";
import { addStrings } from "../lib/words.js";
import { unknownPage } from "../parts/empties.js";

addStrings(AGENTS_STRINGS);

/** @param {{parts: string[]}} route @returns {import("../app.js").Shown} */
export function agentsPage({ parts }) {
  const [name, more] = parts;
  if (more !== undefined) return unknownPage();
  return name === undefined || name === "" ? treePage() : agentPage(name);
}
