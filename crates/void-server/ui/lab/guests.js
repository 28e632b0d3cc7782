// @ts-check
// The guests of one node as a table whose rows fold out. However many there are, only those near the
// eye are in the page; on a phone a row is a card.

import { el, keyed, mount, visible } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { factList } from "../parts/facts.js";
import { healthPill } from "../parts/states.js";
import { windowed } from "../parts/windows.js";
import { actionsOfGuest } from "./data.js";
import { loadFacts, loadWords } from "./loads.js";
import { allowedActions, lastRuns, mountIfNew, serviceChip, serviceLine, upFor } from "./pieces.js";

const CHUNK_ROWS = 20;
const ROW_PX = 55;
const CARD_PX = 104;
/** From so wide on it is a table, as in the style. */
const TABLE_PX = 900;
const COLUMNS = ["lab.col.name", "lab.col.state", "lab.col.services", "lab.col.load", "lab.col.uptime"];

/** @typedef {import("./data.js").Guest} Guest */
/** @typedef {{guest: Guest, isMore: boolean}} Line */

/** @param {string} node @param {number} vmid */
export const guestHref = (node, vmid) => `#/lab/guests/${encodeURIComponent(node)}/${vmid}`;

/**
 * @param {string} name whose guests they are
 * @param {Set<string>} opened the keys of what is folded out; kept by the page
 */
export function guestTable(name, opened) {
  /** @type {Guest[]} */
  let guests = [];
  const table = el(
    "table",
    { class: "guests", role: "table", "aria-label": t("lab.guests_of", { name: visible(name) }) },
    el(
      "thead",
      { role: "rowgroup" },
      el(
        "tr",
        { role: "row" },
        COLUMNS.map((key) => el("th", { scope: "col", role: "columnheader" }, t(key))),
        el("th", { scope: "col", role: "columnheader" }, el("span", { class: "hidden-text" }, t("lab.col.more"))),
      ),
    ),
  );
  const rowHeight = () => ((table.parentElement?.clientWidth ?? 0) >= TABLE_PX ? ROW_PX : CARD_PX);
  const list = windowed(table, {
    make: () => el("tbody", { role: "rowgroup" }),
    draw: (chunk, index) => {
      if (chunk.querySelector(".far")) mount(chunk);
      keyed(
        chunk,
        lines(guests.slice(index * CHUNK_ROWS, (index + 1) * CHUNK_ROWS)),
        ({ guest, isMore }) => (isMore ? `more-${guest.key}` : guest.key),
        ({ guest, isMore }) => (isMore ? moreRow(guest) : row(guest)),
      );
    },
    blank: (chunk, height) => {
      const cell = el("td", { colSpan: COLUMNS.length + 1 });
      cell.style.setProperty("height", `${height}px`);
      mount(chunk, el("tr", { class: "far", "aria-hidden": "true" }, cell));
    },
    guess: (index) => Math.min(CHUNK_ROWS, guests.length - index * CHUNK_ROWS) * rowHeight(),
  });
  /** @param {Guest[]} some @returns {Line[]} */
  const lines = (some) =>
    some.flatMap((guest) =>
      opened.has(guest.key)
        ? [
            { guest, isMore: false },
            { guest, isMore: true },
          ]
        : [{ guest, isMore: false }],
    );
  const draw = () => list.show(Math.ceil(guests.length / CHUNK_ROWS));

  /** @param {Guest} guest @returns {HTMLElement & {update: (line: Line) => void}} */
  const row = (guest) => {
    const title = el("a", { class: "wrap title", href: guestHref(guest.node, guest.vmid) });
    const number = el("span", { class: "muted small line" });
    const state = el("td", { role: "cell", class: "state" });
    const chips = el("td", { role: "cell", class: "chips-cell" });
    const load = el("td", { role: "cell", class: "load-cell" });
    const uptime = el("td", { role: "cell", class: "uptime number" });
    const more = el(
      "button",
      {
        type: "button",
        class: "icon-button fold-out",
        onclick: () => {
          if (opened.has(guest.key)) opened.delete(guest.key);
          else opened.add(guest.key);
          draw();
        },
      },
      el("span", { class: "arrow", "aria-hidden": "true" }),
    );
    const node = /** @type {HTMLElement & {update: (line: Line) => void}} */ (
      el(
        "tr",
        { role: "row" },
        el("th", { scope: "row", role: "rowheader" }, title, number),
        state,
        chips,
        load,
        uptime,
        el("td", { role: "cell", class: "more" }, more),
      )
    );
    const stamps = { state: "", chips: "", load: "" };
    node.update = (line) => {
      guest = line.guest;
      const name = visible(guest.name);
      if (title.textContent !== name) title.textContent = name;
      number.textContent = `${guest.vmid} · ${t(`lab.kind.${guest.kind}`)}`;
      uptime.textContent = guest.status === "running" ? upFor(guest.uptime_s) : "–";
      uptime.toggleAttribute("data-none", guest.status !== "running");
      const standing = `${guest.status} ${guest.lock} ${guest.stopped?.at}`;
      const busy = guest.status === "running" ? JSON.stringify(guest.load) : "";
      if (busy !== stamps.load) mount(load, busy ? loadWords(guest.load) : null);
      if (standing !== stamps.state)
        mount(
          state,
          healthPill(guest),
          guest.lock ? el("span", { class: "muted small line" }, t("lab.locked", { lock: guest.lock })) : null,
        );
      const own = JSON.stringify(guest.services.map(({ id, label, status, stopped }) => [id, label, status, stopped]));
      if (own !== stamps.chips) mount(chips, guest.services.map(serviceChip));
      Object.assign(stamps, { state: standing, chips: own, load: busy });
      const isOpen = opened.has(guest.key);
      more.setAttribute("aria-expanded", String(isOpen));
      more.setAttribute("aria-label", t(isOpen ? "lab.less_of" : "lab.more_of", { name }));
    };
    node.update({ guest, isMore: false });
    return node;
  };
  return {
    node: table,
    /** @param {Guest[]} next */
    show: (next) => {
      guests = next;
      draw();
    },
    stop: list.stop,
  };
}

/** @param {Guest} guest @returns {HTMLElement & {update: (line: Line) => void}} */
function moreRow(guest) {
  const cell = el("td", { role: "cell", colSpan: COLUMNS.length + 1 });
  const node = /** @type {HTMLElement & {update: (line: Line) => void}} */ (
    el("tr", { role: "row", class: "more-row" }, cell)
  );
  node.update = (line) => void mountIfNew(cell, [guestFacts(line.guest)]);
  node.update({ guest, isMore: true });
  return node;
}

/** What there is to know of a guest. @param {Guest} guest */
export function guestFacts(guest) {
  const allowed = actionsOfGuest(guest);
  return el(
    "div",
    { class: "lab-two item-more" },
    el(
      "div",
      { class: "stack" },
      factList([
        [t("lab.fact.kind"), t(`lab.kind.${guest.kind}`)],
        [t("lab.fact.number"), String(guest.vmid)],
        [t("lab.fact.node"), el("a", { href: `#/lab/nodes/${encodeURIComponent(guest.node)}` }, guest.node)],
        [t("lab.fact.uptime"), el("span", { class: "age" }, guest.status === "running" ? upFor(guest.uptime_s) : "–")],
        ...(guest.status === "running" ? loadFacts(guest.load) : []),
        guest.lock ? [t("lab.fact.lock"), guest.lock] : null,
      ]),
      el(
        "section",
        { class: "stack tight" },
        el("h3", {}, t("lab.services")),
        guest.services.length === 0
          ? el("p", { class: "muted" }, t("lab.no_services_here"))
          : el("ul", { class: "list" }, guest.services.map(serviceLine)),
      ),
    ),
    el(
      "div",
      { class: "stack" },
      allowedActions(allowed, {
        isNear: (action) => action.vmid === guest.vmid && action.node === guest.node,
        isOff: guest.status === "stopped",
        guest: guest.status,
      }),
      lastRuns(allowed),
    ),
  );
}
