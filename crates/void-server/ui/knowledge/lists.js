// @ts-check
// The pages, refs and projects of a space, and what was thrown away, as lists.

import { get } from "../lib/api.js";
import { watchTogether } from "../lib/data.js";
import { el, keyed, mount } from "../lib/dom.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { empty, loading } from "../parts/empties.js";
import { captureLine, hostOf } from "./capture.js";
import { listOf, projectsOf, spaceHref, spaceList } from "./data.js";
import { listing } from "./listing.js";
import { headRow, itemRow, notThere, oldNote, sendButton, spaceBar, takeBack } from "./pieces.js";
import { titlesOf } from "./tasks.js";

/** @import { Head } from "./data.js" */

const ROWS = 50;

/**
 * @param {string} space
 * @param {"pages" | "refs" | "projects"} noun
 */
export function listPage(space, noun) {
  const source = sourceOf(space, noun);
  const projects = projectsOf(space);
  return listing({
    source,
    beside: [projects],
    list: el("ul", { class: "list" }),
    around: (list, foot) => [spaceBar(space, noun), waysToMore(space, noun), list, foot],
    rows: (items, list) => {
      const titles = titlesOf(projects);
      keyed(
        list,
        items,
        ({ id }) => id,
        (head) => headRow(head, wordsOf(head, titles)),
      );
    },
    none: () => empty("resting", t(`kb.no_${noun}`)),
  });
}

/** @typedef {Exclude<Head, import("../types/api.js").TaskHead>} Listed */

/** @param {string} space @param {"pages" | "refs" | "projects"} noun */
const sourceOf = (space, noun) =>
  listOf(async (cursor) => {
    const more = `limit=${ROWS}${cursor}`;
    /** @type {{items: Listed[], next: string | null}} */
    const page =
      noun === "pages"
        ? await get(`/api/spaces/${space}/pages?${more}`).then(({ pages, next }) => ({ items: pages, next }))
        : noun === "refs"
          ? await get(`/api/spaces/${space}/refs?${more}`).then(({ refs, next }) => ({ items: refs, next }))
          : await get(`/api/spaces/${space}/projects?${more}`).then(({ projects, next }) => ({
              items: projects,
              next,
            }));
    return page;
  });

/** @param {Listed} head @param {Map<string, string>} projects */
export function wordsOf(head, projects) {
  const words = [];
  // One that was made from a file has no address that leads anywhere.
  if ("url" in head && hostOf(head.url)) words.push(hostOf(head.url));
  if ("path" in head && head.path) words.push(head.path);
  const project = "project_id" in head && head.project_id ? projects.get(head.project_id) : null;
  if (project) words.push(project);
  return words.map((word) => el("span", { class: "muted small wrap" }, word));
}

/** @param {string} space @param {"pages" | "refs" | "projects"} noun */
const waysToMore = (space, noun) =>
  noun === "refs"
    ? captureLine(space)
    : el(
        "p",
        {},
        el(
          "a",
          { class: "button primary", href: `#/knowledge/new/${noun === "pages" ? "page" : "project"}?space=${space}` },
          t(noun === "pages" ? "kb.page_new" : "kb.project_new"),
        ),
      );

/** What was thrown away in a space; it can be taken back. @param {string} space */
export function binPage(space) {
  const source = listOf(async () => {
    const all = await Promise.all([
      get(`/api/spaces/${space}/pages?deleted=true`).then(({ pages }) => pages),
      get(`/api/spaces/${space}/tasks?deleted=true`).then(({ tasks }) => tasks),
      get(`/api/spaces/${space}/refs?deleted=true`).then(({ refs }) => refs),
      get(`/api/spaces/${space}/projects?deleted=true`).then(({ projects }) => projects),
    ]);
    /** @type {Head[]} */
    const items = all.flat();
    items.sort((one, other) => Date.parse(other.deleted_at ?? "") - Date.parse(one.deleted_at ?? ""));
    return { items, next: null };
  });
  const list = el("ul", { class: "list" });
  const node = el("div", { class: "stack kb" }, loading());
  const draw = () => {
    const { value, error } = source;
    if (!value)
      return mount(
        node,
        notThere(error, () => void source.read()),
      );
    keyed(list, value.items, ({ id }) => id, binRow);
    const isEmpty = value.items.length === 0;
    mount(
      node,
      spaceBar(space, ""),
      el("h2", {}, t("kb.bin")),
      isEmpty ? null : el("p", { class: "muted" }, t("kb.bin_why")),
      oldNote(error),
      isEmpty
        ? empty("resting", t("kb.bin_empty"), el("a", { class: "button", href: spaceHref(space) }, t("kb.bin_way")))
        : list,
    );
    return undefined;
  };
  const { stop } = watchTogether([source, spaceList], draw);
  return { node, title: t("nav.knowledge"), stop };
}

/** @param {Head} head */
const binRow = (head) =>
  itemRow(
    el("span", { class: "title wrap" }, head.title),
    [t(`kb.kind.${head.kind}`), " · ", t("kb.thrown"), " ", time(head.deleted_at)],
    sendButton(t("kb.take_back"), () => takeBack(head.kind, head.id, { stays: true }), "small"),
  );
