// @ts-check
// What an agent may do, in words: to whom, alone, with a nod, never. From the one table of the server.

import { el } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { namesInWords } from "./pieces.js";

/** @import { CanResponse, Rights } from "../types/api.js" */

const LEVELS = /** @type {const} */ (["alone", "with_nod", "never"]);

/**
 * Those over whom it may the same are said together.
 * @param {CanResponse} rights
 * @returns {{relation: Rights["relation"], names: string[], of: Rights}[]}
 */
function groups(rights) {
  /** @type {Map<string, {relation: Rights["relation"], names: string[], of: Rights}>} */
  const found = new Map();
  for (const over of rights.over) {
    const key = JSON.stringify([over.relation, over.alone, over.with_nod, over.never]);
    const known = found.get(key);
    if (known) known.names.push(over.agent.name);
    else found.set(key, { relation: over.relation, names: [over.agent.name], of: over });
  }
  return [...found.values()];
}

/** @param {CanResponse} rights */
export function rightsSection(rights) {
  const words = new Map(rights.operations.map((one) => [one.operation, one.words]));
  /** @param {string[]} operations */
  const said = (operations) => operations.map((one) => words.get(one) ?? one).join(", ") || t("agents.rights.nothing");
  return el(
    "section",
    { class: "card stack" },
    el("h2", {}, t("agents.rights")),
    groups(rights).map(({ relation, names, of }) =>
      el(
        "details",
        { open: relation === "self" },
        el("summary", {}, t(`agents.rights.${relation}`, { names: namesInWords(names) })),
        el(
          "dl",
          { class: "rights" },
          LEVELS.map((level) => [
            el("dt", {}, t(`agents.rights.${level}`)),
            el("dd", { class: "wrap" }, said(of[level])),
          ]),
        ),
      ),
    ),
  );
}
