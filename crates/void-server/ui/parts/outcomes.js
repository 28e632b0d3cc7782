// @ts-check
// How a request ended, in one line that is the first thing one sees; why it failed, with what the machine
// said; and what to do next.

import { said, typed } from "../lib/commands.js";
import { el } from "../lib/dom.js";
import { isOwner, person } from "../lib/people.js";
import { exactSpan, time, withTimes } from "../lib/time.js";
import { t } from "../lib/words.js";
import { copyButton } from "./copying.js";
import { hitHref } from "./hits.js";
import { checkReason, shape, standing } from "./states.js";

/** @import { Content } from "../lib/dom.js" */
/** @import { Card, CheckSeen, Row, SearchHit } from "../types/api.js" */
/** @typedef {SearchHit["kind"]} HitKind */

/** Codes that are about the way to a host, about the set-up, and about a freeze. */
const ABOUT_HOST = [
  "unreachable",
  "auth_refused",
  "drift",
  "stopped_on_host",
  "host_key_unknown",
  "host_key_changed",
  "host_key_revoked",
  "connection_lost",
];
const ABOUT_SETUP = ["no_privilege", "not_configured", "no_such_guest"];

/** What to type next. @param {Row} row @param {Card | null} card */
function nextCommand(row, card) {
  const code = row.error?.code ?? "";
  const host = /^host:([^/]+)\//.exec(card?.target ?? "")?.[1];
  if (row.error?.mended_by) return row.error.mended_by;
  if (code === "frozen") return "void thaw";
  if (ABOUT_HOST.includes(code)) return host ? `void hosts check ${host}` : "void doctor";
  return ABOUT_SETUP.includes(code) ? "void doctor" : `void inbox show ${row.code}`;
}

/** The one line. @param {Row} row @param {Card | null} card */
export function resultLine(row, card) {
  const [form, tone] = standing(row);
  return el(
    "p",
    { class: `result ${tone}`, role: "status" },
    shape(form),
    el("span", { class: "wrap" }, resultWords(row, card)),
  );
}

/** What went wrong; the command that mends it stands below, for this Void. @param {Row} row */
function whyOf({ error }) {
  const { message = "", mended_by: command } = error ?? {};
  return command ? message.replace(`; ${command} prints what puts it right`, "") : message;
}

/** @param {Row} row @param {Card | null} card @returns {Content} */
function resultWords(row, card) {
  // Why somebody said no is in their words.
  const why = row.status === "rejected" ? withTimes(whyOf(row)) : said(whyOf(row));
  const took = tookWords(row);
  switch (row.status) {
    case "running":
      return [t("result.running"), " ", time(stepAt(row, "running"))];
    case "executed":
      return executedWords(row, card, took);
    case "failed":
      return why ? t("result.failed", { why }) : t("state.failed");
    case "rejected":
      return isOwner(row.resolved_by)
        ? t(why ? "result.you_no_why" : "result.you_no", { why: lowered(why) })
        : t(why ? "result.no_why" : "result.no", { why: lowered(why), name: person(row.resolved_by ?? "system") });
    case "expired":
      return t(stepAt(row, "approved") ? "result.lapsed" : "result.expired");
    case "cancelled":
      return t(why ? "result.cancelled_why" : "result.cancelled", { why, name: person(row.resolved_by ?? "system") });
    case "unknown":
      return why ? t("result.unknown", { why }) : t("state.unknown");
    case "refused":
      return why ? t("result.refused", { why }) : t("state.refused");
    default:
      return standing(row)[2];
  }
}

/** @param {Row} row @param {Card | null} card @param {string} took */
function executedWords(row, card, took) {
  if (isKept(row)) return t(row.result?.changed === "delete" ? "result.kept_gone" : "result.kept");
  if (row.change) return t(`result.change_${changed(row)}`);
  const check = row.result?.check;
  const what = check ? seenWords(check, card) : "";
  const span = took ? t("result.span", { span: took }) : "";
  if (row.verification === "verified")
    return [what ? t("result.verified", { what }) : t("state.verified"), span].join(" ").trim();
  if (row.verification === "failed")
    return [what ? t("result.check_failed", { what }) : t("state.check_failed"), span].join(" ").trim();
  if (row.verification === "unverified") {
    const reason = check?.reason ?? check?.detail?.reason;
    return check
      ? t("result.unread", { reason: checkReason(reason) || t("state.unconfirmed") })
      : t("result.unverified");
  }
  return t("result.checking");
}

/** Whether it is about what the owner keeps, and so in force with the yes. @param {Row} row */
const isKept = ({ change }) => change?.target === "knowledge";

/** How a change was made. @param {Row} row */
const changed = ({ result }) =>
  result?.file?.endsWith(".proposed") ? "beside" : result?.commit ? "committed" : "written";

/** What puts an applied change in force. @param {Row} row */
function changeCommand(row) {
  const [file, catalogue] = [row.result?.file ?? "", row.result?.catalogue ?? ""];
  const reload = typed("void reload");
  return changed(row) === "beside" ? `mv ${quotedPath(file)} ${quotedPath(catalogue)} && ${reload}` : reload;
}

/** As a shell takes it. @param {string} path */
const quotedPath = (path) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

/** What a check saw, such as "CT 107 is stopped". @param {CheckSeen} check @param {Card | null} card */
function seenWords(check, card) {
  const isRunning = check.status === "running" || check.status === "up";
  if (check.guest !== undefined) {
    const kind = card?.bound.some((one) => ["guest", "kindPath"].includes(one.name) && one.value === "qemu")
      ? "VM"
      : "CT";
    return t(isRunning ? "result.runs" : "result.is_stopped", { name: `${kind} ${check.guest}` });
  }
  return check.service ? t(isRunning ? "result.is_up" : "result.is_down", { name: check.service }) : "";
}

/** As it goes on in a sentence. @param {string} words */
export const lowered = (words) => (/^[A-Z][a-z]/.test(words) ? words[0]?.toLowerCase() + words.slice(1) : words);

/** @param {Row} row @param {string} to */
const stepAt = (row, to) => row.transitions.findLast((step) => step.to === to)?.at;

/** From its start to the end of its check. @param {Row} row */
function tookWords(row) {
  const [from, to] = [stepAt(row, "running"), stepAt(row, "executed")];
  if (!from || !to) return "";
  return exactSpan(Date.parse(to) - Date.parse(from) + (row.result?.check?.after_ms ?? 0));
}

/** Why it failed, first: what the machine said, and what to look at next. @param {Row} row @param {Card | null} card */
export function failureParts(row, card) {
  const { result } = row;
  const exit = result?.exit ?? null;
  const outputs = /** @type {const} */ (["stderr", "stdout"]).filter((name) => (result?.[name] ?? "").trim() !== "");
  const isBad = ["failed", "unknown"].includes(row.status) || row.verification === "failed";
  const parts = [];
  if (outputs.length > 0 || (isBad && exit !== null)) {
    parts.push(
      el(
        "details",
        { class: "more said", open: isBad },
        el("summary", {}, exit !== null ? t("result.machine_exit", { exit }) : t("result.machine")),
        outputs.length === 0
          ? el("p", { class: "muted small" }, t("result.silent"))
          : outputs.map((name) =>
              el(
                "figure",
                { class: "stack tight" },
                el("figcaption", { class: "muted small" }, t(`result.${name}`)),
                el("pre", { class: "log", tabIndex: 0, "aria-label": t(`result.${name}`) }, result?.[name]),
              ),
            ),
      ),
    );
  }
  const { kind, id, changed: did } = result ?? {};
  if (isKept(row) && row.status === "executed" && kind && id && did !== "delete")
    parts.push(
      el(
        "p",
        {},
        el(
          "a",
          { class: "button small", href: hitHref({ kind: /** @type {HitKind} */ (kind), id }) },
          t("result.kept_look"),
        ),
      ),
    );
  if (isBad || (row.change && !isKept(row) && row.status === "executed")) {
    const command = isBad ? typed(nextCommand(row, card)) : changeCommand(row);
    parts.push(
      el(
        "p",
        { class: "next-command row-line" },
        el("span", { class: "muted" }, t("result.next")),
        el("code", { class: "wrap" }, command),
        copyButton(command),
      ),
      row.error?.mended_by ? el("p", { class: "muted small" }, t("result.next_script")) : null,
    );
  }
  return parts;
}

/**
 * Why a yes cannot be given now, in a colour of its own, and the way out; until when is said above.
 * @param {() => void} thaw
 */
export const frozenNote = (thaw) =>
  el(
    "div",
    { class: "notice frozen-note wide", role: "note" },
    shape("paused"),
    el("span", { class: "grow" }, t("card.frozen")),
    el("button", { type: "button", class: "link-button", onclick: thaw }, t("freeze.thaw")),
  );
