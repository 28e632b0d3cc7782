// @ts-check
// The home of a space: what waits for a yes, what is to be done, what was changed last, and a line to keep something
// new.

import { get } from "../lib/api.js";
import { watchTogether } from "../lib/data.js";
import { el, keyed, mount } from "../lib/dom.js";
import { requesterName } from "../lib/people.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { empty, loading } from "../parts/empties.js";
import { tierPill } from "../parts/states.js";
import { rowTitle } from "../parts/titles.js";
import { chooseSpace, chosenSpace } from "../shell/settings.js";
import { tellSubject } from "../shell/subjects.js";
import { captureBox } from "./capture.js";
import { listOf, pendingDrafts, projectsOf, spaceHref, spaceList, spaceOf } from "./data.js";
import { docNodes } from "./documents.js";
import { wordsOf } from "./lists.js";
import { headRow, notThere, oldNote, spaceBar, strangersPill } from "./pieces.js";
import { drawTasks, titlesOf } from "./tasks.js";

/** @import { Row } from "../types/api.js" */

const ROWS = 8;

/** The space where one was last, or the one that was changed last. */
export function anySpace() {
  const node = el("div", { class: "stack kb" }, loading());
  /** @type {{node: HTMLElement, stop: () => void} | null} */
  let inner = null;
  const { stop } = watchTogether([spaceList], () => {
    const { value, error } = spaceList;
    const id = value?.spaces.find((one) => one.id === chosenSpace())?.id ?? value?.spaces[0]?.id;
    if (inner && id) return;
    inner?.stop();
    inner = null;
    if (!value)
      mount(
        node,
        notThere(error, () => void spaceList.read()),
      );
    else if (!id)
      mount(
        node,
        empty(
          "resting",
          t("kb.no_space"),
          el("a", { class: "button primary", href: "#/knowledge/new/space" }, t("kb.space_new")),
        ),
      );
    else {
      inner = spaceHome(id);
      mount(node, inner.node);
    }
  });
  return {
    node,
    title: t("nav.knowledge"),
    stop: () => {
      stop();
      inner?.stop();
    },
  };
}

/** @param {string} id */
export function spaceHome(id) {
  const space = spaceOf(id);
  const projects = projectsOf(id);
  const pages = listOf(async () => {
    const { pages: items, next } = await get(`/api/spaces/${id}/pages?limit=${ROWS}`);
    return { items, next };
  });
  const tasks = listOf(async () => {
    const { tasks: items, next } = await get(`/api/spaces/${id}/tasks?order=due&limit=${ROWS}`);
    return { items, next };
  });
  const about = el("div", { class: "stack tight" });
  const waiting = el("ul", { class: "list" });
  const waitingPart = part(t("kb.drafts"), waiting, null);
  const open = el("ul", { class: "list tasks" });
  const noTasks = el("p", { class: "muted" }, t("kb.no_tasks.open"));
  const openPart = part(t("kb.open_tasks"), el("div", { class: "stack tight" }, open, noTasks), [
    spaceHref(id, "tasks"),
    t("kb.all_tasks"),
  ]);
  const recent = el("ul", { class: "list" });
  const noPages = el("div", {});
  const recentPart = part(
    t("kb.recent"),
    el("div", { class: "stack tight" }, recent, noPages),
    [spaceHref(id, "pages"), t("kb.all_pages")],
    el("a", { class: "button small", href: `#/knowledge/new/page?space=${id}` }, t("kb.page_new")),
  );
  const node = el("div", { class: "stack kb" }, loading());
  let isDrawn = false;
  const draw = () => {
    const { value, error } = space;
    if (!value)
      return mount(
        node,
        notThere(error, () => void space.read()),
      );
    if (!isDrawn) {
      isDrawn = true;
      chooseSpace(id);
      mount(
        node,
        spaceBar(id, "home"),
        about,
        waitingPart,
        captureBox(id),
        el("div", { class: "two" }, recentPart, openPart),
      );
    }
    tellSubject(value.title, id);
    const stamp = JSON.stringify([value.blocks, value.foreign, error?.message]);
    if (about.dataset.stamp !== stamp) {
      about.dataset.stamp = stamp;
      mount(
        about,
        oldNote(error),
        value.foreign ? el("p", {}, strangersPill()) : null,
        value.blocks?.length ? el("div", { class: "said doc" }, docNodes(value.blocks, 2)) : null,
      );
    }
    const titles = titlesOf(projects);
    const drafts = (pendingDrafts.value?.pending ?? []).filter((row) => row.change?.about?.space_id === id);
    keyed(waiting, drafts, (row) => row.id, draftRow);
    waitingPart.hidden = drafts.length === 0;
    drawTasks(open, tasks.value?.items ?? [], titles);
    open.hidden = open.childElementCount === 0;
    noTasks.hidden = !open.hidden;
    keyed(
      recent,
      pages.value?.items ?? [],
      (head) => head.id,
      (head) => headRow(head, wordsOf(head, titles)),
    );
    recent.hidden = recent.childElementCount === 0;
    if (recent.hidden !== noPages.hasChildNodes())
      mount(noPages, recent.hidden ? empty("resting", t("kb.nothing_kept"), firstPage(id)) : null);
    return undefined;
  };
  const { stop } = watchTogether([space, projects, pages, tasks, pendingDrafts, spaceList], draw);
  return { node, title: t("nav.knowledge"), stop };
}

/** @param {string} space */
const firstPage = (space) =>
  el(
    "div",
    { class: "row-line" },
    el("a", { class: "button primary", href: `#/knowledge/new/page?space=${space}` }, t("kb.page_first")),
    el("a", { class: "button", href: spaceHref(space, "files") }, t("kb.import_first")),
  );

/**
 * @param {string} title
 * @param {HTMLElement} body
 * @param {[string, string] | null} all the way to all of it
 * @param {HTMLElement | null} [act]
 */
const part = (title, body, all, act = null) =>
  el(
    "section",
    { class: "stack tight" },
    el(
      "div",
      { class: "row-line" },
      el("h2", { class: "grow" }, title),
      all ? el("a", { class: "small", href: all[0] }, all[1]) : null,
      act,
    ),
    body,
  );

/** The same row as in the Inbox, with the way to its card. @param {Row} row */
const draftRow = (row) =>
  el(
    "li",
    {},
    el(
      "a",
      { href: `#/inbox/${row.id}`, class: "inbox-row" },
      el(
        "span",
        { class: "grow" },
        el("span", { class: "title wrap" }, rowTitle(row)),
        el(
          "span",
          { class: "muted small line" },
          `${requesterName(row.requested_by)} · ${row.reason ?? t("card.no_reason")}`,
        ),
      ),
      el("span", { class: "side" }, tierPill(row), el("span", { class: "muted small" }, time(row.created_at))),
    ),
  );
