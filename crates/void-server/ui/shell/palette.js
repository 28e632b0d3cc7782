// @ts-check
// The palette: go anywhere, find anything, ask for an action by name. Running still goes by the gate.

import { post, sentence } from "../lib/api.js";
import { actions, home } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { tierPill } from "../parts/states.js";
import { toast } from "../parts/toasts.js";
import { showKeys } from "./keys.js";
import { goTo } from "./router.js";

const SHOWN_MAX = 12;

/** @typedef {{words: string, id?: string, kind: string, pill?: any, act: () => void}} Entry */

/** @returns {Entry[]} */
function entries() {
  const places = ["home", "inbox", "lab", "chat", "audit", "settings"].map((page) => ({ words: t(`nav.${page}`), kind: t("palette.page"), act: () => goTo(`#/${page}`) }));
  const waiting = (home.value?.inbox.items ?? []).filter((/** @type {any} */ item) => item.id).map((/** @type {any} */ item) => ({ words: item.label, id: item.code, kind: t("palette.waits"), act: () => goTo(`#/inbox/${item.id}`) }));
  const services = (home.value?.services.services ?? []).map((/** @type {any} */ one) => ({ words: one.label, kind: t("palette.service"), act: () => goTo(`#/lab/services/${one.id}`) }));
  const runs = (actions.value?.actions ?? []).map((/** @type {any} */ action) => ({ words: action.label, id: action.id, kind: t("palette.action"), pill: tierPill(action), act: () => goTo(`#/lab/actions/${action.id}`) }));
  return [...places, ...waiting, ...services, ...runs, { words: t("palette.freeze"), kind: t("palette.act"), act: () => void freeze() }, { words: t("keys.title"), kind: t("palette.act"), act: showKeys }];
}

async function freeze() {
  try {
    await post("/api/freeze", { reason: t("freeze.by_palette") });
  } catch (error) {
    toast(sentence(error), { isProblem: true });
  }
}

export function openPalette() {
  if (document.querySelector("dialog.palette")) return;
  let chosen = 0;
  /** @type {Entry[]} */
  let shown = [];
  const input = /** @type {HTMLInputElement} */ (el("input", { class: "input", type: "text", placeholder: t("palette.placeholder"), "aria-label": t("palette.placeholder"), role: "combobox", "aria-expanded": "true", "aria-controls": "palette-list", autocomplete: "off" }));
  const list = el("ul", { id: "palette-list", role: "listbox", "aria-label": t("palette.results") });
  const dialog = /** @type {HTMLDialogElement} */ (el("dialog", { class: "palette", "aria-label": t("keys.palette") }, el("div", { class: "inside" }, input, list)));
  /** @param {Entry} entry */
  const pick = (entry) => {
    dialog.close();
    entry.act();
  };
  const draw = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = entries().filter((entry) => words.every((word) => `${entry.words} ${entry.id ?? ""}`.toLowerCase().includes(word))).slice(0, SHOWN_MAX);
    chosen = Math.min(chosen, Math.max(0, shown.length - 1));
    mount(list, ...(shown.length === 0 ? [el("li", { class: "muted item", role: "option", "aria-disabled": "true" }, t("palette.nothing"))] : shown.map((entry, index) =>
      el("li", { role: "option", id: `palette-${index}`, "aria-selected": String(index === chosen), onclick: () => pick(entry) }, el("span", { class: "grow" }, el("span", { class: "title wrap" }, entry.words), entry.id ? el("code", { class: "muted wrap" }, entry.id) : null), entry.pill, el("span", { class: "muted small kind" }, entry.kind)))));
    input.setAttribute("aria-activedescendant", shown.length > 0 ? `palette-${chosen}` : "");
    list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  };
  input.addEventListener("input", () => { chosen = 0; draw(); });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      chosen = Math.max(0, Math.min(shown.length - 1, chosen + (event.key === "ArrowDown" ? 1 : -1)));
      draw();
    }
    const entry = shown[chosen];
    if (event.key === "Enter" && entry) {
      event.preventDefault();
      pick(entry);
    }
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => { off(); dialog.remove(); });
  document.body.append(dialog);
  dialog.showModal();
  draw();
  const off = actions.watch(draw);
  input.focus();
}
