// @ts-check
// Doctor: what the server itself can tell about its health, each finding with the next step. What only
// the machine can see, `void doctor` sees there.

import { get, sentence } from "../lib/api.js";
import { el, mount } from "../lib/dom.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { loading } from "../parts/empties.js";
import { pill } from "../parts/states.js";
import { part, sender, snippet } from "./pieces.js";

/** @typedef {{level: "ok" | "warning" | "problem", check: string, says: any, next?: any}} Finding */

const SHAPES = /** @type {const} */ ({ ok: ["up", "ok"], warning: ["unsure", "waiting"], problem: ["failed", "bad"] });
const WORST = ["problem", "warning", "ok"];
const DAY_MS = 86_400_000;
const BACKUP_OLD_MS = 2 * DAY_MS;

/** @returns {import("./pieces.js").Section} */
export function doctorSection() {
  const place = el("div", { class: "stack tight", "aria-live": "polite" }, loading());
  const look = async () => {
    const findings = (await Promise.all(CHECKS.map(([check, path, judge]) => ask(check, path, judge)))).flat().sort((one, other) => WORST.indexOf(one.level) - WORST.indexOf(other.level));
    const bad = findings.filter(({ level }) => level === "problem").length;
    const odd = findings.filter(({ level }) => level === "warning").length;
    mount(place, el("p", { class: "verdict" }, bad + odd === 0 ? t("doctor.well") : t("doctor.counts", { bad: t("doctor.problems", { n: bad }), odd: t("doctor.warnings", { n: odd }) }), " ", el("span", { class: "muted small" }, t("doctor.looked"), " ", time(new Date().toISOString()))),
      el("ul", { class: "list" }, findings.map(findingRow)));
  };
  void look();
  return { node: el("div", { class: "stack" }, place, el("p", {}, sender(t("doctor.again"), look, { busy: t("doctor.looking") })),
    part(t("doctor.more"), t("doctor.more_about"), snippet("void doctor", t("doctor.more")))) };
}

/** @param {Finding} finding */
function findingRow({ level, check, says, next }) {
  const [shape, tone] = SHAPES[level];
  return el("li", {}, el("div", { class: "item tall finding" }, el("span", { class: "level" }, pill(shape, tone, t(`doctor.${level}`))), el("span", { class: "grow" }, el("strong", { class: "line" }, t(`doctor.check_${check}`)), el("span", { class: "line wrap" }, says), next ? el("span", { class: "muted small line wrap" }, t("doctor.next"), " ", next) : null)));
}

/** @type {[string, string, (value: any) => Finding[]][]} */
const CHECKS = [
  ["server", "/api/status", (status) => [
    { level: "ok", check: "server", says: t("doctor.server", { version: status.version }) },
    status.frozen ? { level: "warning", check: "freeze", says: t("freeze.on"), next: t("freeze.thaw") } : { level: "ok", check: "freeze", says: t("doctor.not_frozen") },
    status.actions === 0 ? { level: "problem", check: "catalogue", says: t("doctor.no_actions"), next: el("code", {}, "void actions lint") } : { level: "ok", check: "catalogue", says: t("about.count", { n: status.actions }) },
    services(status),
    status.unknown > 0 ? { level: "problem", check: "outcomes", says: t("doctor.unknown", { n: status.unknown }), next: el("a", { href: "#/inbox" }, t("nav.inbox")) } : { level: "ok", check: "outcomes", says: t("doctor.all_known") },
  ]],
  ["lab", "/api/lab", (lab) => [lab.problem ? { level: "problem", check: "lab", says: lab.problem, next: el("code", {}, "void doctor") } : lab.connected ? { level: "ok", check: "lab", says: [t("doctor.lab", { n: lab.nodes.length }), " ", time(lab.read_at)] } : { level: "warning", check: "lab", says: t("doctor.no_lab"), next: el("code", {}, "void doctor") }]],
  ["channels", "/api/notifications", channels],
  ["nodes", "/api/nodes", nodes],
  ["backups", "/api/backups", backups],
  ["audit", "/api/audit?limit=1", (audit) => [{ level: "ok", check: "audit", says: t("doctor.audit", { seq: audit.head.seq }), next: el("a", { href: "#/audit" }, t("doctor.verify")) }]],
];

/** @param {any} status @returns {Finding} */
function services({ services_up: up, services_down: down, services_unknown: unseen }) {
  const check = "services";
  if (up + down + unseen === 0) return { level: "warning", check, says: t("doctor.no_services"), next: el("code", {}, "services.json") };
  if (down > 0) return { level: "problem", check, says: t("doctor.down", { n: down }), next: el("a", { href: "#/lab" }, t("nav.lab")) };
  return unseen > 0 ? { level: "warning", check, says: t("doctor.unseen", { n: unseen }) } : { level: "ok", check, says: t("doctor.up", { n: up }) };
}

/** @param {any} value @returns {Finding[]} */
function channels({ places, untold }) {
  const check = "channels";
  const next = el("a", { href: "#/settings/channels" }, t("settings.channels"));
  if (places.length === 0) return [{ level: "warning", check, says: t("channels.none"), next }];
  /** @type {Finding[]} */
  const found = places.filter((/** @type {any} */ place) => place.problem).map((/** @type {any} */ place) => ({ level: "problem", check, says: `${place.name}: ${place.problem}`, next: next.cloneNode(true) }));
  if (untold > 0) found.push({ level: "problem", check, says: t("frame.untold", { n: untold }), next });
  if (found.length === 0 && places.every((/** @type {any} */ place) => !place.target)) found.push({ level: "warning", check, says: t("channels.nobody"), next });
  return found.length > 0 ? found : [{ level: "ok", check, says: t("doctor.channels", { n: places.length }) }];
}

/** @param {any} value @returns {Finding[]} */
function nodes(value) {
  const check = "nodes";
  const next = el("a", { href: "#/settings/nodes" }, t("settings.nodes"));
  const joined = value.nodes.filter((/** @type {any} */ node) => node.state === "joined");
  /** @type {Finding[]} */
  const found = joined.flatMap((/** @type {any} */ node) => [
    node.here ? null : { level: "problem", check, says: [t("doctor.node_away", { name: node.name }), " ", time(node.seen_at)], next: next.cloneNode(true) },
    node.drift ? { level: "warning", check, says: `${node.name}: ${node.drift}`, next: el("code", {}, `void provision node ${node.name}`) } : null,
    node.twin_at ? { level: "problem", check, says: `${node.name}: ${t("nodes.twin")}`, next: el("code", {}, `void node revoke ${node.name}`) } : null,
  ]).filter(Boolean);
  if (found.length > 0) return found;
  return [{ level: "ok", check, says: joined.length > 0 ? t("doctor.nodes", { n: joined.length }) : t("doctor.no_nodes") }];
}

/** @param {any} value @returns {Finding[]} */
function backups(value) {
  const check = "backups";
  const next = el("a", { href: "#/settings/backups" }, t("settings.backups"));
  const newest = value.backups.map((/** @type {any} */ copy) => copy.made_at).sort().at(-1);
  if (!newest) return [{ level: "warning", check, says: t("backups.none"), next }];
  const isOld = Date.now() - Date.parse(newest) > BACKUP_OLD_MS;
  return [{ level: isOld ? "warning" : "ok", check, says: [t("doctor.newest"), " ", time(newest)], ...(isOld ? { next } : {}) }];
}

/**
 * What cannot be read is a finding too, not a calm gap.
 * @param {string} check @param {string} path @param {(value: any) => Finding[]} judge
 * @returns {Promise<Finding[]>}
 */
async function ask(check, path, judge) {
  try {
    return judge(await get(path));
  } catch (error) {
    return [{ level: "problem", check, says: sentence(error) }];
  }
}
