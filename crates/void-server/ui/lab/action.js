// @ts-check
// One action of the catalogue: everything it says, and running it. What is risky is only asked for.

import { ApiError, get, post, sentence } from "../lib/api.js";
import { actions, ended, home, isAnswered, Resource } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { isLive, onConnection } from "../lib/live.js";
import { clock, span } from "../lib/time.js";
import { t } from "../lib/words.js";
import { proposalCard } from "../parts/cards.js";
import { cannotTell, empty, loading, notice } from "../parts/empties.js";
import { factList } from "../parts/facts.js";
import { runbookList } from "../parts/runbooks.js";
import { tierPill } from "../parts/states.js";
import { shortDigest } from "./catalogue.js";
import { watchLab } from "./data.js";
import { guestHref } from "./guests.js";
import { lastRuns, mountIfNew, talkAboutLink, trail } from "./pieces.js";

/** @import { ActionResponse, ActionsResponse, ParamSpec } from "../types/api.js" */

/** @param {string} id */
export function actionPage(id) {
  const ways = (/** @type {string} */ here) =>
    trail(
      [
        ["#/lab", t("nav.lab")],
        ["#/lab/actions", t("actions.title")],
      ],
      here,
    );
  const about = el("div", { class: "stack" }, ways(id), loading());
  const runs = el("div", { class: "stack" });
  const books = new Resource(() => get(`/api/actions/${encodeURIComponent(id)}`), /^page\.changed$/);
  const node = el("div", { class: "stack lab" }, about);
  /** @type {(() => void) | null} */
  let offBooks = null;
  /** @type {ReturnType<typeof runForm> | null} */
  let form = null;
  const draw = () => {
    const { value, error } = actions;
    const action = value?.actions.find((one) => one.id === id);
    if (!value || !action) {
      mount(
        about,
        ways(id),
        !value
          ? error
            ? cannotTell(error, () => void actions.read())
            : loading()
          : empty(
              "unsure",
              t("actions.unknown", { id }),
              el("p", { class: "small" }, t("actions.unknown_way")),
              el("a", { class: "button", href: "#/lab/actions" }, t("actions.title")),
            ),
      );
      return;
    }
    // Only what is there is asked for its runbooks; all of it is drawn at once.
    offBooks ??= books.watch(draw);
    if (!isAnswered(books)) return;
    if (!form) {
      form = runForm(action);
      mount(
        about,
        ways(action.label),
        el(
          "div",
          { class: "lab-two action-grid" },
          inShort(action, value),
          el("div", { class: "stack" }, form.node, runs),
          inFull(action, value),
        ),
      );
    }
    form.update();
    const found = runbookList(books.value?.runbooks);
    mountIfNew(runs, [...(found ? [found] : []), lastRuns([action])]);
  };
  const offs = [watchLab([actions, ended], draw), home.watch(() => form?.update()), onConnection(() => form?.update())];
  return {
    node,
    title: t("actions.title"),
    stop: () => {
      for (const off of offs) off();
      offBooks?.();
    },
  };
}

/**
 * What one has to know before.
 * @param {ActionResponse} action
 * @param {ActionsResponse} value what `/api/actions` said
 */
function inShort(action, value) {
  const other = (/** @type {string} */ id) =>
    el(
      "a",
      { href: `#/lab/actions/${encodeURIComponent(id)}` },
      value.actions.find((one) => one.id === id)?.label ?? id,
    );
  const target =
    action.node !== null && action.vmid !== null
      ? el("a", { href: guestHref(action.node, action.vmid) }, action.target)
      : el("code", {}, action.target);
  const check = el(
    "span",
    {},
    action.checked_by,
    action.verify
      ? [" ", el("a", { href: `#/lab/services/${encodeURIComponent(action.verify)}` }, action.verify)]
      : null,
  );
  return el(
    "section",
    { class: "card stack" },
    el("div", { class: "row-line" }, tierPill(action)),
    el("h2", { class: "wrap" }, action.label),
    el("p", {}, talkAboutLink("action", action.id)),
    action.raised ? notice("caution", t("actions.raised", { why: action.raised })) : null,
    factList([
      [
        t("actions.fact.does"),
        t(
          action.kind === "guest_power"
            ? "actions.does.guest"
            : action.host
              ? "actions.does.service"
              : "actions.does.node",
          {
            op: action.op ?? "",
            vmid: action.vmid ?? "",
            node: action.node ?? "",
            host: action.host ?? "",
            service: action.service ?? "",
          },
        ),
      ],
      [t("card.target"), target],
      [t("actions.fact.check"), check],
      [t("card.undone_by"), action.inverse ? other(action.inverse) : t("actions.no_inverse")],
    ]),
  );
}

/** The rest of what the catalogue says, and where. @param {ActionResponse} action @param {ActionsResponse} value */
function inFull(action, value) {
  const params = Object.entries(action.params);
  return el(
    "section",
    { class: "card stack" },
    el("h3", {}, t("actions.in_full")),
    el("p", { class: "muted small" }, t("actions.where_words")),
    factList([
      [
        t("actions.fact.who"),
        action.agents
          ? action.agents.length > 0
            ? action.agents.join(", ")
            : t("actions.no_agent")
          : t("actions.any_agent"),
      ],
      [
        t("actions.fact.limits"),
        [
          action.cooldown_s
            ? t("actions.cooldown", { span: span(action.cooldown_s * 1000) })
            : action.agent_cooldown_s
              ? t("actions.agent_cooldown", { span: span(action.agent_cooldown_s * 1000) })
              : null,
          action.max_per_hour ? t("actions.per_hour", { n: action.max_per_hour }) : null,
        ]
          .filter(Boolean)
          .join(" ") || t("actions.no_limits"),
      ],
      [t("actions.fact.timeout"), span(action.timeout_s * 1000)],
      action.tier === "risky" ? [t("actions.fact.expires"), span(action.expires_s * 1000)] : null,
      [
        t("card.params"),
        params.length === 0
          ? t("actions.no_params")
          : el(
              "ul",
              {},
              params.map(([name, spec]) => el("li", {}, el("code", {}, name), " ", specWords(spec))),
            ),
      ],
      [t("actions.fact.id"), el("code", {}, action.id)],
      [t("actions.fact.digest"), el("code", { class: "wrap" }, action.digest)],
      [t("actions.fact.exec_digest"), el("code", { class: "wrap" }, action.exec_digest)],
      [t("actions.fact.commit"), value.catalogue.commit ? el("code", {}, value.catalogue.commit) : t("card.no_commit")],
      [t("actions.fact.catalogue"), shortDigest(value.catalogue.digest)],
    ]),
  );
}

/** @param {ParamSpec} spec */
function specWords(spec) {
  if (spec.type === "integer") return t("actions.spec.integer", { min: spec.min, max: spec.max });
  if (spec.type === "enum") return t("actions.spec.enum", { values: spec.values.join(", ") });
  return t("actions.spec.pattern", { pattern: spec.pattern, n: spec.max_len });
}

/**
 * The form made of the action's own declaration. It sends; it never decides.
 * @param {ActionResponse} action
 */
function runForm(action) {
  const isSafe = action.tier === "safe" && action.risk === "nominal";
  /** @type {Record<string, {input: HTMLInputElement | HTMLSelectElement, told: HTMLElement, spec: ParamSpec}>} */
  const fields = {};
  const inputs = Object.entries(action.params).map(([name, spec]) => {
    const told = el("small", { class: "field-problem", id: `told-${name}` });
    const input = /** @type {HTMLInputElement | HTMLSelectElement} */ (control(name, spec));
    fields[name] = { input, told, spec };
    return el(
      "label",
      { class: "field" },
      el("span", {}, name),
      input,
      el("small", { class: "muted wrap", id: `spec-${name}` }, specWords(spec)),
      told,
    );
  });
  const reason = /** @type {HTMLInputElement} */ (el("input", { class: "input", maxLength: 400, autocomplete: "off" }));
  const button = /** @type {HTMLButtonElement} */ (el("button", { class: "button primary run-button" }));
  const note = el("p", { class: "muted small", id: "run-note" });
  const problem = el("div", { "aria-live": "assertive" });
  const result = el("div", { "aria-live": "polite" });
  let isSending = false;
  const update = () => {
    const freeze = home.value?.freeze;
    const isFrozen = freeze?.frozen === true;
    button.disabled = isSending || !isLive() || (isFrozen && isSafe);
    mount(
      button,
      isSending
        ? t("card.sending")
        : !isLive()
          ? t("card.not_connected")
          : isFrozen && isSafe
            ? t("actions.frozen")
            : t(isSafe ? "actions.run" : "actions.ask"),
    );
    note.textContent = !isLive()
      ? t("actions.not_connected_why")
      : isFrozen
        ? freeze.until
          ? t(isSafe ? "actions.frozen_until" : "actions.frozen_ask", { at: clock(freeze.until) })
          : t(isSafe ? "actions.frozen_why" : "actions.frozen_ask")
        : t(isSafe ? "actions.runs_now" : "actions.will_wait", { span: span(action.expires_s * 1000) });
  };
  /** @param {Event} event */
  const send = async (event) => {
    event.preventDefault();
    if (isSending || button.disabled) return;
    isSending = true;
    mount(problem);
    for (const { told, input } of Object.values(fields)) {
      mount(told);
      input.removeAttribute("aria-invalid");
    }
    update();
    const params = Object.fromEntries(
      Object.entries(fields).map(([name, { input, spec }]) => [
        name,
        spec.type === "integer" ? Number(input.value) : input.value,
      ]),
    );
    try {
      const answer = await post(`/api/actions/${encodeURIComponent(action.id)}/run?wait=0`, {
        ...(inputs.length > 0 ? { params } : {}),
        ...(reason.value.trim() ? { reason: reason.value.trim() } : {}),
      });
      mount(result, proposalCard(await get(`/api/proposals/${answer.action_row_id}`), { level: 3, isBrief: true }));
      reason.value = "";
    } catch (error) {
      tell(error);
    }
    isSending = false;
    void ended.read();
    update();
  };
  /** @param {unknown} error */
  const tell = (error) => {
    const told = error instanceof ApiError ? error : null;
    let isPlaced = false;
    for (const [name, words] of Object.entries(told?.fields ?? {})) {
      const field = fields[name.replace(/^params\./, "")];
      if (!field) continue;
      mount(field.told, t("actions.field_problem", { problem: String(words) }));
      field.input.setAttribute("aria-invalid", "true");
      if (!isPlaced) field.input.focus();
      isPlaced = true;
    }
    mount(
      problem,
      isPlaced
        ? null
        : notice(
            "problem",
            el("p", {}, sentence(error)),
            told?.row
              ? el("a", { href: `#/inbox/${told.row.id}` }, t("actions.refused_row", { code: told.row.code }))
              : null,
          ),
    );
  };
  const node = el(
    "section",
    { class: "card run" },
    el("h3", {}, t(isSafe ? "actions.run_title" : "actions.ask_title")),
    el(
      "form",
      { class: "stack", onsubmit: (/** @type {Event} */ event) => void send(event) },
      inputs,
      el("label", { class: "field" }, el("span", {}, t("actions.reason")), reason),
      el("div", {}, note, problem),
      button,
    ),
    result,
  );
  button.setAttribute("aria-describedby", "run-note");
  update();
  return { node, update };
}

/** @param {string} name @param {ParamSpec} spec */
function control(name, spec) {
  const described = { name, required: true, "aria-describedby": `spec-${name} told-${name}` };
  if (spec.type === "enum")
    return el(
      "select",
      { class: "input", ...described },
      spec.values.map((/** @type {string} */ value) => el("option", { value }, value)),
    );
  if (spec.type === "integer")
    return el("input", {
      class: "input",
      type: "number",
      min: String(spec.min),
      max: String(spec.max),
      step: "1",
      ...described,
    });
  return el("input", { class: "input", maxLength: spec.max_len, autocomplete: "off", spellcheck: false, ...described });
}
