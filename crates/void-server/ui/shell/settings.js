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
  if (next === "system") localStorage.removeItem("theme");
  else localStorage.setItem("theme", next);
  wear();
}

/** The page looks as it is kept. */
function wear() {
  const { dataset } = document.documentElement;
  if (theme() === "system") delete dataset.theme;
  else dataset.theme = theme();
  if (isCompact()) dataset.density = "compact";
  else delete dataset.density;
}

/**
 * What another tab of this browser chose holds here too.
 * @param {{signedIn: () => void, signedOut: () => void}} who
 */
export function followOtherTabs({ signedIn, signedOut }) {
  addEventListener("storage", ({ key, newValue }) => {
    if (key === "theme" || key === "density") wear();
    if (key === "signed-in") (newValue === "yes" ? signedIn : signedOut)();
  });
}

export const shortcutsOn = () => localStorage.getItem("shortcuts") !== "off";
/** @param {boolean} on */
export const setShortcuts = (on) => localStorage.setItem("shortcuts", on ? "on" : "off");

/** @param {boolean} isPlain */
export const setPlainVoice = (isPlain) => localStorage.setItem("voice", isPlain ? "plain" : "blue");

/** @param {boolean} isCompact */
export function setCompact(isCompact) {
  localStorage.setItem("density", isCompact ? "compact" : "cosy");
  wear();
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
