// @ts-check
// What a page is about: the services and actions beside which it is shown. It is written into the page's head.

import { get, post, sentence } from "../lib/api.js";
import { actions, home } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { cannotTell, loading, notice } from "../parts/empties.js";
import { sheet } from "../parts/sheets.js";
import { sendButton } from "./pieces.js";

/** @import { Page } from "../types/api.js" */

/**
 * Which of those that are known a text names in its head.
 * @param {string} body
 * @param {string} key
 * @param {string[]} known
 */
function namedIn(body, key, known) {
  const head = /^---\n([\s\S]*?)\n---/.exec(body)?.[1] ?? "";
  const block = new RegExp(`^${key}:(.*(?:\\n(?:[ \\t]+|- ).*)*)`, "m").exec(head)?.[1] ?? "";
  const names = block.split(/[\s,[\]"'-]*[\s,[\]"']+|^-/).map((name) => name.trim());
  return known.filter((id) => names.includes(id));
}

/** @param {Page} page */
export function aboutSheet(page) {
  const body = el("div", { class: "stack" }, loading());
  const dialog = sheet(t("kb.runbook"), body);
  const read = async () => {
    mount(body, loading());
    try {
      const { actions: all } = actions.value ?? (await get("/api/actions"));
      const services = (home.value?.services.services ?? []).map(({ id, label }) => ({ id, label }));
      const [ofServices, ofActions] = [
        choice(
          t("kb.runbook_services"),
          services,
          namedIn(
            page.body,
            "services",
            services.map(({ id }) => id),
          ),
        ),
        choice(
          t("kb.runbook_actions"),
          all,
          namedIn(
            page.body,
            "actions",
            all.map(({ id }) => id),
          ),
        ),
      ];
      const told = el("div", { "aria-live": "polite" });
      mount(
        body,
        el("p", { class: "muted" }, t("kb.runbook_why")),
        ofServices.node,
        ofActions.node,
        told,
        el(
          "p",
          {},
          sendButton(
            t("kb.save"),
            async () => {
              try {
                await post(`/api/pages/${page.id}/runbook`, {
                  base_revision: page.revision,
                  services: ofServices.chosen(),
                  actions: ofActions.chosen(),
                });
                dialog.close();
              } catch (error) {
                mount(told, notice("problem", sentence(error)));
              }
            },
            "primary",
          ),
        ),
      );
    } catch (error) {
      mount(
        body,
        cannotTell(error, () => void read()),
      );
    }
  };
  void read();
}

/**
 * @param {string} title
 * @param {{id: string, label: string}[]} all
 * @param {string[]} named
 */
function choice(title, all, named) {
  const boxes = all.map(({ id, label }) => ({
    id,
    label,
    box: /** @type {HTMLInputElement} */ (el("input", { type: "checkbox", checked: named.includes(id) })),
  }));
  const node = el(
    "fieldset",
    { class: "kb-choices" },
    el("legend", {}, title),
    boxes.length === 0 ? el("p", { class: "muted small" }, t("kb.runbook_none")) : null,
    boxes.map(({ id, label, box }) =>
      el(
        "label",
        { class: "kb-choice" },
        box,
        el("span", { class: "wrap" }, label, " ", el("code", { class: "muted" }, id)),
      ),
    ),
  );
  return { node, chosen: () => boxes.filter(({ box }) => box.checked).map(({ id }) => id) };
}
