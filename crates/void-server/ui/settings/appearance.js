// @ts-check
// Appearance: what this browser remembers for itself. It takes effect at once and nobody else is asked.

import { home } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { isPlainVoice, t } from "../lib/words.js";
import { blue } from "../parts/blue.js";
import { isCompact, setCompact, setPlainVoice, setShortcuts, setTheme, shortcutsOn, theme } from "../shell/settings.js";
import { part, source } from "./pieces.js";

/** @import { Content } from "../lib/dom.js" */

/** @returns {import("./pieces.js").Section} */
export function appearanceSection() {
  const node = el("div", { class: "stack" });
  const draw = () =>
    mount(
      node,
      row("theme", [
        ["system", "light", "dark"],
        theme,
        (next) => setTheme(/** @type {import("../shell/settings.js").Theme} */ (next)),
      ]),
      row("density", [
        ["cosy", "compact"],
        () => (isCompact() ? "compact" : "cosy"),
        (next) => setCompact(next === "compact"),
      ]),
      row(
        "voice",
        [
          ["blue", "plain"],
          () => (isPlainVoice() ? "plain" : "blue"),
          (next) => {
            setPlainVoice(next === "plain");
            if (home.value) home.fill(home.value);
          },
        ],
        blue("resting", 32),
      ),
      row("shortcuts", [["on", "off"], () => (shortcutsOn() ? "on" : "off"), (next) => setShortcuts(next === "on")]),
      source(t("appearance.source")),
    );
  /**
   * @param {string} name
   * @param {[string[], () => string, (next: string) => void]} choice
   * @param {Content} [more]
   */
  const row = (name, [all, now, set], more) =>
    part(
      t(`appearance.${name}`),
      t(`appearance.${name}_about`),
      el(
        "div",
        { class: "row-line" },
        el(
          "div",
          { class: "segmented", role: "group", "aria-label": t(`appearance.${name}`) },
          all.map((one) =>
            el(
              "button",
              {
                type: "button",
                "aria-pressed": String(now() === one),
                "data-choice": `${name}-${one}`,
                onclick: () => {
                  set(one);
                  draw();
                  /** @type {HTMLElement | null} */ (node.querySelector(`[data-choice="${name}-${one}"]`))?.focus();
                },
              },
              t(`appearance.${name}_${one}`),
            ),
          ),
        ),
        more ?? null,
      ),
    );
  draw();
  return { node };
}
