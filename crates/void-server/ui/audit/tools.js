// @ts-check
// Beside reading: is the chain whole, and taking the record along.

import { get, sentence } from "../lib/api.js";
import { said, typed } from "../lib/commands.js";
import { el, mount } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { notice } from "../parts/empties.js";
import { pill } from "../parts/states.js";
import { toast } from "../parts/toasts.js";
import { entryWords, whoWords } from "./words.js";

/** @import { AuditVerdict } from "../types/api.js" */

const HASH_SHOWN = 12;
const EDITED_SHOWN = 10;

/**
 * @param {() => import("./words.js").Entry[]} shown what is loaded just now
 */
export function auditTools(shown) {
  const told = el("div", { class: "verified", "aria-live": "polite" });
  const state = el("p", { class: "grow muted" });
  const check = /** @type {HTMLButtonElement} */ (
    el("button", { type: "button", class: "button small", onclick: () => void verify() }, t("audit.verify"))
  );
  const verify = async () => {
    if (!isLive()) return mount(told, notice("caution", t("audit.verify_offline")));
    check.disabled = true;
    check.textContent = t("audit.verifying");
    try {
      mount(told, ...verdict(await get("/api/audit-verify")));
    } catch (error) {
      mount(told, notice("problem", sentence(error), " ", hint()));
    }
    check.disabled = false;
    check.textContent = t("audit.verify");
    return undefined;
  };
  const csv = () => {
    const entries = shown();
    save("void-audit.csv", toCsv(entries));
    toast(t("audit.saved", { n: entries.length }));
  };
  const node = el(
    "section",
    { class: "card audit-tools", "aria-label": t("audit.tools") },
    el(
      "div",
      { class: "row-line" },
      state,
      el(
        "div",
        { class: "row-line" },
        check,
        el("a", { class: "button small", href: "/api/audit-export", download: "void-audit.ndjson" }, t("audit.export")),
        el(
          "button",
          { type: "button", class: "button small", title: t("audit.csv_what"), onclick: csv },
          t("audit.csv"),
        ),
      ),
    ),
    told,
  );
  return {
    node,
    /** @param {{seq: number, hash: string} | null} head @param {string | undefined} at */
    update: (head, at) =>
      mount(state, head ? t("audit.head", { n: head.seq }) : "", at ? [" ", t("audit.last"), " ", time(at), "."] : ""),
  };
}

const hint = () => el("span", { class: "small" }, t("audit.hint"), " ", el("code", {}, typed("void audit verify")));

/** @param {AuditVerdict} answer */
function verdict(answer) {
  const { head } = answer;
  const edited =
    answer.mismatches_total > 0
      ? [
          notice(
            "problem",
            el("p", {}, el("strong", {}, t("audit.edited", { n: answer.mismatches_total }))),
            el(
              "ul",
              { class: "small" },
              ...answer.mismatches
                .slice(0, EDITED_SHOWN)
                .map((row) => el("li", {}, el("code", {}, `${row.table} ${row.id}`), " ", said(row.message))),
            ),
            el("p", { class: "small" }, hint()),
          ),
        ]
      : [];
  if (answer.intact) {
    return [
      ...edited,
      el(
        "div",
        { class: "row-line" },
        pill("done", "ok", t("audit.intact")),
        el(
          "span",
          {},
          t("audit.checked", { n: answer.checked, seq: head.seq }),
          " ",
          el("code", { title: head.hash }, head.hash.slice(0, HASH_SHOWN)),
          " · ",
          time(answer.at),
        ),
      ),
      el("p", { class: "muted small" }, t("audit.outside"), " ", hint()),
    ];
  }
  const { seq, message } = answer.problem ?? {};
  return [
    ...edited,
    notice(
      "problem",
      el("p", {}, el("strong", {}, t("audit.broken"))),
      el("p", {}, seq ? el("a", { href: `#/audit/${seq}` }, t("audit.broken_at", { seq })) : null, " ", message ?? ""),
      el("p", { class: "small" }, t("audit.checked_until", { n: answer.checked }), " ", hint()),
    ),
  ];
}

/** A cell that no spreadsheet takes for a formula. @param {unknown} value */
function cell(value) {
  const text = String(value ?? "");
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${plain.replaceAll('"', '""')}"`;
}

/** @param {import("./words.js").Entry[]} entries */
function toCsv(entries) {
  const rows = entries.map((entry) => [
    entry.seq,
    entry.at,
    entry.actor,
    whoWords(entry.actor),
    entry.verb,
    entryWords(entry),
    entry.subject,
    entry.detail.tier,
    JSON.stringify(entry.detail),
    entry.hash ?? "",
  ]);
  return [["seq", "at", "actor", "who", "verb", "words", "subject", "tier", "detail", "hash"], ...rows]
    .map((row) => row.map(cell).join(","))
    .join("\r\n");
}

/** @param {string} name @param {string} text */
function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const anchor = /** @type {HTMLAnchorElement} */ (el("a", { download: name }));
  anchor.href = url;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
