// @ts-check
// One stream of events for the whole page, and in words how it is. Where no stream comes through, the
// page asks instead.

import { get, signedOut } from "./api.js";
import { openSse } from "./sse.js";

/** @import { PageEvent, ProposalEvent, TurnEvent } from "../types/calls.js" */

/**
 * `isFirst`: the page has just been read and the first stream is being opened; nothing can
 * have been missed. `isAsked`: no stream comes through, so
 * what changes is seen at the next question.
 * @typedef {{kind: "live" | "connecting", isFirst?: boolean, isAsked?: boolean} | {kind: "stale", since: string,
 *   isFirst?: boolean, isAsked?: boolean}} Connection
 */
/** @typedef {(event: PageEvent) => void} Listener */

const RETRY_MS = [500, 1000, 2000, 5000];
/** So many failed tries, and so long without a word, are "reconnecting"; then what is shown is called stale. */
const TRIES_CALM = 2;
const CALM_MS = 15_000;
/** Without a stream: how often the page asks, how long it waits for the answer, how often it tries the stream. */
export const ASK_MS = 10_000;
const ASK_WAITS_MS = 5000;
const RETRY_ASKED_MS = 30_000;
/** So long what was just read counts as true while the first stream is being opened. */
const FIRST_MS = 4000;

/** @type {Set<Listener>} */
const listeners = new Set();
/** @type {Set<(connection: Connection) => void>} */
const watchers = new Set();
const NONE = /** @type {Connection} */ ({ kind: "connecting", isFirst: true });
/** @type {Connection} */
let connection = NONE;
/** @type {import("./sse.js").Sse | null} */
let stream = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let askTimer;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let firstTimer;
let isAsking = false;
let lastHeard = Date.now();

/** @param {Listener} listener */
export function onEvent(listener) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Told now, and at every change. @param {(connection: Connection) => void} watcher */
export function onConnection(watcher) {
  watchers.add(watcher);
  watcher(connection);
  return () => void watchers.delete(watcher);
}

/** Whether nothing speaks against what is shown: a page that was read a moment ago does not begin as lost. */
export const isLive = () => connection.kind === "live" || connection.isFirst === true;

/**
 * Tells each; one that fails takes nothing from the others.
 * @template T
 * @param {Iterable<(value: T) => void>} all
 * @param {T} value
 */
export function tellEach(all, value) {
  for (const one of [...all]) {
    try {
      one(value);
    } catch (error) {
      reportError(error);
    }
  }
}

/** @param {PageEvent} event @returns {event is ProposalEvent} */
export const isOfProposal = (event) => event.name.startsWith("proposal.");

/** @param {PageEvent} event @returns {event is TurnEvent} */
export const isOfTurn = (event) => event.name.startsWith("turn.");

/** @param {PageEvent} event */
export const tellEvent = (event) => tellEach(listeners, event);

/** @param {Connection} next */
function change(next) {
  if (next.kind === connection.kind && next.isAsked === connection.isAsked && next.isFirst === connection.isFirst)
    return;
  connection = next;
  tellEach(watchers, next);
}

/** @param {string} after the id of the last event that what is shown already knows of */
export function startLive(after) {
  stopLive();
  lastHeard = Date.now();
  clearTimeout(firstTimer);
  firstTimer = setTimeout(() => {
    if (connection.isFirst) change({ kind: "connecting" });
  }, FIRST_MS);
  stream = openSse({
    request: (lastId) => ({ path: lastId || after ? `/api/events?after=${lastId || after}` : "/api/events" }),
    opened: () => {
      clearTimeout(askTimer);
      change({ kind: "live" });
    },
    // Events that nobody keeps any more were missed: what is shown is read again.
    event: (name, data) =>
      name === "stream.lost" ? location.reload() : tellEvent(/** @type {PageEvent} */ ({ name, data })),
    refused: (status) => {
      if (status === 401) signedOut();
      return status === 401;
    },
    lost,
  });
}

export function stopLive() {
  clearTimeout(askTimer);
  clearTimeout(firstTimer);
  stream?.stop();
  stream = null;
  change(NONE);
}

/** Tries at once, because somebody asked for it. */
export function retryLive() {
  stream?.again();
}

/** @param {number} tries @param {number} heard */
function lost(tries, heard) {
  lastHeard = Math.max(lastHeard, heard);
  const retryMs = RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] ?? 0;
  if (connection.isAsked && navigator.onLine) return RETRY_ASKED_MS;
  if (navigator.onLine && tries < TRIES_CALM && Date.now() - lastHeard < CALM_MS) change({ kind: "connecting" });
  else void ask();
  return retryMs;
}

/** Asks, since nothing tells: the same answer that the page began with. */
async function ask() {
  if (isAsking) return;
  const mine = stream;
  isAsking = true;
  clearTimeout(askTimer);
  const value = navigator.onLine ? await get("/api/home", ASK_WAITS_MS).catch(() => null) : null;
  isAsking = false;
  // It ended, or the stream came back.
  if (stream !== mine || !mine || (isLive() && !connection.isAsked && navigator.onLine)) return;
  if (value) {
    lastHeard = Date.now();
    // The server is back; perhaps its stream is too.
    if (connection.kind === "stale") mine.again();
    change({ kind: "live", isAsked: true });
    tellEvent({ name: "asked", data: value });
  } else change({ kind: "stale", since: new Date(lastHeard).toISOString() });
  askTimer = setTimeout(() => void ask(), value ? ASK_MS : ASK_WAITS_MS);
}
