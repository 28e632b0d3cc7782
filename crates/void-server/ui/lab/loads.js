// @ts-check
// How busy and how full a machine or a guest is: a number, a word and a bar, from the same answer as its
// state. What Proxmox does not say is left out; nothing is guessed.

import { el } from "../lib/dom.js";
import { t } from "../lib/words.js";

/** @import { Load } from "../types/api.js" */

const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];
/** From here on it is said to be nearly full. */
const FULL = 0.9;

/** @param {number} bytes */
function sizeWords(bytes) {
  let [value, at] = [bytes, 0];
  while (value >= 1024 && at < UNITS.length - 1) [value, at] = [value / 1024, at + 1];
  return `${value < 10 && at > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[at]}`;
}

/** @param {number} share of 1 */
const percent = (share) => `${Math.round(share * 100)} %`;

/** @param {string} key @param {number} share @param {string} words */
function meter(key, share, words) {
  const fill = el("span", { class: share >= FULL ? "fill full" : "fill" });
  fill.style.setProperty("inline-size", `${Math.round(Math.min(1, share) * 100)}%`);
  return el(
    "span",
    { class: "load" },
    el("span", { class: "load-words" }, t(key), " ", el("span", { class: "age number" }, words)),
    el("span", { class: "track", "aria-hidden": "true" }, fill),
  );
}

/** @param {Load} load @returns {[string, number, string][]} name, share, words */
function parts(load) {
  /** @type {[string, number, string][]} */
  const all = [];
  if (load.cpu_permille !== null)
    all.push([
      "lab.load.cpu",
      load.cpu_permille / 1000,
      load.cpus
        ? t("lab.load.of_cpus", { percent: percent(load.cpu_permille / 1000), n: load.cpus })
        : percent(load.cpu_permille / 1000),
    ]);
  for (const kind of /** @type {const} */ (["memory", "disk"])) {
    const [used, max] = [load[`${kind}_bytes`], load[`${kind}_bytes_max`] ?? 0];
    if (used !== null && max > 0)
      all.push([
        `lab.load.${kind}`,
        used / max,
        t("lab.load.of", { percent: percent(used / max), used: sizeWords(used), max: sizeWords(max) }),
      ]);
    else if (kind === "disk" && max > 0)
      all.push(["lab.load.disk", 0, t("lab.load.disk_max", { max: sizeWords(max) })]);
  }
  return all;
}

/** In a line: percent only. @param {Load} load */
export function loadWords(load) {
  const all = parts(load).filter(([, , words]) => /%/.test(words));
  if (all.length === 0) return null;
  return el(
    "span",
    { class: "loads" },
    all.map(([key, share]) => meter(key, share, percent(share))),
  );
}

/** As facts: with how much there is. @param {Load} load @returns {[string, HTMLElement][]} */
export const loadFacts = (load) =>
  parts(load).map(([key, share, words]) => [
    t(key),
    el("span", { class: share >= FULL ? "age bad-words" : "age" }, words),
  ]);
