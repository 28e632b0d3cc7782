// @ts-check
// Writing: plain Markdown with what the server would show of it beside. What is written is kept in this browser until
// it is stored; if somebody else stored something meanwhile, both are shown and nothing is lost.

import { ApiError, get, patch, post, put, sentence } from "../lib/api.js";
import { agents } from "../lib/data.js";
import { el, mount, visible } from "../lib/dom.js";
import { isLive, onConnection } from "../lib/live.js";
import { clock } from "../lib/time.js";
import { t } from "../lib/words.js";
import { loading, notice } from "../parts/empties.js";
import { toast } from "../parts/toasts.js";
import { goTo } from "../shell/router.js";
import { chooseSpace, chosenSpace } from "../shell/settings.js";
import { tellSubject } from "../shell/subjects.js";
import { conflictView } from "./conflict.js";
import { hrefOf, NOUNS, projectsOf, spaceHref } from "./data.js";
import { docNodes } from "./documents.js";
import { forgetWritten, keepWritten, readWritten } from "./local.js";
import { notThere, wayBack } from "./pieces.js";

/** @import { Page, Project, Ref, Space, Task } from "../types/api.js" */
/** @import { Kind } from "./data.js" */
/** @import { Written } from "./local.js" */

/** @typedef {Page | Task | Ref | Project | Space} Stored */

/** After so long without a key the text is shown anew. */
const PREVIEW_MS = 400;
const TITLE_CHARS_MAX = 200;
const BODY_BYTES_MAX = 512 * 1024;

/**
 * Changing something that is there.
 * @param {Kind} kind
 * @param {string} id
 */
export function editPage(kind, id) {
  const node = el("div", { class: "stack kb" }, loading());
  /** @type {ReturnType<typeof editor> | null} */
  let inner = null;
  let isOver = false;
  const read = async () => {
    mount(node, loading());
    try {
      const stored = await get(`/api/${NOUNS[kind]}/${id}`);
      if (isOver) return;
      chooseSpace(stored.space_id);
      tellSubject(stored.title, stored.space_id);
      inner = editor(kind, stored.space_id, stored, {});
      mount(node, inner.node);
      inner.focus();
    } catch (error) {
      mount(
        node,
        notThere(error, () => void read()),
      );
    }
  };
  void read();
  return {
    node,
    title: t("nav.knowledge"),
    stop: () => {
      isOver = true;
      inner?.stop();
    },
  };
}

/**
 * Writing something new.
 * @param {Kind} kind
 * @param {URLSearchParams} query `?space=`, `?title=`, `?project=`
 */
export function newPage(kind, query) {
  const space = query.get("space") ?? chosenSpace();
  const inner = editor(kind, space, null, {
    title: query.get("title") ?? "",
    project: query.get("project") ?? "",
  });
  requestAnimationFrame(inner.focus);
  return { node: el("div", { class: "stack kb" }, inner.node), title: t("nav.knowledge"), stop: inner.stop };
}

/** @param {Stored | null} stored @param {Partial<Written>} wish @returns {Written} */
const begun = (stored, wish) => ({
  title: stored?.title ?? wish.title ?? "",
  body: stored?.body ?? wish.body ?? "",
  tags: stored && "tags" in stored ? stored.tags.join(", ") : "",
  project: stored && "project_id" in stored ? (stored.project_id ?? "") : (wish.project ?? ""),
  due: stored && "due" in stored ? (stored.due ?? "") : "",
  url: stored && "url" in stored ? stored.url : "",
  agent: stored && "agent" in stored ? (stored.agent ?? "") : "",
  base: stored?.revision ?? 0,
  at: "",
});

/** @param {string} tags @returns {string[]} */
const tagList = (tags) => [...new Set(tags.split(/[\s,]+/).map((tag) => tag.replace(/^#/, "")))].filter(Boolean);

/**
 * A draft of an agent's that the owner edits before a yes: its text is the owner's then, and stored with the yes.
 * @typedef {{id: string, send: (fields: {title: string, body: string}) => Promise<{id: string}>}} DraftEdit
 */

/**
 * @param {Kind} kind
 * @param {string} space
 * @param {Stored | null} stored
 * @param {Partial<Written>} wish
 * @param {DraftEdit} [draft]
 */
export function editor(kind, space, stored, wish, draft) {
  const key = draft ? `draft-${draft.id}` : stored ? `${kind}-${stored.id}` : `new-${kind}-${space}`;
  const saveWord = draft ? "kb.save_draft" : "kb.save";
  const fresh = begun(stored, wish);
  const kept = readWritten(key);
  // A new page that was asked for by name is that one, not the one that was begun before.
  const isKept = kept !== null && (draft || stored !== null || !wish.title || kept.title === wish.title);
  /** @type {Written} */
  let written = isKept ? { ...fresh, ...kept } : { ...fresh };
  let isDirty = isKept;
  let isOver = false;
  let isSaving = false;
  const hasProject = !draft && ["page", "task", "ref"].includes(kind);
  const projects = hasProject && space ? projectsOf(space) : null;

  const problem = el("div", { class: "stack tight", "aria-live": "polite" });
  const both = el("div", {});
  const state = el("span", { class: "muted small", role: "status" });
  const preview = el("div", {
    class: "said doc kb-preview",
    tabIndex: 0,
    role: "region",
    "aria-label": t("kb.preview"),
  });
  const title = input("title", "kb.title", {
    maxLength: TITLE_CHARS_MAX,
    required: true,
    class: "input kb-title-input",
  });
  const body = /** @type {HTMLTextAreaElement} */ (
    el("textarea", {
      class: "input kb-text",
      "aria-label": t("kb.text"),
      spellcheck: true,
      value: written.body,
      placeholder: t(kind === "page" ? "kb.text_hint" : "kb.text_hint_other"),
    })
  );
  const save = /** @type {HTMLButtonElement} */ (el("button", { class: "button primary" }, t(saveWord)));
  const views = /** @type {const} */ (["write", "both", "read"]);
  const sides = el("div", { class: "kb-sides-edit" }, body, preview);

  /** @param {"title" | "tags" | "due" | "url"} name @param {string} label @param {Record<string, unknown>} more */
  function input(name, label, more = {}) {
    const field = /** @type {HTMLInputElement} */ (
      el("input", {
        class: "input",
        autocomplete: "off",
        "aria-label": t(label),
        placeholder: t(label),
        value: written[name],
        ...more,
        oninput: () => {
          written[name] = field.value;
          changed();
        },
      })
    );
    return field;
  }
  const project = /** @type {HTMLSelectElement | null} */ (
    projects
      ? el("select", {
          class: "input",
          onchange: (/** @type {Event} */ event) => {
            written.project = /** @type {HTMLSelectElement} */ (event.target).value;
            changed();
          },
        })
      : null
  );
  const agent = /** @type {HTMLSelectElement | null} */ (
    kind === "space" && !draft
      ? el("select", {
          class: "input",
          onchange: (/** @type {Event} */ event) => {
            written.agent = /** @type {HTMLSelectElement} */ (event.target).value;
            changed();
          },
        })
      : null
  );
  const tags = hasProject ? input("tags", "kb.tags") : null;
  const due = kind === "task" && !draft ? input("due", "kb.due", { type: "date", placeholder: "" }) : null;
  const url = kind === "ref" && !draft ? input("url", "kb.address", { type: "url", required: true }) : null;

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let later;
  let asked = 0;
  let previewed = "";
  const drawPreview = async () => {
    if (sides.dataset.view === "write" || !space || previewed === `${body.value}.`) return;
    const mine = ++asked;
    const text = body.value;
    try {
      const { blocks } = await post(`/api/spaces/${space}/preview`, { text });
      if (mine !== asked || isOver) return;
      previewed = `${text}.`;
      mount(preview, blocks.length > 0 ? docNodes(blocks, 2) : el("p", { class: "muted" }, t("kb.no_text")));
    } catch (error) {
      if (mine === asked) mount(preview, el("p", { class: "muted" }, sentence(error)));
    }
  };
  const changed = () => {
    isDirty = true;
    written = { ...written, title: title.value, body: body.value, at: new Date().toISOString() };
    const hasRoom = keepWritten(key, written);
    mount(state, t(hasRoom ? "kb.kept_here" : "kb.no_room"));
    draw();
    clearTimeout(later);
    later = setTimeout(() => void drawPreview(), PREVIEW_MS);
  };
  const draw = () => {
    const isTooLong = new TextEncoder().encode(body.value).length > BODY_BYTES_MAX;
    save.disabled = isSaving || !isLive() || title.value.trim() === "" || isTooLong;
    save.title = isLive() ? "" : t("kb.not_connected");
    mount(save, t(isSaving ? "card.sending" : saveWord));
    if (isTooLong) mount(state, t("kb.too_long", { n: BODY_BYTES_MAX / 1024 }));
  };
  /** @param {typeof views[number]} view */
  const look = (view) => {
    sides.dataset.view = view;
    for (const button of ways.children)
      button.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (button).dataset.view === view));
    void drawPreview();
  };
  const ways = el(
    "div",
    { class: "segmented", role: "group", "aria-label": t("kb.view") },
    views.map((view) =>
      el("button", { type: "button", "data-view": view, onclick: () => look(view) }, t(`kb.view.${view}`)),
    ),
  );

  const send = async () => {
    draw();
    if (save.disabled) return;
    isSaving = true;
    draw();
    mount(problem);
    try {
      const now = draft
        ? await draft.send({ title: title.value.trim(), body: body.value })
        : await sent(kind, space, stored, written);
      forgetWritten(key);
      isDirty = false;
      goTo(draft ? `#/inbox/${draft.id}` : kind === "space" ? spaceHref(now.id) : hrefOf(kind, now.id));
      if (kind === "space" && !draft) chooseSpace(now.id);
    } catch (error) {
      const there = error instanceof ApiError && error.code === "changed" ? error.kept : null;
      if (there) showBoth(there);
      else mount(problem, notice("problem", problemWords(error)));
    }
    isSaving = false;
    draw();
  };
  /** @param {Stored} there */
  const showBoth = (there) => {
    const view = conflictView(
      there,
      { title: title.value, body: body.value },
      {
        takeTheirs: () => {
          const mine = { ...written };
          forgetWritten(key);
          stored = there;
          fill(begun(there, {}));
          mount(both);
          toast(t("kb.took_theirs"), {
            label: t("kb.undo"),
            onclick: () => {
              if (isOver) keepWritten(key, mine);
              else fill({ ...mine, base: there.revision });
              changed();
            },
          });
          title.focus();
        },
        saveMine: () =>
          el(
            "button",
            {
              type: "button",
              class: "button primary",
              onclick: () => {
                written.base = there.revision;
                stored = there;
                mount(both);
                void send();
              },
            },
            t("kb.save_mine", { n: there.revision }),
          ),
      },
    );
    mount(both, view);
    view.focus();
    view.scrollIntoView({ block: "start" });
  };
  /** @param {Written} next */
  const fill = (next) => {
    written = { ...next };
    title.value = next.title;
    body.value = next.body;
    if (tags) tags.value = next.tags;
    if (due) due.value = next.due;
    if (url) url.value = next.url;
    if (project) project.value = next.project;
    if (agent) agent.value = next.agent;
    isDirty = false;
    mount(state);
    mount(begunHere);
    draw();
    void drawPreview();
  };
  const begunHere = el("div", {});
  const drawBegun = () => {
    if (!isKept) return;
    const isOld = stored !== null && written.base < stored.revision;
    mount(
      begunHere,
      notice(
        isOld ? "caution" : "info",
        el(
          "div",
          { class: "row-line" },
          el(
            "span",
            { class: "grow" },
            t("kb.begun_here", { at: clock(written.at) }),
            isOld ? ` ${t("kb.begun_old")}` : "",
          ),
          el(
            "button",
            {
              type: "button",
              class: "button small",
              onclick: () => {
                forgetWritten(key);
                fill(begun(stored, wish));
                title.focus();
              },
            },
            t("kb.begin_anew"),
          ),
        ),
      ),
    );
  };

  const leave = stored
    ? kind === "space"
      ? spaceHref(stored.id)
      : hrefOf(kind, stored.id)
    : space
      ? spaceHref(space)
      : "#/knowledge";
  const cancel = el(
    "a",
    {
      class: "button",
      href: leave,
      onclick: () => {
        if (isDirty) toast(t("kb.left_kept"), { href: location.hash, label: t("kb.go_on") });
      },
    },
    t("kb.cancel"),
  );
  const node = el(
    "form",
    {
      class: "stack kb-editor",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        void send();
      },
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (!(event.ctrlKey || event.metaKey) || !["s", "Enter"].includes(event.key)) return;
        event.preventDefault();
        void send();
      },
    },
    wayBack([[leave, draft ? t("inbox.drafts") : stored ? stored.title : t("nav.knowledge")]]),
    el("h2", {}, t(draft ? "kb.editing_draft" : stored ? `kb.editing.${kind}` : `kb.writing.${kind}`)),
    draft ? el("p", { class: "muted measure" }, t("kb.editing_draft_why")) : null,
    begunHere,
    both,
    el("div", {}, title),
    url ? el("label", { class: "field" }, el("span", {}, t("kb.address")), url) : null,
    el(
      "div",
      { class: "kb-fields" },
      due ? el("label", { class: "field" }, el("span", {}, t("kb.due")), due) : null,
      project ? el("label", { class: "field" }, el("span", {}, t("kb.project")), project) : null,
      tags ? el("label", { class: "field" }, el("span", {}, t("kb.tags")), tags) : null,
      agent ? el("label", { class: "field" }, el("span", {}, t("kb.agent")), agent) : null,
    ),
    el("div", { class: "row-line" }, space ? ways : null, state),
    sides,
    problem,
    el("div", { class: "kb-editor-foot" }, cancel, save),
  );
  body.addEventListener("input", changed);
  /** @type {Array<() => void>} */
  const offs = [onConnection(draw)];
  if (projects && project)
    offs.push(
      projects.watch(({ value }) => {
        mount(
          project,
          el("option", { value: "" }, t("kb.no_project")),
          ...(value?.projects ?? []).map((one) => el("option", { value: one.id }, one.title)),
        );
        project.value = written.project;
      }),
    );
  if (agent)
    offs.push(
      agents.watch(({ value }) => {
        mount(
          agent,
          el("option", { value: "" }, t("kb.any_agent")),
          ...(value?.agents ?? []).map((one) => el("option", { value: one.slug }, one.name)),
        );
        agent.value = written.agent;
      }),
    );
  drawBegun();
  draw();
  look(matchMedia("(min-width: 1024px)").matches && space ? "both" : "write");
  return {
    node,
    /** A keyboard that comes up by itself hides half of a phone. */
    focus: () => {
      if (matchMedia("(pointer: fine)").matches) (stored ? body : title).focus({ preventScroll: true });
    },
    stop: () => {
      isOver = true;
      clearTimeout(later);
      for (const off of offs) off();
    },
  };
}

/** What is wrong with which field, or as a whole. @param {unknown} error */
function problemWords(error) {
  const fields = error instanceof ApiError ? Object.entries(error.fields ?? {}) : [];
  if (fields.length === 0) return sentence(error);
  return el(
    "ul",
    { class: "plain" },
    fields.map(([name, wrong]) => el("li", {}, visible(`${name} ${wrong}`))),
  );
}

/**
 * Stores it, all of it that differs from what is there.
 * @param {Kind} kind
 * @param {string} space
 * @param {Stored | null} stored
 * @param {Written} written
 * @returns {Promise<Stored>}
 */
function sent(kind, space, stored, written) {
  const { title, body, base } = written;
  const common = { title: title.trim(), body };
  const project_id = written.project || null;
  const tags = tagList(written.tags);
  // Those of the front matter stand in the text; what nobody touched is not sent.
  const newTags = stored && "tags" in stored && written.tags === stored.tags.join(", ") ? {} : { tags };
  if (!stored)
    switch (kind) {
      case "space":
        return post("/api/spaces", { ...common, agent: written.agent || null });
      case "project":
        return post(`/api/spaces/${space}/projects`, common);
      case "page":
        return post(`/api/spaces/${space}/pages`, { ...common, project_id, tags });
      case "task":
        return post(`/api/spaces/${space}/tasks`, { ...common, project_id, tags, due: written.due || null });
      case "ref":
        return post(`/api/spaces/${space}/refs`, { ...common, project_id, tags, url: written.url });
    }
  const change = { ...common, base_revision: base };
  switch (kind) {
    case "space":
      return patch(`/api/spaces/${stored.id}`, { ...change, agent: written.agent || null });
    case "project":
      return put(`/api/projects/${stored.id}`, change);
    case "page":
      return put(`/api/pages/${stored.id}`, { ...change, project_id, ...newTags });
    case "task":
      return put(`/api/tasks/${stored.id}`, { ...change, project_id, ...newTags, due: written.due || null });
    case "ref":
      return put(`/api/refs/${stored.id}`, { ...change, project_id, ...newTags, url: written.url });
  }
}
