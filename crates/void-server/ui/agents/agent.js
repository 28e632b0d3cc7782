// @ts-check
// One agent: how it stands, what it may do in words, what it wrote; and what the owner may do with it.

import { get, sentence } from "../lib/api.js";
import { agents, Resource, watchTogether } from "../lib/data.js";
import { el, mount, visible } from "../lib/dom.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { cannotTell, empty, loading, notice } from "../parts/empties.js";
import { factList } from "../parts/facts.js";
import { costWords } from "../parts/money.js";
import { agentHref, childrenOf, isRoot, memberOf, processOf, topology } from "./data.js";
import { askDestroy } from "./destroying.js";
import { askMove } from "./moving.js";
import { placeWords, processButtons, processPill, trail } from "./pieces.js";
import { rightsSection } from "./rights.js";

/** @import { Agent, AgentLog, AgentProcess, CanResponse, Member, TopologyResponse } from "../types/api.js" */

const LOG_LINES = 100;
/** The most that one answer has. */
const RIGHTS_MAX = 500;

/** @param {string} name @returns {import("../app.js").Shown} */
export function agentPage(name) {
  const path = encodeURIComponent(name);
  const rights = new Resource(() => get(`/api/agents/${path}/can?limit=${RIGHTS_MAX}`), /^(agent|topology|access)\./);
  const logs = new Resource(() => get(`/api/agents/${path}/logs?limit=${LOG_LINES}`), /^agent\./);
  const head = el("div", { class: "stack" });
  const may = el("div");
  const wrote = el("div");
  const place = el("div", { class: "stack" }, loading());
  const node = el("div", { class: "stack agents" }, trail(name), place);
  /** Begun once it is known that there are any. @type {(() => void) | null} */
  let offLogs = null;
  /** @type {Map<HTMLElement, string>} */
  const drawn = new Map();
  /** @param {HTMLElement} where @param {unknown} stamp @param {() => HTMLElement | null} make */
  const drawIfNew = (where, stamp, make) => {
    const next = JSON.stringify(stamp);
    if (drawn.get(where) === next) return;
    drawn.set(where, next);
    mount(where, make());
  };
  const draw = () => {
    const { value: tree, error } = topology;
    if (!tree) return mount(place, error ? cannotTell(error, () => void topology.read()) : loading());
    const member = memberOf(tree, name);
    if (!member) return mount(place, empty("unsure", t("agents.no_agent", { name: visible(name) })));
    if (!head.isConnected) mount(place, head, may, wrote);
    const process = processOf(tree, name);
    const speaker = agents.value?.agents.find(({ slug }) => slug === name) ?? null;
    drawIfNew(head, [tree, speaker, rights.value?.capabilities, error?.message], () =>
      headSection(tree, member, process, speaker, rights.value, error ? sentence(error) : ""),
    );
    drawIfNew(may, [rights.value, rights.error?.message], () =>
      rights.value ? rightsSection(rights.value) : rights.error ? notice("problem", sentence(rights.error)) : loading(),
    );
    if (process && !offLogs) offLogs = logs.watch(draw);
    if (process)
      drawIfNew(wrote, [logs.value, logs.error?.message], () =>
        logs.value || logs.error ? logSection(logs.value, logs.error, () => void logs.read()) : loading(),
      );
    return undefined;
  };
  const together = watchTogether([topology, agents, rights], draw);
  return {
    node,
    title: t("nav.agents"),
    stop: () => {
      together.stop();
      offLogs?.();
    },
  };
}

/**
 * @param {TopologyResponse} tree
 * @param {Member} member
 * @param {AgentProcess | null} process
 * @param {Agent | null} speaker
 * @param {CanResponse | null} rights
 * @param {string} problem
 */
function headSection(tree, member, process, speaker, rights, problem) {
  const children = childrenOf(tree, member.name);
  const isDown = process?.state === "crashed" || process?.state === "given_up";
  return el(
    "section",
    { class: "card stack" },
    problem ? notice("problem", problem, " ", t("agents.old")) : null,
    el(
      "div",
      { class: "row-line" },
      el("h2", { class: "grow wrap" }, member.name),
      process ? processPill(process) : null,
    ),
    speaker?.about ? el("p", { class: "muted" }, speaker.about) : null,
    rights?.withdrawn && !isRoot(member) ? notice("caution", t("agents.withdrawn")) : null,
    process?.paused ? notice("caution", t("agents.paused_what")) : null,
    process && isDown
      ? notice(
          "problem",
          t("agents.failures", { n: process.failures }),
          process.why ? ` ${t("agents.why", { why: process.why })}` : "",
        )
      : null,
    factList([
      [
        t("agents.fact.parent"),
        member.parent ? el("a", { href: agentHref(member.parent) }, member.parent) : t("agents.nobody"),
      ],
      children.length > 0
        ? [
            t("agents.fact.children"),
            el(
              "span",
              { class: "names" },
              children.map((child) => el("a", { href: agentHref(child.name) }, child.name)),
            ),
          ]
        : null,
      [t("agents.fact.kind"), placeWords(member)],
      process?.pid ? [t("agents.fact.pid"), String(process.pid)] : null,
      rights && !rights.withdrawn
        ? [t("agents.fact.capabilities"), rights.capabilities.join(", ") || t("agents.no_capability")]
        : null,
      speaker ? [t("agents.fact.brain"), speaker.model ? `${speaker.brain} (${speaker.model})` : speaker.brain] : null,
      speaker ? [t("agents.fact.today"), used(speaker)] : null,
    ]),
    el(
      "div",
      { class: "row-line" },
      process ? processButtons(process) : null,
      isRoot(member)
        ? null
        : el("button", { type: "button", class: "button", onclick: () => askMove(tree, member) }, t("agents.move")),
      process
        ? el(
            "button",
            { type: "button", class: "button quiet", onclick: () => askDestroy(tree, member.name) },
            t("agents.destroy"),
          )
        : null,
    ),
  );
}

/** @param {Agent} speaker */
function used(speaker) {
  const values = { n: speaker.used_tokens, max: speaker.daily_tokens ?? 0 };
  const words = t(speaker.daily_tokens ? "agents.tokens_of" : "agents.tokens", values);
  return speaker.used_cost_micros > 0 ? `${words}, ${costWords(speaker.used_cost_micros)}` : words;
}

/** @param {AgentLog | null} log @param {unknown} error @param {() => void} again */
function logSection(log, error, again) {
  const lines = log?.lines ?? [];
  return el(
    "section",
    { class: "card stack" },
    el(
      "div",
      { class: "row-line" },
      el("h2", { class: "grow" }, t("agents.logs")),
      el("button", { type: "button", class: "button small", onclick: again }, t("agents.logs_again")),
    ),
    el("p", { class: "muted small" }, t("agents.logs_what")),
    error ? notice("problem", sentence(error)) : null,
    lines.length === 0
      ? el("p", { class: "muted" }, t("agents.logs_none"))
      : el(
          "ol",
          { class: "agent-log", tabIndex: 0, role: "log", "aria-label": t("agents.logs") },
          lines.map((line) =>
            el("li", {}, el("span", { class: "muted small" }, time(line.at)), " ", el("code", {}, line.text)),
          ),
        ),
  );
}
