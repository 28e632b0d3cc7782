// @ts-check
// What belongs to a project: its tasks, its pages and its refs.

import { get } from "../lib/api.js";
import { watchTogether } from "../lib/data.js";
import { el, keyed, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { listOf } from "./data.js";
import { headRow } from "./pieces.js";
import { drawTasks, newTask } from "./tasks.js";

const ROWS = 50;

/** @param {string} space @param {string} project */
export function projectTasks(space, project) {
  const query = `project=${project}&limit=${ROWS}`;
  const tasks = listOf(async (cursor) => {
    const page = await get(`/api/spaces/${space}/tasks?${query}${cursor}`);
    return { items: page.tasks, next: page.next };
  });
  const pages = listOf(async (cursor) => {
    const page = await get(`/api/spaces/${space}/pages?${query}${cursor}`);
    return { items: page.pages, next: page.next };
  });
  const refs = listOf(async (cursor) => {
    const page = await get(`/api/spaces/${space}/refs?${query}${cursor}`);
    return { items: page.refs, next: page.next };
  });
  const taskList = el("ul", { class: "list tasks" });
  const others = el("ul", { class: "list" });
  const more = el("div", {});
  const node = el(
    "div",
    { class: "stack" },
    el("section", { class: "stack tight" }, el("h3", {}, t("kb.tab.tasks")), newTask(space, project), taskList),
    el("section", { class: "stack tight" }, el("h3", {}, t("kb.in_project")), others, more),
  );
  const draw = () => {
    drawTasks(taskList, tasks.value?.items ?? [], new Map());
    taskList.hidden = taskList.childElementCount === 0;
    const heads = [...(pages.value?.items ?? []), ...(refs.value?.items ?? [])];
    keyed(
      others,
      heads,
      ({ id }) => id,
      (head) => headRow(head),
    );
    others.hidden = heads.length === 0;
    const longer = [tasks, pages, refs].filter(({ value }) => value?.next);
    mount(
      more,
      heads.length === 0 ? el("p", { class: "muted" }, t("kb.no_in_project")) : null,
      longer.length > 0
        ? el(
            "button",
            { type: "button", class: "button", onclick: () => longer.forEach((one) => void one.more()) },
            t("inbox.more"),
          )
        : null,
    );
  };
  const { stop } = watchTogether([tasks, pages, refs], draw);
  return { node, stop };
}
