// @ts-check
// The lab on one page: how it is in a sentence, Proxmox's nodes with their guests, the machines that
// fetch their work, the hosts behind SSH, and services that are on none of them.

import { said } from "../lib/commands.js";
import { home } from "../lib/data.js";
import { el, keyed, mount, visible } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { clock, time } from "../lib/time.js";
import { sentence } from "../lib/api.js";
import { t } from "../lib/words.js";
import { cannotTell, loading, notice } from "../parts/empties.js";
import { showFirstSteps } from "../parts/first-steps.js";
import { healthPill, isWorry, nodePill, pill } from "../parts/states.js";
import { labError, labSources, labView, readLabAgain, watchLab } from "./data.js";
import { guestTable } from "./guests.js";
import { loadWords } from "./loads.js";
import { labTabs, mountIfNew, serviceChip, serviceLine, upFor } from "./pieces.js";

/** @import { ApiError } from "../lib/api.js" */
/** @import { HostResponse, NodeResponse, Service } from "../types/api.js" */

/** @typedef {import("./data.js").LabView} LabView */
/** @typedef {import("./data.js").Machine} Machine */

export function labOverview() {
  const band = el("section", { class: "card health-band", "aria-label": t("lab.health") });
  const troubles = el("div", { class: "stack tight" });
  const filter = /** @type {HTMLInputElement} */ (
    el("input", {
      class: "input",
      type: "search",
      placeholder: t("lab.filter"),
      "aria-label": t("lab.filter"),
      autocomplete: "off",
      oninput: () => draw(),
    })
  );
  const which = el("div", { class: "segmented", role: "group", "aria-label": t("lab.which") });
  const found = el("p", { class: "hidden-text", role: "status" });
  const machines = el("div", { class: "stack" });
  const others = el("div", { class: "stack" });
  const first = el("div");
  const tools = el("div", { class: "row-line lab-tools" }, el("div", { class: "grow" }, filter), which);
  const whole = el("div", { class: "stack" }, band, troubles, tools, found, machines, others, first);
  const place = el("div", { class: "stack" }, loading());
  const node = el("div", { class: "stack lab" }, labTabs("overview"), place);
  let isTroubleOnly = false;
  /** @type {Set<string>} */
  const opened = new Set();
  /** What the owner folded or unfolded himself. @type {Map<string, boolean>} */
  const folded = new Map();
  /** @type {Map<string, ReturnType<typeof machineSection>>} */
  const sections = new Map();

  const drawWhich = () =>
    mount(
      which,
      ...[false, true].map((only) =>
        el(
          "button",
          {
            type: "button",
            "aria-pressed": String(only === isTroubleOnly),
            onclick: () => {
              isTroubleOnly = only;
              drawWhich();
              draw();
            },
          },
          t(only ? "lab.only_trouble" : "lab.all"),
        ),
      ),
    );
  const draw = () => {
    const view = labView();
    const error = labError();
    if (!view.isKnown) {
      mount(place, error ? cannotTell(error, readLabAgain) : loading());
      return;
    }
    if (!whole.isConnected) mount(place, whole);
    drawBand(band, view);
    mountIfNew(troubles, troubleNotices(view, error));
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isFiltered = words.length > 0 || isTroubleOnly;
    const fits = (/** @type {string} */ text, /** @type {boolean} */ isFine) =>
      (!isTroubleOnly || !isFine) && words.every((word) => text.includes(word));
    let count = 0;
    const shown = view.machines
      .map((machine) => {
        const guests = machine.guests.filter((guest) => fits(guest.words, guest.isFine));
        count += guests.length;
        return { machine, guests };
      })
      .filter(
        ({ machine, guests }) =>
          guests.length > 0 || !isFiltered || fits(machine.name.toLowerCase(), machine.status === "online"),
      );
    keyed(
      machines,
      shown,
      ({ machine }) => machine.name,
      ({ machine, guests }) => {
        const made = machineSection(machine, guests, opened, folded);
        sections.set(machine.name, made);
        return made.node;
      },
    );
    for (const { machine, guests } of shown) sections.get(machine.name)?.show(machine, guests, isFiltered);
    const rest = otherSections(view, fits);
    mountIfNew(others, rest);
    const isNothing = shown.length === 0 && rest.length === 0;
    if (isNothing)
      mount(
        others,
        isFiltered
          ? el("p", { class: "muted" }, t(isTroubleOnly && words.length === 0 ? "lab.no_trouble" : "lab.filtered"))
          : el(
              "p",
              { class: "muted" },
              t("lab.nothing"),
              " ",
              el("a", { href: "#/settings/doctor" }, t("lab.nothing_way")),
            ),
      );
    band.hidden = isNothing && !isFiltered && troubles.childElementCount === 0;
    showFirstSteps(first, home.value?.setup, "services");
    found.textContent = isFiltered ? t("lab.found", { n: count }) : "";
    tools.hidden = view.machines.length + view.nodes.length + view.hosts.length + view.services.length === 0;
  };
  drawWhich();
  const { proxmox, services, nodes, hosts, actions, ended } = labSources;
  // What a guest may do and did is shown where one folds it out.
  const offs = [
    watchLab([proxmox, services, nodes, hosts], draw),
    ...[actions, ended, home].map((one) => one.watch(draw)),
  ];
  return {
    node,
    title: t("nav.lab"),
    stop: () => {
      for (const off of offs) off();
      for (const section of sections.values()) section.stop();
    },
    keys: { "/": () => filter.focus(), j: () => moveIn(machines, 1), k: () => moveIn(machines, -1) },
  };
}

/** @param {HTMLElement} list @param {number} by */
function moveIn(list, by) {
  const links = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("th a")]);
  const at = links.findIndex((link) => link === document.activeElement);
  links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
}

/** @param {HTMLElement} band @param {LabView} view */
function drawBand(band, view) {
  const count = (/** @type {string} */ status) => view.services.filter((service) => service.status === status).length;
  const stopped = view.services.filter((service) => service.stopped).length;
  const [up, down, unknown] = [count("up"), view.services.filter(isWorry).length, count("unknown")];
  const looks = view.services
    .map((service) => service.checked_at)
    .filter(Boolean)
    .sort();
  const guests = view.machines.flatMap((machine) => machine.guests);
  const running = guests.filter((guest) => guest.status === "running").length;
  const words =
    !isLive() || labSources.services.error
      ? t("lab.says.offline")
      : view.services.length === 0
        ? t("lab.says.unwatched")
        : down > 0
          ? t(view.services.length === 1 ? "lab.says.only_down" : "lab.says.down", {
              n: down,
              all: view.services.length,
            })
          : unknown > 0
            ? t("lab.says.unknown", { n: unknown })
            : t(view.isOld ? "lab.says.blind" : stopped > 0 ? "lab.says.but_stopped" : "lab.says.up", { n: up });
  mount(
    band,
    el("p", { class: "says" }, words),
    el(
      "div",
      { class: "row-line" },
      pill("up", up > 0 ? "ok" : "", t("lab.n_up", { n: up })),
      pill("down", down > 0 ? "bad" : "", t("lab.n_down", { n: down })),
      pill("stale", "", t("lab.n_unknown", { n: unknown })),
      stopped > 0 ? pill("paused", "", t("home.stopped", { n: stopped })) : null,
      guests.length > 0 && !view.isOld
        ? el("span", { class: "muted small" }, t("lab.guests_running", { running, n: guests.length }))
        : null,
      el("span", { class: "grow" }),
      el("span", { class: "muted small" }, t("lab.last_look"), " ", time(looks.at(-1) ?? view.seenAt)),
    ),
  );
}

/** @param {LabView} view @param {ApiError | null} error */
function troubleNotices(view, error) {
  const all = [];
  if (error)
    all.push(
      notice(
        "problem",
        el("p", {}, sentence(error), " ", t("lab.old")),
        el("button", { type: "button", class: "button small", onclick: readLabAgain }, t("retry")),
      ),
    );
  else if (view.problem && view.isOld)
    all.push(
      notice(
        "problem",
        el(
          "p",
          {},
          t("lab.unreachable"),
          " ",
          view.seenAt ? t("lab.not_seen_since", { at: clock(view.seenAt) }) : t("lab.never_seen"),
        ),
        el("p", { class: "small" }, t("lab.proxmox_says", { message: said(view.problem.message) })),
      ),
    );
  else if (view.problem)
    all.push(
      notice(
        "caution",
        el("p", {}, t("lab.partly")),
        el("p", { class: "small" }, t("lab.proxmox_says", { message: said(view.problem.message) })),
      ),
    );
  return all;
}

/**
 * A node of Proxmox with its guests.
 * @param {Machine} machine
 * @param {import("./data.js").Guest[]} guests
 * @param {Set<string>} opened
 * @param {Map<string, boolean>} folded
 */
function machineSection(machine, guests, opened, folded) {
  const id = `guests-${machine.name}`;
  const table = guestTable(machine.name, opened);
  const body = el("div", { id, class: "machine-body" }, table.node);
  const none = el("p", { class: "muted item" }, t("lab.no_guests"));
  const facts = el("div", { class: "row-line machine-facts" });
  let isOpen = true;
  const toggle = el(
    "button",
    {
      type: "button",
      class: "machine-toggle",
      "aria-controls": id,
      onclick: () => {
        folded.set(machine.name, !isOpen);
        drawFold(!isOpen);
      },
    },
    el("span", { class: "arrow", "aria-hidden": "true" }),
    el("span", { class: "wrap" }, machine.name),
  );
  const node = /** @type {HTMLElement & {update: () => void}} */ (
    el("section", { class: "machine" }, el("header", {}, el("h2", {}, toggle), facts), body)
  );
  // The page draws it right after, with what the filter leaves.
  node.update = () => {};
  const drawFold = (/** @type {boolean} */ next) => {
    isOpen = next;
    toggle.setAttribute("aria-expanded", String(isOpen));
    body.hidden = !isOpen;
  };
  /** @param {Machine} next @param {import("./data.js").Guest[]} some @param {boolean} isFiltered */
  const show = (next, some, isFiltered) => {
    const isPhone = !matchMedia("(min-width: 720px)").matches;
    drawFold(folded.get(next.name) ?? (isFiltered || !isPhone || !next.isFine));
    const stopped = next.guests.filter((guest) => guest.status === "stopped").length;
    const troubled = next.guests.filter((guest) => !guest.isFine).length;
    mountIfNew(
      facts,
      [
        healthPill(next),
        el(
          "span",
          { class: "muted small" },
          t("lab.n_guests", { n: next.guests.length }),
          stopped > 0 ? ` · ${t("lab.n_stopped", { n: stopped })}` : "",
          troubled > 0 && next.status !== "unknown" ? ` · ${t("lab.n_troubled", { n: troubled })}` : "",
        ),
        next.status === "online" && next.uptime_s > 0
          ? el("span", { class: "age muted small" }, t("lab.up_for", { span: upFor(next.uptime_s) }))
          : null,
        next.status === "online" ? loadWords(next.load) : null,
        el("span", { class: "grow" }),
        el(
          "a",
          {
            class: "small",
            href: `#/lab/nodes/${encodeURIComponent(next.name)}`,
            "aria-label": t("lab.open_node_of", { name: visible(next.name) }),
          },
          t("lab.open_node"),
        ),
      ].filter((part) => part !== null),
    );
    table.show(some);
    table.node.hidden = some.length === 0;
    if (some.length === 0) body.append(none);
    else none.remove();
  };
  show(machine, guests, false);
  return { node, show, stop: table.stop };
}

/** @param {LabView} view @param {(text: string, isFine: boolean) => boolean} fits @returns {HTMLElement[]} */
function otherSections(view, fits) {
  const section = (/** @type {string} */ title, /** @type {string} */ why, /** @type {HTMLElement[]} */ items) =>
    items.length === 0
      ? []
      : [
          el(
            "section",
            { class: "stack tight" },
            el("h2", {}, title),
            el("p", { class: "muted small" }, why),
            el("ul", { class: "list" }, items),
          ),
        ];
  const nodes = view.nodes.filter((one) =>
    fits(
      `${one.name} ${one.state} ${one.version ?? ""} ${one.here ? "here" : "away"}`.toLowerCase(),
      one.state !== "joined" || (one.here && !one.drift && !one.twin_at),
    ),
  );
  const hosts = view.hosts
    .map((one) => ({ host: one, services: view.services.filter((service) => service.host === one.name) }))
    .filter(({ host, services }) =>
      fits(
        `${host.name} ${host.address} ${services.map((service) => `${service.label} ${service.id} ${service.status}`).join(" ")}`.toLowerCase(),
        services.every((service) => service.status === "up" || service.stopped),
      ),
    );
  const homeless = view.homeless.filter((service) =>
    fits(
      `${service.label} ${service.id} ${service.status} ${service.node ?? ""} ${service.vmid ?? ""}`.toLowerCase(),
      service.status === "up" || Boolean(service.stopped),
    ),
  );
  return [
    ...section(t("lab.pull_nodes"), t("lab.pull_nodes_why"), nodes.map(nodeLine)),
    ...section(
      t("lab.hosts"),
      t("lab.hosts_why"),
      hosts.map(({ host, services }) => hostLine(host, services)),
    ),
    ...section(t("lab.other_services"), t("lab.other_services_why"), homeless.map(serviceLine)),
  ];
}

/** @param {NodeResponse} node */
export const fitWords = (node) =>
  node.drift
    ? t("lab.node.drift", { drift: said(node.drift) })
    : node.version
      ? t("lab.node.fits")
      : t("lab.node.unknown_list");

/** @param {NodeResponse} node */
function nodeLine(node) {
  return el(
    "li",
    {},
    el(
      "a",
      { href: `#/lab/nodes/${encodeURIComponent(node.name)}` },
      el(
        "span",
        { class: "grow" },
        el("span", { class: "title wrap line" }, node.name),
        el(
          "span",
          { class: "muted small line wrap" },
          node.version ? t("lab.node.version", { version: node.version }) : "",
          node.state === "joined" ? ` · ${fitWords(node)}` : "",
        ),
      ),
      node.seen_at ? el("span", { class: "muted small" }, t("lab.node.seen"), " ", time(node.seen_at)) : null,
      nodePill(node),
    ),
  );
}

/** @param {HostResponse} host @param {Service[]} services */
function hostLine(host, services) {
  const where = host.user ? `${host.user}@${host.address}:${host.port}` : t("lab.host.local");
  return el(
    "li",
    {},
    el(
      "div",
      { class: "item host-line" },
      el(
        "span",
        { class: "grow" },
        el("a", { class: "title wrap line", href: `#/lab/nodes/${encodeURIComponent(host.name)}` }, host.name),
        el("span", { class: "muted small line wrap" }, where, " · ", t("lab.n_actions", { n: host.actions })),
      ),
      services.length > 0 ? el("span", { class: "chips-cell" }, services.map(serviceChip)) : null,
    ),
  );
}
