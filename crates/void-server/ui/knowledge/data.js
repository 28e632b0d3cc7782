// @ts-check
// What the owner keeps, as the pages of it ask for it. Nothing here is made up: what is shown is what was stored.

import { get } from "../lib/api.js";
import { Resource } from "../lib/data.js";

/** @import { PageHead, ProjectHead, RefHead, Space, SpaceHead, TaskHead } from "../types/api.js" */

/** @typedef {"space" | "project" | "page" | "task" | "ref"} Kind */
/** @typedef {PageHead | TaskHead | RefHead | ProjectHead | SpaceHead} Head */

/** As paths have it. */
export const NOUNS = /** @type {const} */ ({
  space: "spaces",
  project: "projects",
  page: "pages",
  task: "tasks",
  ref: "refs",
});

/** A change of anything that is kept; one that was thrown away or taken back too. */
export const KEPT_EVENTS = /^(space|project|page|task|ref)\.changed$/;

/** @param {Kind | "attachment"} kind @param {string} id */
export const hrefOf = (kind, id) =>
  `#/knowledge/${kind === "attachment" ? "attachments" : NOUNS[kind]}/${encodeURIComponent(id)}`;

/** @param {string} space @param {string} [tab] */
export const spaceHref = (space, tab) => `${hrefOf("space", space)}${tab ? `/${tab}` : ""}`;

export const spaceList = new Resource(() => get("/api/spaces?limit=100"), /^space\.changed$/);

/** Drafts that wait for the owner. */
export const pendingDrafts = new Resource(() => get("/api/pending-changes?limit=100"), /^proposal\./);

/** @param {string} id */
export const spaceOf = (id) => new Resource(() => get(`/api/spaces/${id}?blocks=true`), KEPT_EVENTS);

/** @param {string} space */
export const projectsOf = (space) => new Resource(() => get(`/api/spaces/${space}/projects?limit=100`), KEPT_EVENTS);

/**
 * A list that is longer than one answer: what was asked for so far is read anew at every change.
 * @template T
 * @param {(cursor: string) => Promise<{items: T[], next: string | null}>} ask
 */
export function listOf(ask) {
  let pages = 1;
  const resource = new Resource(async () => {
    /** @type {T[]} */
    const items = [];
    /** @type {string | null} */
    let next = "";
    for (let page = 0; page < pages && next !== null; page += 1) {
      const answer = await ask(next ? `&cursor=${encodeURIComponent(next)}` : "");
      items.push(...answer.items);
      ({ next } = answer);
    }
    return { items, next };
  }, KEPT_EVENTS);
  return Object.assign(resource, {
    more: () => {
      pages += 1;
      return resource.read();
    },
  });
}
