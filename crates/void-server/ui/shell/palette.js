// @ts-check
// The palette: go anywhere, find anything, ask for an action by name. Running still goes by the gate.

import { get } from "../lib/api.js";
import { actions, agents, ended, home, hosts, nodes, proxmox } from "../lib/data.js";
import { el, mount } from "../lib/dom.js";
import { isRow } from "../lib/items.js";
import { t } from "../lib/words.js";
import { hitHref, hitWords, whileTyping } from "../parts/hits.js";
import { grouped } from "../parts/repeats.js";
import { tierPill } from "../parts/states.js";
import { rowTitle } from "../parts/titles.js";
import { askFreeze, thaw } from "./freezing.js";
import { showKeys } from "./keys.js";
import { showOver } from "./overlays.js";
import { goTo } from "./router.js";
import { chooseAgent, chosenSpace } from "./settings.js";

const SHOWN_MAX = 12;
/** So many of what the owner keeps are shown beside what is here. */
const FOUND_MAX = 6;
/** The server is asked for words of this length, so long after the last key. */
const ASK_FROM = 2;
const TYPED_MS = 180;
/** What is in the lab is here already. */
const KEPT = ["space", "project", "page", "task", "ref"];

/** @import { SearchSpan } from "../types/api.js" */

/**
 * @typedef {{words: string, id?: string, excerpt?: SearchSpan[], kind: string, pill?: HTMLElement, act: () =>
 * void}} Entry
 */

/**
 * @template T
 * @param {string} kind
 * @param {T[] | undefined} all
 * @param {(one: T) => {words: string, id?: string, href: string, tiered?: {tier: string, risk?: string}}} name
 * @returns {Entry[]}
 */
const found = (kind, all, name) =>
  (all ?? []).map((one) => {
    const { words, id, href, tiered } = name(one);
    return {
      words,
      ...(id ? { id } : {}),
      kind: t(kind),
      ...(tiered ? { pill: tierPill(tiered) } : {}),
      act: () => goTo(href),
    };
  });

/** @param {string} typed @returns {Entry[]} */
function entries(typed) {
  const seq = /^#(\d+)$/.exec(typed.trim())?.[1];
  if (seq)
    return [{ words: t("palette.entry_name", { seq }), kind: t("palette.entry"), act: () => goTo(`#/audit/${seq}`) }];
  const guests = (proxmox.value?.nodes ?? []).flatMap((node) =>
    node.guests.map((guest) => ({ node: node.name, vmid: guest.vmid, name: guest.name })),
  );
  const isFrozen = home.value?.freeze.frozen === true;
  return [
    ...found("palette.page", ["home", "inbox", "lab", "chat", "knowledge", "agents", "audit", "settings"], (page) => ({
      words: t(`nav.${page}`),
      href: `#/${page}`,
    })),
    ...found("palette.waits", home.value?.inbox.items.filter(isRow), (item) => ({
      words: rowTitle(item),
      id: item.code,
      href: `#/inbox/${item.id}`,
    })),
    ...found("palette.service", home.value?.services.services, ({ label, id }) => ({
      words: label,
      id,
      href: `#/lab/services/${encodeURIComponent(id)}`,
    })),
    ...found("palette.guest", guests, ({ name, vmid, node }) => ({
      words: name,
      id: `${node}/${vmid}`,
      href: `#/lab/guests/${encodeURIComponent(node)}/${vmid}`,
    })),
    ...found("palette.node", [...(proxmox.value?.nodes ?? []), ...(nodes.value?.nodes ?? [])], ({ name }) => ({
      words: name,
      href: `#/lab/nodes/${encodeURIComponent(name)}`,
    })),
    ...(agents.value?.agents ?? []).map((agent) => ({
      words: agent.name,
      id: agent.slug,
      kind: t("palette.agent"),
      act: () => {
        chooseAgent(agent.slug, agent.capabilities.includes("suggest") ? chosenSpace() : "");
        goTo("#/chat");
      },
    })),
    ...found("palette.host", hosts.value?.hosts, ({ name, address, port }) => ({
      words: name,
      ...(address ? { id: port ? `${address}:${port}` : address } : {}),
      href: `#/lab/nodes/${encodeURIComponent(name)}`,
    })),
    ...found("palette.action", actions.value?.actions, (action) => ({
      words: action.label,
      id: action.id,
      href: `#/lab/actions/${encodeURIComponent(action.id)}`,
      tiered: action,
    })),
    isFrozen
      ? { words: t("palette.thaw"), kind: t("palette.act"), act: () => void thaw() }
      : { words: t("palette.freeze"), kind: t("palette.act"), act: askFreeze },
    { words: t("keys.title"), kind: t("palette.act"), act: showKeys },
    ...found("palette.act", chosenSpace() ? ["page", "task", "ref"] : [], (kind) => ({
      words: t(`palette.new_${kind}`),
      href: `#/knowledge/new/${kind}`,
    })),
    ...found("palette.ended", grouped(ended.value?.recent ?? home.value?.recent ?? []), (row) => ({
      words: rowTitle(row),
      id: row.times ? `${row.code} · ${t("inbox.times", { n: row.times })}` : row.code,
      href: `#/inbox/${row.id}`,
    })),
  ];
}

/** Shorter words have no slip that could be told from another word. */
const SLIP_FROM = 4;

/**
 * Whether two words differ by one letter: missing, too many, another one, or two that changed places.
 * @param {string} one
 * @param {string} other
 */
function isSlip(one, other) {
  if (Math.abs(one.length - other.length) > 1) return false;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const [rest, its] = [one.slice(at), other.slice(at)];
  return (
    rest.slice(1) === its.slice(1) ||
    rest.slice(1) === its ||
    rest === its.slice(1) ||
    (rest[0] === its[1] && rest[1] === its[0] && rest.slice(2) === its.slice(2))
  );
}

/** How well an entry fits: 0 as typed, 1 with a slip, null not. @param {Entry} entry @param {string[]} words */
function fitOf(entry, words) {
  const text = `${entry.words} ${entry.id ?? ""}`.toLowerCase();
  const parts = text.split(/[^\p{L}\p{N}]+/u);
  let slips = 0;
  for (const word of words) {
    if (text.includes(word)) continue;
    // What is being typed is the beginning of a word.
    const isNear =
      word.length >= SLIP_FROM &&
      parts.some((part) =>
        [part, part.slice(0, word.length), part.slice(0, word.length + 1)].some((some) => isSlip(word, some)),
      );
    if (!isNear) return null;
    slips += 1;
  }
  return slips === 0 ? 0 : 1;
}

/** @param {import("../types/api.js").SearchHit} hit @returns {Entry} */
const hitEntry = (hit) => ({
  words: hit.title,
  excerpt: hit.snippet,
  kind: t(`kind.${hit.kind}`),
  act: () => goTo(hitHref(hit)),
});

/** @param {string} words @returns {Entry} */
const searchEntry = (words) => ({
  words: t("palette.all", { words }),
  kind: t("palette.act"),
  act: () => goTo(`#/knowledge/search?q=${encodeURIComponent(words)}`),
});

export function openPalette() {
  if (document.querySelector("dialog.palette[open]")) return;
  let chosen = 0;
  /** @type {Entry[]} */
  let shown = [];
  /** What the server found, and for which words. @type {{words: string, hits: Entry[]}} */
  let kept = { words: "", hits: [] };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let later;
  const ask = async () => {
    const words = input.value.trim();
    if (words.length < ASK_FROM || words.startsWith("#")) return;
    try {
      const { results } = await get(`/api/search?q=${encodeURIComponent(whileTyping(words))}&limit=${3 * FOUND_MAX}`);
      if (words !== input.value.trim() || !dialog.open) return;
      kept = {
        words,
        hits: results
          .filter(({ kind }) => KEPT.includes(kind))
          .slice(0, FOUND_MAX)
          .map(hitEntry),
      };
      draw();
    } catch {
      // What is here can be found without the server; that it is away is said by the frame.
    }
  };
  const input = /** @type {HTMLInputElement} */ (
    el("input", {
      class: "input",
      type: "text",
      placeholder: t("palette.placeholder"),
      "aria-label": t("palette.placeholder"),
      role: "combobox",
      "aria-expanded": "true",
      "aria-controls": "palette-list",
      autocomplete: "off",
    })
  );
  const list = el("ul", { id: "palette-list", role: "listbox", "aria-label": t("palette.results") });
  const dialog = /** @type {HTMLDialogElement} */ (
    el("dialog", { class: "palette", "aria-label": t("keys.palette") }, el("div", { class: "inside" }, input, list))
  );
  /** @param {Entry} entry */
  const pick = (entry) => {
    dialog.close();
    entry.act();
  };
  const draw = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = entries(input.value).map((entry) => ({
      entry,
      fit: input.value.startsWith("#") ? 0 : fitOf(entry, words),
    }));
    // A slip is forgiven after whatever is as it was typed.
    const typed = input.value.trim();
    const found = kept.words !== "" && typed.startsWith(kept.words) ? kept.hits : [];
    const here = [0, 1].flatMap((wanted) => fits.filter(({ fit }) => fit === wanted).map(({ entry }) => entry));
    shown = [...here.slice(0, SHOWN_MAX - found.length), ...found];
    if (typed.length >= ASK_FROM && !typed.startsWith("#") && shown.length > 0) shown.push(searchEntry(typed));
    chosen = Math.min(chosen, Math.max(0, shown.length - 1));
    mount(
      list,
      ...(shown.length === 0
        ? [el("li", { class: "muted item", role: "option", "aria-disabled": "true" }, t("palette.nothing"))]
        : shown.map((entry, index) =>
            el(
              "li",
              {
                role: "option",
                id: `palette-${index}`,
                "aria-selected": String(index === chosen),
                onclick: () => pick(entry),
              },
              el(
                "span",
                { class: "grow" },
                el("span", { class: "title wrap" }, entry.words),
                entry.id ? el("code", { class: "muted wrap" }, entry.id) : null,
                entry.excerpt?.length ? el("span", { class: "muted small excerpt" }, hitWords(entry.excerpt)) : null,
              ),
              entry.pill,
              el("span", { class: "muted small kind" }, entry.kind),
            ),
          )),
    );
    input.setAttribute("aria-activedescendant", shown.length > 0 ? `palette-${chosen}` : "");
    list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  };
  input.addEventListener("input", () => {
    chosen = 0;
    draw();
    clearTimeout(later);
    later = setTimeout(() => void ask(), TYPED_MS);
  });
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
  dialog.addEventListener("close", () => {
    for (const off of offs) off();
  });
  showOver(dialog);
  draw();
  const offs = [actions, nodes, hosts, proxmox, agents, ended].map((source) => source.watch(draw));
  input.focus();
}
