// @ts-check
// Channels: where the owner is told that something waits, whether that works, and what could not be said.

import { del, post } from "../lib/api.js";
import { Resource } from "../lib/data.js";
import { el, keyed, mount } from "../lib/dom.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { empty, notice } from "../parts/empties.js";
import { pill } from "../parts/states.js";
import { code, copyButton, factList, part, sender, showing, snippet, source, twoStep } from "./pieces.js";

const TELEGRAM = "export TELEGRAM_BOT_TOKEN=123456:ABC-DEF\nvoid serve\nvoid notify pair telegram";
const NTFY = '[notify.ntfy]\nurl = "https://ntfy.sh/a-topic-nobody-guesses"\ntoken = "env:NTFY_TOKEN"';
const WEBHOOK = '[[notify.webhooks]]\nname = "n8n"\nurl = "http://192.168.1.20:5678/webhook/void"\nsecret = "file:/run/secrets/hook"';
const QUIET = '[notify]\ntimezone = "Europe/Berlin"\n[notify.quiet]\nfrom = "22:00"\nuntil = "07:00"\ncritical = true';

/** @returns {import("./pieces.js").Section} */
export function channelsSection() {
  const channels = /** @type {Resource<any>} */ (new Resource("/api/notifications", /^(notification|pairing|proposal)\./));
  const head = el("div", { class: "stack tight" });
  const list = el("div", { class: "stack tight" });
  const failed = el("div", { class: "stack tight" });
  const pairing = el("div", { class: "stack tight", "aria-live": "polite" });
  const off = showing(channels, head, (/** @type {any} */ value) => {
    const hasTelegram = value.places.some((/** @type {any} */ place) => place.channel === "telegram");
    mount(head, value.untold > 0 ? notice("caution", t("frame.untold", { n: value.untold })) : null,
      value.places.length === 0 ? empty("asleep", t("channels.none"), el("p", { class: "small" }, t("channels.none_way"))) : null);
    keyed(list, value.places, (/** @type {any} */ place) => `${place.channel} ${place.target ?? ""} ${place.name}`, (place) => placeCard(place, () => channels.refresh()));
    if (!hasTelegram) mount(pairing);
    else if (pairing.childElementCount === 0) mount(pairing, pair(pairing, () => channels.refresh()));
    mount(failed, value.failed.length > 0 ? part(t("channels.failed"), t("channels.failed_about"), el("ul", { class: "list" }, value.failed.map((/** @type {any} */ one) => failedRow(one, () => channels.refresh())))) : null);
  });
  const node = el("div", { class: "stack" }, head, list, pairing, failed,
    part(t("channels.quiet"), t("channels.quiet_about"), el("details", {}, el("summary", {}, t("settings.how")), snippet(QUIET, t("channels.quiet"))), source(t("settings.from_file"), " ", code("void.toml"), ". ", t("settings.in_force"), " ", code("void config show"))),
    part(t("channels.add"), t("channels.add_about"),
      el("details", {}, el("summary", {}, "Telegram"), snippet(TELEGRAM, "Telegram"), el("p", { class: "muted small" }, t("channels.telegram_how"))),
      el("details", {}, el("summary", {}, "ntfy"), snippet(NTFY, "ntfy")),
      el("details", {}, el("summary", {}, t("channels.webhook")), snippet(WEBHOOK, t("channels.webhook"))),
      source(t("settings.from_file"), " ", code("void.toml"), " ", t("settings.or_env"), " ", code("TELEGRAM_BOT_TOKEN"), ", ", code("NTFY_URL"), ". ", t("settings.docs", { file: "docs/notifications.md" }))));
  return { node, stop: off };
}

/** @param {any} place */
function standingOf(place) {
  if (place.problem) return pill("failed", "bad", t("channels.not_working"));
  if (!place.target) return pill("stale", "", t("channels.nobody"));
  if (place.last_sent_at) return pill("up", "ok", t("channels.works"));
  return pill("unsure", "", t("channels.untried"));
}

/** @param {any} place @param {() => void} refresh */
function placeCard(place, refresh) {
  const told = el("div", { class: "told", "aria-live": "polite" });
  const test = async () => {
    const { results } = await post("/api/notifications/test", { target: place.target });
    mount(told, ...results.map((/** @type {any} */ one) => notice(one.sent ? "info" : "problem", one.sent ? t("channels.test_sent") : t("channels.test_failed", { problem: one.problem ?? "" }))));
    refresh();
  };
  const title = place.channel === "telegram" ? "Telegram" : place.channel === "ntfy" ? "ntfy" : t("channels.webhook");
  return el("article", { class: "card" },
    el("div", { class: "row-line" }, el("h3", { class: "grow wrap" }, title, place.name && place.name !== place.channel ? ` · ${place.name}` : ""), standingOf(place)),
    place.problem ? notice("problem", place.problem) : null,
    place.target ? null : el("p", {}, t("channels.nobody_way")),
    factList([
      [t("channels.target"), place.target ? code(place.target) : null],
      [t("channels.paired"), place.paired_at ? time(place.paired_at) : null],
      [t("channels.last"), place.last_sent_at ? time(place.last_sent_at) : t("channels.never")],
      [t("channels.waiting"), place.waiting > 0 ? String(place.waiting) : null],
      [t("channels.put_aside"), place.failed > 0 ? String(place.failed) : null],
    ]),
    told,
    place.target ? el("div", { class: "row-line" }, sender(t("channels.test"), test, { told, kind: "small" }),
      place.paired_at ? twoStep({ word: t("channels.unpair"), ask: t("channels.unpair_ask", { name: place.name }), yes: t("channels.unpair_yes"), act: async () => { await del(`/api/notifications/pairs/${encodeURIComponent(place.target)}`); refresh(); } }) : null) : null);
}

/** @param {HTMLElement} place @param {() => void} refresh */
function pair(place, refresh) {
  const told = el("div", { class: "told" });
  const begin = async () => {
    const { link, bot, expires_at } = await post("/api/notifications/pair", { channel: "telegram" });
    const start = new URL(link).searchParams.get("start") ?? "";
    mount(place, el("div", { class: "card secret" }, el("h3", {}, t("channels.pair_title", { bot })), el("p", {}, t("channels.pair_how")),
      el("div", { class: "snippet" }, el("a", { class: "wrap", href: link, target: "_blank", rel: "noreferrer" }, link), copyButton(link, t("channels.pair_link"))),
      factList([[t("channels.pair_code"), code(`/start ${start}`)], [t("settings.good_until"), time(expires_at, "until")]]),
      el("p", {}, el("button", { type: "button", class: "button", onclick: () => { mount(place, pair(place, refresh)); refresh(); } }, t("channels.pair_done")))));
  };
  return el("div", { class: "stack tight" }, told, el("p", {}, sender(t("channels.pair"), begin, { told, kind: "primary" })));
}

/** @param {any} one @param {() => void} refresh */
function failedRow(one, refresh) {
  const told = el("div", { class: "told", "aria-live": "polite" });
  const retry = async () => {
    await post(`/api/notifications/failed/${one.id}/retry`);
    mount(told, notice("info", t("channels.retried")));
    refresh();
  };
  return el("li", {}, el("div", { class: "item tall" }, el("span", { class: "grow" },
    el("span", { class: "wrap line" }, one.error ?? t("error.no_reason")),
    el("span", { class: "muted small line" }, code(one.target), " · ", t("channels.tries", { n: one.tries }), " · ", time(one.created_at), one.proposal_id ? [" · ", el("a", { href: `#/inbox/${one.proposal_id}` }, t("channels.what_for"))] : ""), told),
  sender(t("retry"), retry, { told, kind: "small" })));
}
