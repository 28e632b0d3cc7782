// @ts-check
// Agents: with what they think, what they may do, what they may use and have used. Set elsewhere.

import { typed } from "../lib/commands.js";
import { agents } from "../lib/data.js";
import { el, keyed, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { snippet } from "../parts/copying.js";
import { empty } from "../parts/empties.js";
import { factList } from "../parts/facts.js";
import { costWords } from "../parts/money.js";
import { pill } from "../parts/states.js";
import { code, part, showing, source } from "./pieces.js";

/** @import { Agent } from "../types/api.js" */

const BRAIN =
  '[agents.little-blue]\nbrain = "anthropic"\nmodel = "NAME"\nkey = "file:/run/secrets/model"\ndaily_tokens = 500000\nprices = { input = 3.0, output = 15.0, cache_read = 0.3, cache_write = 3.75 }';
const number = new Intl.NumberFormat();

/** @returns {import("./pieces.js").Section} */
export function agentsSection() {
  const place = el("div", { class: "stack tight" });
  const list = el("div", { class: "stack tight" });
  const off = showing(agents, place, (value) => {
    if (value.agents.length === 0) return mount(place, empty("asleep", t("agents.none")));
    if (list.parentNode !== place) mount(place, list);
    return keyed(list, value.agents, (agent) => agent.slug, agentCard);
  });
  return {
    node: el(
      "div",
      { class: "stack" },
      place,
      part(
        t("agents.set"),
        t("agents.set_about"),
        el("details", {}, el("summary", {}, t("settings.how")), snippet(BRAIN, t("agents.set"))),
        source(
          t("settings.from_file"),
          " ",
          code("void.toml"),
          " ",
          t("settings.or_env"),
          " ",
          code("VOID_BRAIN"),
          ", ",
          code("VOID_MODEL"),
          ". ",
          t("settings.in_force"),
          " ",
          code(typed("void config show")),
          ". ",
          t("settings.docs", { file: "docs/agents.md" }),
        ),
      ),
    ),
    stop: off,
  };
}

/** @param {Agent} agent */
function agentCard(agent) {
  const isRules = agent.brain === "builtin";
  const bound = agent.daily_tokens;
  const share = bound ? Math.min(1, agent.used_tokens / bound) : 0;
  const meter = bound
    ? el("meter", {
        min: 0,
        max: bound,
        value: agent.used_tokens,
        high: bound * 0.8,
        optimum: 0,
        "aria-label": t("agents.used"),
      })
    : null;
  return el(
    "article",
    { class: "card" },
    el(
      "div",
      { class: "row-line" },
      el("h3", { class: "grow wrap" }, agent.name),
      agent.withdrawn
        ? pill("paused", "bad", t("agents.withdrawn"))
        : share >= 1
          ? pill("paused", "waiting", t("agents.spent"))
          : pill("up", "ok", t("agents.answers")),
    ),
    el("p", { class: "muted" }, agent.about),
    factList([
      [t("agents.brain"), isRules ? t("agents.rules") : [agent.brain, " · ", code(agent.model)]],
      [t("agents.rights"), agent.capabilities.length > 0 ? agent.capabilities.join(", ") : t("agents.nothing")],
      [t("agents.budget"), bound ? t("agents.a_day", { n: number.format(bound) }) : t("agents.no_bound")],
      [
        t("agents.used"),
        el(
          "span",
          { class: "stack tight" },
          el(
            "span",
            {},
            t("agents.used_today", { n: number.format(agent.used_tokens) }),
            agent.used_cost_micros > 0 ? ` · ${costWords(agent.used_cost_micros)}` : "",
          ),
          meter,
        ),
      ],
    ]),
    agent.withdrawn
      ? el(
          "p",
          { class: "small" },
          t("agents.withdrawn_way"),
          " ",
          code(typed(`void token new --kind agent --name ${agent.slug}`)),
        )
      : null,
  );
}
