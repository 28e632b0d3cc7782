// @ts-check
// Long lists of which only what is near the eye is in the page. A list comes in chunks; a chunk that is
// far away is an empty box of the height it had, or of a guess, so that the scroll bar tells the truth.

/** A chunk is drawn when it is this near to the visible part. */
const NEAR = "700px 0px";

/**
 * @typedef {object} Windowed
 * @property {(count: number) => void} show how many chunks there are now; those near are drawn again
 * @property {(index: number) => void} redraw draws one chunk again, if it is near
 * @property {(index: number) => HTMLElement | undefined} chunk
 * @property {(index: number) => boolean} isNear
 * @property {() => void} stop
 */

/**
 * @param {HTMLElement} holder the chunks become its last children
 * @param {object} how
 * @param {() => HTMLElement} how.make an empty chunk
 * @param {(chunk: HTMLElement, index: number) => void} how.draw fills a chunk, or fills it anew
 * @param {(chunk: HTMLElement, height: number) => void} how.blank empties it, keeping its height
 * @param {(index: number) => number} how.guess the height in pixels of a chunk that was never drawn
 * @returns {Windowed}
 */
export function windowed(holder, { make, draw, blank, guess }) {
  /** @type {HTMLElement[]} */
  const chunks = [];
  /** @type {Set<HTMLElement>} */
  const near = new Set();
  const drawOne = (/** @type {HTMLElement} */ chunk) => draw(chunk, chunks.indexOf(chunk));
  const observer = new IntersectionObserver(
    (seen) => {
      for (const { target, isIntersecting, boundingClientRect } of seen) {
        const chunk = /** @type {HTMLElement} */ (target);
        if (isIntersecting === near.has(chunk) || !chunk.isConnected) continue;
        if (isIntersecting) {
          near.add(chunk);
          drawOne(chunk);
        } else if (!chunk.contains(document.activeElement)) {
          // What has the focus stays.
          near.delete(chunk);
          if (boundingClientRect.height > 0) blank(chunk, boundingClientRect.height);
        }
      }
    },
    { rootMargin: NEAR },
  );

  /** @param {number} count */
  const show = (count) => {
    for (const chunk of chunks.splice(count)) {
      observer.unobserve(chunk);
      near.delete(chunk);
      chunk.remove();
    }
    /** @type {HTMLElement[]} */
    const added = [];
    while (chunks.length < count) {
      const chunk = make();
      const index = chunks.push(chunk) - 1;
      // The first is drawn at once: a list that begins with a blank frame flickers.
      if (index === 0) near.add(chunk);
      else blank(chunk, guess(index));
      added.push(chunk);
    }
    holder.append(...added);
    for (const chunk of near) drawOne(chunk);
    for (const chunk of added) observer.observe(chunk);
  };
  return {
    show,
    redraw: (index) => {
      const chunk = chunks[index];
      if (chunk && near.has(chunk)) draw(chunk, index);
    },
    chunk: (index) => chunks[index],
    isNear: (index) => {
      const chunk = chunks[index];
      return chunk !== undefined && near.has(chunk);
    },
    stop: () => observer.disconnect(),
  };
}
