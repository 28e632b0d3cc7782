// @ts-check
// A folder of this device as the server hears of it: a hash, a kind and a path for each file. The same as `void kb
// import` tells it; whatever is judged otherwise here is judged again by the server before it is stored.

import { sha256 } from "../lib/sha256.js";
import { entriesOf } from "../lib/zips.js";

const FILE_BYTES_MAX = 20 * 1024 * 1024;
const NOTE_BYTES_MAX = 512 * 1024;
const FILES_MAX = 250_000;
const DEPTH_MAX = 32;
const NAME_BYTES_MAX = 255;
const PATH_BYTES_MAX = 1024;
const HEAD_CHARS_MAX = 16 * 1024;

/** @typedef {{path: string, size: number, bytes: () => Promise<Uint8Array<ArrayBuffer>>}} Source */
/**
 * @typedef {{sources: Source[], skipped: string[], isWhole: boolean}} Chosen What was chosen; a whole one has
 * all that there is.
 */
/** @typedef {{lines: string[], unread: string[], byPath: Map<string, {hash: string, source: Source}>}} Folder */

/** The files of a folder, of an archive, or a few by themselves. @param {File[]} files @returns {Promise<Chosen>} */
export async function chosenFiles(files) {
  const [one] = files;
  if (one && files.length === 1 && /\.zip$/i.test(one.name)) return sorted(await entriesOf(one), true);
  const isFolder = files.some((file) => file.webkitRelativePath.includes("/"));
  const sources = files.map((file) => ({
    // The folder that was chosen has no name of its own here.
    path: isFolder ? file.webkitRelativePath.slice(file.webkitRelativePath.indexOf("/") + 1) : file.name,
    size: file.size,
    bytes: async () => new Uint8Array(await file.arrayBuffer()),
  }));
  return sorted(sources, isFolder);
}

/** @param {Source[]} all @param {boolean} isWhole @returns {Chosen} */
function sorted(all, isWhole) {
  /** @type {Source[]} */
  const sources = [];
  /** @type {string[]} */
  const skipped = [];
  const seen = new Set();
  for (const source of all) {
    const names = source.path.split("/");
    // Settings of other programs, and what a Mac puts into an archive.
    if (names.some((name) => name.startsWith(".")) || names[0] === "__MACOSX") continue;
    if (isPath(source.path, names) && source.size <= FILE_BYTES_MAX && !seen.has(source.path)) {
      seen.add(source.path);
      sources.push(source);
    } else skipped.push(source.path.replaceAll("\0", "\ufffd"));
  }
  // The order of their bytes, as everywhere.
  sources.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { sources, skipped, isWhole };
}

/** @param {string} path @param {string[]} names */
function isPath(path, names) {
  const bytes = (/** @type {string} */ text) => new TextEncoder().encode(text).length;
  const isName = (/** @type {string} */ name) => name !== "" && !name.includes("\0") && bytes(name) <= NAME_BYTES_MAX;
  return names.length <= DEPTH_MAX && bytes(path) <= PATH_BYTES_MAX && names.every(isName);
}

/** Whether a folder has more than one request may tell. @param {Chosen} all */
export const isTooLarge = ({ sources, skipped }) => sources.length + skipped.length > FILES_MAX;

/**
 * Reads every file once.
 * @param {Chosen} all
 * @param {(done: number) => boolean} goesOn
 * @returns {Promise<Folder | null>} null: it was stopped
 */
export async function readFolder({ sources, skipped }, goesOn) {
  /** @type {Folder} */
  const folder = { lines: [], unread: [...skipped], byPath: new Map() };
  for (const [n, source] of sources.entries()) {
    try {
      const bytes = await source.bytes();
      const hash = await sha256(bytes);
      folder.lines.push(`${hash} ${noteKind(source.path, bytes)} ${source.path}`);
      folder.byPath.set(source.path, { hash, source });
    } catch {
      // Nothing is taken for gone that is there and cannot be read.
      folder.unread.push(source.path);
    }
    if (!goesOn(n + 1)) return null;
  }
  return folder;
}

/** @param {string} path @param {Uint8Array<ArrayBuffer>} bytes */
export function noteKind(path, bytes) {
  const text = /[^/]\.md$/i.test(path) ? noteText(bytes) : null;
  if (text === null) return "attachment";
  const fields = headOf(text);
  const kind = fields.get("kind");
  if (kind === "task") return /^(open|done|dropped)$/.test(fields.get("status") ?? "open") ? "task" : "page";
  if (kind === "ref") return /^https?:\/\/[^/?#@\s]+([/?#]\S*)?$/.test(fields.get("url") ?? "") ? "ref" : "page";
  return "page";
}

/** @param {Uint8Array<ArrayBuffer>} bytes @returns {string | null} */
function noteText(bytes) {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes).replaceAll("\r\n", "\n");
    const isLong = new TextEncoder().encode(text).length > NOTE_BYTES_MAX;
    return isLong || text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

/** What stands at the head of a note, by name; values of one word are all that matters here. @param {string} text */
function headOf(text) {
  const [, head = ""] = /^---[ \t]*\n([^]*?)\n---[ \t]*(?:\n|$)/.exec(text.slice(0, HEAD_CHARS_MAX)) ?? [];
  /** @type {Map<string, string>} */
  const fields = new Map();
  for (const line of head.split("\n")) {
    const [, key, value] = /^["']?(kind|status|url)["']?[ \t]*:[ \t]+(.*)$/i.exec(line) ?? [];
    if (!key || value === undefined) continue;
    const [, double, single, bare = ""] = /^(?:"([^"]*)"|'([^']*)'|(.*?))(?:[ \t]+#.*)?$/.exec(value.trim()) ?? [];
    const word = (double ?? single ?? bare).trim();
    fields.set(key.toLowerCase(), key.toLowerCase() === "url" ? word : word.toLowerCase());
  }
  return fields;
}
