// @ts-check
// Tokens of agents and viewers: made here, shown once, withdrawn at once.

import { del, get, post } from "../lib/api.js";
import { Resource } from "../lib/data.js";
import { el, keyed, mount } from "../lib/dom.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { asOneself } from "../parts/identity.js";
import { pill } from "../parts/states.js";
import { readNodes } from "../parts/taints.js";
import { part, quiet, secretOnce, sender, showing, twoStep } from "./pieces.js";
import { quarantinePart } from "./quarantine.js";

/** @import { TokenResponse } from "../types/api.js" */

const KINDS = /** @type {const} */ (["agent", "viewer"]);
const CAPABILITIES = /** @type {const} */ (["read", "act"]);

/** @returns {import("./pieces.js").Section} */
export function tokensSection() {
  const tokens = new Resource(() => get("/api/tokens"), /^access\./);
  const place = el("div", { class: "stack tight" });
  const live = el("ul", { class: "list" });
  const over = el("ul", { class: "list" });
  const past = el("details", { hidden: true }, el("summary", {}), over);
  const off = showing(tokens, place, (value) => {
    const good = value.tokens.filter((one) => !one.revoked_at);
    const gone = value.tokens.filter((one) => one.revoked_at);
    if (live.parentNode !== place) mount(place, live, past);
    if (good.length === 0) mount(live, el("li", {}, quiet(t("tokens.none"))));
    else
      keyed(
        live,
        good,
        (one) => one.id,
        (one) => tokenRow(one, () => tokens.refresh()),
      );
    past.hidden = gone.length === 0;
    mount(/** @type {HTMLElement} */ (past.firstElementChild), t("tokens.past", { n: gone.length }));
    keyed(
      over,
      gone,
      (one) => one.id,
      (one) => tokenRow(one, () => {}),
    );
  });
  const quarantine = quarantinePart();
  return {
    node: el(
      "div",
      { class: "stack" },
      quarantine.node,
      place,
      part(
        t("tokens.new"),
        t("tokens.new_about"),
        maker(() => tokens.refresh()),
      ),
    ),
    stop: () => {
      off();
      quarantine.stop?.();
    },
  };
}

/** Whether its safe actions wait because of what it has read. @param {TokenResponse} one */
function isMarked(one) {
  return !one.revoked_at && one.taint.length > 0;
}

/** @param {TokenResponse} one @param {() => void} refresh */
function tokenRow(one, refresh) {
  return el(
    "li",
    {},
    el(
      "div",
      { class: "item tall" },
      el(
        "span",
        { class: "grow" },
        el(
          "span",
          { class: "row-line" },
          el("strong", { class: "wrap" }, one.name),
          pill(
            one.revoked_at ? "over" : one.quarantined ? "waiting" : "up",
            "",
            one.revoked_at
              ? t("tokens.revoked")
              : one.quarantined
                ? t("quarantine.title")
                : t(`tokens.kind_${one.kind}`),
          ),
        ),
        el(
          "span",
          { class: "muted small line wrap" },
          one.capabilities.length > 0
            ? one.capabilities.join(", ")
            : t(one.kind === "viewer" ? "tokens.only_reads" : "tokens.no_rights"),
          " · ",
          t("tokens.made"),
          " ",
          time(one.created_at),
          one.revoked_at ? [" · ", t("tokens.revoked_at"), " ", time(one.revoked_at)] : "",
        ),
        isMarked(one)
          ? el(
              "span",
              { class: "small line wrap" },
              t("tokens.marked"),
              " ",
              readNodes(one.taint),
              one.tainted_at ? [" · ", time(one.tainted_at)] : "",
            )
          : null,
      ),
      isMarked(one)
        ? twoStep({
            word: t("tokens.clear"),
            label: t("tokens.clear_named", { name: one.name }),
            ask: t("tokens.clear_ask", { name: one.name }),
            yes: t("tokens.clear_yes"),
            act: async () => {
              await asOneself(() => post(`/api/tokens/${one.id}/clear`, { taint: one.taint }));
              refresh();
            },
          })
        : null,
      one.revoked_at
        ? null
        : twoStep({
            word: t("tokens.revoke"),
            label: t("tokens.revoke_named", { name: one.name }),
            ask: t("tokens.revoke_ask", { name: one.name }),
            yes: t("tokens.revoke_yes"),
            act: async () => {
              await asOneself(() => del(`/api/tokens/${one.id}`));
              refresh();
            },
          }),
    ),
  );
}

/** @param {() => void} refresh */
function maker(refresh) {
  const place = el("div", { class: "stack tight" });
  const form = () => {
    const name = /** @type {HTMLInputElement} */ (
      el("input", {
        class: "input",
        required: true,
        maxLength: 64,
        pattern: "[a-z0-9][a-z0-9\\-]*",
        title: t("tokens.name_rule"),
        autocomplete: "off",
        autocapitalize: "none",
        spellcheck: false,
      })
    );
    const kind = /** @type {HTMLSelectElement} */ (
      el(
        "select",
        { class: "input" },
        KINDS.map((one) => el("option", { value: one }, t(`tokens.kind_${one}`))),
      )
    );
    const boxes = CAPABILITIES.map(
      (one) => /** @type {HTMLInputElement} */ (el("input", { type: "checkbox", value: one, checked: one === "read" })),
    );
    const rights = el(
      "fieldset",
      { class: "choices" },
      el("legend", {}, t("tokens.rights")),
      boxes.map((box) =>
        el(
          "label",
          { class: "choice" },
          box,
          el(
            "span",
            {},
            el("code", {}, box.value),
            " ",
            el("span", { class: "muted small" }, t(`tokens.right_${box.value}`)),
          ),
        ),
      ),
    );
    kind.addEventListener("change", () => {
      rights.hidden = kind.value !== "agent";
    });
    const told = el("div", { class: "told", "aria-live": "assertive" });
    const make = async () => {
      const chosen = KINDS.find((one) => one === kind.value) ?? "viewer";
      const capabilities = chosen === "agent" ? CAPABILITIES.filter((_, at) => boxes[at]?.checked) : [];
      const made = await asOneself(() => post("/api/tokens", { kind: chosen, name: name.value.trim(), capabilities }));
      if (!made) return;
      mount(
        place,
        secretOnce({
          what: t("tokens.made_one", { name: name.value.trim() }),
          why: t("settings.once"),
          text: made.token,
          more: el("p", { class: "small" }, el("a", { href: "#/settings/integrations" }, t("tokens.where"))),
          done: () => mount(place, form()),
        }),
      );
      refresh();
    };
    return el(
      "form",
      { class: "card form" },
      el(
        "label",
        { class: "field" },
        el("span", {}, t("tokens.name")),
        name,
        el("span", { class: "muted small plain-weight" }, t("tokens.name_rule")),
      ),
      el("label", { class: "field" }, el("span", {}, t("tokens.for")), kind),
      rights,
      told,
      el("p", {}, sender(t("tokens.make"), make, { told, kind: "primary", submits: true })),
    );
  };
  mount(place, form());
  return place;
}
