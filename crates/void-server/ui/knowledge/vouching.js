// @ts-check
// The mark on a text that a stranger could have written, and the owner's word for it. A ref stays a stranger's.

import { post } from "../lib/api.js";
import { el, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { notice } from "../parts/empties.js";
import { readNodes } from "../parts/taints.js";
import { NOUNS } from "./data.js";
import { sendButton } from "./pieces.js";

/** @import { DraftOrigin } from "../types/api.js" */
/** @import { Kind } from "./data.js" */

/**
 * @param {{kind: Kind, id: string, revision: number, foreign: boolean, draft: DraftOrigin | null}} entity
 * @returns {HTMLElement | null} nothing where there is nothing to answer for
 */
export function vouching({ kind, id, revision, foreign, draft }) {
  if (!foreign || kind === "ref") return null;
  const place = el("div", { class: "kb-vouch", "aria-live": "polite" });
  const read = draft?.taint.length ? [" ", t("kb.vouch_read"), " ", ...readNodes(draft.taint), "."] : [];
  const rest = (/** @type {boolean} */ takesFocus) => {
    const ask = el("button", { type: "button", class: "button small", onclick: step }, t("kb.vouch"));
    mount(place, el("p", {}, t("kb.vouch_why"), ...read), el("p", {}, ask));
    if (takesFocus) ask.focus();
  };
  const step = () => {
    const back = el("button", { type: "button", class: "button small", onclick: () => rest(true) }, t("card.back"));
    const yes = sendButton(
      t("kb.vouch_yes", { n: revision }),
      () => post(`/api/${NOUNS[kind]}/${id}/vouch`, { revision }),
      "small primary",
    );
    mount(
      place,
      el(
        "div",
        { role: "group", "aria-label": t("card.sure"), class: "stack tight" },
        el("p", {}, t("kb.vouch_sure", { n: revision })),
        el("div", { class: "row-line" }, back, yes),
      ),
    );
    back.focus();
  };
  rest(false);
  return notice("caution", place);
}
