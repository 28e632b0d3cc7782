// @ts-check
// One guest, or one machine by whatever it is known: a node of Proxmox, a node that fetches its work,
// a host behind SSH.

import { sentence } from "../lib/api.js";
import { el, mount } from "../lib/dom.js";
import { clock, time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { cannotTell, empty, loading, notice } from "../parts/empties.js";
import { factList } from "../parts/facts.js";
import { healthPill, nodePill } from "../parts/states.js";
import {
  actionsOfGuest,
  actionsOfMachine,
  actionsOn,
  labError,
  labSources,
  labView,
  readLabAgain,
  watchLab,
} from "./data.js";
import { guestFacts, guestTable } from "./guests.js";
import { fitWords } from "./overview.js";
import { allowedActions, askInChat, lastRuns, mountIfNew, serviceLine, trail, upFor } from "./pieces.js";
import { loadFacts } from "./loads.js";
import { lastLines } from "./record.js";

/** @import { HostResponse, NodeResponse } from "../types/api.js" */

/** @param {import("./data.js").LabView} view */
const oldNotice = (view) =>
  !view.isOld
    ? null
    : notice(
        "problem",
        t("lab.unreachable"),
        " ",
        view.seenAt ? t("lab.not_seen_since", { at: clock(view.seenAt) }) : t("lab.never_seen"),
      );

/** @param {string} node @param {string} vmid */
export function guestPage(node, vmid) {
  const ways = (/** @type {string} */ here) =>
    trail(
      [
        ["#/lab", t("nav.lab")],
        [`#/lab/nodes/${encodeURIComponent(node)}`, node],
      ],
      here,
    );
  const place = el("div", { class: "stack" }, ways(vmid), loading());
  const lines = lastLines();
  const draw = () => {
    const view = labView();
    const error = labError();
    const guest = view.machines
      .find((machine) => machine.name === node)
      ?.guests.find((one) => String(one.vmid) === vmid);
    if (!guest) {
      mount(
        place,
        ways(vmid),
        !view.isKnown
          ? error
            ? cannotTell(error, readLabAgain)
            : loading()
          : view.isOld
            ? el("div", {}, oldNotice(view))
            : empty("unsure", t("lab.no_guest", { vmid, node })),
      );
      return;
    }
    const told = oldNotice(view);
    mountIfNew(place, [
      ways(guest.name),
      ...(told ? [told] : []),
      el(
        "section",
        { class: "card stack" },
        el("div", { class: "row-line" }, el("h2", { class: "grow wrap" }, guest.name), healthPill(guest)),
        guestFacts(guest),
        guest.isFine ? null : el("p", {}, askInChat(t("lab.ask_guest", { name: guest.name }))),
      ),
    ]);
    void lines.show(null, actionsOfGuest(guest));
  };
  const { proxmox, services, actions, ended } = labSources;
  return {
    node: el("div", { class: "stack lab" }, place, lines.node),
    title: t("nav.lab"),
    stop: watchLab([proxmox, services, actions, ended], draw),
  };
}

/** @param {string} name */
export function machinePage(name) {
  const ways = () => trail([["#/lab", t("nav.lab")]], name);
  const place = el("div", { class: "stack" }, ways(), loading());
  const guests = el("section", { class: "stack tight" });
  const lines = lastLines();
  const node = el("div", { class: "stack lab" }, place, guests, lines.node);
  const table = guestTable(name, new Set());
  mount(guests, el("h3", {}, t("lab.guests")), el("div", { class: "machine" }, table.node));
  guests.hidden = true;
  const draw = () => {
    const view = labView();
    const error = labError();
    const machine = view.machines.find((one) => one.name === name);
    const puller = view.nodes.find((one) => one.name === name);
    const host = view.hosts.find((one) => one.name === name);
    guests.hidden = !machine || machine.guests.length === 0;
    if (!machine && !puller && !host) {
      mount(
        place,
        ways(),
        !view.isKnown
          ? error
            ? cannotTell(error, readLabAgain)
            : loading()
          : view.isOld
            ? el("div", {}, oldNotice(view))
            : empty("unsure", t("lab.no_machine", { name })),
      );
      return;
    }
    const allowed = actionsOfMachine(name);
    const services = view.services.filter((service) => service.host === name);
    mountIfNew(place, [
      ways(),
      ...(error ? [notice("problem", sentence(error), " ", t("lab.old"))] : []),
      el("h2", { class: "wrap" }, name),
      ...(machine
        ? [
            el(
              "section",
              { class: "card stack" },
              el("div", { class: "row-line" }, el("h3", { class: "grow" }, t("lab.as_proxmox")), healthPill(machine)),
              oldNotice(view),
              factList([
                [t("lab.fact.uptime"), el("span", { class: "age" }, upFor(machine.uptime_s))],
                ...loadFacts(machine.load),
                [t("lab.fact.guests"), t("lab.n_guests", { n: machine.guests.length })],
                [t("lab.fact.look"), time(view.seenAt)],
              ]),
            ),
          ]
        : []),
      ...(puller ? [pullCard(puller)] : []),
      ...(host ? [hostCard(host)] : []),
      ...(services.length > 0
        ? [
            el(
              "section",
              { class: "stack tight" },
              el("h3", {}, t("lab.services")),
              el("ul", { class: "list" }, services.map(serviceLine)),
            ),
          ]
        : []),
      ...(puller || host || allowed.length > 0
        ? [el("div", { class: "lab-two" }, allowedActions(allowed), lastRuns(allowed))]
        : []),
    ]);
    if (machine) table.show(machine.guests);
    void lines.show(puller ? `node:${name}` : host ? name : null, actionsOn(name));
  };
  const off = watchLab(Object.values(labSources), draw);
  return {
    node,
    title: t("nav.lab"),
    stop: () => {
      off();
      table.stop();
    },
  };
}

/** @param {NodeResponse} node */
function pullCard(node) {
  return el(
    "section",
    { class: "card stack" },
    el("div", { class: "row-line" }, el("h3", { class: "grow" }, t("lab.as_puller")), nodePill(node)),
    node.twin_at ? notice("problem", t("lab.node.twin"), " ", time(node.twin_at)) : null,
    node.state === "joined" && node.drift ? notice("caution", fitWords(node)) : null,
    node.state === "waiting"
      ? notice("caution", t("lab.node.asks"), " ", el("a", { href: "#/inbox" }, t("nav.inbox")))
      : null,
    factList([
      node.seen_at ? [t("lab.fact.seen"), time(node.seen_at)] : null,
      node.version
        ? [
            t("lab.fact.version"),
            el(
              "span",
              {},
              node.version,
              node.skew && node.skew !== "same"
                ? el("span", { class: "muted" }, " · ", t(`lab.skew.${node.skew}`))
                : null,
            ),
          ]
        : null,
      node.state === "joined" && !node.drift ? [t("lab.fact.list"), fitWords(node)] : null,
      node.fingerprint ? [t("lab.fact.fingerprint"), el("code", {}, node.fingerprint)] : null,
      node.invite_expires_at ? [t("lab.fact.invite"), time(node.invite_expires_at, "until")] : null,
      [t("lab.fact.actions"), t("lab.n_actions", { n: node.actions })],
    ]),
  );
}

/** @param {HostResponse} host */
function hostCard(host) {
  const key = host.pinned
    ? t("lab.host.pinned")
    : host.trusted.length > 0
      ? t("lab.host.trusted")
      : t("lab.host.untrusted");
  return el(
    "section",
    { class: "card stack" },
    el("h3", {}, t("lab.as_host")),
    factList([
      [
        t("lab.fact.address"),
        host.user ? el("code", {}, `${host.user}@${host.address}:${host.port}`) : t("lab.host.local"),
      ],
      host.user
        ? [
            t("lab.fact.key"),
            el(
              "span",
              {},
              key,
              host.trusted.map((one) => el("code", { class: "line small" }, one)),
            ),
          ]
        : null,
      [t("lab.fact.actions"), t("lab.n_actions", { n: host.actions })],
    ]),
  );
}
