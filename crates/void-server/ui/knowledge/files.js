// @ts-check
// What comes into a space and goes out of it: its files, an export of Karakeep, and a folder of Markdown, here or by
// the commands that do it where Void runs.

import { del, get, post, postFile, sendFile, sentence } from "../lib/api.js";
import { el, keyed, mount, visible } from "../lib/dom.js";
import { typed } from "../lib/commands.js";
import { isLive } from "../lib/live.js";
import { time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { snippet } from "../parts/copying.js";
import { cannotTell, loading, notice } from "../parts/empties.js";
import { factList } from "../parts/facts.js";
import { toast } from "../parts/toasts.js";
import { tellSubject } from "../shell/subjects.js";
import { hrefOf, listOf, spaceHref, spaceList } from "./data.js";
import { listing } from "./listing.js";
import { itemRow, notThere, sendButton, spaceBar, wayBack } from "./pieces.js";

/** @import { Attachment, KarakeepImportResponse } from "../types/api.js" */

const ROWS = 50;
const FILE_BYTES_MAX = 20 * 1024 * 1024;
/** What the server makes a ref of; everything else is kept as a file. */
const READABLE = /\.(pdf|html?|txt|md)$/i;

/** @param {number} bytes */
export const sizeWords = (bytes) =>
  bytes < 1024
    ? t("kb.bytes", { n: bytes })
    : bytes < 1024 * 1024
      ? t("kb.kilobytes", { n: Math.round(bytes / 1024) })
      : t("kb.megabytes", { n: (bytes / 1024 / 1024).toFixed(1) });

/** The bytes, to be saved. @param {string} id */
const contentHref = (id) => `/api/attachments/${encodeURIComponent(id)}/content`;

/** @param {string} space */
export function filesPage(space) {
  const source = listOf(async (cursor) => {
    const { attachments, next } = await get(`/api/spaces/${space}/attachments?limit=${ROWS}${cursor}`);
    return { items: attachments, next };
  });
  return listing({
    source,
    list: el("ul", { class: "list" }),
    around: (list, foot) => [
      spaceBar(space, ""),
      el("h2", {}, t("kb.files")),
      el(
        "section",
        { class: "card stack" },
        el("h3", {}, t("kb.attachments")),
        el("p", { class: "muted" }, t("kb.attachments_why")),
        keeping(space, () => source.read()),
        list,
        foot,
      ),
      karakeep(space),
      folders(space, () => source.read()),
      commands(t("kb.vault"), t("kb.files_how"), [
        [t("kb.import_dry"), `void kb import FOLDER --space ${space} --dry-run`],
        [t("kb.import_do"), `void kb import FOLDER --space ${space}`],
        [t("kb.export_do"), `void kb export FOLDER --space ${space}`],
      ]),
    ],
    rows: (items, list) =>
      keyed(
        list,
        items,
        ({ id }) => id,
        (file) => fileRow(file, () => source.read()),
      ),
    none: () => el("p", { class: "muted" }, t("kb.no_attachments")),
  });
}

/** @param {Attachment} file @param {() => unknown} changed */
const fileRow = (file, changed) =>
  itemRow(
    el("a", { class: "title wrap", href: `#/knowledge/attachments/${file.id}` }, file.name),
    [sizeWords(file.size_bytes), " · ", time(file.created_at)],
    el("a", { class: "button small", href: contentHref(file.id), download: visible(file.name) }, t("kb.save_file")),
    sendButton(
      t("kb.throw_away"),
      async () => {
        await del(`/api/attachments/${file.id}`);
        toast(t("kb.thrown_away", { title: visible(file.name) }), {
          label: t("kb.undo"),
          onclick: () =>
            void post(`/api/attachments/${file.id}/undelete`).then(changed, (error) =>
              toast(sentence(error), { isProblem: true }),
            ),
        });
        await changed();
      },
      "small",
    ),
  );

/**
 * A file of this device, as it is or as a ref whose text can be found.
 * @param {string} space
 * @param {() => unknown} changed
 */
function keeping(space, changed) {
  const told = el("div", { "aria-live": "polite" });
  const file = /** @type {HTMLInputElement} */ (
    el("input", { class: "input", type: "file", "aria-label": t("kb.choose_file") })
  );
  const chosen = () => {
    const [one] = file.files ?? [];
    const problem = !one ? t("kb.choose_file") : one.size > FILE_BYTES_MAX ? t("kb.file_too_large") : "";
    mount(told, problem ? notice("caution", problem) : null);
    return problem ? null : (one ?? null);
  };
  /** @param {(one: File) => Promise<unknown>} act */
  const send = async (act) => {
    const one = chosen();
    if (!one) return;
    await act(one);
    file.value = "";
    await changed();
  };
  const asFile = sendButton(t("kb.keep_file"), () =>
    send((one) => postFile(`/api/spaces/${space}/attachments?name=${encodeURIComponent(one.name)}`, one)),
  );
  const asRef = sendButton(t("kb.keep_as_ref"), () =>
    send(async (one) => {
      if (!READABLE.test(one.name)) return void mount(told, notice("caution", t("kb.not_readable")));
      const kept = await postFile(`/api/spaces/${space}/refs/file?name=${encodeURIComponent(one.name)}`, one);
      toast(t("kb.ref_kept", { title: visible(kept.title) }), { href: hrefOf("ref", kept.id), label: t("kb.look") });
      return undefined;
    }),
  );
  return el("div", { class: "stack tight" }, el("div", { class: "kb-line" }, file, asFile, asRef), told);
}

/** What few come for is loaded when they are here. @param {string} space @param {() => unknown} changed */
function folders(space, changed) {
  const node = el("div", { class: "stack" }, loading());
  const load = async () => {
    try {
      const { vaultExport, vaultImport } = await import("../pages/vaults.js");
      const known = spaceList.value?.spaces.find(({ id }) => id === space);
      mount(node, vaultImport(space, sendButton, changed), vaultExport(space, known?.title ?? space, sendButton));
    } catch (error) {
      mount(
        node,
        cannotTell(error, () => void load()),
      );
    }
  };
  void load();
  return node;
}

/** @param {string} space */
function karakeep(space) {
  const told = el("div", { "aria-live": "polite" });
  const file = /** @type {HTMLInputElement} */ (
    el("input", { class: "input", type: "file", accept: ".json,.zip", "aria-label": t("kb.karakeep_file") })
  );
  /** @param {boolean} isDry */
  const run = async (isDry) => {
    const [one] = file.files ?? [];
    if (!one) return void mount(told, notice("caution", t("kb.choose_file")));
    if (!isLive()) return void mount(told, notice("problem", t("kb.not_connected")));
    const bar = /** @type {HTMLProgressElement} */ (
      el("progress", { class: "kb-progress", "aria-label": t("kb.sending"), max: 1, value: 0 })
    );
    const word = el("p", { class: "muted", role: "status" }, t("kb.sending"));
    mount(told, word, bar);
    try {
      const dry = await sendFile(`/api/spaces/${space}/import/karakeep?dry_run=true`, one, (part) => {
        bar.value = part;
      });
      if (isDry) return void mount(told, karakeepWords(dry));
      word.textContent = t("kb.importing");
      const stop = await countsUp(space, bar, dry.created);
      try {
        mount(told, karakeepWords(await postFile(`/api/spaces/${space}/import/karakeep?dry_run=false`, one)));
      } finally {
        stop();
      }
    } catch (error) {
      mount(told, notice("problem", sentence(error)));
    }
    return undefined;
  };
  return el(
    "section",
    { class: "card stack" },
    el("h3", {}, t("kb.karakeep")),
    el("p", { class: "muted" }, t("kb.karakeep_why")),
    el(
      "div",
      { class: "kb-line" },
      file,
      sendButton(t("kb.karakeep_dry"), () => run(true)),
      sendButton(t("kb.karakeep_do"), () => run(false), "primary"),
    ),
    told,
  );
}

/** So often the space is asked how much of it has come. */
const LOOKS_MS = 500;

/**
 * How many of the new ones are there while the server writes them, some at a time.
 * @param {string} space
 * @param {HTMLProgressElement} bar
 * @param {number} all
 */
async function countsUp(space, bar, all) {
  const count = async () => {
    const { ref_count: refs, page_count: pages } = await get(`/api/spaces/${space}`);
    return refs + pages;
  };
  const first = await count();
  bar.max = Math.max(all, 1);
  bar.value = 0;
  const timer = setInterval(async () => {
    try {
      bar.value = (await count()) - first;
    } catch {
      // How it ends is told by the import itself.
    }
  }, LOOKS_MS);
  return () => clearInterval(timer);
}

/** @param {KarakeepImportResponse} report */
const karakeepWords = (report) =>
  notice(
    "info",
    el("p", {}, t(report.dry_run ? "kb.karakeep_would" : "kb.karakeep_did")),
    factList([
      [t("kb.count.created"), String(report.created)],
      [t("kb.count.changed"), String(report.changed)],
      [t("kb.count.unchanged"), String(report.unchanged)],
      report.kept > 0 ? [t("kb.count.kept"), String(report.kept)] : null,
      report.thrown_away > 0 ? [t("kb.count.thrown_away"), String(report.thrown_away)] : null,
      report.repeated > 0 ? [t("kb.count.repeated"), String(report.repeated)] : null,
      report.left_out > 0 ? [t("kb.count.left_out"), String(report.left_out)] : null,
    ]),
    report.cut ? el("p", {}, t("kb.count.cut")) : null,
  );

/** @param {string} title @param {string} why @param {[string, string][]} all */
const commands = (title, why, all) =>
  el(
    "section",
    { class: "card stack" },
    el("h3", {}, title),
    el("p", { class: "muted" }, why),
    all.map(([what, command]) =>
      el("div", { class: "stack tight" }, el("p", { class: "small" }, what), snippet(typed(command), what)),
    ),
  );

/** One file: what is known of it, and the way to save it. @param {string} id */
export function filePage(id) {
  const node = el("div", { class: "stack kb" }, loading());
  let isOver = false;
  const read = async () => {
    mount(node, loading());
    try {
      const file = await get(`/api/attachments/${id}`);
      if (isOver) return;
      tellSubject(file.name, file.space_id);
      mount(node, ...fileParts(file));
    } catch (error) {
      mount(
        node,
        notThere(error, () => void read()),
      );
    }
  };
  void read();
  return {
    node,
    title: t("nav.knowledge"),
    stop: () => {
      isOver = true;
    },
  };
}

/** @param {Attachment} file */
const fileParts = (file) => [
  wayBack([[spaceHref(file.space_id, "files"), t("kb.files")]]),
  el(
    "section",
    { class: "card stack" },
    el("h2", { class: "wrap" }, file.name),
    factList([
      [t("kb.fact.size"), sizeWords(file.size_bytes)],
      [t("kb.fact.type"), el("code", { class: "wrap" }, file.media_type)],
      file.path ? [t("kb.fact.path"), el("code", { class: "wrap" }, file.path)] : null,
      [t("kb.fact.made"), time(file.created_at)],
      file.ref_id ? [t("kb.kind.ref"), el("a", { href: hrefOf("ref", file.ref_id) }, t("kb.fact.of_ref"))] : null,
      [t("kb.fact.hash"), el("code", { class: "wrap" }, file.sha256)],
    ]),
    el(
      "p",
      {},
      el("a", { class: "button primary", href: contentHref(file.id), download: visible(file.name) }, t("kb.save_file")),
    ),
    el("p", { class: "muted small" }, t("kb.file_why")),
  ),
];
