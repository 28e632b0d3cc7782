// @ts-check
// The cards on Home: what waits for the owner comes first. One that was decided meanwhile, here or elsewhere, is kept
// below until its outcome was there to be seen; one that was decided under one's hand stays there for a moment.

import { el, keyed } from "../lib/dom.js";
import { isRow, keyOf } from "../lib/items.js";
import { proposalCard } from "../parts/cards.js";
import { joinCard } from "../parts/join-card.js";
import { questionCard } from "../parts/questions.js";

/** @import { Item } from "../inbox/filter.js" */
/** @import { Home, Row } from "../types/api.js" */

export const CARDS_MAX = 3;
/** A card that ended in front of somebody stays so long; one whose end was missed, at most so long. */
export const ENDED_STAYS_MS = 60_000;
const DECIDED_STAYS_MS = 15 * 60_000;
/** So long one that was just decided keeps its place: its result is seen, and a second tap meets no other card. */
const AT_HAND_MS = 5000;

/**
 * Where a card is, since when it waits no more, since when it is over, and whether somebody was at it then.
 * @typedef {{at: number, leftAt: number, endedAt: number, wasAtHand: boolean}} Shown
 */

/** @param {() => void} redraw draws Home again */
export function waitingCards(redraw) {
  const node = el("div", { class: "stack" });
  /** @type {Map<string, Shown>} */
  const shown = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let later;
  /** What was last tapped, and when: a card that is decided loses the focus, and shrinks away from the pointer. */
  let tapped = { key: "", at: 0 };
  node.addEventListener(
    "click",
    ({ target }) => {
      const card = [...node.children].find((child) => child.contains(/** @type {Node} */ (target)));
      if (card) tapped = { key: /** @type {HTMLElement} */ (card).dataset.key ?? "", at: Date.now() };
    },
    // Before the button takes itself away.
    { capture: true },
  );
  /**
   * Whether a card that no longer waits is to go.
   * @param {string} key
   * @param {Shown} one
   * @param {Row | undefined} ended
   */
  const isDue = (key, one, ended) => {
    const card = [...node.children].find((child) => /** @type {HTMLElement} */ (child).dataset.key === key);
    if (!card || key.startsWith("join-") || key.startsWith("question-")) return true;
    const isAtHand = card.matches(":hover, :focus-within");
    if (one.leftAt === 0) one.wasAtHand = isAtHand || (tapped.key === key && Date.now() - tapped.at < AT_HAND_MS);
    one.leftAt ||= Date.now();
    if (ended && document.visibilityState === "visible") one.endedAt ||= Date.now();
    if (isAtHand) return false;
    return (one.endedAt > 0 && Date.now() - one.endedAt > ENDED_STAYS_MS) || Date.now() - one.leftAt > DECIDED_STAYS_MS;
  };
  /** What waits, then what does not any more; but what is still at hand where it was. @param {Home} value */
  const listOf = (value) => {
    const waits = new Set(value.inbox.items.map(keyOf));
    /** @type {{key: string, item: Item | null}[]} */
    const list = value.inbox.items.slice(0, CARDS_MAX).map((item) => ({ key: keyOf(item), item }));
    /** @type {typeof list} */
    const below = [];
    let left = Infinity;
    for (const [key, one] of [...shown].sort(([, first], [, second]) => first.at - second.at)) {
      if (waits.has(key)) continue;
      const ended = value.recent.find((row) => row.id === key);
      if (isDue(key, one, ended)) continue;
      const staysMs = one.wasAtHand ? one.leftAt + AT_HAND_MS - Date.now() : 0;
      if (staysMs > 0) list.splice(one.at, 0, { key, item: ended ?? null });
      else below.push({ key, item: ended ?? null });
      if (staysMs > 0) left = Math.min(left, staysMs);
    }
    clearTimeout(later);
    if (left < Infinity) later = setTimeout(redraw, left);
    return { list: [...list, ...below], waits };
  };
  /** @param {Home} value */
  const draw = (value) => {
    const { list, waits } = listOf(value);
    const before = new Map(shown);
    shown.clear();
    for (const [at, { key }] of list.entries()) {
      const fresh = { leftAt: 0, endedAt: 0, wasAtHand: false };
      shown.set(key, waits.has(key) ? { ...fresh, at } : { ...fresh, ...before.get(key), at });
    }
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    keyed(
      node,
      list,
      ({ key }) => key,
      ({ item }) => cardOf(item, value),
    );
    // What is put elsewhere loses it.
    if (focused !== document.activeElement && node.contains(focused)) focused?.focus({ preventScroll: true });
  };
  return {
    node,
    /** @param {string} id */
    has: (id) => shown.has(id),
    draw,
    stop: () => clearTimeout(later),
  };
}

/** @param {Item | null} item @param {Home} value */
function cardOf(item, value) {
  // Without an item its card is there already, and stays as it is.
  if (!item) return el("div");
  const card =
    item.kind === "join"
      ? joinCard(item)
      : item.kind === "question"
        ? questionCard(item)
        : proposalCard(item, {
            isBrief: true,
            isOnHome: true,
            card: value.cards.find((one) => one.row.id === item.id),
          });
  const { update } = card;
  // While it runs, the card itself knows more than this page.
  return Object.assign(card, {
    update: (/** @type {{item: Item | null}} */ next) => {
      if (next.item && isRow(next.item)) update(next.item);
    },
  });
}
