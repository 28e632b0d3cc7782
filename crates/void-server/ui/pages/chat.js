// @ts-check
// The chat on its own page, and the same beside another page.

import { CHAT_STRINGS } from "../chat/strings.js";
import { el, find } from "../lib/dom.js";
import { addStrings, t } from "../lib/words.js";
import { chatView } from "../chat/view.js";

addStrings(CHAT_STRINGS);

/** Less than this is no keyboard but a bar of the browser. */
const KEYBOARD_PX = 120;

/** @param {import("../shell/router.js").Route} route */
export function chatPage(route) {
  const view = chatView(aboutOf(route.query.get("about")));
  const node = el("div", { class: "page-chat" }, view.node);
  const [text] = route.parts;
  if (text) {
    view.add(text);
    // Put in once: a reload must not undo what was changed since.
    history.replaceState(null, "", "#/chat");
  }
  const unfit = fit(node);
  // A keyboard that comes up by itself hides half of a phone.
  if (text || matchMedia("(pointer: fine)").matches) requestAnimationFrame(() => view.focus());
  return {
    node,
    title: t("nav.chat"),
    stop: () => {
      unfit();
      view.stop();
    },
  };
}

const KINDS = /** @type {const} */ (["space", "page", "task", "project", "ref", "service", "action"]);

/** `page:ID` as what a talk is about. @param {string | null} text @returns {import("../chat/talks.js").About | null} */
function aboutOf(text) {
  const [, word, id] = /^([a-z]+):(.+)$/.exec(text ?? "") ?? [];
  const kind = KINDS.find((one) => one === word);
  return kind && id ? { kind, id } : null;
}

export function chatPanel() {
  const { node, stop, focus } = chatView();
  return { node, stop, focus };
}

/**
 * Keeps the page as high as what is left between the bars and the keyboard.
 * @param {HTMLElement} node
 */
function fit(node) {
  const screen = window.visualViewport;
  const measure = () => {
    const height = screen?.height ?? innerHeight;
    const hasKeyboard = innerHeight - height > KEYBOARD_PX;
    const tabs = find(".tabs");
    const foot = tabs && !hasKeyboard ? tabs.offsetHeight : 0;
    const top = node.isConnected ? node.getBoundingClientRect().top + scrollY : 0;
    node.style.setProperty("--chat-height", `${Math.max(240, Math.round(height - top - foot))}px`);
  };
  const seen = new ResizeObserver(measure);
  seen.observe(document.documentElement);
  seen.observe(node);
  const banners = find(".banners");
  if (banners) seen.observe(banners);
  screen?.addEventListener("resize", measure);
  return () => {
    seen.disconnect();
    screen?.removeEventListener("resize", measure);
  };
}
