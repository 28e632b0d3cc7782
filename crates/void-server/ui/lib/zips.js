// @ts-check
// Zip archives: the files of one that was chosen, and one of files that are to be saved, uncompressed.

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 65_535;
/** What the form of archive that everything reads can hold. */
const FILES_MAX = 65_535;
const BYTES_MAX = 2 ** 32 - 1;
const UTF8 = 0x0800;
/** 1 January 1980: an archive of the same files is the same archive. */
const DAY = 0x21;

/** An archive that cannot be read, or made. */
export class ZipError extends Error {}

/** @typedef {{path: string, size: number, bytes: () => Promise<Uint8Array<ArrayBuffer>>}} Entry */

/**
 * What an archive holds, unread.
 * @param {Blob} file
 * @returns {Promise<Entry[]>}
 */
export async function entriesOf(file) {
  const tailAt = Math.max(0, file.size - END_BYTES - COMMENT_BYTES_MAX);
  const tail = new DataView(await file.slice(tailAt).arrayBuffer());
  let end = tail.byteLength - END_BYTES;
  while (end >= 0 && tail.getUint32(end, true) !== END) end -= 1;
  if (end < 0) throw new ZipError("zip.none");
  const [count, size, from] = [
    tail.getUint16(end + 10, true),
    tail.getUint32(end + 12, true),
    tail.getUint32(end + 16, true),
  ];
  if (count === 0xffff || from === 0xffffffff || from + size > file.size) throw new ZipError("zip.unreadable");
  const list = new DataView(await file.slice(from, from + size).arrayBuffer());
  const entries = [];
  for (let at = 0, n = 0; n < count; n += 1) {
    if (at + 46 > list.byteLength || list.getUint32(at, true) !== CENTRAL) throw new ZipError("zip.unreadable");
    const [names, extra, comment] = [28, 30, 32].map((part) => list.getUint16(at + part, true));
    const entry = entryOf(file, list, at, names ?? 0);
    if (entry) entries.push(entry);
    at += 46 + (names ?? 0) + (extra ?? 0) + (comment ?? 0);
  }
  return entries;
}

/** @param {Blob} file @param {DataView} list @param {number} at @param {number} nameBytes @returns {Entry | null} */
function entryOf(file, list, at, nameBytes) {
  if (at + 46 + nameBytes > list.byteLength) throw new ZipError("zip.unreadable");
  const path = new TextDecoder().decode(new Uint8Array(list.buffer, at + 46, nameBytes)).replaceAll("\\", "/");
  const [flags, method] = [list.getUint16(at + 8, true), list.getUint16(at + 10, true)];
  const [packed, size, local] = [20, 24, 42].map((part) => list.getUint32(at + part, true));
  if (path.endsWith("/")) return null;
  const place = { packed: packed ?? 0, size: size ?? 0, local: local ?? 0 };
  return { path, size: place.size, bytes: () => unpacked(file, place, flags, method) };
}

/**
 * @param {Blob} file
 * @param {{packed: number, size: number, local: number}} place
 * @param {number} flags
 * @param {number} method
 */
async function unpacked(file, { packed, size, local }, flags, method) {
  if ((flags & 1) !== 0 || (method !== 0 && method !== 8)) throw new ZipError("zip.unreadable");
  const head = new DataView(await file.slice(local, local + 30).arrayBuffer());
  if (head.byteLength < 30 || head.getUint32(0, true) !== LOCAL) throw new ZipError("zip.unreadable");
  const from = local + 30 + head.getUint16(26, true) + head.getUint16(28, true);
  const data = file.slice(from, from + packed);
  const stream = method === 0 ? data.stream() : data.stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const bytes = new Uint8Array(size);
  let at = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    // It holds more than it says: nobody unpacks what has no end.
    if (at + value.length > size) {
      await reader.cancel();
      throw new ZipError("zip.unreadable");
    }
    bytes.set(value, at);
    at += value.length;
  }
  if (at !== size) throw new ZipError("zip.unreadable");
  return bytes;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let sum = n;
  for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? 0xedb88320 ^ (sum >>> 1) : sum >>> 1;
  return sum;
});

/** @param {Uint8Array} bytes */
function crc(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (TABLE[(sum ^ byte) & 0xff] ?? 0) ^ (sum >>> 8);
  return ~sum >>> 0;
}

/** An archive that is written file by file. */
export class ZipWriter {
  /** @type {BlobPart[]} */
  #parts = [];
  /** @type {Uint8Array<ArrayBuffer>[]} */
  #list = [];
  #at = 0;

  /** @param {string} path @param {Uint8Array<ArrayBuffer>} bytes */
  add(path, bytes) {
    const name = new TextEncoder().encode(path);
    // What both records of a file say of it.
    const said = new DataView(new ArrayBuffer(26));
    [20, UTF8, 0, 0, DAY].forEach((word, n) => said.setUint16(2 * n, word, true));
    [crc(bytes), bytes.length, bytes.length].forEach((word, n) => said.setUint32(10 + 4 * n, word, true));
    said.setUint16(22, name.length, true);
    const of = new Uint8Array(said.buffer);
    const head = joined(four(LOCAL), of, name);
    const listed = joined(four(CENTRAL), Uint8Array.of(20, 0), of, new Uint8Array(10), four(this.#at), name);
    this.#parts.push(head, bytes);
    this.#list.push(listed);
    this.#at += head.length + bytes.length;
    if (this.#list.length > FILES_MAX || this.#at > BYTES_MAX) throw new ZipError("zip.too_large");
  }

  /** @returns {Blob} */
  end() {
    const size = this.#list.reduce((sum, one) => sum + one.length, 0);
    if (this.#at + size > BYTES_MAX) throw new ZipError("zip.too_large");
    const end = new DataView(new ArrayBuffer(END_BYTES));
    end.setUint32(0, END, true);
    end.setUint16(8, this.#list.length, true);
    end.setUint16(10, this.#list.length, true);
    end.setUint32(12, size, true);
    end.setUint32(16, this.#at, true);
    return new Blob([...this.#parts, ...this.#list, end], { type: "application/zip" });
  }
}

/** @param {number} number */
function four(number) {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, number, true);
  return new Uint8Array(view.buffer);
}

/** @param {Uint8Array[]} parts */
function joined(...parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
