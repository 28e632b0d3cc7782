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

/** In which space one was last. */
export const chosenSpace = () => localStorage.getItem("space") ?? "";
/** @param {string} id */
export const chooseSpace = (id) => localStorage.setItem("space", id);

const FIRST_AGENT = "little-blue";
/** Every place that shows the chat follows the choice. @type {Set<(isOfSpace: boolean) => void>} */
const choosers = new Set();
/** @param {boolean} isOfSpace */
const tellChoice = (isOfSpace) => {
  for (const choose of choosers) choose(isOfSpace);
};

/** With whom one talked last, and in which space; `space` is empty where it was in none. */
export const lastTalk = () => ({
  slug: localStorage.getItem("chat-agent") ?? FIRST_AGENT,
  space: localStorage.getItem("chat-space") ?? "",
});

/** Something was said to somebody. @param {string} slug @param {string} space */
export function rememberTalk(slug, space) {
  localStorage.setItem("chat-agent", slug);
  if (space) localStorage.setItem("chat-space", space);
  else localStorage.removeItem("chat-space");
}

/** Somebody was chosen, wherever one is. @param {string} slug @param {string} [space] */
export function chooseAgent(slug, space = "") {
  rememberTalk(slug, space);
  tellChoice(false);
}

/** Who was chosen to answer beside the pages of a space; empty if nobody was. @param {string} space */
export const agentOfSpace = (space) => localStorage.getItem(`space-agent-${space}`) ?? "";

/** @param {string} space @param {string} slug */
export function chooseAgentOfSpace(space, slug) {
  localStorage.setItem(`space-agent-${space}`, slug);
  tellChoice(true);
}

/** @param {(isOfSpace: boolean) => void} choose */
export function onAgent(choose) {
  choosers.add(choose);
  return () => void choosers.delete(choose);
}
