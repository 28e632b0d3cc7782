// Waiting on conditions, never on the clock alone.

const LOOK_MS = 20;

/**
 * @template T
 * @param {string} what
 * @param {() => T | Promise<T>} look
 * @param {number} [limitMs]
 * @returns {Promise<NonNullable<T>>} the first answer that is something
 */
export async function until(what, look, limitMs = 10_000) {
  const end = Date.now() + limitMs;
  for (;;) {
    const seen = await look();
    if (seen) return /** @type {NonNullable<T>} */ (seen);
    if (Date.now() > end) throw new Error(`waited ${limitMs} ms in vain: ${what}`);
    await sleep(LOOK_MS);
  }
}

/** @param {number} ms */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
