// @ts-check
// What the pages of the tree share: the way about, how an agent stands, what is done to it.

import { post, sentence } from "../lib/api.js";
import { el } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { t } from "../lib/words.js";
import { pill } from "../parts/states.js";
import { toast } from "../parts/toasts.js";
import { topology } from "./data.js";

/** @import { AgentProcess, Member } from "../types/api.js" */

/** Shape and colour of each state of a process. @type {Record<AgentProcess["state"], [string, string]>} */
const LOOKS = {
  stopped: ["paused", ""],
  starting: ["running", "running"],
  running: ["running", "running"],
  asleep: ["up", "ok"],
  crashed: ["down", "bad"],
  given_up: ["down", "bad"],
};

/** @param {AgentProcess} process */
export const processPill = (process) =>
  process.paused
    ? pill("paused", "waiting", t("agents.paused"))
    : pill(...LOOKS[process.state], t(`agents.state.${process.state}`));

/** @param {Member} member */
export const placeWords = (member) =>
  member.depth === null ? t("agents.no_position") : t(`agents.kind.${member.kind}`);

/** Where one is, and the way back. @param {string} here */
export const trail = (here) =>
  el(
    "nav",
    { class: "trail small", "aria-label": t("agents.trail") },
    el(
      "ol",
      {},
      el("li", {}, el("a", { href: "#/agents" }, t("nav.agents"))),
      el("li", { "aria-current": "page", class: "muted wrap" }, here),
    ),
  );

/** @typedef {"start" | "stop" | "restart" | "update" | "pause" | "resume"} Verb */

/** What would change nothing is not offered. @type {Record<AgentProcess["state"], Verb[]>} */
const OFFERED = {
  stopped: ["start"],
  given_up: ["start"],
  starting: ["stop"],
  crashed: ["stop", "restart"],
  running: ["stop", "restart", "update"],
  asleep: ["stop", "restart", "update"],
};

/** @type {Record<Verb, (name: string) => Promise<unknown>>} */
const CALLS = {
  start: (name) => post(`/api/agents/${name}/start`),
  stop: (name) => post(`/api/agents/${name}/stop`),
  restart: (name) => post(`/api/agents/${name}/restart`),
  update: (name) => post(`/api/agents/${name}/update`),
  pause: (name) => post(`/api/agents/${name}/pause`),
  resume: (name) => post(`/api/agents/${name}/resume`),
};

/** @param {AgentProcess} process */
export function processButtons(process) {
  /** @param {Verb} verb */
  const button = (verb) => {
    const look = verb === "start" || verb === "resume" ? "button primary" : "button";
    const node = /** @type {HTMLButtonElement} */ (
      el("button", { type: "button", class: look, onclick: () => void send(verb, node) }, t(`agents.${verb}`))
    );
    return node;
  };
  /** @param {Verb} verb @param {HTMLButtonElement} node */
  const send = async (verb, node) => {
    if (!isLive()) return void toast(t("freeze.not_connected"), { isProblem: true });
    node.disabled = true;
    try {
      await CALLS[verb](encodeURIComponent(process.name));
    } catch (error) {
      toast(sentence(error), { isProblem: true });
    }
    node.disabled = false;
    await topology.read();
  };
  const verbs = [
    ...OFFERED[process.state],
    process.paused ? /** @type {const} */ ("resume") : /** @type {const} */ ("pause"),
  ];
  return el("div", { class: "row-line" }, verbs.map(button));
}

/** A few names, and how many more. @param {string[]} names @param {number} [max] */
export function namesInWords(names, max = 6) {
  const shown = names.slice(0, max).join(", ");
  return names.length > max ? t("agents.names_more", { names: shown, n: names.length - max }) : shown;
}
