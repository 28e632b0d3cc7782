// @ts-check
// Destroying an agent: what that means is said, and it takes a fresh proof of who one is.

import { post, sentence } from "../lib/api.js";
import { el, mount, visible } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { t } from "../lib/words.js";
import { notice } from "../parts/empties.js";
import { asOneself } from "../parts/identity.js";
import { sheet } from "../parts/sheets.js";
import { toast } from "../parts/toasts.js";
import { goTo } from "../shell/router.js";
import { childrenOf, topology } from "./data.js";
import { namesInWords } from "./pieces.js";

/** @import { TopologyResponse } from "../types/api.js" */

/** @param {TopologyResponse} tree @param {string} name */
export function askDestroy(tree, name) {
  const below = childrenOf(tree, name).map((child) => child.name);
  const told = el("div", { "aria-live": "assertive" });
  const send = async () => {
    if (!isLive()) return mount(told, notice("problem", t("freeze.not_connected")));
    go.disabled = true;
    try {
      const gone = await asOneself(() => post(`/api/agents/${encodeURIComponent(name)}/destroy`));
      if (gone) {
        dialog.close();
        toast(t("agents.destroyed", { name: visible(gone.name), archive: visible(gone.archive) }));
        await topology.read();
        return goTo("#/agents");
      }
    } catch (error) {
      mount(told, notice("problem", sentence(error)));
    }
    go.disabled = false;
    return undefined;
  };
  const go = /** @type {HTMLButtonElement} */ (
    el("button", { type: "button", class: "button danger", onclick: () => void send() }, t("agents.destroy_do"))
  );
  const dialog = sheet(
    t("agents.destroy_title", { name: visible(name) }),
    el("p", {}, t("agents.destroy_what")),
    below.length > 0 ? el("p", {}, t("agents.destroy_below", { names: namesInWords(below) })) : null,
    told,
    el("div", { class: "row-line" }, go),
  );
}
