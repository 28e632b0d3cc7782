// @ts-check
// States as shape, word and colour together; none of them says anything alone.

import { el, svg } from "../lib/dom.js";
import { clock } from "../lib/time.js";
import { t } from "../lib/words.js";

/** Shapes on a 16 by 16 field, drawn with the colour of the text. @type {Record<string, () => SVGElement[]>} */
const SHAPES = {
  waiting: () => [ring(), dot(2)],
  approved: () => [ring(), svg("path", { d: "M8 2a6 6 0 0 1 0 12Z", fill: "currentColor" })],
  running: () => [svg("path", { d: "M8 2a6 6 0 1 1-5.2 3", class: "line spin" })],
  done: () => [dot(7), svg("path", { d: "m4.800 8.200 2.200 2.200 4.200-4.600", class: "cut" })],
  unsure: () => [
    dot(7),
    svg("path", { d: "M6.300 6.300a1.700 1.700 0 1 1 2.300 1.600c-.5.2-.6.5-.6 1M8 11.300v.2", class: "cut" }),
  ],
  failed: () => [
    svg("rect", { x: 2, y: 2, width: 12, height: 12, rx: 2, fill: "currentColor" }),
    svg("path", { d: "m5.500 5.500 5 5m0-5-5 5", class: "cut" }),
  ],
  rejected: () => [ring(), svg("path", { d: "M4 12 12 4", class: "line" })],
  over: () => [svg("circle", { cx: 8, cy: 8, r: 6, class: "line dashed" })],
  up: () => [svg("path", { d: "m3 8.500 3.500 3.500L13 4.500", class: "line" })],
  down: () => SHAPES.failed?.() ?? [],
  stale: () => [svg("path", { d: "M8 1.500 14.500 8 8 14.500 1.500 8Z", class: "line dashed" })],
  paused: () => [svg("path", { d: "M5.500 3v10M10.500 3v10", class: "line" })],
  safe: () => [shield({ class: "line" })],
  risky: () => [shield({ fill: "currentColor" })],
  critical: () => [shield({ fill: "currentColor" }), svg("path", { d: "M3.500 8h9", class: "cut" })],
};

const ring = () => svg("circle", { cx: 8, cy: 8, r: 6, class: "line" });
/** @param {number} r */
const dot = (r) => svg("circle", { cx: 8, cy: 8, r, fill: "currentColor" });
/** @param {Record<string, string>} look */
const shield = (look) =>
  svg("path", {
    d: "M8 1.500 13.500 3.500v4c0 3.400-2.300 5.900-5.500 7-3.200-1.100-5.500-3.600-5.500-7v-4Z",
    ...look,
  });

/** @param {string} name */
export function shape(name) {
  return svg("svg", { viewBox: "0 0 16 16", class: "shape", "aria-hidden": "true" }, ...(SHAPES[name]?.() ?? []));
}

/**
 * @param {string} form a shape
 * @param {string} tone a colour: ok, waiting, bad, running, risky, or none
 * @param {string} word
 */
export function pill(form, tone, word) {
  return el("span", { class: `pill ${tone}` }, shape(form), word);
}

/** How a row stands: the shape and the colour of each state; its word is the text `state.…`. */
const LOOKS = /** @type {Record<string, [string, string]>} */ ({
  waiting: ["waiting", "waiting"],
  starting: ["approved", "running"],
  waits_for_target: ["approved", "running"],
  held_by_freeze: ["paused", ""],
  held_from_above: ["paused", "waiting"],
  running: ["running", "running"],
  being_checked: ["unsure", ""],
  verified: ["done", "ok"],
  check_failed: ["failed", "bad"],
  unconfirmed: ["unsure", ""],
  failed: ["failed", "bad"],
  unknown: ["stale", "bad"],
  rejected: ["rejected", ""],
  expired: ["over", ""],
  lapsed: ["over", ""],
  withdrawn: ["over", ""],
  refused: ["failed", "bad"],
});

/**
 * How a row stands: shape, colour, word. A state of a newer server is shown as it is called there.
 * @param {{display_state: string}} row
 * @returns {[string, string, string]}
 */
export function standing({ display_state: state }) {
  const look = LOOKS[state];
  return look ? [...look, t(`state.${state}`)] : ["stale", "", state];
}

/** @param {{display_state: string}} row */
export const statePill = (row) => pill(...standing(row));

/**
 * @param {{tier: string, risk?: string, subject?: string, change?: {target: string} | null}} row
 * @param {{isWhole?: boolean}} [how] whole: in as many words as on every other surface
 */
export function tierPill(row, { isWhole = false } = {}) {
  if (row.change?.target === "knowledge")
    return isWhole ? pill("risky", "risky", t("tier.keep")) : pill("approved", "", t("tier.draft"));
  if (row.subject === "change") return pill("critical", "risky", t("tier.change"));
  if (row.risk === "critical") return pill("critical", "risky", t("tier.critical"));
  return row.tier === "risky" ? pill("risky", "risky", t("tier.risky")) : pill("safe", "", t("tier.safe"));
}

/**
 * Whether something is as nobody wanted it. What the owner stopped is not.
 * @param {{status: string, stopped?: unknown}} service
 */
export const isWorry = (service) => service.status === "down" && !service.stopped;

/** @param {{status: string, stopped?: {by: string, at: string} | null}} service a service, a guest or a machine */
export function healthPill(service) {
  if (service.stopped && ["down", "stopped"].includes(service.status))
    return pill("paused", "", t("health.stopped_by_you", { at: clock(service.stopped.at) }));
  switch (service.status) {
    case "up":
    case "running":
    case "online":
      return pill("up", "ok", t(`health.${service.status}`));
    case "down":
      return pill("down", "bad", t("health.down"));
    case "stopped":
    case "offline":
      return pill("paused", "", t(`health.${service.status}`));
    default:
      return pill("stale", "", t("health.unknown"));
  }
}

/** A machine that fetches its work. @param {{state: string, here: boolean}} node */
export function nodePill(node) {
  if (node.state !== "joined") return pill("waiting", "waiting", t(`node.${node.state}`));
  return node.here ? pill("up", "ok", t("node.here")) : pill("stale", "", t("node.away"));
}

const CHECK_REASONS = [
  "refused",
  "unreachable",
  "timed_out",
  "reset",
  "wrong_status",
  "not_http",
  "stopped",
  "unknown_name",
  "certificate",
  "proxmox",
  "local",
  "stale",
];

/** Why a check says what it says. @param {string | null | undefined} reason a code */
export const checkReason = (reason) =>
  !reason ? "" : CHECK_REASONS.includes(reason) ? t(`reason.check.${reason}`) : reason;
