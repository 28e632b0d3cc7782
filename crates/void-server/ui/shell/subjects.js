// @ts-check
// What the page that is shown is about, as far as it knows by itself: a title that its address does not say.

/** @typedef {{hash: string, name: string, space: string, id: string}} Subject */

/** @type {Subject} */
let subject = { hash: "", name: "", space: "", id: "" };
/** The page before the chat filled the screen. */
let before = "";
/** @type {Set<() => void>} */
const watchers = new Set();

/**
 * The page at this address is about something of that name, in that space.
 * @param {string} name
 * @param {string} space
 * @param {string} [id] where the address has another name for it
 */
export function tellSubject(name, space, id = "") {
  const isTold = subject.name === name && subject.space === space && subject.id === id;
  if (subject.hash === location.hash && isTold) return;
  subject = { hash: location.hash, name, space, id };
  for (const watcher of watchers) watcher();
}

/** What the page at this address said of itself. @param {string} [hash] */
export const subjectAt = (hash = location.hash) => (subject.hash === hash ? subject : null);

/** @param {() => void} watcher */
export function onSubject(watcher) {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

/** The address of the page before the chat took its place. */
export const hashBefore = () => before;

addEventListener("hashchange", ({ oldURL }) => {
  const { hash } = new URL(oldURL);
  if (!/^#\/(chat|little-blue)/.test(hash)) before = hash;
});
