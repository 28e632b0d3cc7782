// @ts-check
// Home: one sentence of truth, what waits, what is wrong, what changed.

import { home } from "../lib/data.js";
import { el, keyed, mount } from "../lib/dom.js";
import { isLive, onConnection } from "../lib/live.js";
import { clock, time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { blue, mood } from "../parts/blue.js";
import { joinCard, proposalCard } from "../parts/cards.js";
import { cannotTell, loading } from "../parts/empties.js";
import { healthPill, statePill } from "../parts/states.js";

const CARDS_MAX = 3;
/** When somebody was last here, as it was when this page began. */
const LAST_VISIT = localStorage.getItem("last-visit") ?? "";
addEventListener("pagehide", () => localStorage.setItem("last-visit", new Date().toISOString()));

export function homePage() {
  const truth = el("p", { class: "truth-line" });
  const cards = el("div", { class: "stack" });
  const more = el("p");
  const worries = el("div", { class: "stack" });
  const checklist = el("div");
  const changed = el("ul", { class: "list" });
  const since = el("p", { class: "muted small" });
  const services = el("ul", { class: "list" });
  const node = el("div", { class: "stack" }, loading());
  const whole = el("div", { class: "stack" }, truth,
    el("div", { class: "two" },
      el("div", { class: "stack" }, cards, more, worries, checklist),
      el("div", { class: "stack" },
        el("section", { class: "stack tight" }, el("h2", {}, t("home.services")), services),
        el("section", { class: "stack tight" }, el("h2", {}, t("home.changed")), since, changed))));

  const draw = () => {
    const { value, error } = home;
    if (!value) {
      mount(node, error ? cannotTell(error, () => void home.read()) : loading());
      return;
    }
    if (!whole.isConnected) mount(node, whole);
    const { pose, key, values } = mood(value, isLive());
    const words = t(key, { ...values, until: values.until ? clock(String(values.until)) : "" });
    mount(truth, blue(pose, 32), el("span", {}, words, " ", el("span", { class: "muted" }, t("home.seen"), " ", time(value.status.at))));
    const waiting = value.inbox.items;
    keyed(cards, waiting.slice(0, CARDS_MAX), (/** @type {any} */ item) => item.id ?? `join-${item.name}`,
      (/** @type {any} */ item) => item.kind === "join" ? joinCard(item) : proposalCard(item, { isBrief: true, card: value.cards.find((/** @type {any} */ card) => card.row.id === item.id) }));
    const total = value.inbox.counts.proposal + value.inbox.counts.join + value.inbox.counts.failure;
    mount(more, total > CARDS_MAX ? el("a", { href: "#/inbox" }, t("home.all_waiting", { n: total })) : null);
    const down = value.services.services.filter((/** @type {any} */ one) => one.status !== "up");
    mount(worries, ...down.filter((/** @type {any} */ one) => one.status === "down").map(worry));
    mount(checklist, setup(value.setup));
    if (value.services.services.length === 0) mount(services, el("li", {}, el("div", { class: "item muted" }, t("home.no_services"))));
    else keyed(services, value.services.services, (/** @type {any} */ one) => one.id, serviceRow);
    const fresh = value.recent.filter(isNew).length;
    mount(since, LAST_VISIT ? t(fresh > 0 ? "home.since" : "home.since_nothing", { n: fresh }) : null, " ", LAST_VISIT ? time(LAST_VISIT) : null);
    if (value.recent.length === 0) mount(changed, el("li", {}, el("div", { class: "item muted" }, t("home.nothing_yet"))));
    else keyed(changed, value.recent.slice(0, 8), (/** @type {any} */ row) => row.id, changeRow);
  };
  const offData = home.watch(draw);
  const offLive = onConnection(() => { if (home.value) draw(); });
  return { node, title: t("nav.home"), stop: () => { offData(); offLive(); } };
}

/** @param {any} service */
function worry(service) {
  return el("article", { class: "card worry" },
    el("div", { class: "row-line" }, healthPill(service), el("span", { class: "muted small" }, time(service.since))),
    el("h2", {}, service.label),
    el("p", {}, t("home.down", { name: service.label, reason: service.detail?.reason ?? "" })),
    el("p", {}, el("a", { class: "button", href: `#/lab/services/${service.id}` }, t("home.look")), " ",
      el("a", { class: "button quiet", href: `#/chat/${encodeURIComponent(t("home.ask", { name: service.label }))}` }, t("home.ask_blue"))));
}

/** @param {any} service */
function serviceRow(service) {
  return el("li", {}, el("a", { href: `#/lab/services/${service.id}` }, el("span", { class: "grow" }, el("span", { class: "title wrap" }, service.label), el("span", { class: "muted small" }, time(service.checked_at))), healthPill(service)));
}

/** @param {any} row */
const isNew = (row) => LAST_VISIT !== "" && Date.parse(row.resolved_at) > Date.parse(LAST_VISIT);

/** @param {any} row */
function changeRow(row) {
  return el("li", {}, el("a", { href: `#/inbox/${row.id}` }, el("span", { class: "grow" }, el("span", { class: "title wrap" }, row.label), el("span", { class: "muted small" }, time(row.resolved_at), isNew(row) ? [" · ", el("strong", {}, t("home.new"))] : null)), statePill(row)));
}

/** Gone when all is done. @param {Record<string, boolean>} done */
function setup(done) {
  const items = [["lab_connected", "#/settings/doctor"], ["actions_loaded", "#/lab/actions"], ["phone_paired", "#/settings/channels"], ["decided_once", "#/lab/actions"]];
  if (items.every(([key]) => done[key ?? ""])) return null;
  return el("section", { class: "card checklist" }, el("h2", {}, t("setup.title")),
    el("ul", {}, items.map(([key = "", href]) => el("li", { class: done[key] ? "ticked" : "" }, el("span", { "aria-hidden": "true" }, done[key] ? "✓" : "○"), " ",
      done[key] ? el("span", {}, t(`setup.${key}`), el("span", { class: "hidden-text" }, t("setup.done"))) : el("a", { href }, t(`setup.${key}`))))));
}
