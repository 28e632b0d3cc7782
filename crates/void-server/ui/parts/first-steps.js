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
  const missing = what === "actions" ? (setup?.provision ?? null) : null;
  const stamp = JSON.stringify([file, setup?.commands, missing]);
  if (place.dataset.stamp === stamp) return;
  place.dataset.stamp = stamp;
  mount(place, file && setup ? card(file, setup) : missing ? unprovisioned(missing) : null);
}

/** The catalogue has actions for Void's own machine, which runs none of them yet. @param {string} command */
const unprovisioned = (command) =>
  el(
    "section",
    { class: "card first-steps" },
    el("h2", {}, t("first.missing")),
    el("p", { class: "muted" }, t("first.missing_why")),
    snippet(command, t("first.provision_command")),
    el("p", { class: "small muted" }, t("first.provision_why")),
  );

/** @param {EmptyFile} file @param {Setup} setup */
function card({ what, path, example }, { commands, called }) {
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
      what === "actions"
        ? step(
            t("first.provision"),
            snippet(`${called} provision local`, t("first.provision_command")),
            note(t("first.provision_why")),
          )
        : null,
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
