// @ts-check
// What the pages of the lab share: the way about, facts, what may be done, what was done.

import { el, mount, visible } from "../lib/dom.js";
import { span, time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { healthPill, shape, statePill, tierPill } from "../parts/states.js";
import { runsOf } from "./data.js";

/** @param {"overview" | "actions"} here */
export const labTabs = (here) => el("nav", { class: "subnav", "aria-label": t("lab.parts") },
  el("a", { href: "#/lab", "aria-current": here === "overview" ? "page" : null }, t("lab.overview")),
  el("a", { href: "#/lab/actions", "aria-current": here === "actions" ? "page" : null }, t("actions.title")));

/** Where one is, and the way back. @param {[string, string][]} ways @param {string} here */
export const trail = (ways, here) => el("nav", { class: "trail small", "aria-label": t("lab.trail") },
  el("ol", {}, ways.map(([href, word]) => el("li", {}, el("a", { href }, word))), el("li", { "aria-current": "page", class: "muted wrap" }, here)));

/** @param {number} seconds */
export const upFor = (seconds) => seconds > 0 ? span(seconds * 1000) : "–";

/** @param {any} service */
const toneOf = (service) => service.status === "up" ? "ok" : service.status === "down" ? "bad" : "";
/** @param {any} service */
const formOf = (service) => service.status === "up" ? "up" : service.status === "down" ? "down" : "stale";

/** A service in few words: shape, name; the word for whoever does not see the shape. @param {any} service */
export const serviceChip = (service) => el("a", { class: `service-chip ${toneOf(service)}`, href: `#/lab/services/${encodeURIComponent(service.id)}` },
  shape(formOf(service)), el("span", { class: "name", title: visible(service.label) }, service.label), el("span", { class: service.status === "up" ? "hidden-text" : "state" }, t(`health.${service.status}`)));

/** @param {any} service */
export const serviceLine = (service) => el("li", {}, el("a", { href: `#/lab/services/${encodeURIComponent(service.id)}` },
  el("span", { class: "grow wrap" }, service.label), el("span", { class: "muted small" }, service.checked_at ? [t("lab.looked"), " ", time(service.checked_at)] : t("lab.never_looked")), healthPill(service)));

/** What may be done, each with the way to it. @param {any[]} all */
export function allowedActions(all) {
  const list = all.length === 0 ? el("p", { class: "muted" }, t("lab.no_actions")) : el("ul", { class: "list" }, all.map((action) =>
    el("li", {}, el("a", { href: `#/lab/actions/${encodeURIComponent(action.id)}`, class: "action-line" }, el("span", { class: "grow wrap" }, action.label), tierPill(action),
      el("span", { class: "go", "aria-hidden": "true" }, "›")))));
  return el("section", { class: "stack tight" }, el("h3", {}, t("lab.allowed")), list);
}

/** @param {any[]} all actions */
export function lastRuns(all) {
  const rows = runsOf(all);
  const list = rows.length === 0 ? el("p", { class: "muted" }, t("lab.no_runs")) : el("ul", { class: "list" }, rows.map((/** @type {any} */ row) =>
    el("li", {}, el("a", { href: `#/audit?subject=${encodeURIComponent(row.id)}` }, el("span", { class: "grow wrap" }, row.label, el("span", { class: "muted small by" }, t("lab.run_by", { name: row.requested_by.name }))), el("span", { class: "muted small" }, time(row.resolved_at)), statePill(row)))));
  return el("section", { class: "stack tight" }, el("h3", {}, t("lab.runs")), list);
}

/** @param {string} question */
export const askInChat = (question) => el("a", { class: "button", href: `#/chat/${encodeURIComponent(question)}` }, t("home.ask_blue"));

/** Ages count on by themselves; they are no news. */
const AGES = /<time[^>]*>[^<]*|<span class="age[^>]*>[^<]*/g;

/**
 * Replaces what is there only if it would read differently, so that focus survives a look.
 * @param {HTMLElement} holder
 * @param {HTMLElement[]} next
 */
export function mountIfNew(holder, next) {
  const plain = (/** @type {Element[]} */ all) => all.map((one) => one.outerHTML.replace(AGES, "")).join("");
  if (plain([...holder.children]) !== plain(next)) return mount(holder, next);
  const ages = /** @type {NodeListOf<HTMLElement>} */ (holder.querySelectorAll("time, .age"));
  const fresh = next.flatMap((one) => [.../** @type {NodeListOf<HTMLElement>} */ (one.querySelectorAll("time, .age")), ...(one.matches("time, .age") ? [one] : [])]);
  fresh.forEach((now, index) => {
    const old = ages[index];
    if (!old) return;
    old.textContent = now.textContent;
    if (now instanceof HTMLTimeElement && old instanceof HTMLTimeElement) old.dateTime = now.dateTime;
  });
  return undefined;
}
