// @ts-check
// The Lab: an address leads to the whole, to one thing in it, or to the catalogue.

import { LAB_STRINGS } from "../lab/strings.js";
import { addStrings } from "../lib/words.js";
import { actionPage } from "../lab/action.js";
import { cataloguePage } from "../lab/catalogue.js";
import { guestPage, machinePage } from "../lab/machines.js";
import { labOverview } from "../lab/overview.js";
import { servicePage } from "../lab/service.js";
import { unknownPage } from "../parts/empties.js";

addStrings(LAB_STRINGS);

/** @param {{parts: string[]}} route */
export function labPage({ parts }) {
  const [what, one, other] = parts;
  if (what === "services" && one) return servicePage(one);
  if (what === "guests" && one && other) return guestPage(one, other);
  if ((what === "nodes" || what === "hosts") && one) return machinePage(one);
  if (what === "actions") return one ? actionPage(one) : cataloguePage();
  return what === undefined ? labOverview() : unknownPage();
}
