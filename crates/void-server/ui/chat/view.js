// @ts-check
// The chat as a whole: who one talks to, what was said, where one writes. The same on its own page and
// beside another.

import { ApiError, sentence } from "../lib/api.js";
import { said } from "../lib/commands.js";
import { agents, home } from "../lib/data.js";
import { el, keyed, mount, svg } from "../lib/dom.js";
import { isLive, onConnection } from "../lib/live.js";
import { isPlainVoice, t } from "../lib/words.js";
import { blue, mood } from "../parts/blue.js";
import { cannotTell, empty, loading } from "../parts/empties.js";
import { toast } from "../parts/toasts.js";
import { isWorry } from "../parts/states.js";
import { chooseAgent } from "../shell/settings.js";
import { agentSheet, asleepBecause, brainWords } from "./agents.js";
import { announcer } from "./announcer.js";
import { stepPhrase } from "./chips.js";
import { composer } from "./composer.js";
import { onPlace, placeNow } from "./context.js";
import { historySheet } from "./history.js";
import { blockWords } from "./markdown.js";
import { messageNode } from "./messages.js";
import { talkAbout } from "./talks.js";
import { letAnswer, onTalk, talkHere } from "./whereabouts.js";

/** @import { Agent } from "../types/api.js" */

/** @typedef {import("./talks.js").Talk} Talk */
/** @typedef {import("./talks.js").Change} Change */

/** So near to the end is at the end. */
const NEAR_END_PX = 48;
/** So near to the beginning older messages are read. */
const NEAR_START_PX = 600;
/** A scroll so soon after a wheel, a finger or a key is the owner's; a smooth one takes some frames. */
const OWN_MOVE_MS = 400;
const SUGGESTIONS_MAX = 4;
const FIRST = "little-blue";
/** @type {Record<import("./talks.js").About["kind"], string>} */
const PLACES = {
  space: "knowledge/spaces",
  page: "knowledge/pages",
  task: "knowledge/tasks",
  project: "knowledge/projects",
  ref: "knowledge/refs",
  service: "lab/services",
  action: "lab/actions",
};
/** @param {import("./talks.js").About} about */
const hrefOfAbout = ({ kind, id }) => `#/${PLACES[kind]}/${encodeURIComponent(id)}`;

/**
 * @param {import("./talks.js").About | null} [about] of a talk about one thing, wherever else one is
 * @returns {{node: HTMLElement, stop: () => void, add: (text: string) => void, focus: () => void}}
 */
export function chatView(about = null) {
  let talk = about ? talkAbout(about) : talkHere();
  let unwatch = () => {};
  /** Whether what comes is followed. */
  let isAtEnd = true;
  const head = el("div", { class: "chat-head" });
  const older = el("div", { class: "chat-older muted small" });
  const list = el("ol", { class: "turns" });
  const place = el("div", { class: "chat-blank" });
  const log = el(
    "div",
    { class: "chat-log", tabIndex: 0, role: "group", "aria-label": t("chat.messages") },
    older,
    list,
    place,
  );
  const jump = el(
    "button",
    {
      type: "button",
      class: "button small chat-jump",
      hidden: true,
      onclick: () => {
        toEnd();
      },
    },
    t("chat.jump"),
  );
  const spoken = announcer();
  const writing = composer(
    () => talk,
    () => toEnd(),
  );
  const node = el(
    "div",
    { class: "chat" },
    head,
    el("div", { class: "chat-middle" }, log, jump),
    spoken.node,
    writing.node,
  );

  const toEnd = () => {
    isAtEnd = true;
    jump.hidden = true;
    log.scrollTop = log.scrollHeight;
  };
  const grown = () => {
    if (isAtEnd) keepEnd();
    else jump.hidden = false;
  };
  const isByOwner = ownMoves(log);
  let kept = 0;
  /** What grows while the owner's scroll begins would end that scroll: it waits until it is known where it leads. */
  const keepEnd = () => {
    clearTimeout(kept);
    if (!isAtEnd) return;
    if (isByOwner()) kept = setTimeout(keepEnd, OWN_MOVE_MS);
    else log.scrollTop = log.scrollHeight;
  };
  let lastTop = 0;
  log.addEventListener(
    "scroll",
    () => {
      const isNear = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END_PX;
      // What grew meanwhile moved the end away, and what shrank for a moment moved the place up; neither is the owner.
      if (isNear) isAtEnd = true;
      else if (log.scrollTop < lastTop && isByOwner()) isAtEnd = false;
      lastTop = log.scrollTop;
      jump.hidden = isAtEnd || isNear;
      if (log.scrollTop < NEAR_START_PX) void readOlder();
    },
    { passive: true },
  );
  // Wider, narrower, or shown again: the end stays in sight.
  const resized = new ResizeObserver(keepEnd);
  resized.observe(log);
  resized.observe(list);

  const readOlder = async () => {
    if (!talk.next || talk.isReadingOlder) return;
    drawOlder(t("chat.reading_older"));
    try {
      await talk.readOlder();
    } catch (error) {
      drawOlder(sentence(error));
    }
  };
  /** @param {string} words */
  const drawOlder = (words) => {
    if (older.textContent !== words) older.textContent = words;
    older.hidden = words === "";
  };

  const drawHead = () => {
    const { agent, live } = talk;
    const name = agent?.name ?? t("nav.chat");
    const why = agent ? asleepBecause(agent) : null;
    const running = live?.steps.findLast((step) => step.status === "running");
    const pose = !isLive() ? "unsure" : why ? "asleep" : live ? "looking" : poseNow();
    const words = !isLive()
      ? t("card.not_connected")
      : (why ??
        (running
          ? t("chat.doing", { what: stepPhrase(running) })
          : live
            ? t(live.text ? "chat.writing" : "chat.thinking")
            : agent
              ? brainWords(agent)
              : ""));
    const stamp = [name, pose, words, talk.space, isPlainVoice()].join("\n");
    if (head.dataset.stamp === stamp) return;
    const hasTurned = head.dataset.pose !== undefined && head.dataset.pose !== pose;
    head.dataset.stamp = stamp;
    head.dataset.pose = pose;
    const hadFocus = head.contains(document.activeElement)
      ? /** @type {HTMLElement} */ (document.activeElement).dataset.name
      : undefined;
    mount(
      head,
      el(
        "button",
        {
          type: "button",
          class: "chat-who",
          "data-name": "who",
          "aria-haspopup": "dialog",
          title: t("chat.agent.choose"),
          onclick: () => agentSheet(talk.slug, about ? (slug) => turnTo(talkAbout(about, slug)) : letAnswer),
        },
        blue(pose, 32, hasTurned),
        el(
          "span",
          { class: "chat-who-words" },
          el("strong", {}, name, el("span", { class: "caret", "aria-hidden": "true" }, "▾")),
          el("span", { class: "muted small" }, words),
        ),
      ),
      el(
        "button",
        {
          type: "button",
          class: "icon-button",
          "data-name": "past",
          "aria-label": t("chat.history.open"),
          title: t("chat.history.open"),
          onclick: () => historySheet(talk),
        },
        clockIcon(),
      ),
      // About one thing there is one conversation with each agent.
      talk.about
        ? null
        : el(
            "button",
            {
              type: "button",
              class: "button small",
              "data-name": "new",
              title: t("chat.new_why"),
              onclick: () => void beginAnew(),
            },
            t("chat.new"),
          ),
    );
    if (talk.about)
      head.append(
        el(
          "p",
          { class: "chat-about small" },
          el(
            "a",
            { href: hrefOfAbout(talk.about), class: "wrap" },
            t("chat.about", { what: t(`chat.kind.${talk.about.kind}`) }),
          ),
          " · ",
          el("a", { href: "#/chat" }, t("chat.about_end")),
        ),
      );
    if (hadFocus) /** @type {HTMLElement | null} */ (head.querySelector(`[data-name="${hadFocus}"]`))?.focus();
  };
  const beginAnew = async () => {
    if (!isLive()) return toast(t("chat.not_connected"), { isProblem: true });
    try {
      await talk.beginAnew();
      writing.focus();
    } catch (error) {
      toast(sentence(error), { isProblem: true });
    }
    return undefined;
  };

  const drawMessages = () => {
    const anchor = isAtEnd ? null : firstInSight();
    const before = anchor ? anchor.getBoundingClientRect().top : 0;
    keyed(
      list,
      talk.messages,
      (message) => message.id,
      (message) => messageNode(message, talk, grown),
    );
    if (anchor?.isConnected) log.scrollTop += anchor.getBoundingClientRect().top - before;
    drawOlder(talk.next ? t("chat.older") : talk.messages.length > 0 ? t("chat.begins") : "");
    const isEmpty = talk.messages.length === 0;
    place.hidden = !isEmpty;
    list.hidden = isEmpty;
    if (isEmpty) drawBlank();
    // Where the end is, what watches the size sees before it is painted; asking here would lay out the whole page at
    // once.
  };
  const firstInSight = () => {
    const top = log.getBoundingClientRect().top;
    return (
      /** @type {HTMLElement | undefined} */ (
        [...list.children].find((child) => child.getBoundingClientRect().bottom > top)
      ) ?? null
    );
  };
  const drawBlank = () => {
    const { agent, error } = talk;
    if (!agent && error instanceof ApiError && error.status === 404 && talk.about)
      return mount(
        place,
        empty("unsure", t("chat.about_gone"), el("a", { class: "button", href: "#/chat" }, t("chat.about_end"))),
      );
    if (!agent && error instanceof ApiError && error.status === 404 && talk.space) return mount(place, goneSpace());
    if (!agent) return mount(place, error ? cannotTell(error, () => void talk.open()) : loading());
    const why = asleepBecause(agent);
    if (why)
      return mount(
        place,
        el("div", { class: "empty" }, blue("asleep", 96), el("p", {}, why), el("p", {}, t("chat.agent.rest_works"))),
      );
    return mount(
      place,
      el(
        "div",
        { class: "chat-hello" },
        blue(poseNow(), 96),
        el("p", {}, el("strong", {}, agent.name)),
        el("p", { class: "muted" }, agent.about, "."),
        el(
          "div",
          { class: "suggestions" },
          suggestions(agent).map((words) =>
            el(
              "button",
              {
                type: "button",
                class: "suggestion",
                onclick: () => void (isLive() ? writing.send(words) : writing.add(words)),
              },
              words,
            ),
          ),
        ),
      ),
    );
  };

  /** The space was thrown away; somebody else answers then. */
  const goneSpace = () =>
    empty(
      "unsure",
      t("chat.no_space"),
      el("button", { type: "button", class: "button", onclick: () => chooseAgent(FIRST) }, t("chat.no_space_way")),
    );
  /** @param {Change} change */
  const changed = (change) => {
    if (change === "text") {
      // Drawn once a frame, not for every token.
      lastNode()?.grow();
      if (talk.live) spoken.text(talk.live.id, blockWords(talk.live.blocks));
      return;
    }
    drawHead();
    writing.draw();
    if (change === "live") {
      lastNode()?.step();
      grown();
    } else drawMessages();
    tellState();
  };
  /** The message that is being written. */
  const lastNode = () => {
    const last = /** @type {import("./messages.js").MessageNode | null} */ (list.lastElementChild);
    return talk.live && last?.dataset.key === talk.live.id ? last : null;
  };
  /** The turn whose end was not told yet. */
  let open = "";
  const tellState = () => {
    const newest = talk.messages.at(-1);
    const id = `${newest?.id}`;
    if (newest?.turn?.status === "running") open = id;
    else if (open === id && newest?.turn) {
      open = "";
      const steps = newest.turn.trace.length;
      if (steps > 0) spoken.say(t("chat.steps_told", { n: steps }));
      const end =
        newest.turn.status === "failed"
          ? t("chat.failed", { reason: said(newest.turn.error?.message ?? "") })
          : newest.turn.status === "stopped"
            ? t("chat.stopped")
            : (blockWords(newest.blocks)
                .split(/(?<=[.?!])\s|\n/)
                .at(-1) ?? "");
      if (end) spoken.say(end);
      spoken.say(`${t("chat.void")} ${newest.turn.truth_line}`);
    }
  };

  const attach = () => {
    unwatch();
    mount(list);
    delete head.dataset.stamp;
    isAtEnd = true;
    writing.load();
    unwatch = talk.watch(changed);
  };
  /** @param {Talk} next */
  const turnTo = (next) => {
    talk = next;
    attach();
  };
  const offTalk = onTalk(() => {
    if (about) return;
    const next = talkHere();
    if (next === talk || (next.space === talk.space && next.slug === talk.slug)) return;
    turnTo(next);
  });
  attach();
  const offConnection = onConnection(() => changed("all"));
  const offHome = home.watch(() => {
    drawHead();
    if (talk.messages.length === 0) drawBlank();
  });
  const offPlace = onPlace(() => {
    writing.draw();
    if (talk.messages.length === 0) drawBlank();
  });
  const offAgents = agents.watch(({ value }) => {
    const found = value?.agents.find((one) => one.slug === talk.slug);
    if (found && talk.agent) {
      talk.agent = found;
      drawHead();
      writing.draw();
    } else if (value && !found && talk.slug && !about && value.agents[0]) chooseAgent(value.agents[0].slug);
  });
  const stop = () => {
    for (const end of [unwatch, offConnection, offHome, offPlace, offTalk, offAgents, writing.stop]) end();
    resized.disconnect();
  };
  return { node, stop, add: writing.add, focus: writing.focus };
}

/**
 * Tells whether a scroll is the owner's: a wheel, a finger, a key or a pressed pointer came just before. A browser
 * scrolls by itself too, when what is shown becomes shorter.
 * @param {HTMLElement} log
 */
function ownMoves(log) {
  let movedAt = -Infinity;
  let isHeld = false;
  const moved = () => {
    movedAt = performance.now();
  };
  for (const name of ["wheel", "touchmove", "keydown"]) log.addEventListener(name, moved, { passive: true });
  // A bar that is dragged, a text that is selected; a button in a message scrolls nothing.
  log.addEventListener("pointerdown", ({ target }) => {
    isHeld = target instanceof Element && target.closest("button, a, summary, input, textarea") === null;
    if (isHeld) moved();
  });
  const released = (/** @type {PointerEvent} */ { buttons }) => {
    if (buttons === 0) isHeld = false;
  };
  for (const name of /** @type {const} */ (["pointerup", "pointercancel", "pointermove"]))
    log.addEventListener(name, released);
  return () => isHeld || performance.now() - movedAt < OWN_MOVE_MS;
}

const poseNow = () => (home.value ? mood(home.value, isLive(), !home.error).pose : "resting");

const clockIcon = () =>
  svg(
    "svg",
    { viewBox: "0 0 20 20", width: 20, height: 20, class: "icon", "aria-hidden": "true" },
    svg("path", { d: "M10 3a7 7 0 1 1-6.600 4.700M3 3.500v4.300h4.300M10 6.500V10l2.500 2" }),
  );

/** Questions that the present state asks for. @param {Agent} agent @returns {string[]} */
function suggestions(agent) {
  if (agent.capabilities.includes("suggest")) {
    const subject = placeNow()?.view.entityType === "page" ? placeNow()?.subject : "";
    return [
      ...(subject ? [t("chat.suggest.page", { name: subject })] : []),
      t("chat.suggest.tasks"),
      t("chat.suggest.note"),
      t("chat.suggest.can"),
    ];
  }
  const services = home.value?.services.services ?? [];
  const down = services.filter(isWorry).map((one) => t("chat.suggest.why_down", { name: one.id }));
  const waits = (home.value?.status.waiting ?? 0) > 0 ? [t("chat.suggest.waits")] : [];
  const rest =
    agent.slug === "sentinel"
      ? [t("chat.suggest.changed")]
      : [t(down.length > 0 ? "chat.suggest.wrong" : "chat.suggest.how")];
  return [...down.slice(0, 2), ...waits, ...rest, t("chat.suggest.can")].slice(0, SUGGESTIONS_MAX);
}
