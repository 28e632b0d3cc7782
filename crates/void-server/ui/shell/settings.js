// @ts-check
// What this browser remembers for itself: theme, density, voice, shortcuts, whom one talks to.

/** @typedef {"system" | "light" | "dark"} Theme */

/** @returns {Theme} */
export function theme() {
  const kept = localStorage.getItem("theme");
  return kept === "light" || kept === "dark" ? kept : "system";
}

/** @param {Theme} next */
export function setTheme(next) {
  if (next === "system") {
    localStorage.removeItem("theme");
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem("theme", next);
    document.documentElement.dataset.theme = next;
  }
}

export const shortcutsOn = () => localStorage.getItem("shortcuts") !== "off";
/** @param {boolean} on */
export const setShortcuts = (on) => localStorage.setItem("shortcuts", on ? "on" : "off");

/** @param {boolean} isPlain */
export const setPlainVoice = (isPlain) => localStorage.setItem("voice", isPlain ? "plain" : "blue");

/** @param {boolean} isCompact */
export function setCompact(isCompact) {
  localStorage.setItem("density", isCompact ? "compact" : "cosy");
  if (isCompact) document.documentElement.dataset.density = "compact";
  else delete document.documentElement.dataset.density;
}
export const isCompact = () => localStorage.getItem("density") === "compact";

const FIRST_AGENT = "little-blue";
/** Every place that shows the chat follows the choice. @type {Set<(slug: string) => void>} */
const choosers = new Set();

export const chosenAgent = () => localStorage.getItem("chat-agent") ?? FIRST_AGENT;

/** @param {string} slug */
export function chooseAgent(slug) {
  localStorage.setItem("chat-agent", slug);
  for (const choose of choosers) choose(slug);
}

/** @param {(slug: string) => void} choose */
export function onAgent(choose) {
  choosers.add(choose);
  return () => void choosers.delete(choose);
}
