// @ts-check
// One name for each: whoever asked, decided or did something is called the same on every page.

import { STRINGS } from "../strings.js";
import { t } from "./words.js";

/** Names that are not an agent's to have. */
const RESERVED = ["you", "owner", "policy", "void", "system", "nobody"];

/** @param {string} slug */
function agentName(slug) {
  const key = `who.agent.${slug}`;
  if (key in STRINGS) return t(key);
  return RESERVED.includes(slug.toLowerCase()) ? t("who.called", { name: slug }) : slug;
}

/** @param {string} kind @param {string} name */
function named(kind, name) {
  if (kind === "owner") return t("who.you");
  if (kind === "system") return t("who.void");
  if (kind === "policy") return t("who.policy");
  if (kind === "node") return t("who.node", { name });
  return agentName(name);
}

/** Whoever stands in the record, such as `owner-web`, `agent-little-blue`, `policy`. @param {string} actor */
export function person(actor) {
  const [, kind = "", name = ""] = /^(owner|agent|viewer|node|system|policy)(?:-(.*))?$/.exec(actor) ?? [];
  if (!kind || (["agent", "viewer", "node"].includes(kind) && !name)) return agentName(actor);
  return named(kind, name);
}

/** @param {{kind: string, name: string}} requester */
export const requesterName = ({ kind, name }) => named(kind, name);

/** @param {string | null | undefined} actor */
export const isOwner = (actor) => actor === "owner" || actor?.startsWith("owner-") === true;
