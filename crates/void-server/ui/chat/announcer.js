// @ts-check
// Says aloud, for those who listen, what is being written: by the sentence, not by the token.

import { el } from "../lib/dom.js";

/** Listening takes longer than writing. */
const EVERY_MS = 1500;

/** @returns {{node: HTMLElement, text: (id: string, text: string) => void, say: (words: string) => void}} */
export function announcer() {
  const node = el("div", { class: "hidden-text", role: "status", "aria-live": "polite" });
  let turn = "";
  let told = 0;
  let waiting = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const flush = () => {
    timer = undefined;
    if (!waiting) return;
    node.textContent = waiting;
    waiting = "";
    timer = setTimeout(flush, EVERY_MS);
  };
  const say = (/** @type {string} */ words) => {
    waiting = waiting ? `${waiting} ${words}` : words;
    if (timer === undefined) flush();
  };
  return {
    node,
    say,
    text: (id, text) => {
      if (id !== turn) told = 0;
      turn = id;
      // The end of what is being written may become shorter, and a new try begins anew.
      told = Math.min(told, text.length);
      const rest = text.slice(told);
      const end = Math.max(
        rest.lastIndexOf(". "),
        rest.lastIndexOf("? "),
        rest.lastIndexOf("! "),
        rest.lastIndexOf("\n"),
      );
      if (end < 0) return;
      told += end + 1;
      const words = rest.slice(0, end + 1).trim();
      if (words) say(words);
    },
  };
}
