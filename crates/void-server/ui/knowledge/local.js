// @ts-check
// What is being written, kept in this browser until the server has it: over a reload, another page, a closed tab.

/**
 * `base`: the revision that was looked at, 0 for something new.
 * @typedef {{title: string, body: string, tags: string, project: string, due: string, url: string, agent: string,
 *   base: number,
 *   at: string}} Written
 */

/** More than so many are not kept; the oldest go. */
const KEPT_MAX = 20;
const PREFIX = "kb-draft-";

/** @param {string} key @returns {Written | null} */
export function readWritten(key) {
  try {
    const value = JSON.parse(localStorage.getItem(PREFIX + key) ?? "null");
    return value && typeof value.body === "string" && typeof value.title === "string" ? value : null;
  } catch {
    return null;
  }
}

/** @param {string} key @param {Written} written @returns {boolean} whether there was room */
export function keepWritten(key, written) {
  const names = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX) && name !== PREFIX + key);
  const old = names
    .map((name) => ({ name, at: readWritten(name.slice(PREFIX.length))?.at ?? "" }))
    .sort((one, other) => (one.at < other.at ? -1 : 1));
  for (const { name } of old.slice(0, Math.max(0, old.length + 1 - KEPT_MAX))) localStorage.removeItem(name);
  try {
    localStorage.setItem(PREFIX + key, JSON.stringify(written));
    return true;
  } catch {
    return false;
  }
}

/** @param {string} key */
export const forgetWritten = (key) => localStorage.removeItem(PREFIX + key);
