// @ts-check
// The catalogue: everything that may ever run, to read. Nothing here changes it; that goes by its file.

import { said } from "../lib/commands.js";
import { actions, ended, home, watchTogether } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { cannotTell, loading, notice } from "../parts/empties.js";
import { showFirstSteps } from "../parts/first-steps.js";
import { statePill, tierPill } from "../parts/states.js";
import { labTabs, mountIfNew } from "./pieces.js";

/** @import { ActionResponse, CatalogueResponse, WarningResponse } from "../types/api.js" */

/** How much of a digest people compare. */
const DIGEST_SHOWN = 12;

/** @param {string} digest */
export const shortDigest = (digest) => el("code", { title: digest }, digest.slice(0, DIGEST_SHOWN));

export function cataloguePage() {
  const filter = /** @type {HTMLInputElement} */ (
    el("input", {
      class: "input",
      type: "search",
      placeholder: t("actions.filter"),
      "aria-label": t("actions.filter"),
      autocomplete: "off",
      oninput: () => drawList(),
    })
  );
  const which = el("div", { class: "segmented", role: "group", "aria-label": t("inbox.tier") });
  const head = el("div", { class: "stack" });
  const list = el("ul", { class: "list catalogue" });
  const foot = el("div");
  const first = el("div");
  const tools = el("div", { class: "row-line lab-tools" }, el("div", { class: "grow" }, filter), which);
  const place = el("div", { class: "stack" }, loading());
  const node = el("div", { class: "stack lab" }, labTabs("actions"), place);
  let tier = "";
  const drawWhich = () =>
    mount(
      which,
      ...["", "safe", "risky"].map((one) =>
        el(
          "button",
          {
            type: "button",
            "aria-pressed": String(one === tier),
            onclick: () => {
              tier = one;
              drawWhich();
              drawList();
            },
          },
          one ? t(`tier.${one}`) : t("actions.all"),
        ),
      ),
    );
  const drawList = () => {
    if (!actions.value?.actions.length) return;
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = actions.value.actions.filter(
      (action) =>
        (!tier || action.tier === tier) &&
        words.every((word) =>
          `${action.label} ${action.id} ${action.target} ${action.tier}`.toLowerCase().includes(word),
        ),
    );
    list.hidden = shown.length === 0;
    mountIfNew(list, shown.map(line));
    mount(foot, shown.length === 0 ? el("p", { class: "muted", role: "status" }, t("actions.filtered")) : null);
  };
  const draw = () => {
    const { value, error } = actions;
    if (!value) return mount(place, error ? cannotTell(error, () => void actions.read()) : loading());
    if (!head.isConnected) mount(place, head, tools, list, foot, first);
    showFirstSteps(first, home.value?.setup, "actions");
    tools.hidden = value.actions.length === 0;
    list.hidden = tools.hidden;
    if (tools.hidden) return mount(head, home.value ? null : el("p", {}, t("actions.none")));
    mount(head, provenance(value.catalogue), findings(value.catalogue.warnings));
    return drawList();
  };
  drawWhich();
  const { stop } = watchTogether([actions, ended, home], draw);
  return {
    node,
    title: t("actions.title"),
    stop,
    keys: { "/": () => filter.focus() },
  };
}

/** @param {CatalogueResponse} catalogue */
function provenance(catalogue) {
  return el(
    "p",
    { class: "muted wrap" },
    t("actions.read_only"),
    " ",
    catalogue.commit
      ? el("span", {}, t("actions.at_commit"), " ", el("code", {}, catalogue.commit.slice(0, 10)), ", ")
      : el("span", {}, t("actions.no_commit"), " "),
    t("actions.digest"),
    " ",
    shortDigest(catalogue.digest),
    ".",
  );
}

/** What the lint has to say, in its own words. @param {WarningResponse[]} warnings */
function findings(warnings) {
  if (warnings.length === 0) return el("p", { class: "small muted" }, t("actions.no_findings"));
  return notice(
    "caution",
    el("h2", {}, t("actions.findings", { n: warnings.length })),
    el(
      "ul",
      { class: "findings" },
      warnings.map((one) =>
        el(
          "li",
          { class: "wrap" },
          el("span", { class: "muted" }, t("actions.line", { line: one.line })),
          " ",
          one.path ? el("code", {}, one.path) : null,
          " ",
          said(one.message),
          one.hint ? el("span", { class: "muted" }, " ", said(one.hint)) : null,
        ),
      ),
    ),
  );
}

/** @param {ActionResponse} action */
function line(action) {
  const last = (ended.value?.recent ?? []).find((row) => row.action_id === action.id);
  return el(
    "li",
    {},
    el(
      "a",
      { href: `#/lab/actions/${encodeURIComponent(action.id)}` },
      el(
        "span",
        { class: "grow" },
        el("span", { class: "title wrap line" }, action.label),
        el("code", { class: "muted small line wrap" }, `${action.id} · ${action.target}`),
      ),
      el(
        "span",
        { class: "side" },
        tierPill(action),
        last
          ? el("span", { class: "last small muted" }, statePill(last), time(last.resolved_at))
          : el("span", { class: "small muted" }, t("actions.never")),
      ),
    ),
  );
}
