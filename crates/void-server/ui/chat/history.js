// @ts-check
// Conversations before this one, and in a space those about what is in it: to be read, taken along, or taken away.

import { ApiError, del, get, sentence } from "../lib/api.js";
import { el, keyed, mount, visible } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { cannotTell, loading } from "../parts/empties.js";
import { sheet } from "../parts/sheets.js";
import { toast } from "../parts/toasts.js";
import { messageNode } from "./messages.js";
import { Talk } from "./talks.js";

/**
 * @typedef {{conversation_id: string, last_at: string, words: string, agent?: string, about?: {kind: string, id:
 *   string} | null}} Past
 */

const ROWS = 50;
/** So long after the last key the server is asked. */
const TYPED_MS = 250;

/** @param {Talk} talk the one that goes on */
export function historySheet(talk) {
  const body = el("div", { class: "stack" });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let later;
  let reading = 0;
  const field = /** @type {HTMLInputElement} */ (
    el("input", {
      class: "input",
      type: "search",
      autocomplete: "off",
      maxLength: 200,
      placeholder: t("chat.history.search"),
      "aria-label": t("chat.history.search"),
      oninput: () => {
        clearTimeout(later);
        later = setTimeout(() => {
          all = [];
          next = null;
          void read();
        }, TYPED_MS);
      },
    })
  );
  const found = el("div", { class: "stack", "aria-live": "polite" });
  /** Newest first. @type {Past[]} */
  let all = [];
  /** @type {string | null} */
  let next = null;
  /** A page of them. @returns {Promise<{conversations: Past[], next: string | null}>} */
  const page = () => {
    const words = field.value.trim();
    const more = new URLSearchParams({
      limit: String(ROWS),
      ...(words ? { q: words } : {}),
      ...(next ? { cursor: next } : {}),
    });
    if (talk.about)
      return get(`/api/conversations?kind=${talk.about.kind}&id=${encodeURIComponent(talk.about.id)}&${more}`);
    return talk.space
      ? get(`/api/conversations?space=${talk.space}&${more}`)
      : get(`/api/agents/${talk.slug}/conversations?${more}`);
  };
  const read = async () => {
    const mine = ++reading;
    try {
      const answer = await page();
      if (mine !== reading) return;
      all = [...all, ...answer.conversations];
      ({ next } = answer);
      if (found.isConnected) drawFound();
      else draw();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (mine !== reading) return;
      mount(
        found,
        cannotTell(error, () => void read()),
      );
    }
  };
  const draw = () => {
    mount(body, field, found);
    drawFound();
  };
  const drawFound = () =>
    mount(
      found,
      all.length === 0
        ? el("p", {}, t(field.value.trim() ? "chat.history.not_found" : "chat.history.none"))
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
                  el(
                    "span",
                    { class: "grow wrap" },
                    one.words,
                    one.agent || one.conversation_id === talk.id
                      ? el(
                          "span",
                          { class: "muted small past-about" },
                          [
                            ...(one.agent ? [one.agent] : []),
                            ...(one.about ? [t("chat.history.about", { what: t(`chat.kind.${one.about.kind}`) })] : []),
                            ...(one.conversation_id === talk.id ? [t("chat.history.this")] : []),
                          ].join(" · "),
                        )
                      : null,
                  ),
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
    const past = new Talk(talk.slug, talk.space);
    past.id = one.conversation_id;
    past.agent = one.agent && talk.agent ? { ...talk.agent, name: one.agent } : talk.agent;
    past.isPast = true;
    const list = el("ol", { class: "turns" });
    const more = el("div", { class: "chat-older" });
    const back = el("button", { type: "button", class: "button small", onclick: draw }, t("chat.history.back"));
    const ways = el(
      "div",
      { class: "row-line" },
      back,
      el("span", { class: "grow" }),
      el(
        "a",
        {
          class: "button small",
          href: `/api/conversations/${one.conversation_id}/export`,
          download: `conversation-${one.conversation_id}.json`,
        },
        t("chat.history.export"),
      ),
      deleting(one, () => {
        all = all.filter((other) => other !== one);
        if (one.conversation_id === talk.id) void talk.open();
        draw();
      }),
    );
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
    mount(body, ways, more, el("div", { class: "chat-past" }, list));
    back.focus();
    await readOn();
  };
  mount(body, loading());
  void read();
  sheet(
    t(talk.space ? "chat.history.of_space" : "chat.history.title", { name: visible(talk.agent?.name ?? "") }),
    body,
  );
}

/**
 * For good: the second step stands in the place of the first.
 * @param {Past} one
 * @param {() => void} done
 */
function deleting(one, done) {
  const place = el("span", { class: "row-line" });
  const rest = () => {
    const ask = el("button", { type: "button", class: "button small", onclick: step }, t("chat.history.delete"));
    mount(place, ask);
    return ask;
  };
  const step = () => {
    const back = el("button", { type: "button", class: "button small", onclick: () => rest().focus() }, t("card.back"));
    mount(
      place,
      el("span", { class: "small" }, t("chat.history.sure")),
      back,
      el("button", { type: "button", class: "button small danger", onclick: () => void send() }, t("chat.history.yes")),
    );
    back.focus();
  };
  const send = async () => {
    if (!isLive()) return void toast(t("chat.not_connected"), { isProblem: true });
    try {
      await del(`/api/conversations/${one.conversation_id}`);
      toast(t("chat.history.deleted"));
      done();
    } catch (error) {
      toast(sentence(error), { isProblem: true });
      rest();
    }
    return undefined;
  };
  rest();
  return place;
}
