// @ts-check
// The chat beside the page on a desk: as wide as the owner likes, by mouse or by keys, or folded to a tab.

import { el, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { empty } from "../parts/empties.js";
import { icon } from "./icons.js";

const WIDTH_MIN = 300;
const WIDTH_MAX = 640;
const STEP = 24;
/** Narrower than this the chat begins folded. */
const OPEN_FROM = 1440;

/** @typedef {{node: HTMLElement, stop?: () => void}} Panel */

/**
 * @param {HTMLElement} aside
 * @param {() => Promise<() => Panel>} load
 */
export function chatRail(aside, load) {
  let width = Number(localStorage.getItem("chat-width")) || 360;
  const kept = localStorage.getItem("chat-folded");
  let isFolded = kept === null ? innerWidth < OPEN_FROM : kept === "yes";
  /** @type {Panel | null} */
  let panel = null;
  let isOver = false;
  const place = el("div", { class: "chat-place" });
  const grip = el("div", {
    class: "grip",
    role: "separator",
    tabIndex: 0,
    "aria-orientation": "vertical",
    "aria-label": t("chat.width"),
    "aria-valuemin": WIDTH_MIN,
    "aria-valuemax": WIDTH_MAX,
  });
  const fold = el("button", {
    type: "button",
    class: "fold",
    onclick: () => {
      isFolded = !isFolded;
      localStorage.setItem("chat-folded", isFolded ? "yes" : "no");
      void draw();
    },
  });
  const setWidth = (/** @type {number} */ next) => {
    width = Math.round(Math.max(WIDTH_MIN, Math.min(WIDTH_MAX, next)));
    document.documentElement.style.setProperty("--chat", `${width}px`);
    grip.setAttribute("aria-valuenow", String(width));
    localStorage.setItem("chat-width", String(width));
  };
  grip.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") setWidth(width + STEP);
    else if (event.key === "ArrowRight") setWidth(width - STEP);
    else return;
    event.preventDefault();
  });
  grip.addEventListener("pointerdown", (event) => {
    grip.setPointerCapture(event.pointerId);
    const move = (/** @type {PointerEvent} */ at) => setWidth(innerWidth - at.clientX);
    grip.addEventListener("pointermove", move);
    // By whatever way the pointer is let go.
    grip.addEventListener("lostpointercapture", () => grip.removeEventListener("pointermove", move), { once: true });
  });
  const isWide = matchMedia("(min-width: 1024px)");
  const draw = async () => {
    aside.toggleAttribute("data-folded", isFolded);
    mount(fold, icon("chat"), el("span", {}, t(isFolded ? "chat.unfold" : "chat.fold")));
    fold.setAttribute("aria-expanded", String(!isFolded));
    if (isOver || isFolded || !isWide.matches) {
      panel?.stop?.();
      panel = null;
      mount(place);
      return;
    }
    if (panel) return;
    /** @type {() => Panel} */
    let make;
    try {
      make = await load();
    } catch (error) {
      reportError(error);
      // Some browsers remember that a module could not be had; unfolding tries again, a reload surely does.
      mount(
        place,
        empty(
          "unsure",
          t("error.unloaded"),
          el("button", { type: "button", class: "button", onclick: () => location.reload() }, t("reload")),
        ),
      );
      return;
    }
    if (panel || isOver || isFolded || !isWide.matches) return;
    panel = make();
    mount(place, panel.node);
  };
  const drawAgain = () => void draw();
  isWide.addEventListener("change", drawAgain);
  setWidth(width);
  mount(aside, grip, el("div", { class: "chat-column" }, fold, place));
  void draw();
  return {
    stop: () => {
      isOver = true;
      isWide.removeEventListener("change", drawAgain);
      panel?.stop?.();
      panel = null;
    },
  };
}
