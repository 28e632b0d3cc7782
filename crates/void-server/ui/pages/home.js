// @ts-check
// Home: one sentence of truth, what waits, what runs, what is wrong, what changed.

import { CARDS_MAX, ENDED_STAYS_MS, waitingCards } from "../home/waiting.js";
import { get, sentence } from "../lib/api.js";
import { actions, home, isAnswered, lookAgain, LOOK_OFTEN_MS, nodes, Resource, TOGETHER_MS } from "../lib/data.js";
import { el, keyed, mount } from "../lib/dom.js";
import { isLive, onConnection } from "../lib/live.js";
import { requesterName } from "../lib/people.js";
import { clock, serverNow, time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { blue, mood } from "../parts/blue.js";
import { cannotTell, loading, notice } from "../parts/empties.js";
import { showFirstSteps } from "../parts/first-steps.js";
import { muteButton, muteLine, muteOf } from "../parts/mutes.js";
import { grouped } from "../parts/repeats.js";
import { fillSlots, isOneTap, runButton, runSlot } from "../parts/runs.js";
import { checkReason, healthPill, isWorry, nodePill, statePill, tierPill } from "../parts/states.js";
import { rowTitle } from "../parts/titles.js";

/** @import { Content } from "../lib/dom.js" */
/** @import { RepeatedRow } from "../parts/repeats.js" */
/** @import { ActionResponse, Home, Mute, NodeResponse, Row, Service, Setup } from "../types/api.js" */

const CHANGES_MAX = 8;
/** Away for less than this is no leaving. */
const AWAY_MS = 10 * 60_000;

/** When somebody was last here before now: coming back within minutes, or a reload, is the same visit. */
let lastVisit = visitBefore(localStorage.getItem("last-visit") ?? "");
let hiddenAt = "";

/** @param {string} left when this browser was last left */
function visitBefore(left) {
  const known = localStorage.getItem("visit-before") ?? "";
  if (left === "" || serverNow() - Date.parse(left) < AWAY_MS) return known;
  localStorage.setItem("visit-before", left);
  return left;
}
const noteLeft = () => {
  hiddenAt = new Date(serverNow()).toISOString();
  localStorage.setItem("last-visit", hiddenAt);
};
addEventListener("pagehide", noteLeft);
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") noteLeft();
  else if (hiddenAt) lastVisit = visitBefore(hiddenAt);
});

const running = new Resource(() => get("/api/proposals?status=running&limit=10"), /^proposal\./);

export function homePage() {
  const truth = el("p", { class: "truth-line" });
  const problem = el("div");
  const cards = waitingCards(() => draw());
  const more = el("p");
  const runs = el("ul", { class: "list" });
  const runsNow = el("section", { class: "stack tight", hidden: true }, el("h2", {}, t("home.running")), runs);
  const worries = el("div", { class: "stack" });
  const first = el("div");
  const untold = el("div");
  const checklist = el("div");
  const strip = el("ul", { class: "nodes-strip" });
  const machines = el("section", { class: "stack tight", hidden: true }, el("h2", {}, t("home.nodes")), strip);
  const changed = el("ul", { class: "list" });
  const since = el("p", { class: "muted small" });
  const services = el("ul", { class: "list" });
  const node = el("div", { class: "stack" }, loading());
  // What is made of later answers, and what they would push away.
  const below = el("div", { class: "stack" }, runsNow, untold, worries, first, checklist);
  const beside = el(
    "div",
    { class: "stack" },
    el("section", { class: "stack tight" }, el("h2", {}, t("home.services")), services),
    machines,
    el("section", { class: "stack tight" }, el("h2", {}, t("home.changed")), since, changed),
  );
  const whole = el(
    "div",
    { class: "stack" },
    truth,
    problem,
    el("div", { class: "two" }, el("div", { class: "stack" }, cards.node, more, below), beside),
  );
  /** What only some labs have is read only there. @type {Map<import("../lib/data.js").Watched, () => void>} */
  const watched = new Map();
  /** @param {import("../lib/data.js").Watched} source @param {boolean} isNeeded */
  const need = (source, isNeeded) => {
    const off = watched.get(source);
    if (isNeeded && !off)
      watched.set(
        source,
        source.watch(() => draw()),
      );
    if (isNeeded || !off) return;
    off();
    watched.delete(source);
  };
  let lastPose = "";
  let isDrawing = false;
  let isWhole = false;

  const draw = () => {
    const { value, error } = home;
    if (!value) mount(node, error ? cannotTell(error, () => void home.read()) : loading());
    else if (!isDrawing) drawAll(value, error);
  };
  /** @param {Home} value @param {import("../lib/api.js").ApiError | null} error */
  const drawAll = (value, error) => {
    if (!whole.isConnected) mount(node, whole);
    const { pose, key, values } = mood(value, isLive(), !error);
    mount(
      truth,
      blue(pose, 32, lastPose !== "" && lastPose !== pose),
      el("span", {}, t(key, values), " ", el("span", { class: "muted" }, t("home.seen"), " ", time(value.status.at))),
    );
    lastPose = pose;
    mount(problem, error && isLive() ? notice("caution", sentence(error)) : null);
    const down = value.services.services.filter(isWorry);
    // What is known already is told at once; it is about to be drawn.
    isDrawing = true;
    need(running, value.status.running > 0);
    need(actions, down.length > 0);
    need(nodes, value.status.nodes > 0);
    isDrawing = false;
    isWhole ||= [...watched.keys()].every(isAnswered);
    below.hidden = beside.hidden = !isWhole;
    cards.draw(value);
    const { counts } = value.inbox;
    const total = counts.proposal + counts.join + counts.failure;
    mountChanged(more, total, () =>
      total > CARDS_MAX ? el("a", { href: "#/inbox" }, t("home.all_waiting", { n: total })) : null,
    );
    drawRuns(value);
    keyed(worries, [...down.map(worryOf), ...heldWorries(value, down)], (one) => one.id, worry);
    fillSlots(worries);
    showFirstSteps(first, value.setup, "actions");
    // Said once, where it is looked at; with a channel that fails the frame says it.
    const { channels, services_untold: n } = value.status;
    mountChanged(untold, [channels, n], () =>
      channels === 0 && n > 0
        ? notice(
            "info",
            t("home.nobody_told", { n }),
            " ",
            el("a", { href: "#/settings/channels" }, t("home.nobody_told_way")),
          )
        : null,
    );
    mountChanged(checklist, [value.setup, counts.proposal > 0], () => setup(value.setup, counts.proposal > 0));
    const joined = value.status.nodes > 0 ? (nodes.value?.nodes ?? []).filter((one) => one.state === "joined") : [];
    machines.hidden = joined.length === 0;
    keyed(
      strip,
      joined,
      (one) => one.name,
      (one) => row(one, nodeLine),
    );
    const watching = value.services.services;
    if (watching.length === 0) keyed(services, [{ id: "" }], (one) => one.id, noServices);
    else
      keyed(
        services,
        watching.map((one) => ({ ...one, mute: muteOf(value.mutes, one) })),
        (one) => one.id,
        (one) => row(one, serviceLine),
      );
    const fresh = value.recent.filter(isNew).length;
    since.hidden = !lastVisit;
    mount(since, t(fresh > 0 ? "home.since" : "home.since_nothing", { n: fresh }), " ", time(lastVisit));
    if (value.recent.length === 0)
      mount(changed, el("li", {}, el("div", { class: "item muted" }, t("home.nothing_yet"))));
    else
      keyed(
        changed,
        grouped(value.recent).slice(0, CHANGES_MAX),
        (one) => one.id,
        (one) => row(one, changeLine),
      );
  };
  /** @param {Home} value */
  const drawRuns = (value) => {
    const isRunning = value.status.running > 0;
    const all = isRunning
      ? (running.value?.proposals ?? []).filter((one) => one.status === "running" && !cards.has(one.id))
      : [];
    const isUnread = isRunning && running.error !== null;
    runsNow.hidden = all.length === 0 && !isUnread;
    if (isUnread && all.length === 0)
      mount(
        runs,
        el("li", {}, el("div", { class: "item muted" }, t("home.running_unread", { n: value.status.running }))),
      );
    else
      keyed(
        runs,
        all,
        (one) => one.id,
        (one) => row(one, runLine),
      );
  };
  const late = setTimeout(() => {
    isWhole = true;
    draw();
  }, TOGETHER_MS);
  const offLook = lookAgain(() => home.refresh(), LOOK_OFTEN_MS);
  const offData = home.watch(draw);
  const offLive = onConnection(() => {
    if (home.value) draw();
  });
  return {
    node,
    title: t("nav.home"),
    stop: () => {
      clearTimeout(late);
      cards.stop();
      offLook();
      offData();
      offLive();
      for (const off of watched.values()) off();
    },
  };
}

/**
 * @typedef {{id: string, label: string, status: string, since: string | null, reason: string, host: string | null,
 *   node: string | null, mute: Mute | null, way: Pick<ActionResponse, "id" | "label" | "tier" | "risk" | "params"> |
 *   null, state: string}} Worry
 */

/**
 * Worries that somebody did something about here, and since when they are over.
 * @type {Map<string, {last: Worry, leftAt: number}>}
 */
const tended = new Map();

/**
 * What is well again stays until its result was there to be seen.
 * @param {Home} value
 * @param {Service[]} down
 * @returns {Worry[]}
 */
function heldWorries(value, down) {
  const held = [];
  for (const [id, one] of tended) {
    if (down.some((service) => service.id === id)) {
      one.leftAt = 0;
      continue;
    }
    one.leftAt ||= Date.now();
    const service = value.services.services.find((other) => other.id === id);
    if (!service || Date.now() - one.leftAt > ENDED_STAYS_MS) tended.delete(id);
    else held.push({ ...one.last, status: service.status, since: service.since, reason: "" });
  }
  return held;
}

/**
 * What is wrong with a service, and what the catalogue allows to do about it.
 * @param {Service} service
 * @returns {Worry}
 */
function worryOf({ id, label, status, since, detail, host, node, vmid }) {
  const all = (actions.value?.actions ?? []).filter(
    (action) => !["stop", "shutdown", "suspend"].includes(action.op ?? "") && Object.keys(action.params).length === 0,
  );
  const rank = (/** @type {ActionResponse} */ action) =>
    (action.verify === id || action.service === id ? 0 : 2) + (action.tier === "safe" ? 0 : 1);
  const [way] = all
    .filter(
      (action) =>
        action.verify === id ||
        action.service === id ||
        (vmid !== null && action.vmid === vmid && action.node === node),
    )
    .sort((one, other) => rank(one) - rank(other));
  return {
    id,
    label,
    status,
    since,
    reason: checkReason(detail?.reason),
    host,
    node,
    mute: muteOf(home.value?.mutes ?? [], { id, label, host, node }),
    way: way ? { id: way.id, label: way.label, tier: way.tier, risk: way.risk, params: way.params } : null,
    state: `${isLive()} ${home.value?.freeze.frozen}`,
  };
}

/** What is wrong, and the way to mend it; its result is shown in the same card. @param {Worry} first */
function worry(first) {
  const about = el("div", { class: "stack tight" });
  const slot = el("div");
  const node = /** @type {HTMLElement & {update: (one: Worry) => void}} */ (
    el("article", { class: "card worry" }, about, slot)
  );
  let stamp = "";
  node.update = (one) => {
    const { id, label, status, since, reason, mute, way } = one;
    const now = JSON.stringify(one);
    if (now === stamp) return;
    stamp = now;
    const isDown = status === "down";
    if (way && slot.dataset.run !== way.id) {
      slot.dataset.run = way.id;
      mount(slot, runSlot(way.id));
    }
    mount(
      about,
      el("div", { class: "row-line" }, healthPill({ status }), el("span", { class: "muted small" }, time(since))),
      el("h2", { class: "wrap" }, label),
      el("p", {}, !isDown ? t("home.up_again") : reason ? t("home.down", { reason }) : t("home.down_why")),
      mute && isDown ? muteLine(mute) : null,
      way && isDown ? el("p", { class: "row-line" }, mend(one), tierPill(way)) : null,
      el(
        "p",
        { class: "row-line" },
        el(
          "a",
          { class: way ? "button quiet flush" : "button", href: `#/lab/services/${encodeURIComponent(id)}` },
          t("home.look"),
        ),
        isDown
          ? el(
              "a",
              { class: "button quiet flush", href: `#/chat/${encodeURIComponent(t("home.ask", { name: label }))}` },
              t("home.ask_blue"),
            )
          : null,
        isDown && !mute ? muteButton(one) : null,
      ),
    );
  };
  node.update(first);
  return node;
}

/** Safe runs here; what is risky is asked for on its own page. @param {Worry} one */
function mend(one) {
  const { way } = one;
  if (!way) return null;
  if (!isOneTap(way))
    return el(
      "a",
      { class: "button", href: `#/lab/actions/${encodeURIComponent(way.id)}` },
      t("home.way", { label: way.label }),
    );
  return runButton(way, {
    words: t("home.run", { label: way.label }),
    isPrimary: true,
    began: () => void tended.set(one.id, { last: one, leftAt: 0 }),
  });
}

/** @typedef {{href: string, parts: Content[]}} Line */

/**
 * A line that leads on. It stays when what it says changes, so that a finger or the focus on it stays too.
 * @template T
 * @param {T} item
 * @param {(item: T) => Line} line
 */
function row(item, line) {
  const link = el("a");
  const node = Object.assign(el("li", {}, link), {
    update: (/** @type {T} */ next) => {
      const stamp = `${lastVisit} ${JSON.stringify(next)}`;
      if (stamp === link.dataset.stamp) return;
      link.dataset.stamp = stamp;
      const { href, parts } = line(next);
      link.setAttribute("href", href);
      mount(link, ...parts);
    },
  });
  node.update(item);
  return node;
}

/** @param {string} title @param {...Content} words */
const twoLines = (title, ...words) =>
  el(
    "span",
    { class: "grow" },
    el("span", { class: "title wrap" }, title),
    el("span", { class: "muted small" }, ...words),
  );

/** @param {Service & {mute: Mute | null}} service @returns {Line} */
const serviceLine = (service) => ({
  href: `#/lab/services/${encodeURIComponent(service.id)}`,
  parts: [
    twoLines(
      service.label,
      time(service.checked_at),
      service.mute ? ` · ${t("mute.mark", { at: clock(service.mute.until) })}` : null,
    ),
    healthPill(service),
  ],
});

const noServices = () =>
  el(
    "li",
    {},
    el(
      "a",
      { href: "#/lab" },
      el("span", { class: "grow muted" }, t("home.no_services")),
      el("span", { class: "linked" }, t("home.watch_one")),
    ),
  );

/** @param {NodeResponse} node @returns {Line} */
const nodeLine = (node) => ({
  href: `#/lab/nodes/${encodeURIComponent(node.name)}`,
  parts: [
    el("span", { class: "wrap" }, node.name),
    nodePill(node),
    node.here ? null : el("span", { class: "muted small" }, time(node.seen_at)),
  ],
});

/** @param {Row} run @returns {Line} */
const runLine = (run) => ({
  href: `#/inbox/${run.id}`,
  parts: [
    twoLines(
      rowTitle(run),
      t("step.by", { name: requesterName(run.requested_by) }),
      " · ",
      time(run.transitions.findLast((step) => step.to === "running")?.at),
    ),
    statePill(run),
  ],
});

/** @param {Row} ended */
const isNew = (ended) => lastVisit !== "" && Date.parse(ended.resolved_at ?? "") > Date.parse(lastVisit);

/** @param {RepeatedRow} ended @returns {Line} */
const changeLine = (ended) => ({
  href: `#/inbox/${ended.id}`,
  parts: [
    twoLines(
      rowTitle(ended),
      ended.times ? `${t("inbox.times", { n: ended.times })} · ` : null,
      time(ended.resolved_at),
      isNew(ended) ? [" · ", el("strong", {}, t("home.new"))] : null,
    ),
    statePill(ended),
  ],
});

/**
 * Draws anew only for something new, so that the focus stays.
 * @param {HTMLElement} place
 * @param {unknown} what
 * @param {() => Content} make
 */
function mountChanged(place, what, make) {
  const stamp = JSON.stringify(what);
  if (place.dataset.stamp === stamp) return;
  place.dataset.stamp = stamp;
  mount(place, make());
}

/** Gone when all is done. @param {Setup} done @param {boolean} isAsked whether something waits to be decided */
function setup(done, isAsked) {
  const items = /** @type {const} */ ([
    ["lab_connected", "#/lab"],
    ["actions_loaded", "#/lab/actions"],
    ["phone_paired", "#/settings/channels"],
    ["decided_once", isAsked ? "#/inbox" : "#/lab/actions"],
  ]);
  if (items.every(([key]) => done[key])) return null;
  return el(
    "section",
    { class: "card checklist" },
    el("h2", {}, t("setup.title")),
    el(
      "ul",
      {},
      items.map(([key, href]) =>
        el(
          "li",
          { class: done[key] ? "ticked" : "" },
          el("span", { "aria-hidden": "true" }, done[key] ? "✓" : "○"),
          " ",
          done[key]
            ? el("span", {}, t(`setup.${key}`), el("span", { class: "hidden-text" }, t("setup.done")))
            : el("a", { href }, t(`setup.${key}`)),
        ),
      ),
    ),
  );
}
