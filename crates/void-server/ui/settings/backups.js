// @ts-check
// Backups: checked copies of the database, the newest first.

import { get, post } from "../lib/api.js";
import { typed } from "../lib/commands.js";
import { Resource } from "../lib/data.js";
import { el, keyed, mount } from "../lib/dom.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { notice } from "../parts/empties.js";
import { copyButton, snippet } from "../parts/copying.js";
import { code, part, quiet, sender, showing, source } from "./pieces.js";

/** @import { CopyResponse } from "../types/api.js" */

const UNITS = ["B", "KB", "MB", "GB", "TB"];

/** @param {number} bytes */
function sized(bytes) {
  const step = Math.min(UNITS.length - 1, bytes > 0 ? Math.floor(Math.log10(bytes) / 3) : 0);
  const value = bytes / 1000 ** step;
  return `${value >= 10 || step === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[step]}`;
}

/** @returns {import("./pieces.js").Section} */
export function backupsSection() {
  const backups = new Resource(() => get("/api/backups"));
  const place = el("div", { class: "stack tight" });
  const list = el("ul", { class: "list" });
  const told = el("div", { class: "told", "aria-live": "polite" });
  const off = showing(backups, place, (value) => {
    if (list.parentNode !== place) mount(place, list);
    const newest = [...value.backups].sort((one, other) => other.made_at.localeCompare(one.made_at));
    if (newest.length === 0) mount(list, el("li", {}, quiet(t("backups.none"))));
    else keyed(list, newest, (copy) => copy.file, backupRow);
  });
  const make = async () => {
    const made = await post("/api/backups");
    mount(told, notice("info", t("backups.made", { seq: made.audit_seq }), " ", code(made.file)));
    backups.refresh();
  };
  const node = el(
    "div",
    { class: "stack" },
    el("p", {}, sender(t("backups.make"), make, { told, kind: "primary", busy: t("backups.making") })),
    told,
    place,
    part(
      t("backups.restore"),
      t("backups.restore_about"),
      snippet(typed("void backup verify FILE\nvoid backup restore FILE"), t("backups.restore")),
    ),
    source(
      t("backups.source"),
      " ",
      code("backups.enabled"),
      ", ",
      code("backups.folder"),
      " (void.toml). ",
      t("settings.docs", { file: "docs/operations.md" }),
    ),
  );
  return { node, stop: off };
}

/** @param {CopyResponse} copy */
function backupRow(copy) {
  return el(
    "li",
    {},
    el(
      "div",
      { class: "item tall" },
      el(
        "span",
        { class: "grow" },
        el("span", { class: "line wrap mono small" }, copy.file),
        el("span", { class: "muted small line" }, time(copy.made_at), " · ", sized(copy.bytes)),
      ),
      copyButton(copy.file, t("backups.file")),
    ),
  );
}
