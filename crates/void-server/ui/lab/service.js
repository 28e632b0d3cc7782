// @ts-check
// One service: how it is and since when, its day, what may be done about it and what was done.

import { ApiError, get, sentence } from "../lib/api.js";
import { actions, ended, LOOK_OFTEN_MS, Resource } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { clock, time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { cannotTell, empty, loading, notice } from "../parts/empties.js";
import { factList } from "../parts/facts.js";
import { muteButton, muteLine, muteOf } from "../parts/mutes.js";
import { runbookList } from "../parts/runbooks.js";
import { checkReason, healthPill } from "../parts/states.js";
import { dayBand } from "./band.js";
import { actionsOfService, watchLab } from "./data.js";
import { guestHref } from "./guests.js";
import { allowedActions, askInChat, lastRuns, mountIfNew, talkAboutLink, trail } from "./pieces.js";

/** @import { Mute, ServiceWithHistoryResponse } from "../types/api.js" */

const CHANGES_SHOWN = 12;

/** @param {string} id */
export function servicePage(id) {
  const ways = () => trail([["#/lab", t("nav.lab")]], id);
  const place = el("div", { class: "stack" }, ways(), loading());
  const node = el("div", { class: "stack lab" }, place);
  const source = new Resource(() => get(`/api/services/${encodeURIComponent(id)}`), /^(service\.|page\.changed$)/);
  const mutes = new Resource(() => get("/api/mutes"), /^mute\./, LOOK_OFTEN_MS);
  const draw = () => {
    const { value, error } = source;
    if (!value) {
      const isMissing = error instanceof ApiError && error.status === 404;
      mount(
        place,
        ways(),
        !error
          ? loading()
          : isMissing
            ? empty("unsure", t("lab.no_service", { id }))
            : cannotTell(error, () => void source.read()),
      );
      return;
    }
    mountIfNew(place, whole(value, error, mutes.value?.mutes ?? null));
  };
  const off = watchLab([source, mutes, actions, ended], draw);
  const timer = setInterval(() => {
    if (document.visibilityState === "visible") void source.read();
  }, LOOK_OFTEN_MS);
  return {
    node,
    title: t("nav.lab"),
    stop: () => {
      clearInterval(timer);
      off();
    },
  };
}

/**
 * @param {ServiceWithHistoryResponse} service
 * @param {ApiError | null} error
 * @param {Mute[] | null} mutes what is muted, once it is known
 */
function whole(service, error, mutes) {
  const mute = muteOf(mutes ?? [], service);
  const allowed = actionsOfService(service);
  const reason = checkReason(service.detail?.reason);
  const where =
    service.node && service.vmid
      ? el(
          "a",
          { href: guestHref(service.node, service.vmid) },
          t("lab.guest_on", { vmid: service.vmid, node: service.node }),
        )
      : service.host
        ? el("a", { href: `#/lab/nodes/${encodeURIComponent(service.host)}` }, service.host)
        : t("lab.nowhere");
  const changes = service.history.slice(-CHANGES_SHOWN).reverse();
  return [
    trail([["#/lab", t("nav.lab")]], service.label),
    ...(error ? [notice("problem", sentence(error), " ", t("lab.old"))] : []),
    el(
      "section",
      { class: "card stack" },
      el("div", { class: "row-line" }, el("h2", { class: "grow wrap" }, service.label), healthPill(service)),
      service.status === "up"
        ? null
        : service.stopped
          ? el("p", { class: "muted" }, t("lab.is_stopped", { at: clock(service.stopped.at) }))
          : el(
              "p",
              { class: service.status === "down" ? "bad-words" : "muted" },
              t(!reason ? "lab.is_unseen" : service.status === "down" ? "lab.is_down" : "lab.is_unknown", { reason }),
            ),
      mute ? muteLine(mute) : null,
      service.flapping ? notice("caution", t("lab.flapping")) : null,
      dayBand(service),
      factList([
        [t("lab.fact.since"), service.since ? time(service.since) : t("lab.never_looked")],
        [
          t("lab.fact.look"),
          el(
            "span",
            {},
            time(service.checked_at),
            " ",
            el("span", { class: "muted" }, t("lab.every", { n: service.interval_s })),
          ),
        ],
        [t("lab.fact.check"), t(`lab.check.${service.check}`)],
        service.detail?.latency_ms !== null && service.detail?.latency_ms !== undefined
          ? [
              t("lab.fact.answer"),
              el(
                "span",
                { class: "age" },
                service.detail.code
                  ? t("lab.answer_code", { code: service.detail.code, n: service.detail.latency_ms })
                  : t("lab.answer", { n: service.detail.latency_ms }),
              ),
            ]
          : null,
        [t("lab.fact.where"), where],
      ]),
      el(
        "p",
        { class: "row-line" },
        service.status === "up" || service.stopped ? null : askInChat(t("home.ask", { name: service.label })),
        talkAboutLink("service", service.id),
        mutes && !mute ? muteButton(service) : null,
      ),
    ),
    el(
      "div",
      { class: "lab-two" },
      el(
        "div",
        { class: "stack" },
        runbookList(service.runbooks),
        allowedActions(allowed, {
          isNear: (action) => action.verify === service.id || action.service === service.id,
          isOff: service.status === "down",
        }),
        lastRuns(allowed),
      ),
      el(
        "section",
        { class: "stack tight" },
        el("h3", {}, t("lab.changes")),
        changes.length === 0
          ? el("p", { class: "muted" }, t("lab.no_changes"))
          : el(
              "ul",
              { class: "list" },
              changes.map((change) =>
                el(
                  "li",
                  {},
                  el(
                    "div",
                    { class: "item" },
                    healthPill({ status: change.to }),
                    el("span", { class: "grow muted small wrap" }, checkReason(change.reason)),
                    el("span", { class: "muted small" }, time(change.at)),
                  ),
                ),
              ),
            ),
      ),
    ),
  ];
}
