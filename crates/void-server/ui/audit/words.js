// @ts-check
// An entry of the record in words. A verb that this page does not know is shown as it is.

import { actions } from "../lib/data.js";
import { AUDIT_STRINGS } from "./strings.js";
import { person } from "../lib/people.js";
import { t } from "../lib/words.js";

/** What a detail holds depends on the verb. @typedef {import("../types/api.js").AuditEntry} Entry */

const SURFACES = ["api", "cli", "web", "file", "ntfy"];

/** Who it was, as people say it. @param {string} actor */
export function whoWords(actor) {
  const [, kind = actor, name = ""] = /^([a-z]+)(?:-(.*))?$/.exec(actor) ?? [];
  if (kind === "owner")
    return name.startsWith("telegram")
      ? t("audit.who.owner_by", { surface: t("audit.surface.telegram") })
      : SURFACES.includes(name)
        ? t("audit.who.owner_by", { surface: t(`audit.surface.${name}`) })
        : t("audit.who.owner");
  if (kind === "system") return t("audit.who.system");
  if (actor === "policy") return t("audit.who.policy");
  if (kind === "node" && name) return t("audit.who.node", { name });
  return person(actor);
}

/** Who a line is about: policy lets through, whoever asked. @param {Entry} entry */
export const actorWords = (entry) =>
  keyOf(entry) === "audit.did.proposal.let_through" ? t("who.policy") : whoWords(entry.actor);

/** The action's label where the catalogue still has it. @param {Entry["detail"]} detail */
function what(detail) {
  const id = detail.action_id;
  if (typeof id !== "string") return "";
  return actions.value?.actions.find((action) => action.id === id)?.label ?? id;
}

/** What the rest of an entry's sentence is about. @param {Entry} entry */
function about(entry) {
  const { detail, subject, verb } = entry;
  if (verb === "service.changed" && typeof detail.label === "string") return detail.label;
  const name =
    detail.name ??
    detail.code ??
    detail.agent ??
    detail.channel ??
    detail.what ??
    detail.file ??
    subject?.replace(/^node:/, "") ??
    detail.target ??
    detail.targets ??
    "";
  if (Array.isArray(name)) return name.length > 0 ? name.join(", ") : t("audit.who.nobody");
  return typeof name === "string" ? name : "";
}

/** Which sentence tells it. @param {Entry} entry */
function keyOf(entry) {
  const { verb, detail } = entry;
  if (verb === "proposal.approved" && detail.approved_by === "policy") return "audit.did.proposal.let_through";
  if (verb === "proposal.approved" && detail.approved_at) return "audit.did.proposal.put_back";
  if (verb === "proposal.verified" && detail.verification === "failed") return "audit.did.proposal.check_failed";
  if (verb === "proposal.verified" && detail.verification === "unverified") return "audit.did.proposal.unverified";
  if (verb === "service.changed" && ["up", "down", "unknown"].includes(String(detail.status)))
    return `audit.did.service.${String(detail.status)}`;
  return `audit.did.${verb}`;
}

/** @param {Entry} entry */
export function entryWords(entry) {
  const key = keyOf(entry);
  if (!(key in AUDIT_STRINGS)) return [entry.verb, about(entry)].filter(Boolean).join(" · ");
  return t(key, {
    what: what(entry.detail) || about(entry),
    name: about(entry),
    n: Number(entry.detail.actions ?? entry.detail.rows ?? entry.detail.count ?? 0),
  });
}

/** What happened, for a list that is about one request anyway. @param {Entry} entry */
export function stepWords(entry) {
  const step = keyOf(entry).replace("audit.did.proposal.", "");
  const key = [`audit.step.${step}`, `audit.outcome.${step}`].find((one) => one in AUDIT_STRINGS);
  return key ? t(key) : entryWords(entry);
}

/** Shape and colour of an entry; most have none. @param {Entry} entry @returns {[string, string] | null} */
export function entryShape({ verb, detail }) {
  switch (verb) {
    case "proposal.created":
      return detail.status === "pending" ? ["waiting", "waiting"] : ["approved", "running"];
    case "proposal.approved":
    case "proposal.started":
      return ["approved", "running"];
    case "proposal.executed":
      return ["approved", "running"];
    case "proposal.verified":
      return detail.verification === "failed"
        ? ["failed", "bad"]
        : detail.verification === "unverified"
          ? ["unsure", ""]
          : ["done", "ok"];
    case "service.changed":
      return detail.status === "down" ? ["failed", "bad"] : null;
    case "proposal.failed":
    case "proposal.refused":
    case "turn.failed":
    case "notification.failed":
      return ["failed", "bad"];
    case "proposal.rejected":
      return ["rejected", ""];
    case "proposal.expired":
    case "proposal.cancelled":
      return ["over", ""];
    case "proposal.unknown":
      return ["stale", "bad"];
    case "proposal.vetoed":
      return ["rejected", ""];
    case "proposal.held":
    case "freeze.set":
    case "freeze.lengthened":
      return ["paused", ""];
    case "access.refused":
    case "decision.refused":
    case "node.twin_refused":
    case "store.rolled_back":
    case "audit.strays_set_aside":
      return ["rejected", "bad"];
    default:
      return null;
  }
}

/** Whether an entry is about a request. @param {Entry} entry */
export const isAboutProposal = ({ verb, subject }) => Boolean(subject) && /^(proposal|decision)\./.test(verb);
