// @ts-check
// A draft with the owner's own words in it: what was drafted is put into the editor, and what is saved is what the
// yes stores.

import { get, post, sentence } from "../lib/api.js";
import { el, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { isDraftThatWaits } from "../parts/deciding.js";
import { empty, loading, notice } from "../parts/empties.js";
import { asOneself } from "../parts/identity.js";
import { NOUNS } from "./data.js";
import { editor } from "./editor.js";
import { notThere } from "./pieces.js";

/** @import { Card, Change } from "../types/api.js" */
/** @import { Kind } from "./data.js" */

/**
 * A text after a unified diff; null if the diff is of another text.
 * @param {string} text
 * @param {string} diff
 */
export function patched(text, diff) {
  const old = text === "" ? [] : text.split("\n");
  /** @type {string[]} */
  const now = [];
  let at = 0;
  for (const line of diff.split("\n")) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+/.exec(line);
    const [sign, rest] = [line[0] ?? "", line.slice(1)];
    if (head) {
      // A hunk without old lines stands after the line that it names.
      const start = Number(head[1]) - (head[2] === "0" ? 0 : 1);
      now.push(...old.slice(at, start));
      at = start;
    } else if (sign === "+") now.push(rest);
    else if (sign === " " || sign === "-") {
      if (old[at] !== rest) return null;
      if (sign === " ") now.push(rest);
      at += 1;
    }
  }
  return [...now, ...old.slice(at)].join("\n");
}

/** A text with its properties before it, as differences have it. @param {string} text */
function taken(text) {
  const end = text.indexOf("\n\n");
  const head = end < 0 ? text : text.slice(0, end);
  return { title: /^title: (.*)$/m.exec(head)?.[1] ?? "", body: end < 0 ? "" : text.slice(end + 2) };
}

/** @param {Change} change @returns {Promise<{title: string, body: string} | null>} */
async function drafted({ entity, entity_id: id, op, base_revision: base, diff }) {
  if (op === "create") {
    const text = patched("", diff);
    // The last line ends, unless the diff says that it does not.
    return text === null ? null : taken(/^\\ No newline/m.test(diff) ? text : `${text}\n`);
  }
  const noun = NOUNS[/** @type {Kind} */ (entity)];
  const same = await get(`/api/${noun}/${id ?? ""}/diff?from=${base}&to=${base}`);
  const text = patched(same.spans.map((span) => span.text).join(""), diff);
  return text === null ? null : taken(text);
}

/** @param {string} id of the proposal */
export function draftPage(id) {
  const node = el("div", { class: "stack kb" }, loading());
  /** @type {ReturnType<typeof editor> | null} */
  let inner = null;
  let isOver = false;
  const read = async () => {
    mount(node, loading());
    try {
      const card = await get(`/api/proposals/${id}/card`);
      const { change } = card.row;
      const words = change && canEdit(card) ? await drafted(change) : null;
      if (isOver) return;
      if (!change || !words) {
        mount(
          node,
          empty("unsure", t("kb.no_edit"), el("a", { class: "button", href: `#/inbox/${id}` }, t("kb.no_edit_way"))),
        );
        return;
      }
      inner = editor(/** @type {Kind} */ (change.entity), change.about?.space_id ?? "", null, words, {
        id,
        send: async ({ title, body }) => {
          const fields = { ...(title === words.title ? {} : { title }), ...(body === words.body ? {} : { body }) };
          const sent = { digest: card.row.digest, revision: card.row.revision, fields };
          const row = await asOneself(() => post(`/api/proposals/${id}/approve-edited`, sent));
          if (!row) throw new Error(t("kb.not_sent"));
          return row;
        },
      });
      mount(node, inner.node);
    } catch (error) {
      mount(
        node,
        notThere(error, () => void read()),
        inner ? notice("problem", sentence(error)) : null,
      );
    }
  };
  void read();
  return {
    node,
    title: t("nav.knowledge"),
    stop: () => {
      isOver = true;
      inner?.stop();
    },
  };
}

/** What hides from a reader is not put into a field where nobody sees it. @param {Card} card */
const canEdit = (card) =>
  isDraftThatWaits(card.row) &&
  !card.moved &&
  card.row.change?.op !== "delete" &&
  (card.difference?.hidden.length ?? 0) === 0;
