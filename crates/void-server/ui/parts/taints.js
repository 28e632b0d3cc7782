// @ts-check
// What was read that a stranger could have written: a way to what is kept, and the name of everything else.

import { el } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { hitHref } from "./hits.js";

/** @typedef {import("../types/api.js").SearchHit["kind"]} HitKind */

const KEPT = /^(page|task|ref|project|space):([\w-]+)$/;

/** @param {string[]} sources as the record names them, such as `ref:ID` @returns {(HTMLElement | string)[]} */
export const readNodes = (sources) =>
  sources.flatMap((source, at) => {
    const [, kind, id] = KEPT.exec(source) ?? [];
    const node =
      kind && id ? el("a", { href: hitHref({ kind: /** @type {HitKind} */ (kind), id }) }, t(`read.${kind}`)) : source;
    return at === 0 ? [node] : [", ", node];
  });
