// @ts-check
// Tasks as a list that one can tick. A tick is sent at once and taken back by a note; what is shown is what was stored.

import { ApiError, get, post, put, sentence } from "../lib/api.js";
import { el, keyed, visible } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { serverNow } from "../lib/time.js";
import { t } from "../lib/words.js";
import { empty } from "../parts/empties.js";
import { pill } from "../parts/states.js";
import { toast } from "../parts/toasts.js";
import { hrefOf, listOf, projectsOf, spaceHref } from "./data.js";
import { listing } from "./listing.js";
import { spaceBar, strangersPill } from "./pieces.js";

/** @import { TaskHead } from "../types/api.js" */

/** @typedef {TaskHead["state"]} State */

const DAY_MS = 86_400_000;
const ROWS = 50;
const STATES = /** @type {const} */ (["open", "done", "dropped"]);

/** The day here and now, as the server writes days. @param {number} [ahead] */
export function dayFrom(ahead = 0) {
  const at = new Date(serverNow() + ahead * DAY_MS);
  return [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}

/** @param {string} due a day */
export function dueWords(due) {
  if (due === dayFrom()) return t("kb.due_today");
  if (due === dayFrom(1)) return t("kb.due_tomorrow");
  const [year = 0, month = 1, date = 1] = due.split("-").map(Number);
  const written = new Date(year, month - 1, date).toLocaleDateString([], {
    day: "numeric",
    month: "short",
    ...(due.slice(0, 4) === dayFrom().slice(0, 4) ? {} : { year: "numeric" }),
  });
  return t(due < dayFrom() ? "kb.due_since" : "kb.due_on", { day: written });
}

/** @param {{due: string | null, state: State}} task */
export const duePill = ({ due, state }) =>
  due === null
    ? null
    : state === "open" && due <= dayFrom()
      ? pill("waiting", "waiting", dueWords(due))
      : el("span", { class: "muted small" }, dueWords(due));

/**
 * Sends another state of a task, with the way back in a note.
 * @param {Pick<TaskHead, "id" | "revision" | "title" | "state">} task
 * @param {State} state
 */
export async function setState(task, state) {
  if (!isLive()) {
    toast(t("kb.not_connected"), { isProblem: true });
    return null;
  }
  try {
    const stored = await put(`/api/tasks/${task.id}`, { base_revision: task.revision, state });
    toast(t(`kb.task_now.${state}`, { title: visible(task.title) }), {
      label: t("kb.undo"),
      onclick: () => void setState(stored, task.state),
    });
    return stored;
  } catch (error) {
    const isMoved = error instanceof ApiError && error.code === "changed";
    toast(isMoved ? t("kb.task_moved", { title: visible(task.title) }) : sentence(error), { isProblem: true });
    return null;
  }
}

/**
 * @param {TaskHead} task
 * @param {Map<string, string>} projects their titles
 */
export function taskRow(task, projects) {
  let isSending = false;
  const box = /** @type {HTMLInputElement} */ (
    el("input", {
      type: "checkbox",
      checked: task.state === "done",
      "aria-label": t("kb.tick", { title: visible(task.title) }),
      onchange: async () => {
        const wanted = box.checked ? "done" : "open";
        // What is shown is what is stored; a box that is off would lose the focus.
        box.checked = task.state === "done";
        if (isSending) return;
        isSending = true;
        await setState(task, wanted);
        isSending = false;
      },
    })
  );
  const project = task.project_id ? projects.get(task.project_id) : null;
  return el(
    "li",
    { class: task.state === "open" ? "task" : "task over" },
    el(
      "div",
      { class: "item" },
      el("label", { class: "tick" }, box),
      el(
        "span",
        { class: "grow" },
        el("a", { class: "title wrap", href: hrefOf("task", task.id) }, task.title),
        project ? el("span", { class: "muted small wrap" }, project) : null,
      ),
      task.foreign ? strangersPill() : null,
      duePill(task),
    ),
  );
}

/**
 * Draws tasks in a list; where the one under the keys has gone, the next one has them.
 * @param {HTMLElement} list
 * @param {TaskHead[]} tasks
 * @param {Map<string, string>} projects
 */
export function drawTasks(list, tasks, projects) {
  const boxes = () => /** @type {HTMLInputElement[]} */ ([...list.querySelectorAll("input[type=checkbox]")]);
  const at = boxes().findIndex((box) => box === document.activeElement);
  const row = at < 0 ? null : document.activeElement?.closest("li");
  const key = row?.dataset.key;
  keyed(
    list,
    tasks,
    ({ id }) => id,
    (task) => taskRow(task, projects),
  );
  if (at < 0 || list.contains(document.activeElement)) return;
  const same = key ? list.querySelector(`[data-key="${CSS.escape(key)}"] input`) : null;
  /** @type {HTMLElement | null | undefined} */ (same ?? boxes()[Math.min(at, boxes().length - 1)])?.focus();
}

/** @param {{value: {projects: {id: string, title: string}[]} | null}} source */
export const titlesOf = ({ value }) => new Map((value?.projects ?? []).map(({ id, title }) => [id, title]));

/**
 * A line in which one writes what is to be done.
 * @param {string} space
 * @param {string | null} [project]
 */
export function newTask(space, project = null) {
  const title = /** @type {HTMLInputElement} */ (
    el("input", {
      class: "input",
      maxLength: 200,
      autocomplete: "off",
      placeholder: t("kb.task_new"),
      "aria-label": t("kb.task_new"),
    })
  );
  const due = /** @type {HTMLInputElement} */ (
    el("input", { class: "input kb-day", type: "date", "aria-label": t("kb.due"), title: t("kb.due") })
  );
  const go = /** @type {HTMLButtonElement} */ (el("button", { class: "button" }, t("kb.add")));
  const send = async () => {
    const words = title.value.trim();
    if (!words) return title.focus();
    if (!isLive()) return void toast(t("kb.not_connected"), { isProblem: true });
    go.disabled = true;
    try {
      await post(`/api/spaces/${space}/tasks`, {
        title: words,
        ...(due.value ? { due: due.value } : {}),
        ...(project ? { project_id: project } : {}),
      });
      title.value = "";
      due.value = "";
    } catch (error) {
      toast(sentence(error), { isProblem: true });
    }
    go.disabled = false;
    title.focus();
    return undefined;
  };
  return el(
    "form",
    {
      class: "kb-line",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        void send();
      },
    },
    title,
    due,
    go,
  );
}

/**
 * All tasks of a space: the open ones by their day, or those that are over.
 * @param {string} space
 * @param {URLSearchParams} query
 */
export function tasksPage(space, query) {
  const state = STATES.find((one) => one === query.get("state")) ?? "open";
  const asked = state === "open" ? "order=due" : `state=${state}`;
  const source = listOf(async (cursor) => {
    const { tasks, next } = await get(`/api/spaces/${space}/tasks?${asked}&limit=${ROWS}${cursor}`);
    return { items: tasks, next };
  });
  const projects = projectsOf(space);
  return listing({
    source,
    beside: [projects],
    list: el("ul", { class: "list tasks" }),
    around: (list, foot) => [
      spaceBar(space, "tasks"),
      el("div", { class: "stack" }, stateChoice(space, state), state === "open" ? newTask(space) : null, list, foot),
    ],
    rows: (items, list) => drawTasks(list, items, titlesOf(projects)),
    none: () => empty("resting", t(`kb.no_tasks.${state}`)),
  });
}

/** @param {string} space @param {State} state */
const stateChoice = (space, state) =>
  el(
    "nav",
    { class: "segmented-links", "aria-label": t("kb.task_states") },
    STATES.map((one) =>
      el(
        "a",
        {
          href: `${spaceHref(space, "tasks")}${one === "open" ? "" : `?state=${one}`}`,
          "aria-current": one === state ? "true" : null,
        },
        t(`kb.task_state.${one}`),
      ),
    ),
  );
