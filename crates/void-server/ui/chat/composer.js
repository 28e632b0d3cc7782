// @ts-check
// Where the owner writes. What is written stays until the server has it, over a reload too.

import { ApiError, sentence } from "../lib/api.js";
import { el, mount } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { t } from "../lib/words.js";
import { notice } from "../parts/empties.js";
import { toast } from "../parts/toasts.js";
import { icon } from "../shell/icons.js";
import { rememberTalk } from "../shell/settings.js";
import { asleepBecause } from "./agents.js";
import { placeNow } from "./context.js";

/** As the server has it. */
const MESSAGE_BYTES_MAX = 16 * 1024;

/** @typedef {import("./talks.js").Talk} Talk */

/**
 * Drafts of this page, so that two places show the same.
 * @type {Set<(key: string, text: string, from: HTMLElement) => void>}
 */
const others = new Set();

/** What the owner does not want to be told, as kind and id. */
let keptBack = "";

/** @param {{slug: string, space: string}} talk */
const draftKey = ({ slug, space }) => `chat-draft-${space ? `${space}-` : ""}${slug}`;

/**
 * @param {() => Talk} talkNow
 * @param {() => void} sent
 * @returns {{node: HTMLElement, draw: () => void, add: (text: string) => void, send: (text: string) => Promise<void>,
 *   focus: () => void, load: () => void, stop: () => void}}
 */
export function composer(talkNow, sent) {
  let isSending = false;
  /** @type {unknown} */
  let problem = null;
  /** What was sent without an answer: the server may have it. @type {{text: string, after: number} | null} */
  let unsure = null;
  const id = `say-${Math.random().toString(36).slice(2)}`;
  const area = /** @type {HTMLTextAreaElement} */ (
    el("textarea", { id, rows: 1, class: "composer-text", "aria-describedby": `${id}-why`, autocomplete: "off" })
  );
  const label = el("label", { for: id, class: "hidden-text" });
  const go = /** @type {HTMLButtonElement} */ (el("button", { type: "submit", class: "button primary composer-go" }));
  const halt = /** @type {HTMLButtonElement} */ (
    el("button", { type: "button", class: "button composer-go", onclick: () => void stopTurn() })
  );
  const why = el("p", { id: `${id}-why`, class: "composer-why muted small", "aria-live": "polite" });
  const told = el("div", { class: "stack" });
  const context = el("div", { class: "composer-context" });
  const node = el(
    "form",
    {
      class: "composer",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        void sendDraft();
      },
    },
    told,
    context,
    el("div", { class: "composer-line" }, label, area, halt, go),
    why,
  );

  const keep = () => {
    const key = draftKey(talkNow());
    if (area.value) localStorage.setItem(key, area.value);
    else localStorage.removeItem(key);
    for (const other of others) other(key, area.value, area);
  };
  const size = () => {
    // Where the browser does not do it by itself.
    if (CSS.supports("field-sizing", "content")) return;
    area.style.setProperty("height", "auto");
    area.style.setProperty("height", `${Math.min(area.scrollHeight + 2, innerHeight * 0.4)}px`);
  };
  /** Why nothing can be sent now. */
  const obstacle = () => {
    const talk = talkNow();
    if (!isLive()) return t("chat.not_connected");
    if (!talk.id || !talk.agent) return talk.error ? t("chat.unread") : t("loading");
    const asleep = asleepBecause(talk.agent);
    if (asleep) return asleep;
    if (new TextEncoder().encode(area.value).length > MESSAGE_BYTES_MAX)
      return t("chat.too_long", { n: MESSAGE_BYTES_MAX / 1024 });
    return "";
  };
  const draw = () => {
    const talk = talkNow();
    settle(talk);
    const stops = obstacle();
    const isRunning = talk.live !== null || talk.messages.at(-1)?.turn?.status === "running";
    label.textContent = t("chat.say_to", { name: talk.agent?.name ?? "" });
    area.placeholder = t("chat.say_to", { name: talk.agent?.name ?? "" });
    halt.hidden = !isRunning;
    halt.disabled = talk.isStopping || !isLive();
    mount(
      halt,
      el("span", { class: "stop-square", "aria-hidden": "true" }),
      t(talk.isStopping ? "chat.stopping" : "chat.stop"),
    );
    go.hidden = isRunning;
    go.disabled = isSending || stops !== "" || area.value.trim() === "";
    mount(go, t(isSending ? "card.sending" : "chat.send"));
    // The conversation itself says that it is being read.
    const isReading = isLive() && !talk.error && !talk.agent;
    why.textContent = isReading ? "" : stops || (isRunning && area.value.trim() !== "" ? t("chat.busy_keep") : "");
    why.hidden = why.textContent === "";
    mount(told, problem ? notice(isBudget(problem) ? "caution" : "problem", sentence(problem)) : null);
    mount(context, contextChip(talk));
    context.hidden = context.childElementCount === 0;
  };
  /** The server has it after all. @param {Talk} talk */
  const settle = (talk) => {
    const found =
      unsure &&
      talk.messages.find(
        (message) =>
          message.role === "user" && message.seq > (unsure?.after ?? 0) && message.body.trim() === unsure?.text.trim(),
      );
    if (!found || !unsure) return;
    const isSame = area.value === unsure.text;
    unsure = null;
    problem = null;
    if (isSame) {
      area.value = "";
      keep();
      size();
    }
  };
  /** What is told with the next message of where one is; the owner may keep it back. @param {Talk} talk */
  const contextChip = (talk) => {
    const place = placeNow();
    // What it is about goes with every message, and its head says so.
    if (!place || talk.about) return null;
    const { view } = place;
    const key = `${view.entityType} ${view.entityId}`;
    const isTold = keptBack !== key;
    const what = place.subject || place.name;
    return el(
      "button",
      {
        type: "button",
        class: "chat-context",
        "aria-pressed": String(isTold),
        title: t("chat.context_why", { name: talk.agent?.name ?? "" }),
        onclick: () => {
          keptBack = isTold ? key : "";
          draw();
          /** @type {HTMLElement | null} */ (context.querySelector("button"))?.focus();
        },
      },
      icon(place.page),
      el("span", { class: "wrap" }, t(isTold ? "chat.context_sees" : "chat.context_not", { what })),
    );
  };
  /** What goes with a message. */
  const viewNow = () => {
    const { about } = talkNow();
    if (about) return { entityType: about.kind, entityId: about.id };
    const view = placeNow()?.view;
    return view && keptBack !== `${view.entityType} ${view.entityId}` ? view : null;
  };
  const put = (/** @type {string} */ text) => {
    area.value = text;
    keep();
    size();
    draw();
  };
  /** Puts something in beside what is written already. @param {string} text */
  const add = (text) => {
    const now = area.value.trim();
    put(now === "" || now === text.trim() ? text : `${area.value.trimEnd()}\n${text}`);
  };
  /** @param {string} text */
  const send = async (text) => {
    const talk = talkNow();
    if (isSending || obstacle() || text.trim() === "") return;
    isSending = true;
    problem = null;
    unsure = null;
    const after = talk.messages.at(-1)?.seq ?? 0;
    draw();
    try {
      await talk.say(text, viewNow());
      if (!talk.about) rememberTalk(talk.slug, talk.space);
      // What was written meanwhile is the next message.
      if (talk === talkNow() && area.value === text) put("");
      sent();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      problem = error;
      if (error.status === 0 && talk === talkNow()) unsure = { text, after };
    } finally {
      isSending = false;
      draw();
      if (node.checkVisibility()) refocus();
    }
  };
  const sendDraft = () => send(area.value);
  /** Where focus goes when the button under it is gone; a keyboard does not come up for it. */
  const refocus = () => {
    if (
      matchMedia("(pointer: fine)").matches &&
      (document.activeElement === document.body || node.contains(document.activeElement))
    )
      area.focus();
  };
  const stopTurn = async () => {
    try {
      await talkNow().stop();
    } catch (error) {
      // It ended by itself meanwhile.
      if (!(error instanceof ApiError && error.code === "not_running")) toast(sentence(error), { isProblem: true });
    }
    refocus();
  };
  area.addEventListener("input", () => {
    problem = null;
    keep();
    size();
    draw();
  });
  area.addEventListener("keydown", (event) => {
    const isTouch = matchMedia("(pointer: coarse)").matches;
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || isTouch) return;
    event.preventDefault();
    if (!go.hidden && !go.disabled) void sendDraft();
  });
  const follow = (/** @type {string} */ key, /** @type {string} */ text, /** @type {HTMLElement} */ from) => {
    if (from === area || key !== draftKey(talkNow())) return;
    area.value = text;
    size();
    draw();
  };
  others.add(follow);
  const load = () => {
    area.value = localStorage.getItem(draftKey(talkNow())) ?? "";
    problem = null;
    unsure = null;
    size();
  };
  return { node, draw, add, send, focus: () => area.focus(), load, stop: () => void others.delete(follow) };
}

/** @param {unknown} error */
const isBudget = (error) => error instanceof ApiError && (error.code === "cap_reached" || error.code === "busy");
