// @ts-check
// The three ways of having nothing to show: nothing set up, nothing to do, cannot tell. And the wait.

import { el } from "../lib/dom.js";
import { sentence } from "../lib/api.js";
import { t } from "../lib/words.js";
import { blue } from "./blue.js";

/** @import { Content } from "../lib/dom.js" */

/**
 * @param {import("./blue.js").Pose} pose
 * @param {string} text
 * @param {...Content} more
 */
export const empty = (pose, text, ...more) => el("div", { class: "empty" }, blue(pose, 96), el("p", {}, text), ...more);

/** @param {unknown} error @param {() => void} [retry] */
export const cannotTell = (error, retry) =>
  empty(
    "unsure",
    sentence(error),
    retry ? el("button", { type: "button", class: "button", onclick: retry }, t("retry")) : null,
  );

/** An address that names no page of ours; nothing takes its place in silence. */
export const unknownPage = () => ({
  node: el(
    "div",
    { class: "stack" },
    empty(
      "unsure",
      t("page.unknown", { address: location.hash }),
      el("a", { class: "button", href: "#/home" }, t("page.unknown_way")),
    ),
  ),
  title: t("page.unknown_title"),
});

export const loading = () => el("p", { class: "loading muted", role: "status" }, t("loading"));

/**
 * @param {"info" | "caution" | "problem"} kind
 * @param {...Content} children
 */
export const notice = (kind, ...children) =>
  el("div", { class: `notice ${kind}`, role: kind === "problem" ? "alert" : "note" }, ...children);
