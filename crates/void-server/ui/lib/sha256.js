// @ts-check
// SHA-256 of a file. Browsers keep their own for pages that came encrypted; without that it is computed here.

const K = primes(64).map((prime) => fraction(Math.cbrt(prime)));
const BEGIN = primes(8).map((prime) => fraction(Math.sqrt(prime)));

/** The first so many primes. @param {number} count */
function primes(count) {
  /** @type {number[]} */
  const found = [];
  for (let n = 2; found.length < count; n += 1) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
}

/** 32 bits of what stands behind the point. @param {number} number */
function fraction(number) {
  return ((number - Math.floor(number)) * 2 ** 32) >>> 0;
}

/** @param {number} word @param {number} by */
const turned = (word, by) => (word >>> by) | (word << (32 - by));

/** @param {Uint8Array<ArrayBuffer>} bytes @returns {string} */
export function computed(bytes) {
  const blocks = Math.ceil((bytes.length + 9) / 64);
  const padded = new Uint8Array(blocks * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0);
  const state = Uint32Array.from(BEGIN);
  const words = new Uint32Array(64);
  for (let at = 0; at < padded.length; at += 64) mix(state, words, view, at);
  return hex(new Uint8Array(state.map(swapped).buffer));
}

/** @param {number} word */
const swapped = (word) => ((word >>> 24) | ((word >>> 8) & 0xff00) | ((word << 8) & 0xff0000) | (word << 24)) >>> 0;

/** @param {Uint32Array} state @param {Uint32Array} words @param {DataView} view @param {number} at */
function mix(state, words, view, at) {
  /** @param {number} n */
  const word = (n) => words[n] ?? 0;
  for (let n = 0; n < 16; n += 1) words[n] = view.getUint32(at + 4 * n);
  for (let n = 16; n < 64; n += 1) {
    const [two, fifteen] = [word(n - 2), word(n - 15)];
    const low = turned(fifteen, 7) ^ turned(fifteen, 18) ^ (fifteen >>> 3);
    const high = turned(two, 17) ^ turned(two, 19) ^ (two >>> 10);
    words[n] = word(n - 16) + low + word(n - 7) + high;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let n = 0; n < 64; n += 1) {
    const chosen = (e & f) ^ (~e & g);
    const one = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + chosen + (K[n] ?? 0) + word(n);
    const most = (a & b) ^ (a & c) ^ (b & c);
    const two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + most;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((more, n) => {
    state[n] = (state[n] ?? 0) + more;
  });
}

/** @param {Uint8Array} bytes */
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @param {Uint8Array<ArrayBuffer>} bytes @returns {Promise<string>} */
export async function sha256(bytes) {
  if (!globalThis.crypto?.subtle) return computed(bytes);
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}
