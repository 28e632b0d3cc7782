// @ts-check
// What the sections of Settings are made of: buttons that say what they do while they do it, a second
// step in place, text to copy, a secret that is shown once.

import { sentence } from "../lib/api.js";
import { el, mount, visible } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { t } from "../lib/words.js";
import { snippet } from "../parts/copying.js";
import { cannotTell, loading, notice } from "../parts/empties.js";

/** @import { Content } from "../lib/dom.js" */

/** @typedef {{node: HTMLElement, stop?: () => void}} Section */

/**
 * A part of a section with a heading.
 * @param {string} title
 * @param {string | null} about
 * @param {...Content} children
 */
export const part = (title, about, ...children) =>
  el(
    "section",
    { class: "stack tight part" },
    el("div", { class: "part-head" }, el("h3", {}, title), about ? el("p", { class: "muted small" }, about) : null),
    ...children,
  );

/**
 * A button that sends something: busy while it does, off while there is no connection.
 * @param {string} word
 * @param {() => Promise<unknown>} act
 * @param {{kind?: string, told?: HTMLElement, busy?: string, label?: string, submits?: boolean}} [how]
 */
export function sender(word, act, how = {}) {
  const { kind = "", told, busy = t("card.sending"), label, submits = false } = how;
  const button = /** @type {HTMLButtonElement} */ (
    el(
      "button",
      {
        type: submits ? "submit" : "button",
        class: `button ${kind}`,
        "data-sends": "yes",
        "aria-label": label ?? null,
      },
      word,
    )
  );
  const go = async () => {
    if (button.disabled) return;
    button.dataset.busy = "yes";
    button.disabled = true;
    mount(button, busy);
    if (told) mount(told);
    try {
      await act();
    } catch (error) {
      if (told) mount(told, notice("problem", sentence(error)));
    } finally {
      delete button.dataset.busy;
      mount(button, word);
      fit(button);
    }
  };
  if (submits)
    button.addEventListener("click", (event) => {
      const { form } = button;
      event.preventDefault();
      if (form?.reportValidity()) void go();
    });
  else button.addEventListener("click", () => void go());
  fit(button);
  return button;
}

/** @param {HTMLButtonElement} button */
function fit(button) {
  if (button.dataset.busy) return;
  button.disabled = !isLive();
  button.title = isLive() ? "" : t("settings.not_connected");
}

/** Every sending button under a node, as the connection is now. @param {HTMLElement} node */
export function fitSenders(node) {
  for (const button of node.querySelectorAll("button[data-sends]")) fit(/** @type {HTMLButtonElement} */ (button));
}

/**
 * Something that cannot be taken back, in two steps at the same place. The first touch only asks. What
 * acts answers null if the owner thought better of it.
 * @param {{word: string, ask: string, yes: string, act: () => Promise<unknown>, label?: string}} how
 */
export function twoStep({ word, ask, yes, act, label }) {
  const place = el("div", { class: "two-step", "aria-live": "polite" });
  const rest = () => {
    const first = /** @type {HTMLButtonElement} */ (
      el(
        "button",
        {
          type: "button",
          class: "button small",
          "data-sends": "yes",
          "aria-label": label ? visible(label) : null,
          onclick: step,
        },
        word,
      )
    );
    fit(first);
    mount(place, first);
    return first;
  };
  const step = () => {
    const told = el("div", { class: "told" });
    const back = el(
      "button",
      { type: "button", class: "button small", onclick: () => rest().focus() },
      t("settings.keep"),
    );
    mount(
      place,
      el(
        "div",
        { class: "asks", role: "group", "aria-label": visible(ask) },
        el("p", { class: "small" }, ask),
        told,
        el("div", { class: "row-line" }, back, sender(yes, go, { kind: "danger small", told })),
      ),
    );
    back.focus();
  };
  const go = async () => {
    if ((await act()) === null) return void rest().focus();
    // What was acted on goes with the next reading; until then it says so, and cannot be done twice.
    mount(place, el("span", { class: "muted small" }, t("settings.done")));
    /** @type {HTMLElement | null} */ (document.querySelector(".settings-body h2"))?.focus({ preventScroll: true });
  };
  rest();
  place.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !place.querySelector(".asks")) return;
    event.stopPropagation();
    rest().focus();
  });
  return place;
}

/**
 * A secret, now and never again.
 * @param {{what: string, why: string, text: string, more?: Content, done: () => void}} how
 */
export function secretOnce({ what, why, text, more, done }) {
  const node = el(
    "div",
    { class: "card secret", role: "group", "aria-label": what, tabIndex: -1 },
    el("h4", {}, what),
    el("p", { class: "small" }, why),
    snippet(text, what),
    more ?? null,
    el("p", {}, el("button", { type: "button", class: "button", onclick: done }, t("settings.have_it"))),
  );
  queueMicrotask(() => node.focus());
  return node;
}

/**
 * Shows what a resource says in a place: the wait, what went wrong with a way to try again, or its value.
 * @template T
 * @param {import("../lib/data.js").Resource<T>} resource
 * @param {HTMLElement} place
 * @param {(value: T) => void} draw
 * @param {{isSmall?: boolean}} [how] small where several stand together
 */
export function showing(resource, place, draw, how = {}) {
  mount(place, loading());
  let isShown = false;
  return resource.watch(({ value, error }) => {
    if (value !== null && !error) {
      isShown = true;
      draw(value);
    } else if (error && (!isShown || error.status !== 0)) {
      isShown = false;
      const again = () => {
        mount(place, loading());
        void resource.read();
      };
      mount(place, how.isSmall ? smallTrouble(error, again) : cannotTell(error, again));
    }
  });
}

/** @param {unknown} error @param {() => void} again */
const smallTrouble = (error, again) =>
  notice(
    "problem",
    el(
      "div",
      { class: "row-line" },
      el("span", { class: "grow" }, sentence(error)),
      el("button", { type: "button", class: "button small", onclick: again }, t("retry")),
    ),
  );

/** Where a value comes from, when it is not to be changed here. @param {...Content} words */
export const source = (...words) => el("p", { class: "muted small source" }, ...words);

/** @param {string} text */
export const code = (text) => el("code", { class: "wrap" }, text);

/** A fingerprint, broken only between its pairs. @param {string} text */
export const fingerprint = (text) =>
  el(
    "code",
    {},
    text.split(":").map((pair, at) => [at > 0 ? ":" : "", el("wbr"), pair]),
  );

/** Why something is quiet, inside a list. @param {...Content} words */
export const quiet = (...words) => el("div", { class: "quiet muted" }, ...words);
