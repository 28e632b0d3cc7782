// @ts-check
// What the lab is made of, put together from what the server says of Proxmox, services, nodes, hosts
// and the catalogue. What could not be read is called unknown, never fine.

import { get } from "../lib/api.js";
import { actions, ended, hosts, LOOK_OFTEN_MS, nodes, proxmox, Resource, watchTogether } from "../lib/data.js";
import { onConnection } from "../lib/live.js";

/**
 * @import { ActionResponse, Guest as ApiGuest, HostResponse, LabProblem, LabResponse, Node, NodeResponse, Service }
 *   from "../types/api.js"
 */

const RUNS_SHOWN = 5;

const services = new Resource(() => get("/api/services"), /^service\./);

/** All that the lab is made of, by what is drawn from it. */
export const labSources = { proxmox, services, nodes, hosts, ended, actions };

/** What Proxmox showed when it last answered. @type {Pick<LabResponse, "nodes" | "read_at"> | null} */
let lastSeen = null;

/**
 * `words`: what a filter looks at.
 * @typedef {ApiGuest & {key: string, node: string, services: Service[], isFine: boolean, words: string}} Guest
 * @typedef {Omit<Node, "guests"> & {guests: Guest[], isFine: boolean}} Machine
 *
 * @typedef {object} LabView
 * @property {boolean} isKnown whether everything that is needed has been read
 * @property {boolean} isConnected whether Proxmox is set up
 * @property {LabProblem | null} problem what Proxmox, or the way to it, said
 * @property {string | null} seenAt when Proxmox last answered
 * @property {boolean} isOld whether what is shown of Proxmox is from an earlier answer
 * @property {Machine[]} machines
 * @property {NodeResponse[]} nodes
 * @property {HostResponse[]} hosts
 * @property {Service[]} services
 * @property {Service[]} homeless services that are on nothing that is shown
 */

/**
 * Calls back once all that a page is made of has answered, and at every change of it. Returns the end of it.
 * @param {import("../lib/data.js").Watched[]} sources
 * @param {() => void} changed
 */
export function watchLab(sources, changed) {
  const together = watchTogether(sources, changed);
  const polled = [proxmox, services, nodes].filter((source) => sources.includes(source));
  // Proxmox, the checks and a node that stays away say nothing by event.
  const timer = setInterval(() => {
    if (document.visibilityState !== "visible") return;
    for (const source of polled) void source.read();
  }, LOOK_OFTEN_MS);
  const offLive = onConnection(together.ask);
  // What was read before may be old; the catalogue is not.
  for (const source of sources) if (source.value && source !== actions) source.refresh();
  return () => {
    clearInterval(timer);
    offLive();
    together.stop();
  };
}

/** The first thing that could not be read. */
export const labError = () => [proxmox, services, nodes, hosts].find((source) => source.error)?.error ?? null;

export function readLabAgain() {
  for (const source of Object.values(labSources)) void source.read();
}

/** @returns {LabView} */
export function labView() {
  const seen = proxmox.value;
  if (seen && (!seen.problem || seen.nodes.length > 0))
    lastSeen = seen.connected ? { nodes: seen.nodes, read_at: seen.read_at } : null;
  const isOld = Boolean(proxmox.error || (seen?.problem && seen.nodes.length === 0));
  const watched = services.value?.services ?? [];
  /** @type {Map<string, Service[]>} */
  const byGuest = new Map();
  for (const service of watched) {
    if (service.vmid === null || service.vmid === undefined) continue;
    const key = `${service.node}/${service.vmid}`;
    byGuest.set(key, [...(byGuest.get(key) ?? []), service]);
  }
  const shown = new Set();
  const machines = (lastSeen?.nodes ?? []).map((node) => {
    const guests = node.guests.map((guest) => {
      const key = `${node.name}/${guest.vmid}`;
      const own = byGuest.get(key) ?? [];
      shown.add(key);
      const status = isOld ? "unknown" : guest.status;
      return {
        ...guest,
        key,
        node: node.name,
        status,
        services: own,
        isFine:
          ["running", "stopped"].includes(status) && own.every((service) => service.status === "up" || service.stopped),
        words:
          `${guest.name} ${guest.vmid} ${guest.kind} ${status} ${node.name} ${own.map((service) => `${service.label} ${service.id} ${service.status}`).join(" ")}`.toLowerCase(),
      };
    });
    const status = isOld ? "unknown" : node.status;
    return { ...node, status, guests, isFine: status === "online" && guests.every((guest) => guest.isFine) };
  });
  const hostNames = new Set((hosts.value?.hosts ?? []).map((host) => host.name));
  return {
    isKnown: Boolean(seen && services.value && nodes.value && hosts.value),
    isConnected: seen?.connected === true,
    problem: seen?.problem ?? null,
    seenAt: isOld ? (lastSeen?.read_at ?? null) : (seen?.read_at ?? null),
    isOld,
    machines,
    nodes: nodes.value?.nodes ?? [],
    hosts: hosts.value?.hosts ?? [],
    services: watched,
    homeless: watched.filter(
      (service) => !hostNames.has(service.host ?? "") && !shown.has(`${service.node}/${service.vmid}`),
    ),
  };
}

/** @returns {ActionResponse[]} */
const catalogue = () => actions.value?.actions ?? [];

/** What may be done about a service. @param {Service} service */
export const actionsOfService = (service) =>
  catalogue().filter(
    (action) =>
      action.verify === service.id ||
      action.service === service.id ||
      (action.vmid !== null && action.vmid === service.vmid && action.node === service.node),
  );

/** What may be done with a guest and what is on it. @param {Guest} guest */
export const actionsOfGuest = (guest) =>
  catalogue().filter(
    (action) =>
      (action.vmid === guest.vmid && action.node === guest.node) ||
      guest.services.some((service) => action.verify === service.id || action.service === service.id),
  );

/** What runs on a machine itself, by whatever way. @param {string} name */
export const actionsOfMachine = (name) =>
  catalogue().filter((action) => action.host === name || (action.node === name && action.vmid === null));

/** What runs on a machine itself or on any of its guests. @param {string} name */
export const actionsOn = (name) => catalogue().filter((action) => action.host === name || action.node === name);

/** The last runs of some actions. @param {ActionResponse[]} all */
export function runsOf(all) {
  const ids = new Set(all.map((action) => action.id));
  return (ended.value?.recent ?? [])
    .filter((row) => row.action_id !== null && ids.has(row.action_id))
    .slice(0, RUNS_SHOWN);
}
