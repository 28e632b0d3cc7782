// @ts-check
// A folder of Markdown comes into a space and goes out of it: first what would be done, then it is done in pieces.
// Whatever ends in the middle is ended by the same once more.

import { ApiError, post, sentence } from "../lib/api.js";
import { el, mount, visible } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { sha256 } from "../lib/sha256.js";
import { t } from "../lib/words.js";
import { ZipError, ZipWriter } from "../lib/zips.js";
import { notice } from "../parts/empties.js";
import { factList } from "../parts/facts.js";
import { chosenFiles, isTooLarge, readFolder } from "../knowledge/folders.js";

/** @import { VaultConflict, VaultImportPlan, VaultStep, VaultWrite } from "../types/api.js" */
/** @import { Chosen, Folder } from "../knowledge/folders.js" */

/**
 * A button that waits for what it does, as the other parts of Knowledge have it.
 * @typedef {(word: string, act: () => Promise<unknown>, kind?: string) => HTMLElement} SendButton
 */

const STEPS_MAX = 64;
const PIECE_BYTES_MAX = 4 * 1024 * 1024;
const SHOWN_MAX = 50;
const TRIES_MAX = 30;
const BETWEEN_TRIES_MS = 1000;

/**
 * What the server does when others are at it: it is asked again.
 * @template T
 * @param {() => Promise<T>} ask
 * @returns {Promise<T>}
 */
async function patiently(ask) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "rate_limited" || tries >= TRIES_MAX) throw error;
      await new Promise((done) => setTimeout(done, BETWEEN_TRIES_MS));
    }
  }
}

/** @param {unknown} error */
const words = (error) =>
  error instanceof ZipError
    ? t(/** @type {"zip.none" | "zip.unreadable" | "zip.too_large"} */ (error.message))
    : sentence(error);

/** How far something is, with a way to end it. @param {string} word */
function progress(word) {
  let isStopped = false;
  const bar = /** @type {HTMLProgressElement} */ (el("progress", { class: "kb-progress", "aria-label": word }));
  const told = el("span", { class: "small muted" });
  const stop = el(
    "button",
    {
      type: "button",
      class: "button small",
      onclick: () => {
        isStopped = true;
      },
    },
    t("vault.stop"),
  );
  return {
    node: el(
      "div",
      { class: "stack tight" },
      el("p", { role: "status" }, word),
      el("div", { class: "kb-line" }, bar, told, stop),
    ),
    /** Whether it is to go on. @param {number} done @param {number} all */
    at: (done, all) => {
      bar.max = Math.max(all, 1);
      bar.value = done;
      told.textContent = t("vault.of", { done, all });
      return !isStopped;
    },
  };
}

/**
 * @param {string} space
 * @param {SendButton} sendButton
 * @param {() => unknown} changed
 */
export function vaultImport(space, sendButton, changed) {
  const told = el("div", { class: "stack tight", "aria-live": "polite" });
  /** @param {string} label @param {Record<string, unknown>} more */
  const picker = (label, more) => {
    const input = /** @type {HTMLInputElement} */ (
      el("input", {
        class: "input",
        type: "file",
        multiple: true,
        ...more,
        onchange: () => void look([...(input.files ?? [])]),
      })
    );
    return el("label", { class: "kb-pick" }, el("span", { class: "small" }, label), input);
  };
  const folder = picker(t("vault.choose_folder"), { webkitdirectory: true });
  const files = picker(t("vault.choose_files"), { accept: ".md,.zip,image/*,application/pdf,*/*" });
  /** @param {File[]} picked */
  const look = async (picked) => {
    if (picked.length === 0) return;
    if (!isLive()) return void mount(told, notice("problem", t("kb.not_connected")));
    try {
      const all = await chosenFiles(picked);
      if (isTooLarge(all)) return void mount(told, notice("problem", t("vault.too_many")));
      const reading = progress(t("vault.reading"));
      mount(told, reading.node);
      const found = await readFolder(all, (done) => reading.at(done, all.sources.length));
      if (!found) return void mount(told, notice("info", t("vault.stopped_before")));
      const plan = await patiently(() =>
        post(`/api/spaces/${space}/vault/import-plan`, { files: found.lines, unread: found.unread }),
      );
      mount(told, planCard(space, { all, found, plan: narrowed(plan, all) }, told, sendButton, changed));
    } catch (error) {
      mount(told, notice("problem", words(error)));
    }
    return undefined;
  };
  return el(
    "section",
    { class: "card stack" },
    el("h3", {}, t("vault.import")),
    el("p", { class: "muted" }, t("kb.files_why")),
    el("div", { class: "kb-line" }, folder, files),
    told,
  );
}

/**
 * Of a few files by themselves nothing else is gone, and nothing has moved.
 * @param {VaultImportPlan} plan
 * @param {Chosen} all
 */
const narrowed = (plan, { isWhole }) => (isWhole ? plan : { ...plan, gone: [], rename: [] });

/** @typedef {{all: Chosen, found: Folder, plan: VaultImportPlan}} Review */

/**
 * @param {string} space
 * @param {Review} review
 * @param {HTMLElement} told
 * @param {SendButton} sendButton
 * @param {() => unknown} changed
 */
function planCard(space, { all, found, plan }, told, sendButton, changed) {
  const removing = /** @type {HTMLInputElement} */ (el("input", { type: "checkbox" }));
  const todo = plan.create.length + plan.update.length + plan.rename.length + plan.agree.length;
  const lines = [
    ...plan.create.map(({ path }) => `${t("vault.create")}: ${path}`),
    ...plan.update.map(({ path }) => `${t("vault.update")}: ${path}`),
    ...plan.rename.map(({ from, to }) => `${t("vault.rename")}: ${from} → ${to}`),
    ...plan.gone.map(({ path }) => `${t("vault.gone")}: ${path}`),
  ];
  const run = async () => {
    const steps = small(plan, removing.checked);
    await carryOut(space, steps, { all, found, plan }, told);
    await changed();
  };
  return el(
    "div",
    { class: "stack tight" },
    el("p", { role: "status" }, t("vault.would")),
    factList([
      [t("vault.create"), String(plan.create.length)],
      [t("vault.update"), String(plan.update.length)],
      plan.rename.length > 0 ? [t("vault.rename"), String(plan.rename.length)] : null,
      plan.gone.length > 0 ? [t("vault.gone"), String(plan.gone.length)] : null,
      [t("kb.count.unchanged"), String(plan.unchanged)],
      all.skipped.length > 0 ? [t("vault.skipped"), String(all.skipped.length)] : null,
    ]),
    details(t("vault.each"), lines),
    conflicts(plan.conflicts),
    plan.gone.length > 0 ? el("label", { class: "kb-line" }, removing, t("vault.remove_gone")) : null,
    todo + plan.gone.length > 0
      ? el("p", {}, sendButton(t("vault.do"), run, "primary"))
      : el("p", { class: "muted" }, t("vault.nothing")),
  );
}

/** @param {string} word @param {string[]} lines */
const details = (word, lines) =>
  lines.length === 0
    ? null
    : el(
        "details",
        {},
        el("summary", {}, word),
        el(
          "ul",
          { class: "small" },
          lines.slice(0, SHOWN_MAX).map((line) => el("li", { class: "wrap" }, visible(line))),
        ),
        lines.length > SHOWN_MAX
          ? el("p", { class: "small muted" }, t("vault.more", { n: lines.length - SHOWN_MAX }))
          : null,
      );

/** @param {VaultConflict[]} left */
const conflicts = (left) =>
  left.length === 0
    ? null
    : notice(
        "caution",
        t("vault.left", { n: left.length }),
        details(
          t("vault.why"),
          left.map(({ path, message }) => `${path}: ${message}`),
        ),
      );

/**
 * What has no file to send, in the order in which no path is held twice.
 * @param {VaultImportPlan} plan
 * @param {boolean} isRemoving
 * @returns {VaultStep[]}
 */
const small = (plan, isRemoving) => [
  ...(isRemoving ? plan.gone : []).map(({ path }) => ({ step: /** @type {const} */ ("remove"), path })),
  ...plan.rename.map(({ from, to }) => ({ step: /** @type {const} */ ("move"), path: from, to })),
  ...plan.agree.map(({ path, sha256: hash, kind, id }) => ({
    step: /** @type {const} */ ("agree"),
    path,
    sha256: hash,
    kind,
    id,
  })),
];

/** @param {string} space @param {VaultStep[]} first @param {Review} review @param {HTMLElement} told */
async function carryOut(space, first, { found, plan }, told) {
  const files = [...plan.create, ...plan.update];
  const bar = progress(t("kb.importing"));
  mount(told, bar.node);
  /** @type {Record<string, number>} */
  const done = {};
  /** @type {VaultConflict[]} */
  const left = [];
  const all = first.length + files.length;
  let [sent, isStopped] = [0, false];
  /** @param {VaultStep[]} steps */
  const send = async (steps) => {
    if (steps.length === 0) return;
    const { outcomes } = await patiently(() => post(`/api/spaces/${space}/vault/import`, { steps }));
    for (const { path, outcome, reason, message } of outcomes) {
      if (message) left.push({ path, reason: reason ?? outcome, message });
      else done[outcome] = (done[outcome] ?? 0) + 1;
    }
    sent += steps.length;
    isStopped = !bar.at(sent, all) || isStopped;
  };
  bar.at(0, all);
  /** @type {VaultStep[]} */
  let piece = [];
  let bytes = 0;
  const flush = async () => {
    const steps = piece;
    [piece, bytes] = [[], 0];
    await send(steps);
  };
  try {
    for (let at = 0; at < first.length && !isStopped; at += STEPS_MAX) await send(first.slice(at, at + STEPS_MAX));
    for (const { path } of files) {
      if (isStopped) break;
      const step = await put(found, path);
      if (typeof step === "string") {
        left.push({ path, reason: "unread", message: step });
        continue;
      }
      const size = (step.text ?? step.content ?? "").length;
      if (piece.length >= STEPS_MAX || (piece.length > 0 && bytes + size > PIECE_BYTES_MAX)) await flush();
      piece.push(step);
      bytes += size;
    }
    if (!isStopped) await flush();
    mount(told, report(done, left, isStopped));
  } catch (error) {
    mount(told, notice("problem", words(error), " ", t("vault.goes_on")), report(done, left, true));
  }
}

/** @param {Record<string, number>} done @param {VaultConflict[]} left @param {boolean} isStopped */
const report = (done, left, isStopped) =>
  el(
    "div",
    { class: "stack tight" },
    el("p", { role: "status" }, isStopped ? `${t("vault.stopped")} ${t("vault.goes_on")}` : t("vault.did")),
    factList([
      [t("kb.count.created"), String(done["created"] ?? 0)],
      [t("kb.count.changed"), String(done["updated"] ?? 0)],
      done["moved"] ? [t("vault.rename"), String(done["moved"])] : null,
      done["removed"] ? [t("kb.count.thrown_away"), String(done["removed"])] : null,
    ]),
    conflicts(left),
  );

/**
 * The file as it was when the plan was made, or why not.
 * @param {Folder} found
 * @param {string} path
 * @returns {Promise<VaultStep | string>}
 */
async function put(found, path) {
  const known = found.byPath.get(path);
  if (!known) return t("vault.changed");
  let bytes;
  try {
    bytes = await known.source.bytes();
  } catch {
    return t("vault.changed");
  }
  if ((await sha256(bytes)) !== known.hash) return t("vault.changed");
  const text = plainText(bytes);
  return text === null ? { step: "put", path, content: base64(bytes) } : { step: "put", path, text };
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
function plainText(bytes) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

/** @param {Uint8Array} bytes */
function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

/** @param {string} space @param {string} title @param {SendButton} sendButton */
export function vaultExport(space, title, sendButton) {
  const told = el("div", { class: "stack tight", "aria-live": "polite" });
  const run = async () => {
    if (!isLive()) return void mount(told, notice("problem", t("kb.not_connected")));
    const bar = progress(t("vault.exporting"));
    mount(told, bar.node);
    try {
      const plan = await patiently(() => post(`/api/spaces/${space}/vault/export-plan`, { files: [] }));
      const zip = new ZipWriter();
      const count = await pack(space, plan.write, zip, bar.at);
      if (count === null) return void mount(told, notice("info", t("vault.export_stopped")));
      save(zip.end(), `${visible(title).replaceAll(/[\\/:*?"<>|]/g, "_")}.zip`);
      const more = plan.projects_left_out > 0 ? ` ${t("vault.projects_left_out", { n: plan.projects_left_out })}` : "";
      mount(told, notice("info", `${t("vault.exported", { n: count })}${more}`), conflicts(plan.conflicts));
    } catch (error) {
      mount(told, notice("problem", words(error)));
    }
    return undefined;
  };
  return el(
    "section",
    { class: "card stack" },
    el("h3", {}, t("vault.export")),
    el("p", { class: "muted" }, t("vault.export_why")),
    el("p", {}, sendButton(t("vault.export_do"), run)),
    told,
  );
}

/**
 * @param {string} space
 * @param {VaultWrite[]} all
 * @param {ZipWriter} zip
 * @param {(done: number, all: number) => boolean} at
 */
async function pack(space, all, zip, at) {
  let [next, count] = [0, 0];
  at(0, all.length);
  while (next < all.length) {
    const files = all.slice(next, next + STEPS_MAX).map(({ path, kind, id }) => ({ path, kind, id }));
    const answer = await patiently(() => post(`/api/spaces/${space}/vault/export`, { files }));
    // An answer has as many as fit, and at least one.
    if (answer.files.length === 0) throw new ZipError("zip.unreadable");
    for (const { path, text, content } of answer.files) {
      const bytes = text != null ? new TextEncoder().encode(text) : content != null ? unbase64(content) : null;
      if (!bytes) continue;
      zip.add(path, bytes);
      count += 1;
    }
    next += answer.files.length;
    if (!at(next, all.length)) return null;
  }
  return count;
}

/** @param {string} content */
const unbase64 = (content) => Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const href = URL.createObjectURL(blob);
  el("a", { href, download: name }).click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
