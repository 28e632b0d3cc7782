// @ts-check
// What the owner wrote about a service or an action, where it is needed. The line is the page's own words, and said
// to be so.

import { el } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { shape } from "./states.js";

/** @import { Runbook } from "../types/api.js" */

/** @param {Runbook[] | undefined} all @param {2 | 3} [level] */
export const runbookList = (all, level = 3) =>
  !all || all.length === 0
    ? null
    : el(
        "section",
        { class: "stack tight" },
        el(`h${level}`, {}, t("runbooks.title")),
        el(
          "ul",
          { class: "list" },
          all.map((one) =>
            el(
              "li",
              {},
              el(
                "a",
                { href: `#/knowledge/pages/${one.page_id}` },
                el(
                  "span",
                  { class: "grow" },
                  el("span", { class: "title wrap" }, one.title ?? t("kind.page")),
                  one.says ? el("span", { class: "muted small runbook-line" }, `“${one.says}”`) : null,
                ),
                one.foreign ? el("span", { class: "pill waiting" }, shape("unsure"), t("runbooks.foreign")) : null,
              ),
            ),
          ),
        ),
      );
