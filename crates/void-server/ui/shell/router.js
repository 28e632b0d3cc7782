// @ts-check
// Addresses of the page: `#/inbox/7F3K?tier=risky`. They never change without leading to the new one. What
// lies over the page has an entry of its own in the history, so that Back closes it and leaves the page.

/** @typedef {{page: string, parts: string[], query: URLSearchParams}} Route */

/** Old and foreign names. @type {Record<string, string>} */
const MOVED = { "little-blue": "chat", "": "home" };

/** @param {string} [hash] @returns {Route} */
export function currentRoute(hash = location.hash) {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [first = "", ...parts] = path.split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return { page: MOVED[first] ?? first, parts: parts.filter(Boolean), query: new URLSearchParams(query) };
}

/** Open ones, the topmost last. @type {Array<{id: string, close: () => void, isPushed: boolean}>} */
const overlays = [];
/** Whether the entry of a closed one is being left; a browser does that later, not now. */
let isLeaving = false;
/** What waits for that. @type {Array<() => void>} */
const waiting = [];
const LEAVES_MS = 500;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let leaveTimer;

/**
 * @param {() => void} close
 * @returns {() => void} to be called when it was closed, by whatever way
 */
export function overPage(close) {
  const id = Math.random().toString(36).slice(2);
  const own = { id, close, isPushed: false };
  overlays.push(own);
  afterLeaving(() => {
    if (!overlays.includes(own)) return;
    own.isPushed = true;
    history.pushState({ ...history.state, over: id }, "");
  });
  return () => {
    overlays.splice(overlays.indexOf(own), 1);
    if (history.state?.over === id) leaveEntry();
  };
}

function leaveEntry() {
  isLeaving = true;
  history.back();
  clearTimeout(leaveTimer);
  leaveTimer = setTimeout(left, LEAVES_MS);
}

function left() {
  clearTimeout(leaveTimer);
  isLeaving = false;
  for (const act of waiting.splice(0)) act();
}

/** @param {() => void} act */
function afterLeaving(act) {
  if (isLeaving) waiting.push(act);
  else act();
}

/** Closes everything that lies over the page. */
export function closeOverlays() {
  for (const { close } of overlays.slice()) close();
}

/** In place of what lies over the page, if something does. @param {string} hash */
export function goTo(hash) {
  afterLeaving(() => {
    if (history.state?.over) location.replace(hash);
    else location.hash = hash;
  });
}

addEventListener("popstate", () => {
  const at = overlays.findIndex((one) => one.id === history.state?.over);
  for (const one of overlays.slice(at + 1)) if (one.isPushed) one.close();
  // An entry of something that is closed is no place to be.
  if (history.state?.over && at < 0) leaveEntry();
  else left();
});
if (history.state?.over) history.replaceState({ ...history.state, over: undefined }, "");
