// @ts-check
// Doctor: what `void doctor` says on the machine, each finding with the next command.

import { get } from "../lib/api.js";
import { said, typed } from "../lib/commands.js";
import { el, mount } from "../lib/dom.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { snippet } from "../parts/copying.js";
import { cannotTell, loading } from "../parts/empties.js";
import { pill } from "../parts/states.js";
import { part, sender } from "./pieces.js";

/** @import { Finding } from "../types/api.js" */

const SHAPES = /** @type {const} */ ({ ok: ["up", "ok"], warning: ["unsure", "waiting"], problem: ["failed", "bad"] });
const WORST = ["problem", "warning", "ok"];

/** @returns {import("./pieces.js").Section} */
export function doctorSection() {
  const place = el("div", { class: "stack tight", "aria-live": "polite" }, loading());
  const look = async () => {
    try {
      const { findings, at } = await get("/api/doctor");
      mount(place, ...verdict(findings, at));
    } catch (error) {
      // What cannot be read is no calm gap.
      mount(
        place,
        cannotTell(error, () => void look()),
      );
    }
  };
  void look();
  return {
    node: el(
      "div",
      { class: "stack" },
      place,
      el("p", {}, sender(t("doctor.again"), look, { busy: t("doctor.looking") })),
      part(t("doctor.more"), t("doctor.more_about"), snippet(typed("void doctor"), t("doctor.more"))),
    ),
  };
}

/** @param {Finding[]} findings @param {string} at */
function verdict(findings, at) {
  const sorted = [...findings].sort((one, other) => WORST.indexOf(one.level) - WORST.indexOf(other.level));
  const count = (/** @type {string} */ wanted) => findings.filter(({ level }) => level === wanted).length;
  const [bad, odd] = [count("problem"), count("warning")];
  const words =
    bad + odd === 0
      ? t("doctor.well")
      : t("doctor.counts", { bad: t("doctor.problems", { n: bad }), odd: t("doctor.warnings", { n: odd }) });
  return [
    el("p", { class: "verdict" }, words, " ", el("span", { class: "muted small" }, t("doctor.looked"), " ", time(at))),
    el("ul", { class: "list" }, sorted.map(findingRow)),
  ];
}

/** @param {Finding} finding */
function findingRow({ level, check, message, next }) {
  const [shape, tone] = SHAPES[level];
  return el(
    "li",
    {},
    el(
      "div",
      { class: "item tall finding" },
      el("span", { class: "level" }, pill(shape, tone, t(`doctor.${level}`))),
      el(
        "span",
        { class: "grow" },
        el("strong", { class: "line" }, check),
        el("span", { class: "line wrap" }, said(message)),
        next
          ? el("span", { class: "muted small line wrap" }, t("doctor.next"), " ", el("code", {}, typed(next)))
          : null,
      ),
    ),
  );
}
