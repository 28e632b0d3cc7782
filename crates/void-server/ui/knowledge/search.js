// @ts-check
// What was found: in a space or everywhere, by the words of a text and by the names of things. The server looks while
// one types.

import { ApiError, get, sentence } from "../lib/api.js";
import { el, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { empty, loading, notice } from "../parts/empties.js";
import { hitHref, hitWords, whileTyping } from "../parts/hits.js";
import { chosenSpace } from "../shell/settings.js";
import { spaceHref, spaceList } from "./data.js";
import { strangersPill, wayBack } from "./pieces.js";

/** @import { SearchHit } from "../types/api.js" */

/** So long after the last key the server is asked. */
const TYPED_MS = 200;
const KINDS = ["", "page", "task", "ref", "project"];

/** @param {URLSearchParams} query `?q=`, `?space=`, `?kind=` */
export function searchPage(query) {
  const asked = { q: query.get("q") ?? "", space: query.get("space") ?? "", kind: query.get("kind") ?? "" };
  /** @type {SearchHit[]} */
  let hits = [];
  /** @type {string | null} */
  let next = null;
  let asking = 0;
  let isOver = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let later;
  const field = /** @type {HTMLInputElement} */ (
    el("input", {
      class: "input",
      type: "search",
      value: asked.q,
      placeholder: t("kb.search_words"),
      "aria-label": t("kb.search_words"),
      autocomplete: "off",
      oninput: () => {
        asked.q = field.value;
        clearTimeout(later);
        later = setTimeout(() => void look(), TYPED_MS);
      },
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== "Enter" && event.key !== "ArrowDown") return;
        event.preventDefault();
        /** @type {HTMLElement | null} */ (list.querySelector("a"))?.focus();
      },
    })
  );
  const where = /** @type {HTMLSelectElement} */ (
    el("select", {
      class: "input",
      onchange: () => {
        asked.space = where.value;
        void look();
      },
    })
  );
  const kinds = el(
    "div",
    { class: "segmented", role: "group", "aria-label": t("kb.search_kind") },
    KINDS.map((kind) =>
      el(
        "button",
        {
          type: "button",
          "data-kind": kind,
          onclick: () => {
            asked.kind = kind;
            void look();
          },
        },
        t(kind ? `kb.kinds.${kind}` : "kb.kinds.all"),
      ),
    ),
  );
  const list = el("ul", { class: "list" });
  const foot = el("div", { class: "stack tight", "aria-live": "polite" });

  const path = () => {
    const words = new URLSearchParams({ q: asked.q.trim() });
    if (asked.space) words.set("space", asked.space);
    if (asked.kind) words.set("kind", asked.kind);
    return words;
  };
  /** @param {boolean} [isMore] */
  const look = async (isMore = false) => {
    clearTimeout(later);
    const mine = ++asking;
    const words = path();
    for (const button of kinds.children)
      button.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (button).dataset.kind === asked.kind));
    // A reload, and the way back, lead to the same.
    history.replaceState(history.state, "", `#/knowledge/search?${words}`);
    if (!asked.q.trim()) {
      hits = [];
      next = null;
      draw(el("p", { class: "muted measure" }, t("kb.search_help")));
      return;
    }
    words.set("q", whileTyping(asked.q.trim()));
    if (!isMore && hits.length === 0) mount(foot, loading());
    try {
      const found = await get(
        `/api/search?${words}&limit=30${isMore && next ? `&cursor=${encodeURIComponent(next)}` : ""}`,
      );
      if (mine !== asking || isOver) return;
      hits = isMore ? [...hits, ...found.results] : found.results;
      ({ next } = found);
      draw(
        hits.length === 0 ? empty("looking", t("kb.search_none", { words: asked.q.trim() })) : null,
        found.mode === "text" && found.why
          ? el("p", { class: "muted small" }, t("kb.search_text", { why: found.why }))
          : null,
      );
    } catch (error) {
      if (mine !== asking || isOver) return;
      if (!(error instanceof ApiError)) throw error;
      hits = [];
      next = null;
      draw(notice("problem", error.fields?.q ? `${sentence(error)} ${error.fields.q}` : sentence(error)));
    }
  };
  /** @param {...(HTMLElement | null)} told */
  const draw = (...told) => {
    mount(list, ...hits.map(row));
    list.hidden = hits.length === 0;
    mount(
      foot,
      hits.length > 0 ? el("p", { class: "hidden-text" }, t("kb.search_found", { n: hits.length })) : null,
      ...told,
      next === null
        ? null
        : el(
            "p",
            {},
            el("button", { type: "button", class: "button", onclick: () => void look(true) }, t("inbox.more")),
          ),
    );
  };
  const off = spaceList.watch(({ value }) => {
    mount(
      where,
      el("option", { value: "" }, t("kb.search_everywhere")),
      ...(value?.spaces ?? []).map((one) => el("option", { value: one.id }, one.title)),
    );
    where.value = asked.space;
  });
  const back = asked.space || chosenSpace();
  const node = el(
    "div",
    { class: "stack kb" },
    wayBack([[back ? spaceHref(back) : "#/knowledge", t("nav.knowledge")]]),
    el(
      "div",
      { class: "stack tight", role: "search" },
      el(
        "div",
        { class: "kb-line" },
        field,
        el("label", { class: "kb-where" }, el("span", { class: "hidden-text" }, t("kb.search_where")), where),
      ),
      kinds,
    ),
    list,
    foot,
  );
  void look();
  if (matchMedia("(pointer: fine)").matches) requestAnimationFrame(() => field.focus());
  return {
    node,
    title: t("nav.knowledge"),
    stop: () => {
      isOver = true;
      clearTimeout(later);
      off();
    },
    keys: { "/": () => field.focus() },
  };
}

/** @param {SearchHit} hit */
const row = (hit) =>
  el(
    "li",
    {},
    el(
      "a",
      { href: hitHref(hit), class: "kb-row" },
      el(
        "span",
        { class: "grow" },
        el(
          "span",
          { class: "title wrap" },
          hitWords(hit.title_spans.length > 0 ? hit.title_spans : [{ text: hit.title, hit: false }]),
        ),
        el("span", { class: "muted small line" }, hitWords(hit.snippet)),
      ),
      hit.foreign ? strangersPill() : null,
      el("span", { class: "muted small" }, t(`kind.${hit.kind}`)),
    ),
  );
