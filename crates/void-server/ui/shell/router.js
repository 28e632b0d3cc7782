// @ts-check
// Addresses of the page: `#/inbox/7F3K?tier=risky`. They never change without leading to the new one.

/** @typedef {{page: string, parts: string[], query: URLSearchParams}} Route */

/** Old and foreign names. @type {Record<string, string>} */
const MOVED = { "little-blue": "chat", "": "home" };

/** @returns {Route} */
export function currentRoute() {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [first = "", ...parts] = path.split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return { page: MOVED[first] ?? first, parts: parts.filter(Boolean), query: new URLSearchParams(query) };
}

/** @param {string} hash */
export function goTo(hash) {
  location.hash = hash;
}
