// @ts-check
// Nothing set up: which file is read, something to put into it, and the command that takes it over. The
// server knows the paths and the commands; it says them only while a file is empty.

import { el, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { copyButton, snippet } from "./copying.js";

/** @import { Content } from "../lib/dom.js" */
/** @import { EmptyFile, Setup } from "../types/api.js" */

/**
 * Shows the card for an empty file in a place of its own, or nothing if the file has something in it. Drawn anew
 * only for something new, so that the focus and a "Copied" stay.
 * @param {HTMLElement} place
 * @param {Setup | undefined} setup of `/api/home`
 * @param {"actions" | "services"} what
 */
export function showFirstSteps(place, setup, what) {
  const file = setup?.empty_files.find((one) => one.what === what) ?? null;
  const stamp = JSON.stringify([file, setup?.commands]);
  if (place.dataset.stamp === stamp) return;
  place.dataset.stamp = stamp;
  mount(place, file && setup ? card(file, setup.commands) : null);
}

/** @param {EmptyFile} file @param {string[]} commands */
function card({ what, path, example }, commands) {
  const step = (/** @type {string} */ words, /** @type {Content[]} */ ...parts) =>
    el("li", { class: "stack tight" }, el("p", { class: "step" }, words), ...parts);
  const note = (/** @type {string} */ words) => el("p", { class: "small muted" }, words);
  return el(
    "section",
    { class: "card first-steps" },
    el("h2", {}, t(`first.${what}`)),
    el("p", { class: "muted" }, t(`first.${what}_why`)),
    el(
      "ol",
      {},
      step(
        t("first.write"),
        el("div", { class: "snippet" }, broken(path), copyButton(path, t("first.path"))),
        snippet(example.trimEnd(), t("first.example")),
        note(t(`first.${what}_yours`)),
      ),
      step(t("first.then"), snippet(commands.join(" &&\n"), t("first.command")), note(t("first.notices"))),
    ),
  );
}

/** A path that is broken behind its slashes where it has to be. @param {string} path */
const broken = (path) =>
  el(
    "code",
    { class: "wrap" },
    path.split("/").map((part, at) => [at > 0 ? "/" : "", at > 0 ? el("wbr") : null, part]),
  );
