// @ts-check
// What the pages of Knowledge share: the head of a space with its ways, rows, a menu, what is marked as a stranger's.

import { ApiError, del, post, sentence } from "../lib/api.js";
import { el, mount, visible } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { person } from "../lib/people.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { cannotTell, empty, loading, notice } from "../parts/empties.js";
import { shape } from "../parts/states.js";
import { toast } from "../parts/toasts.js";
import { icon } from "../shell/icons.js";
import { goTo } from "../shell/router.js";
import { chooseSpace } from "../shell/settings.js";
import { hrefOf, NOUNS, spaceHref, spaceList } from "./data.js";

/** @import { Content } from "../lib/dom.js" */
/** @import { Head, Kind } from "./data.js" */

const TABS = /** @type {const} */ (["home", "pages", "tasks", "refs", "projects"]);

/**
 * Which space, the way to another one, and what is in it.
 * @param {string} space
 * @param {typeof TABS[number] | ""} tab
 */
export function spaceBar(space, tab) {
  const all = spaceList.value?.spaces ?? [];
  const choice = /** @type {HTMLSelectElement} */ (
    el(
      "select",
      {
        class: "input kb-space",
        onchange: () => {
          chooseSpace(choice.value);
          goTo(spaceHref(choice.value));
        },
      },
      all.map((one) => el("option", { value: one.id, selected: one.id === space }, one.title)),
    )
  );
  return el(
    "div",
    { class: "kb-bar" },
    el(
      "div",
      { class: "kb-bar-head" },
      el("label", { class: "grow" }, el("span", { class: "hidden-text" }, t("kb.space")), choice),
      el(
        "a",
        {
          class: "icon-button",
          href: `#/knowledge/search?space=${space}`,
          "aria-label": t("kb.search"),
          title: t("kb.search"),
        },
        icon("search"),
      ),
      menu(t("kb.space_menu"), [
        menuLink(t("kb.space_edit"), `${spaceHref(space)}/edit`),
        menuLink(t("kb.files"), spaceHref(space, "files")),
        menuLink(t("kb.bin"), spaceHref(space, "bin")),
        menuLink(t("kb.space_new"), "#/knowledge/new/space"),
      ]),
    ),
    el(
      "nav",
      { class: "subnav", "aria-label": t("kb.parts") },
      TABS.map((one) =>
        el(
          "a",
          {
            href: spaceHref(space, one === "home" ? undefined : one),
            "aria-current": one === tab ? "page" : null,
          },
          t(`kb.tab.${one}`),
        ),
      ),
    ),
  );
}

/** Where one is, and the way back. @param {[string, string][]} ways */
export const wayBack = (ways) =>
  el(
    "nav",
    { class: "trail small", "aria-label": t("kb.trail") },
    el(
      "ol",
      {},
      ways.map(([href, word]) => el("li", {}, el("a", { href, class: "wrap" }, word))),
    ),
  );

/**
 * A button that opens a few more.
 * @param {string} label
 * @param {(HTMLElement | null)[]} items
 */
export function menu(label, items) {
  const node = /** @type {HTMLDetailsElement} */ (
    el(
      "details",
      {
        class: "menu",
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          if (event.key !== "Escape" || !node.open) return;
          event.stopPropagation();
          node.open = false;
          /** @type {HTMLElement | null} */ (node.querySelector("summary"))?.focus();
        },
        onfocusout: (/** @type {FocusEvent} */ { relatedTarget }) => {
          if (relatedTarget instanceof Node && !node.contains(relatedTarget)) node.open = false;
        },
        onclick: (/** @type {Event} */ event) => {
          if (/** @type {Element} */ (event.target).closest(".menu-items > *")) node.open = false;
        },
      },
      el("summary", { class: "icon-button", "aria-label": label, title: label }, "⋯"),
      el(
        "div",
        { class: "menu-items" },
        items.filter((item) => item !== null),
      ),
    )
  );
  const beside = (/** @type {Event} */ event) => {
    if (!node.isConnected) removeEventListener("pointerdown", beside);
    else if (!node.contains(/** @type {Node} */ (event.target))) node.open = false;
  };
  addEventListener("pointerdown", beside);
  return node;
}

/** @param {string} word @param {string} href */
export const menuLink = (word, href) => el("a", { href }, word);

/** @param {string} word @param {() => unknown} act @param {string} [kind] */
export const menuButton = (word, act, kind = "") =>
  el("button", { type: "button", class: kind, onclick: () => void act() }, word);

/**
 * A button that sends something: busy while it does, off without a connection, its problem told as a note.
 * @param {string} word
 * @param {() => Promise<unknown>} act
 * @param {string} [kind]
 */
export function sendButton(word, act, kind = "") {
  const button = /** @type {HTMLButtonElement} */ (
    el("button", { type: "button", class: `button ${kind}`, onclick: () => void go() }, word)
  );
  const go = async () => {
    if (!isLive()) return void toast(t("kb.not_connected"), { isProblem: true });
    button.disabled = true;
    mount(button, t("card.sending"));
    try {
      await act();
    } catch (error) {
      toast(sentence(error), { isProblem: true });
    }
    button.disabled = false;
    mount(button, word);
    return undefined;
  };
  return button;
}

/** Who changed it last, and when. @param {Head} head @param {{isShort?: boolean}} [how] */
export const changedBy = (head, { isShort = false } = {}) =>
  el(
    "span",
    { class: "muted small" },
    isShort
      ? time(head.updated_at)
      : [t("kb.changed_by", { name: person(head.updated_by) }), " ", time(head.updated_at)],
  );

/** That a stranger could have written it, by shape and word. */
export const strangersPill = () => el("span", { class: "pill waiting" }, shape("unsure"), t("kb.foreign"));

/** @param {string[]} tags */
export const tagWords = (tags) => tags.map((tag) => el("span", { class: "tag wrap" }, `#${tag}`));

/**
 * One of a list.
 * @param {Exclude<Head, import("../types/api.js").TaskHead>} head
 * @param {Content} [more]
 */
export function headRow(head, more = null) {
  const tags = "tags" in head ? head.tags : [];
  return el(
    "li",
    {},
    el(
      "a",
      { href: hrefOf(head.kind, head.id), class: "kb-row" },
      el(
        "span",
        { class: "grow" },
        el("span", { class: "title wrap" }, head.title),
        el("span", { class: "kb-row-more" }, more, tagWords(tags)),
      ),
      head.foreign ? strangersPill() : null,
      changedBy(head, { isShort: true }),
    ),
  );
}

/**
 * One of a list with what can be done with it there.
 * @param {HTMLElement} title
 * @param {Content} words below it
 * @param {...HTMLElement} acts
 */
export const itemRow = (title, words, ...acts) =>
  el(
    "li",
    {},
    el(
      "div",
      { class: "item kb-item" },
      el("span", { class: "grow" }, title, el("span", { class: "muted small" }, words)),
      el("span", { class: "row-line" }, acts),
    ),
  );

/**
 * Something of the page that is read: the wait, what is wrong, or nothing at all at this address.
 * @param {unknown} error
 * @param {() => void} again
 */
export function notThere(error, again) {
  if (!error) return loading();
  const isMissing = error instanceof ApiError && error.status === 404;
  if (!isMissing) return cannotTell(error, again);
  return empty("unsure", t("kb.missing"), el("a", { class: "button", href: "#/knowledge" }, t("kb.missing_way")));
}

/** What was read before stays, and says that it is old. @param {unknown} error */
export const oldNote = (error) => (error ? notice("problem", sentence(error), " ", t("kb.old")) : null);

/**
 * Throws something away, with the way back in a note.
 * @param {{kind: Kind, id: string, title: string, revision: number, space_id: string}} entity
 */
export async function throwAway({ kind, id, title, revision, space_id: space }) {
  try {
    await del(`/api/${NOUNS[kind]}/${id}?base_revision=${revision}`);
  } catch (error) {
    toast(sentence(error), { isProblem: true });
    return;
  }
  goTo(kind === "space" ? "#/knowledge" : spaceHref(space, NOUNS[kind]));
  toast(t("kb.thrown_away", { title: visible(title) }), {
    label: t("kb.undo"),
    takesFocus: true,
    onclick: () => void takeBack(kind, id),
  });
}

/** @param {Kind} kind @param {string} id @param {{stays?: boolean}} [how] */
export async function takeBack(kind, id, { stays = false } = {}) {
  try {
    const back = await post(`/api/${NOUNS[kind]}/${id}/undelete`);
    if (stays)
      toast(t("kb.taken_back", { title: visible(back.title) }), { href: hrefOf(kind, id), label: t("kb.look") });
    else goTo(hrefOf(kind, id));
  } catch (error) {
    toast(sentence(error), { isProblem: true });
  }
}
