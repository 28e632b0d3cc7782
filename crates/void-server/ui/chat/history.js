// @ts-check
// Conversations before this one. The server keeps them all; this browser remembers which it has shown.

import { ApiError, sentence } from "../lib/api.js";
import { el, keyed, mount } from "../lib/dom.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { cannotTell, loading } from "../parts/empties.js";
import { sheet } from "../parts/sheets.js";
import { messageNode } from "./messages.js";
import { Talk } from "./talks.js";

const KEPT_MAX = 30;
const WORDS_MAX = 80;

/** @typedef {{id: string, at: string, words: string}} Past */

/** @param {string} slug */
const pastKey = (slug) => `chat-past-${slug}`;

/** Newest first. @param {string} slug @returns {Past[]} */
export function pastTalks(slug) {
  try {
    const kept = JSON.parse(localStorage.getItem(pastKey(slug)) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one?.id === "string" && /^[\w-]+$/.test(one.id)) : [];
  } catch {
    return [];
  }
}

/** Before another conversation takes its place. @param {Talk} talk */
export function rememberTalk(talk) {
  const last = talk.messages.at(-1);
  const first = talk.messages.find((message) => message.role === "user");
  if (!talk.id || !last || !first) return;
  const others = pastTalks(talk.slug).filter((one) => one.id !== talk.id);
  localStorage.setItem(pastKey(talk.slug), JSON.stringify([{ id: talk.id, at: last.created_at, words: first.body.slice(0, WORDS_MAX) }, ...others].slice(0, KEPT_MAX)));
}

/** @param {Talk} talk the one that goes on */
export function historySheet(talk) {
  const all = pastTalks(talk.slug).filter((one) => one.id !== talk.id);
  const body = el("div", { class: "stack" });
  const draw = () => mount(body, all.length === 0 ? el("p", {}, t("chat.history.none"))
    : el("ul", { class: "list" }, all.map((one) => el("li", {}, el("button", { type: "button", class: "item", onclick: () => void show(one) }, el("span", { class: "grow wrap" }, one.words), el("span", { class: "muted small" }, time(one.at)))))),
  el("p", { class: "muted small" }, t("chat.history.why")));
  /** @param {Past} one */
  const show = async (one) => {
    const past = new Talk(talk.slug);
    past.id = one.id;
    past.agent = talk.agent;
    past.isPast = true;
    const list = el("ol", { class: "turns" });
    const more = el("div", { class: "chat-older" });
    const back = el("button", { type: "button", class: "button small", onclick: draw }, t("chat.history.back"));
    const read = async () => {
      mount(more, loading());
      try {
        await past.readPast();
        keyed(list, past.messages, (message) => message.id, (message) => messageNode(message, past, () => {}));
        mount(more, past.next ? el("button", { type: "button", class: "button small", onclick: () => void read() }, t("chat.history.more")) : null);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        mount(more, past.messages.length > 0 ? sentence(error) : cannotTell(error, () => void read()));
      }
    };
    mount(body, el("div", {}, back), more, el("div", { class: "chat-past" }, list));
    back.focus();
    await read();
  };
  draw();
  sheet(t("chat.history.title", { name: talk.agent?.name ?? "" }), body);
}
