// @ts-check
// Where one was on each page of the history: how far down, and at which link. Back leads there again.

const KEPT_MAX = 50;
/** What a page shows may come late; so long it is waited for. */
const COMES_MS = 4000;
const KEY = "places";

/** @typedef {{top: number, href: string}} Place */
/** @type {Map<string, Place>} */
const places = new Map(kept());
let current = "";
let stopFinding = () => {};

/** @returns {[string, Place][]} */
function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
  } catch {
    return [];
  }
}

/** The name of the history's present entry. */
function entry() {
  const known = history.state?.entry;
  if (typeof known === "string") return known;
  const made = Math.random().toString(36).slice(2);
  history.replaceState({ ...history.state, entry: made }, "");
  return made;
}

/** Notes where one is before the page changes. */
export function leavePlace() {
  stopFinding();
  if (!current) return;
  const link = document.activeElement?.closest("main a[href]");
  places.delete(current);
  places.set(current, { top: Math.round(scrollY), href: link?.getAttribute("href") ?? "" });
  for (const old of [...places.keys()].slice(0, -KEPT_MAX)) places.delete(old);
}

/**
 * Leads back to where one was here, or to the beginning.
 * @param {HTMLElement} main
 * @param {{isSame?: boolean, isFirst?: boolean}} [how] `isSame`: the page stayed; `isFirst`: nobody came from another
 */
export function enterPlace(main, { isSame = false, isFirst = false } = {}) {
  current = entry();
  if (isSame) return;
  const known = places.get(current);
  if (!isFirst) main.focus({ preventScroll: true });
  if (known) findPlace(main, isFirst ? { ...known, href: "" } : known);
  else scrollTo(0, 0);
}

/** @param {HTMLElement} main @param {Place} place */
function findPlace(main, { top, href }) {
  let isFocused = href === "";
  const look = () => {
    const isAway = document.activeElement !== main && document.activeElement !== document.body;
    const link =
      isFocused || isAway
        ? null
        : [...main.querySelectorAll("a[href]")].find((one) => one.getAttribute("href") === href);
    if (link) {
      isFocused = true;
      /** @type {HTMLElement} */ (link).focus({ preventScroll: true });
    }
    scrollTo(0, top);
    if (Math.abs(scrollY - top) < 2 && (isFocused || isAway)) stopFinding();
  };
  const seen = new ResizeObserver(look);
  const timer = setTimeout(() => stopFinding(), COMES_MS);
  const own = ["wheel", "touchstart", "keydown", "pointerdown"];
  const stop = () => stopFinding();
  for (const name of own) addEventListener(name, stop, { passive: true });
  stopFinding = () => {
    seen.disconnect();
    clearTimeout(timer);
    for (const name of own) removeEventListener(name, stop);
    stopFinding = () => {};
  };
  seen.observe(main);
  look();
}

history.scrollRestoration = "manual";
addEventListener("pagehide", () => {
  leavePlace();
  sessionStorage.setItem(KEY, JSON.stringify([...places]));
});
