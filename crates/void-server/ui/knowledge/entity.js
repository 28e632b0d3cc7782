// @ts-check
// One thing that is kept: its text, what is known of it, what names it, and what can be done with it.

import { get } from "../lib/api.js";
import { Resource, watchTogether } from "../lib/data.js";
import { el, mount, visible } from "../lib/dom.js";
import { person } from "../lib/people.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { copyText } from "../parts/copying.js";
import { loading } from "../parts/empties.js";
import { factList } from "../parts/facts.js";
import { toast } from "../parts/toasts.js";
import { chooseSpace } from "../shell/settings.js";
import { tellSubject } from "../shell/subjects.js";
import { hostOf } from "./capture.js";
import { hrefOf, KEPT_EVENTS, NOUNS, projectsOf, spaceHref, spaceList } from "./data.js";
import { docNodes } from "./documents.js";
import {
  changedBy,
  menu,
  menuButton,
  menuLink,
  notThere,
  oldNote,
  sendButton,
  strangersPill,
  tagWords,
  throwAway,
  wayBack,
} from "./pieces.js";
import { aboutSheet } from "./runbooks.js";
import { pageShelf } from "./shelf.js";
import { duePill, setState } from "./tasks.js";
import { projectTasks } from "./projects.js";
import { vouching } from "./vouching.js";

/** @import { Link, Page, Project, Ref, Task } from "../types/api.js" */

/** @typedef {Page | Task | Ref | Project} Entity */
/** @typedef {"page" | "task" | "ref" | "project"} EntityKind */

/** @param {EntityKind} kind @param {string} id @returns {Resource<Entity>} */
export const entityOf = (kind, id) => new Resource(() => get(`/api/${NOUNS[kind]}/${id}?blocks=true`), KEPT_EVENTS);

/** @param {EntityKind} kind @param {string} id */
export function entityPage(kind, id) {
  const source = entityOf(kind, id);
  const node = el("div", { class: "stack kb" }, loading());
  const place = el("div", { class: "stack" });
  /** @type {ReturnType<typeof projectsOf> | null} */
  let projects = null;
  /** @type {ReturnType<typeof projectTasks> | null} */
  let inProject = null;
  /** @type {ReturnType<typeof pageShelf> | null} */
  let shelf = null;
  let offProjects = () => {};
  let drawn = "";
  const draw = () => {
    const { value, error } = source;
    if (!value) {
      drawn = "";
      return mount(
        node,
        notThere(error, () => void source.read()),
      );
    }
    if (!projects) {
      chooseSpace(value.space_id);
      projects = projectsOf(value.space_id);
      offProjects = projects.watch(draw);
      if (kind === "project") inProject = projectTasks(value.space_id, id);
      if (kind === "page") shelf = pageShelf(value.space_id, id);
    }
    if (projects.value === null && projects.error === null) return undefined;
    const space = spaceList.value?.spaces.find((one) => one.id === value.space_id)?.title ?? t("nav.knowledge");
    const project = "project_id" in value ? projects.value?.projects.find((one) => one.id === value.project_id) : null;
    const stamp = JSON.stringify([value, space, project?.title, error?.message]);
    if (stamp === drawn) return undefined;
    drawn = stamp;
    tellSubject(value.title, value.space_id);
    // A button under a finger stays where it says the same.
    const hadFocus = place.contains(document.activeElement) ? document.activeElement?.getAttribute("data-keep") : null;
    mount(place, ...whole(value, { space, project: project ?? null, error, inProject: inProject?.node ?? null }));
    if (!node.contains(place)) mount(node, shelf ? el("div", { class: "kb-three" }, shelf.node, place) : place);
    if (hadFocus) /** @type {HTMLElement | null} */ (place.querySelector(`[data-keep="${hadFocus}"]`))?.focus();
    return undefined;
  };
  const { stop } = watchTogether([source, spaceList], draw);
  return {
    node,
    title: t("nav.knowledge"),
    stop: () => {
      stop();
      offProjects();
      inProject?.stop();
      shelf?.stop();
    },
  };
}

/**
 * @param {Entity} entity
 * @param {{space: string, project: {id: string, title: string} | null, error: unknown, inProject: HTMLElement |
 *   null}} around
 */
function whole(entity, { space, project, error, inProject }) {
  /** @type {[string, string][]} */
  const ways = [[spaceHref(entity.space_id), space]];
  if (project) ways.push([hrefOf("project", project.id), project.title]);
  else ways.push([spaceHref(entity.space_id, NOUNS[entity.kind]), t(`kb.tab.${NOUNS[entity.kind]}`)]);
  const blocks = withoutTitle(entity);
  const text = blocks.length
    ? el("div", { class: "said doc" }, docNodes(blocks, 2))
    : el("p", { class: "muted" }, t("kb.no_text"));
  return [
    wayBack(ways),
    oldNote(error),
    el(
      "article",
      { class: "kb-entity", "aria-label": visible(entity.title) },
      el(
        "div",
        { class: "stack" },
        head(entity),
        vouching(entity),
        "url" in entity ? captured(entity, text) : text,
        inProject,
      ),
      beside(entity),
    ),
  ];
}

/** A text that begins with its own title says it once. @param {Entity} entity */
function withoutTitle({ blocks, title }) {
  const [first, ...rest] = blocks ?? [];
  if (first?.type !== "heading" || rest.length === 0) return blocks ?? [];
  const [words, ...more] = first.inlines;
  return more.length === 0 && words?.type === "text" && words.text.trim() === title.trim() ? rest : (blocks ?? []);
}

/** @param {Entity} entity */
function head(entity) {
  const { id } = entity;
  const kind = /** @type {EntityKind} */ (entity.kind);
  return el(
    "header",
    { class: "stack tight" },
    el(
      "div",
      { class: "kb-title" },
      el("h2", { class: "grow wrap" }, entity.title),
      menu(t("kb.more"), [
        menuLink(t("kb.history"), `${hrefOf(kind, id)}/history`),
        menuLink(t("talk_about"), `#/chat?about=${encodeURIComponent(`${kind}:${id}`)}`),
        kind === "project"
          ? menuLink(t("kb.page_new"), `#/knowledge/new/page?space=${entity.space_id}&project=${id}`)
          : null,
        "path" in entity ? menuButton(t("kb.runbook_menu"), () => aboutSheet(entity)) : null,
        menuButton(t("kb.copy_link"), () => copyLink(kind, id)),
        menuButton(t("kb.copy_text"), () => copied(entity.body)),
        menuButton(t("kb.throw_away"), () => throwAway({ ...entity, kind }), "bad-words"),
      ]),
    ),
    el(
      "div",
      { class: "row-line" },
      "state" in entity ? taskState(entity) : null,
      changedBy(entity),
      entity.foreign ? strangersPill() : null,
      "tags" in entity ? tagWords(entity.tags) : null,
    ),
    el(
      "div",
      { class: "row-line" },
      el("a", { class: "button small primary", href: `${hrefOf(kind, id)}/edit`, "data-keep": "edit" }, t("kb.edit")),
      "state" in entity
        ? sendButton(
            t(entity.state === "open" ? "kb.task_do.done" : "kb.task_do.open"),
            () => setState(entity, entity.state === "open" ? "done" : "open"),
            "small",
          )
        : null,
      "state" in entity && entity.state === "open"
        ? sendButton(t("kb.task_do.dropped"), () => setState(entity, "dropped"), "small")
        : null,
      el("a", { class: "button small", href: `${hrefOf(kind, id)}/history` }, t("kb.history")),
    ),
  );
}

/** @param {Task} task */
const taskState = (task) => [
  el("span", { class: `pill ${task.state === "done" ? "ok" : ""}` }, t(`kb.task_state.${task.state}`)),
  duePill(task),
];

/**
 * What was found at an address: a stranger's words in a frame of their own.
 * @param {Ref} ref
 * @param {HTMLElement} text
 */
const captured = (ref, text) =>
  el(
    "section",
    { class: "kb-captured", "aria-label": t("kb.captured") },
    hostOf(ref.url)
      ? [
          el("p", { class: "small muted" }, t("kb.captured_why", { host: visible(hostOf(ref.url)) })),
          el(
            "p",
            { class: "wrap" },
            el("a", { href: ref.url, rel: "noopener noreferrer nofollow", target: "_blank" }, ref.url),
          ),
        ]
      : el("p", { class: "small muted" }, t("kb.captured_file")),
    text,
  );

/** What is known of it beside its text. @param {Entity} entity */
function beside(entity) {
  const missing = entity.links.filter((link) => link.found !== "one");
  const known = entity.links.filter((link) => link.found === "one" && link.id !== null);
  return el(
    "aside",
    { class: "kb-beside", "aria-label": t("kb.about") },
    part(
      t("kb.backlinks"),
      entity.backlinks,
      (one) => el("a", { class: "wrap", href: hrefOf(one.kind, one.id) }, one.title),
      t("kb.no_backlinks"),
    ),
    known.length > 0
      ? part(
          t("kb.links"),
          known,
          (one) => el("a", { class: "wrap", href: hrefOf(one.kind ?? "page", one.id ?? "") }, one.title ?? ""),
          "",
        )
      : null,
    missing.length > 0 ? part(t("kb.links_missing"), missing, (one) => missingLink(entity, one), "") : null,
    entity.links_cut ? el("p", { class: "muted small" }, t("kb.links_cut")) : null,
    factList([
      [t("kb.fact.revision"), el("a", { href: `${hrefOf(entity.kind, entity.id)}/history` }, String(entity.revision))],
      [t("kb.fact.origin"), originWords(entity)],
      [t("kb.fact.made"), time(entity.created_at, "clock")],
      "source" in entity && entity.source
        ? [
            t("kb.fact.source"),
            el("a", { class: "wrap", href: `#/knowledge/attachments/${entity.source.id}` }, entity.source.name),
          ]
        : null,
      "path" in entity && entity.path ? [t("kb.fact.path"), el("code", { class: "wrap" }, entity.path)] : null,
      entity.vouched_at
        ? [t("kb.fact.vouched"), el("span", {}, person(entity.vouched_by ?? ""), ", ", time(entity.vouched_at))]
        : null,
    ]),
  );
}

/** @param {Pick<Entity, "origin" | "draft">} entity */
export const originWords = ({ origin, draft }) =>
  draft
    ? el(
        "span",
        {},
        t("kb.origin.draft_of", { name: person(`agent-${draft.agent}`) }),
        " ",
        el("a", { href: `#/inbox/${draft.proposal_id}` }, t("kb.origin.draft_see")),
      )
    : t(`kb.origin.${origin}`);

/**
 * @template T
 * @param {string} title
 * @param {T[]} all
 * @param {(one: T) => HTMLElement} show
 * @param {string} none
 */
const part = (title, all, show, none) =>
  el(
    "section",
    { class: "stack tight" },
    el("h3", {}, title),
    all.length === 0
      ? el("p", { class: "muted small" }, none)
      : el(
          "ul",
          { class: "plain" },
          all.map((one) => el("li", {}, show(one))),
        ),
  );

/**
 * A name of nothing leads to a new page of that name; one of several, to none of them.
 * @param {Entity} entity
 * @param {Link} link
 */
const missingLink = (entity, { found, title, candidates }) =>
  found === "several"
    ? el(
        "span",
        {},
        title ?? "",
        " ",
        candidates.map((id, at) => [el("a", { href: hrefOf("page", id) }, t("kb.candidate", { n: at + 1 })), " "]),
      )
    : el(
        "a",
        {
          class: "wrap",
          href: `#/knowledge/new/page?space=${entity.space_id}&title=${encodeURIComponent(title ?? "")}`,
        },
        t("kb.write", { title: title ?? "" }),
      );

/** @param {EntityKind} kind @param {string} id */
async function copyLink(kind, id) {
  await copied(`${location.origin}/${hrefOf(kind, id)}`);
}

/** @param {string} text */
async function copied(text) {
  const main = /** @type {HTMLElement} */ (document.querySelector("#main"));
  const isCopied = await copyText(text, main);
  toast(t(isCopied ? "chat.copied" : "chat.copy_failed"), { isProblem: !isCopied });
}
