// @ts-check
// Settings: how the owner is told, who comes in, what runs where, how it looks, and whether all is well.
// A list of groups on a phone; the list beside the section where there is room.

import { SETTINGS_STRINGS } from "../settings/strings.js";
import { el, mount } from "../lib/dom.js";
import { isLive, onConnection } from "../lib/live.js";
import { addStrings, t } from "../lib/words.js";
import { notice } from "../parts/empties.js";
import { aboutSection } from "../settings/about.js";
import { agentsSection } from "../settings/agents.js";
import { appearanceSection } from "../settings/appearance.js";
import { backupsSection } from "../settings/backups.js";
import { channelsSection } from "../settings/channels.js";
import { doctorSection } from "../settings/doctor.js";
import { integrationsSection } from "../settings/integrations.js";
import { nodesSection } from "../settings/nodes.js";
import { fitSenders } from "../settings/pieces.js";
import { signInSection } from "../settings/sign-in.js";
import { tokensSection } from "../settings/tokens.js";

addStrings(SETTINGS_STRINGS);

/** @type {Record<string, () => import("../settings/pieces.js").Section>} */
const SECTIONS = {
  channels: channelsSection,
  "sign-in": signInSection,
  appearance: appearanceSection,
  nodes: nodesSection,
  agents: agentsSection,
  backups: backupsSection,
  tokens: tokensSection,
  integrations: integrationsSection,
  doctor: doctorSection,
  about: aboutSection,
};
const GROUPS = /** @type {const} */ ([
  ["you", ["channels", "sign-in", "appearance"]],
  ["lab", ["nodes", "agents", "backups"]],
  ["programs", ["tokens", "integrations"]],
  ["void", ["doctor", "about"]],
]);
const FIRST = "channels";

/** @param {import("../shell/router.js").Route} route */
export function settingsPage(route) {
  const wanted = route.parts[0] ?? "";
  const isOpen = wanted in SECTIONS;
  const chosen = isOpen ? wanted : FIRST;
  const shown = /** @type {() => import("../settings/pieces.js").Section} */ (SECTIONS[chosen])();
  const away = el("div", { class: "told", "aria-live": "polite" });
  const body = el(
    "div",
    { class: "settings-body stack" },
    el("p", { class: "settings-back" }, el("a", { href: "#/settings" }, t("settings.back"))),
    wanted && !isOpen ? notice("caution", t("settings.no_such")) : null,
    el(
      "div",
      { class: "part-head" },
      el("h2", { tabIndex: -1 }, t(`settings.${chosen}`)),
      el("p", { class: "muted" }, t(`settings.${chosen}_about`)),
    ),
    away,
    shown.node,
  );
  const node = el(
    "div",
    { class: "settings-place" },
    el("div", { class: `settings${isOpen ? " is-open" : ""}` }, nav(chosen), body),
  );
  const off = onConnection(() => {
    mount(away, isLive() || chosen === "appearance" ? null : notice("caution", t("settings.not_connected")));
    fitSenders(body);
  });
  // Whoever came by the list with the keyboard goes on from there.
  if (document.activeElement?.closest(".settings-nav")) {
    queueMicrotask(() => {
      const link = /** @type {HTMLElement | null} */ (node.querySelector(".settings-nav [aria-current]"));
      const isBeside = link !== null && link.offsetParent !== null;
      (isBeside ? link : /** @type {HTMLElement | null} */ (body.querySelector("h2")))?.focus({ preventScroll: true });
    });
  }
  return {
    node,
    title: t("nav.settings"),
    stop: () => {
      off();
      shown.stop?.();
    },
  };
}

/** @param {string} chosen */
function nav(chosen) {
  return el(
    "nav",
    { class: "settings-nav", "aria-label": t("nav.settings") },
    GROUPS.map(([group, names]) =>
      el(
        "section",
        { class: "settings-group" },
        el("h2", { class: "muted small" }, t(`settings.group_${group}`)),
        el(
          "ul",
          {},
          names.map((name) =>
            el(
              "li",
              {},
              el(
                "a",
                { href: `#/settings/${name}`, "aria-current": name === chosen ? "page" : null },
                el(
                  "span",
                  { class: "grow" },
                  el("span", { class: "name" }, t(`settings.${name}`)),
                  el("span", { class: "muted small line" }, t(`settings.${name}_about`)),
                ),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}
