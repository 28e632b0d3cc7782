// @ts-check
// Conversations before this one, only to be read.

import { ApiError, get, sentence } from "../lib/api.js";
import { el, keyed, mount } from "../lib/dom.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { cannotTell, loading } from "../parts/empties.js";
import { sheet } from "../parts/sheets.js";
import { messageNode } from "./messages.js";
import { Talk } from "./talks.js";

/** @typedef {{conversation_id: string, last_at: string, words: string}} Past */

/** @param {Talk} talk the one that goes on */
export function historySheet(talk) {
  const body = el("div", { class: "stack" });
  /** Newest first, without the one that goes on. @type {Past[]} */
  let all = [];
  /** @type {string | null} */
  let next = null;
  const read = async () => {
    try {
      const page = await get(`/api/agents/${talk.slug}/conversations?limit=50${next ? `&cursor=${next}` : ""}`);
      all = [...all, ...page.conversations.filter((/** @type {Past} */ one) => one.conversation_id !== talk.id)];
      next = page.next;
      draw();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      mount(
        body,
        cannotTell(error, () => void read()),
      );
    }
  };
  const draw = () =>
    mount(
      body,
      all.length === 0
        ? el("p", {}, t("chat.history.none"))
        : el(
            "ul",
            { class: "list" },
            all.map((one) =>
              el(
                "li",
                {},
                el(
                  "button",
                  { type: "button", class: "item", onclick: () => void show(one) },
                  el("span", { class: "grow wrap" }, one.words),
                  el("span", { class: "muted small" }, time(one.last_at)),
                ),
              ),
            ),
          ),
      next
        ? el("button", { type: "button", class: "button", onclick: () => void read() }, t("chat.history.older"))
        : null,
    );
  /** @param {Past} one */
  const show = async (one) => {
    const past = new Talk(talk.slug);
    past.id = one.conversation_id;
    past.agent = talk.agent;
    past.isPast = true;
    const list = el("ol", { class: "turns" });
    const more = el("div", { class: "chat-older" });
    const back = el("button", { type: "button", class: "button small", onclick: draw }, t("chat.history.back"));
    const readOn = async () => {
      mount(more, loading());
      try {
        await past.readPast();
        keyed(
          list,
          past.messages,
          (message) => message.id,
          (message) => messageNode(message, past, () => {}),
        );
        mount(
          more,
          past.next
            ? el(
                "button",
                { type: "button", class: "button small", onclick: () => void readOn() },
                t("chat.history.more"),
              )
            : null,
        );
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        mount(more, past.messages.length > 0 ? sentence(error) : cannotTell(error, () => void readOn()));
      }
    };
    mount(body, el("div", {}, back), more, el("div", { class: "chat-past" }, list));
    back.focus();
    await readOn();
  };
  mount(body, loading());
  void read();
  sheet(t("chat.history.title", { name: talk.agent?.name ?? "" }), body);
}
