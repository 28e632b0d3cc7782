// @ts-check
// What the pages of the lab share: the way about, facts, what may be done, what was done.

import { el, mount, visible } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { requesterName } from "../lib/people.js";
import { span, time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { runsAtOnce } from "../parts/again.js";
import { fillSlots, isOneTap, runButton, runSlot } from "../parts/runs.js";
import { healthPill, isWorry, shape, statePill, tierPill } from "../parts/states.js";
import { runsOf } from "./data.js";

/** @import { ActionResponse, Service } from "../types/api.js" */

/** @param {"overview" | "actions"} here */
export const labTabs = (here) =>
  el(
    "nav",
    { class: "subnav", "aria-label": t("lab.parts") },
    el("a", { href: "#/lab", "aria-current": here === "overview" ? "page" : null }, t("lab.overview")),
    el("a", { href: "#/lab/actions", "aria-current": here === "actions" ? "page" : null }, t("actions.title")),
  );

/** Where one is, and the way back. @param {[string, string][]} ways @param {string} here */
export const trail = (ways, here) =>
  el(
    "nav",
    { class: "trail small", "aria-label": t("lab.trail") },
    el(
      "ol",
      {},
      ways.map(([href, word]) => el("li", {}, el("a", { href }, word))),
      el("li", { "aria-current": "page", class: "muted wrap" }, here),
    ),
  );

/** @param {number} seconds */
export const upFor = (seconds) => (seconds > 0 ? span(seconds * 1000) : "–");

/** @param {Service} service */
const toneOf = (service) => (service.status === "up" ? "ok" : isWorry(service) ? "bad" : "");
/** @param {Service} service */
const formOf = (service) =>
  service.status === "up" ? "up" : isWorry(service) ? "down" : service.stopped ? "paused" : "stale";

/** A service in few words: shape, name; the word for whoever does not see the shape. @param {Service} service */
export const serviceChip = (service) =>
  el(
    "a",
    { class: `service-chip ${toneOf(service)}`, href: `#/lab/services/${encodeURIComponent(service.id)}` },
    shape(formOf(service)),
    el("span", { class: "name", title: visible(service.label) }, service.label),
    el(
      "span",
      { class: service.status === "up" ? "hidden-text" : "state" },
      t(service.stopped ? "health.stopped" : `health.${service.status}`),
    ),
  );

/** @param {Service} service */
export const serviceLine = (service) =>
  el(
    "li",
    {},
    el(
      "a",
      { href: `#/lab/services/${encodeURIComponent(service.id)}` },
      el("span", { class: "grow wrap" }, service.label),
      el(
        "span",
        { class: "muted small" },
        service.checked_at ? [t("lab.looked"), " ", time(service.checked_at)] : t("lab.never_looked"),
      ),
      healthPill(service),
    ),
  );

/**
 * What is safe and nearest comes first; what would change nothing comes last.
 * @param {ActionResponse} action
 * @param {{isNear?: (action: ActionResponse) => boolean, isOff?: boolean}} about
 */
function rank(action, { isNear = () => true, isOff = false }) {
  const isUseless = action.op ? isOff !== (action.op === "start") : false;
  return [
    isUseless,
    !runsAtOnce(action),
    !isNear(action),
    action.risk === "critical",
    ["stop", "shutdown"].includes(action.op ?? ""),
  ].reduce((sum, is) => sum * 2 + Number(is), 0);
}

/**
 * Whether its guest is already as it would make it, as far as Proxmox was seen just now.
 * @param {ActionResponse} action
 * @param {{guest?: string, isNear?: (action: ActionResponse) => boolean}} about
 */
function alreadyWords(action, { guest, isNear = () => true }) {
  if (!isLive() || action.vmid === null || !isNear(action)) return null;
  if (guest === "running" && action.op === "start") return t("lab.already.running");
  return guest === "stopped" && ["stop", "shutdown"].includes(action.op ?? "") ? t("lab.already.stopped") : null;
}

/** The way to an action; what would change nothing has its own page only. @param {ActionResponse} action */
const wayTo = (action) =>
  isOneTap(action)
    ? runButton(action, { words: t("lab.run"), name: t("lab.run_it", { label: visible(action.label) }) })
    : el(
        "a",
        {
          class: "button small",
          href: `#/lab/actions/${encodeURIComponent(action.id)}`,
          "aria-label": t("lab.ask_it", { label: visible(action.label) }),
        },
        t("lab.ask"),
      );

/**
 * What may be done, each with the way to it; what is safe runs right here.
 * @param {ActionResponse[]} all
 * @param {{isNear?: (action: ActionResponse) => boolean, isOff?: boolean, guest?: string}} [about] what is nearest,
 *   whether it is off, and how its guest was seen just now
 */
export function allowedActions(all, about = {}) {
  const sorted = [...all].sort((one, other) => rank(one, about) - rank(other, about));
  const list =
    all.length === 0
      ? el("p", { class: "muted" }, t("lab.no_actions"))
      : el(
          "ul",
          { class: "list" },
          sorted.map((action) =>
            el(
              "li",
              {},
              el(
                "div",
                { class: "item action-line" },
                el("a", { href: `#/lab/actions/${encodeURIComponent(action.id)}`, class: "grow wrap" }, action.label),
                tierPill(action),
                alreadyWords(action, about)
                  ? el("span", { class: "muted small" }, alreadyWords(action, about))
                  : wayTo(action),
              ),
              isOneTap(action) ? runSlot(action.id) : null,
            ),
          ),
        );
  return el("section", { class: "stack tight" }, el("h3", {}, t("lab.allowed")), list);
}

/** @param {ActionResponse[]} all actions */
export function lastRuns(all) {
  const rows = runsOf(all);
  const list =
    rows.length === 0
      ? el("p", { class: "muted" }, t("lab.no_runs"))
      : el(
          "ul",
          { class: "list" },
          rows.map((row) =>
            el(
              "li",
              {},
              el(
                "a",
                { href: `#/audit?subject=${encodeURIComponent(row.id)}` },
                el(
                  "span",
                  { class: "grow wrap" },
                  row.label,
                  el("span", { class: "muted small by" }, t("lab.run_by", { name: requesterName(row.requested_by) })),
                ),
                el("span", { class: "muted small" }, time(row.resolved_at)),
                statePill(row),
              ),
            ),
          ),
        );
  return el("section", { class: "stack tight" }, el("h3", {}, t("lab.runs")), list);
}

/** @param {string} question */
export const askInChat = (question) =>
  el("a", { class: "button", href: `#/chat/${encodeURIComponent(question)}` }, t("home.ask_blue"));

/** The conversation that is about this one thing. @param {"service" | "action"} kind @param {string} id */
export const talkAboutLink = (kind, id) =>
  el("a", { class: "button", href: `#/chat?about=${encodeURIComponent(`${kind}:${id}`)}` }, t("talk_about"));

/** What was run here keeps itself fresh. @param {Element} node */
function withoutResults(node) {
  if (!node.querySelector(".run-slot > *")) return node;
  const copy = /** @type {Element} */ (node.cloneNode(true));
  for (const slot of copy.querySelectorAll(".run-slot")) slot.replaceChildren();
  return copy;
}

/** Ages count on by themselves; they are no news. */
const AGES = /<time[^>]*>[^<]*|<span class="(?:age|fill)[^>]*>[^<]*/g;
const AGED = "time, .age, .fill";

/**
 * Replaces what is there only if it would read differently, so that focus survives a look.
 * @param {HTMLElement} holder
 * @param {HTMLElement[]} next
 */
export function mountIfNew(holder, next) {
  const plain = (/** @type {Element[]} */ all) =>
    all.map((one) => withoutResults(one).outerHTML.replace(AGES, "")).join("");
  if (plain([...holder.children]) !== plain(next)) {
    mount(holder, next);
    return fillSlots(holder);
  }
  const all = /** @type {NodeListOf<HTMLElement>} */ (holder.querySelectorAll(AGED));
  // What was run here has times of its own.
  const ages = [...all].filter((one) => !one.closest(".run-slot"));
  const fresh = next.flatMap((one) => [
    .../** @type {NodeListOf<HTMLElement>} */ (one.querySelectorAll(AGED)),
    ...(one.matches(AGED) ? [one] : []),
  ]);
  fresh.forEach((now, index) => {
    const old = ages[index];
    if (!old) return;
    old.textContent = now.textContent;
    old.className = now.className;
    if (now.style.inlineSize) old.style.setProperty("inline-size", now.style.inlineSize);
    if (now instanceof HTMLTimeElement && old instanceof HTMLTimeElement) old.dateTime = now.dateTime;
  });
  return undefined;
}
