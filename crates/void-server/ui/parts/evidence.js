// @ts-check
// What Void itself saw of the services that a request is about, beside what the requester says.

import { el } from "../lib/dom.js";
import { setTime, time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { healthPill } from "./states.js";

/** @import { Service } from "../types/api.js" */

/** @param {Service[]} all @param {boolean} isBrief */
export function evidence(all, isBrief) {
  if (all.length === 0) return null;
  return el(
    "div",
    { class: "evidence", role: "group", "aria-label": t("card.seen") },
    isBrief ? null : el("p", { class: "muted small" }, t("card.seen")),
    el(
      "ul",
      { class: "plain" },
      all.map((service) =>
        el(
          "li",
          { class: "row-line", "data-service": service.id },
          healthPill(service),
          el("a", { class: "wrap", href: `#/lab/services/${encodeURIComponent(service.id)}` }, service.label),
          el("span", { class: "muted small" }, age(service)),
        ),
      ),
    ),
  );
}

/** @param {Service} service */
function age(service) {
  if (!service.checked_at) return t("lab.never_looked");
  const since =
    service.since && service.status !== "unknown"
      ? [t("card.seen_since"), " ", time(service.since, "clock"), ", "]
      : [];
  return [...since, t("lab.looked"), " ", time(service.checked_at)];
}

/**
 * Lets the ages count from the newest look; what changed comes by an event and is drawn anew.
 * @param {HTMLElement} card
 * @param {Service[]} services as they are now
 */
export function seenAgain(card, services) {
  for (const line of /** @type {NodeListOf<HTMLElement>} */ (card.querySelectorAll(".evidence [data-service]"))) {
    const looked = services.find((one) => one.id === line.dataset.service)?.checked_at;
    const seen = /** @type {HTMLTimeElement | null} */ (line.querySelector("time[data-form=ago]"));
    if (looked && seen && Date.parse(looked) > Date.parse(seen.dateTime)) setTime(seen, looked);
  }
}
