// @ts-check
// What page the owner is on: in words for the owner, and as what a message says of it, so that "this" and "here" mean
// something to whoever answers. The server looks whether it is there, and keeps it only in the step that reads it.

import { home } from "../lib/data.js";
import { isRow } from "../lib/items.js";
import { t } from "../lib/words.js";
import { currentRoute } from "../shell/router.js";
import { chosenSpace } from "../shell/settings.js";
import { hashBefore, onSubject, subjectAt } from "../shell/subjects.js";

/** @import { ViewRequest } from "../types/api.js" */

/**
 * `name`: what the page is called, `subject`: what it is about, `space`: of Knowledge, which one.
 * @typedef {{page: string, name: string, subject: string, space: string, view: ViewRequest}} Place
 */

const SCREENS = ["home", "inbox", "lab", "knowledge", "audit", "settings"];
/** What an id of a view looks like; the server refuses a message with another one. */
const VIEW_ID = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}(\/[1-9][0-9]{0,9})?$/;
/** @type {Record<string, ViewRequest["entityType"]>} */
const KINDS = {
  spaces: "space",
  projects: "project",
  pages: "page",
  tasks: "task",
  refs: "ref",
  services: "service",
  actions: "action",
  nodes: "node",
  hosts: "host",
  guests: "guest",
  attachments: "attachment",
};

/** @type {Set<() => void>} */
const watchers = new Set();

/** Where the owner is, or was before the chat filled the page. @returns {Place | null} */
export function placeNow() {
  const here = placeAt(location.hash);
  if (here) return here;
  const before = hashBefore() ? placeAt(hashBefore()) : null;
  return before?.subject || before?.space ? before : null;
}

/** Told when the owner is elsewhere, or when the page knows better what it is about. @param {() => void} watcher */
export function onPlace(watcher) {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

/** @param {string} hash @returns {Place | null} */
function placeAt(hash) {
  const { page, parts } = currentRoute(hash);
  if (!SCREENS.includes(page)) return null;
  const told = subjectAt(hash);
  const view = viewOf(page, parts);
  const subject = told?.name || subjectOf(page, parts);
  const space =
    page === "knowledge" ? told?.space || (view.entityType === "space" ? view.entityId : chosenSpace()) : "";
  return { page, name: t(`nav.${page}`), subject, space, view };
}

/** @param {string} page @param {string[]} parts @returns {ViewRequest} */
function viewOf(page, parts) {
  const [first = "", second = "", third = ""] = parts;
  const ofPage = KINDS[Object.hasOwn(KINDS, first) ? first : ""];
  /** @type {ViewRequest | null} */
  let view = null;
  if (page === "inbox") view = { entityType: "proposal", entityId: rowAt(first)?.id ?? cardId(first) };
  else if (page === "audit") view = { entityType: "entry", entityId: /^[1-9]\d*$/.test(first) ? first : "" };
  else if (ofPage && (page === "lab" || page === "knowledge"))
    view = { entityType: ofPage, entityId: ofPage === "guest" ? `${second}/${third}` : second };
  if (view && VIEW_ID.test(view.entityId)) return view;
  return { entityType: "screen", entityId: page === "knowledge" && first === "search" ? "search" : page };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A row that Home does not know: its own id, or what the card says that is shown of its code. @param {string} name */
const cardId = (name) => (UUID.test(name) ? name : (subjectAt()?.id ?? ""));

/** @param {string} name an id or a code */
const rowAt = (name) =>
  [...(home.value?.inbox.items ?? []).filter(isRow), ...(home.value?.recent ?? [])].find(
    (row) => row.id === name || row.code === name,
  );

/** @param {string} page @param {string[]} parts */
function subjectOf(page, parts) {
  const last = parts.at(-1) ?? "";
  if (page === "inbox") return rowAt(last)?.code ?? "";
  if (page === "audit" && /^\d+$/.test(last)) return `#${last}`;
  return page === "lab" && parts.length > 1 ? last : "";
}

const moved = () => {
  for (const watcher of watchers) watcher();
};
addEventListener("hashchange", moved);
onSubject(moved);
