// @ts-check
// Who talks here: which agents there are, what thinks for them, and why one does not answer.

import { agents } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { blue } from "../parts/blue.js";
import { cannotTell, loading } from "../parts/empties.js";
import { costWords } from "../parts/money.js";
import { sheet } from "../parts/sheets.js";
import { pill } from "../parts/states.js";

/** @import { Agent } from "../types/api.js" */

const BRAINS = ["builtin", "anthropic", "openai", "ollama", "claude"];

/** Why an agent does not answer; null if it does. @param {Agent} agent @returns {string | null} */
export function asleepBecause(agent) {
  if (agent.withdrawn) return t("chat.agent.withdrawn", { name: agent.name });
  if (!agent.brain) return t("chat.agent.no_brain");
  if (agent.daily_tokens !== null && agent.used_tokens >= agent.daily_tokens)
    return t("chat.agent.over_budget", { name: agent.name, count: agent.daily_tokens.toLocaleString("en") });
  return null;
}

/** What thinks for it. @param {Agent} agent */
export function brainWords(agent) {
  const brain = BRAINS.includes(agent.brain) ? t(`chat.brain.${agent.brain}`) : agent.brain;
  return agent.brain === "builtin" ? brain : t("chat.agent.brain", { brain, model: agent.model });
}

/** @param {Agent} agent */
function spentWords(agent) {
  if (agent.used_tokens === 0 && agent.daily_tokens === null) return "";
  const used = agent.used_tokens.toLocaleString("en");
  const words =
    agent.daily_tokens === null
      ? t("chat.agent.used", { used })
      : t("chat.agent.used_of", { used, daily: agent.daily_tokens.toLocaleString("en") });
  return agent.used_cost_micros > 0 ? `${words} · ${costWords(agent.used_cost_micros)}` : words;
}

/**
 * Lets the owner choose.
 * @param {string} current
 * @param {(slug: string) => void} choose
 */
export function agentSheet(current, choose) {
  const list = el("ul", { class: "chat-agents" });
  const draw = () => {
    const { value, error } = agents;
    if (!value) return mount(list, el("li", {}, error ? cannotTell(error, () => void agents.read()) : loading()));
    return mount(
      list,
      value.agents.map((agent) => {
        const why = asleepBecause(agent);
        const spent = spentWords(agent);
        return el(
          "li",
          {},
          el(
            "button",
            {
              type: "button",
              class: "chat-agent",
              "aria-pressed": String(agent.slug === current),
              onclick: () => {
                dialog.close();
                choose(agent.slug);
              },
            },
            blue(why ? "asleep" : "resting", 32),
            el(
              "span",
              { class: "chat-agent-words" },
              el(
                "span",
                { class: "row-line" },
                el("strong", { class: "grow" }, agent.name),
                why ? pill("paused", "", t("chat.agent.asleep")) : pill("up", "ok", t("chat.agent.awake")),
              ),
              el("span", {}, agent.about, "."),
              el("span", { class: "muted small" }, brainWords(agent), spent ? ` · ${spent}` : ""),
              why ? el("span", { class: "small wrap" }, why) : null,
            ),
          ),
        );
      }),
    );
  };
  const dialog = sheet(
    t("chat.agent.choose"),
    list,
    el(
      "p",
      { class: "muted small" },
      t("chat.agent.settings"),
      " ",
      el("a", { href: "#/settings/agents" }, t("chat.agent.settings_way")),
    ),
  );
  const off = agents.watch(draw);
  dialog.addEventListener("close", off);
  if (!agents.value) draw();
}
