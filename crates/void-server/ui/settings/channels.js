// @ts-check
// Channels: where the owner is told that something waits, whether that works, and what could not be said.

import { del, get, post } from "../lib/api.js";
import { ownProgram, said, typed } from "../lib/commands.js";
import { home, Resource } from "../lib/data.js";
import { el, keyed, mount } from "../lib/dom.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { empty, notice } from "../parts/empties.js";
import { factList } from "../parts/facts.js";
import { asOneself } from "../parts/identity.js";
import { muteLine } from "../parts/mutes.js";
import { pill } from "../parts/states.js";
import { copyButton, snippet } from "../parts/copying.js";
import { code, part, sender, showing, source, twoStep } from "./pieces.js";

/** @import { FailedNotification, NotificationPlace, NotificationsResponse } from "../types/api.js" */

const TELEGRAM = "export TELEGRAM_BOT_TOKEN=123456:ABC-DEF";
const NTFY = '[notify.ntfy]\nurl = "https://ntfy.sh/a-topic-nobody-guesses"\ntoken = "env:NTFY_TOKEN"';
const WEBHOOK =
  '[[notify.webhooks]]\nname = "n8n"\nurl = "http://192.168.1.20:5678/webhook/void"\nsecret = "file:/run/secrets/hook"';
/** How often a pairing is looked for. */
const LOOK_MS = 3000;
const QUIET = '[notify]\ntimezone = "Europe/Berlin"\n[notify.quiet]\nfrom = "22:00"\nuntil = "07:00"\ncritical = true';

/** @returns {import("./pieces.js").Section} */
export function channelsSection() {
  const channels = new Resource(() => get("/api/notifications"), /^(notification|proposal)\./);
  const head = el("div", { class: "stack tight" });
  const list = el("div", { class: "stack tight" });
  const failed = el("div", { class: "stack tight" });
  const muted = el("div", { class: "stack tight" });
  const mutes = new Resource(() => get("/api/mutes"), /^mute\./);
  const offMutes = mutes.watch(({ value }) =>
    mount(
      muted,
      value && value.mutes.length > 0
        ? part(
            t("channels.muted"),
            t("channels.muted_about"),
            el(
              "ul",
              { class: "list" },
              value.mutes.map((mute) =>
                el(
                  "li",
                  {},
                  el(
                    "div",
                    { class: "item tall" },
                    el(
                      "span",
                      { class: "grow" },
                      mute.service ? el("span", { class: "title wrap" }, mute.service) : null,
                      muteLine(mute),
                    ),
                  ),
                ),
              ),
            ),
          )
        : null,
    ),
  );
  const pairing = pairer(channels);
  const isRehearsal = home.value?.status.rehearsal === true;
  // A rehearsal has no channels; what is read there is for another Void.
  const own = (/** @type {string} */ command) =>
    isRehearsal ? `${ownProgram()} ${command}` : typed(`void ${command}`);
  const telegram = [
    snippet(TELEGRAM, t("channels.telegram_token")),
    isRehearsal ? snippet(own("serve"), t("channels.telegram_start")) : null,
    snippet(own("notify pair telegram"), t("channels.telegram_pair")),
  ];
  const off = showing(channels, head, (value) => {
    mount(
      head,
      value.untold > 0 ? notice("caution", t("frame.untold", { n: value.untold })) : null,
      value.places.length > 0 && value.services_untold > 0
        ? notice("caution", t("frame.untold_services", { n: value.services_untold }))
        : null,
      value.places.length === 0
        ? empty("asleep", t("channels.none"), el("p", { class: "small" }, t("channels.none_way")))
        : null,
    );
    keyed(
      list,
      value.places,
      (place) => `${place.channel} ${place.target ?? ""} ${place.name}`,
      (place) => placeCard(place, () => channels.refresh()),
    );
    pairing.look();
    mount(
      failed,
      value.failed.length > 0
        ? part(
            t("channels.failed"),
            t("channels.failed_about"),
            el(
              "ul",
              { class: "list" },
              value.failed.map((one) => failedRow(one, () => channels.refresh())),
            ),
          )
        : null,
    );
  });
  const node = el(
    "div",
    { class: "stack" },
    head,
    list,
    pairing.node,
    failed,
    muted,
    part(
      t("channels.quiet"),
      t("channels.quiet_about"),
      el("details", {}, el("summary", {}, t("settings.how")), snippet(QUIET, t("channels.quiet"))),
      source(
        t("settings.from_file"),
        " ",
        code("void.toml"),
        ". ",
        t("settings.in_force"),
        " ",
        code(typed("void config show")),
      ),
    ),
    part(
      t("channels.add"),
      t("channels.add_about"),
      isRehearsal ? notice("info", t("channels.rehearsal")) : null,
      el(
        "details",
        {},
        el("summary", {}, "Telegram"),
        el("p", { class: "muted small" }, t("channels.telegram_how")),
        telegram,
      ),
      el("details", {}, el("summary", {}, "ntfy"), snippet(NTFY, "ntfy")),
      el("details", {}, el("summary", {}, t("channels.webhook")), snippet(WEBHOOK, t("channels.webhook"))),
      source(
        t("settings.from_file"),
        " ",
        code("void.toml"),
        " ",
        t("settings.or_env"),
        " ",
        code("TELEGRAM_BOT_TOKEN"),
        ", ",
        code("NTFY_URL"),
        ". ",
        t("settings.docs", { file: "docs/notifications.md" }),
      ),
    ),
  );
  return {
    node,
    stop: () => {
      off();
      offMutes();
      pairing.stop();
    },
  };
}

/** @param {NotificationPlace} place */
function standingOf(place) {
  if (place.problem) return pill("failed", "bad", t("channels.not_working"));
  if (!place.target) return pill("stale", "", t("channels.nobody"));
  if (place.last_sent_at) return pill("up", "ok", t("channels.works"));
  return pill("unsure", "", t("channels.untried"));
}

/** @param {NotificationPlace} place @param {() => void} refresh */
function placeCard(place, refresh) {
  const told = el("div", { class: "told", "aria-live": "polite" });
  const { target } = place;
  const test = async () => {
    const { results } = await post("/api/notifications/test", { target });
    mount(
      told,
      ...results.map((one) =>
        notice(
          one.sent ? "info" : "problem",
          one.sent ? t("channels.test_sent") : t("channels.test_failed", { problem: said(one.problem ?? "") }),
        ),
      ),
    );
    refresh();
  };
  const title = place.channel === "telegram" ? "Telegram" : place.channel === "ntfy" ? "ntfy" : t("channels.webhook");
  return el(
    "article",
    { class: "card" },
    el(
      "div",
      { class: "row-line" },
      el("h3", { class: "grow wrap" }, title, place.name && place.name !== place.channel ? ` · ${place.name}` : ""),
      standingOf(place),
    ),
    place.problem
      ? notice("problem", said(place.problem), place.problem_since ? [" ", time(place.problem_since)] : null)
      : null,
    place.target ? null : el("p", {}, t("channels.nobody_way")),
    factList([
      [t("channels.target"), place.target ? code(place.target) : null],
      [t("channels.paired"), place.paired_at ? time(place.paired_at) : null],
      [t("channels.last"), place.last_sent_at ? time(place.last_sent_at) : t("channels.never")],
      [t("channels.waiting"), place.waiting > 0 ? String(place.waiting) : null],
      [t("channels.put_aside"), place.failed > 0 ? String(place.failed) : null],
    ]),
    told,
    target
      ? el(
          "div",
          { class: "row-line" },
          sender(t("channels.test"), test, { told, kind: "small" }),
          place.paired_at
            ? twoStep({
                word: t("channels.unpair"),
                ask: t("channels.unpair_ask", { name: place.name }),
                yes: t("channels.unpair_yes"),
                act: async () => {
                  await asOneself(() => del(`/api/notifications/pairs/${encodeURIComponent(target)}`));
                  refresh();
                },
              })
            : null,
        )
      : null,
  );
}

/**
 * Pairing: the link, and a look every few seconds whether somebody followed it, since no event says so.
 * @param {Resource<NotificationsResponse>} channels
 */
function pairer(channels) {
  const place = el("div", { class: "stack tight", "aria-live": "polite" });
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let looking;
  /** @type {Set<string | null>} */
  let known = new Set();
  const targets = () => (channels.value?.places ?? []).filter((one) => one.channel === "telegram" && one.target);
  const rest = (/** @type {HTMLElement | null} */ said = null) => {
    clearInterval(looking);
    looking = undefined;
    const told = el("div", { class: "told" });
    mount(place, said, told, el("p", {}, sender(t("channels.pair"), begin, { told, kind: "primary" })));
  };
  const begin = async () => {
    const offered = await asOneself(() => post("/api/notifications/pair", { channel: "telegram" }));
    if (!offered) return;
    const { link, bot, expires_at } = offered;
    const start = new URL(link).searchParams.get("start") ?? "";
    known = new Set(targets().map((one) => one.target));
    looking = setInterval(() => channels.refresh(), LOOK_MS);
    mount(
      place,
      el(
        "div",
        { class: "card secret" },
        el("h3", {}, t("channels.pair_title", { bot })),
        el("p", {}, t("channels.pair_how")),
        el(
          "div",
          { class: "snippet" },
          el("a", { class: "wrap", href: link, target: "_blank", rel: "noreferrer" }, link),
          copyButton(link, t("channels.pair_link")),
        ),
        factList([
          [t("channels.pair_code"), code(`/start ${start}`)],
          [t("settings.good_until"), time(expires_at, "until")],
        ]),
        el("p", { class: "muted small" }, t("channels.pair_waits")),
        el("p", {}, el("button", { type: "button", class: "button", onclick: () => rest() }, t("settings.cancel"))),
      ),
    );
  };
  return {
    node: place,
    stop: () => clearInterval(looking),
    /** What the server says now. */
    look: () => {
      const isSetUp = (channels.value?.places ?? []).some((one) => one.channel === "telegram");
      const come = looking !== undefined && targets().find((one) => !known.has(one.target));
      if (come) rest(notice("info", t("channels.pair_came", { name: come.name })));
      else if (!isSetUp) mount(place);
      else if (place.childElementCount === 0) rest();
    },
  };
}

/** @param {FailedNotification} one @param {() => void} refresh */
function failedRow(one, refresh) {
  const told = el("div", { class: "told", "aria-live": "polite" });
  const retry = async () => {
    await post(`/api/notifications/failed/${one.id}/retry`);
    mount(told, notice("info", t("channels.retried")));
    refresh();
  };
  return el(
    "li",
    {},
    el(
      "div",
      { class: "item tall" },
      el(
        "span",
        { class: "grow" },
        el("span", { class: "wrap line" }, one.error ?? t("error.no_reason")),
        el(
          "span",
          { class: "muted small line" },
          code(one.target),
          " · ",
          t("channels.tries", { n: one.tries }),
          " · ",
          time(one.created_at),
          one.proposal_id ? [" · ", el("a", { href: `#/inbox/${one.proposal_id}` }, t("channels.what_for"))] : "",
        ),
        told,
      ),
      sender(t("retry"), retry, { told, kind: "small" }),
    ),
  );
}
