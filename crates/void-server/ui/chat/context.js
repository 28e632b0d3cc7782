// @ts-check
// What page the owner is on, as words that can be put into a message. Agents do not see the page.

import { home } from "../lib/data.js";
import { t } from "../lib/words.js";
import { currentRoute } from "../shell/router.js";

/** @typedef {{page: string, name: string, subject: string}} Place */

/** The page before the chat took its place. @type {Place | null} */
let before = null;
/** @type {Set<() => void>} */
const watchers = new Set();

/** Where the owner is, or was before the chat filled the page. @returns {Place | null} */
export function placeNow() {
  return here() ?? (before?.subject ? before : null);
}

/** @param {() => void} watcher */
export function onPlace(watcher) {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

/** @returns {Place | null} */
function here() {
  const { page, parts } = currentRoute();
  if (!["home", "inbox", "lab", "audit", "settings"].includes(page)) return null;
  return { page, name: t(`nav.${page}`), subject: subjectOf(page, parts) };
}

/** @param {string} page @param {string[]} rest */
function subjectOf(page, rest) {
  const last = rest.at(-1) ?? "";
  if (page === "inbox" && last && last !== "done") {
    const known = [
      ...(home.value?.inbox.items ?? []).filter((item) => item.kind !== "join"),
      ...(home.value?.recent ?? []),
    ].find((row) => row.id === last || row.code === last);
    return known?.code ?? "";
  }
  return page === "lab" && rest.length > 1 ? last : "";
}

addEventListener("hashchange", () => {
  before = here() ?? before;
  for (const watcher of watchers) watcher();
});
before = here();
