// @ts-check
// One stream of events for the whole page. It resumes where it was, notices silence, and says in words
// how it is. Read by fetch, not by EventSource, which keeps the heartbeat to itself.

import { signedOut } from "./api.js";

/** `isFirst`: the page has just been read and the first stream is being opened; nothing can have been missed. */
/** @typedef {{kind: "live", isFirst?: boolean} | {kind: "connecting", isFirst?: boolean} | {kind: "stale", since: string, isFirst?: boolean}} Connection */
/** @typedef {(event: {name: string, data: any}) => void} Listener */

/** The server says something at least every 15 s. */
const SILENCE_MS = 35_000;
const RETRY_MS = [500, 1000, 2000, 5000];
/** So many failed tries are "reconnecting"; then what is shown is called stale. */
const TRIES_CALM = 2;
/** So long what was just read counts as true while the first stream is being opened. */
const FIRST_MS = 4000;

/** @type {Set<Listener>} */
const listeners = new Set();
/** @type {Set<(connection: Connection) => void>} */
const watchers = new Set();
/** @type {Connection} */
let connection = { kind: "connecting", isFirst: true };
/** @type {AbortController | null} */
let stream = null;
let lastId = "";
let tries = 0;
let lastHeard = Date.now();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let started = false;

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

/** @param {Connection} next */
function change(next) {
  if (next.kind === connection.kind && !connection.isFirst) return;
  connection = next;
  for (const watcher of watchers) watcher(next);
}

/** @param {number} after the last event that what is shown already knows of */
export function startLive(after) {
  lastId = String(after);
  setTimeout(() => { if (connection.isFirst) change({ kind: "connecting" }); }, FIRST_MS);
  if (!started) {
    started = true;
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible" && (!isLive() || Date.now() - lastHeard > SILENCE_MS)) void listen();
    });
    addEventListener("online", () => void listen());
    addEventListener("offline", () => lost());
  }
  void listen();
}

export function stopLive() {
  clearTimeout(timer);
  stream?.abort();
  stream = null;
}

/** Tries at once, because somebody asked for it. */
export function retryLive() {
  tries = 0;
  void listen();
}

async function listen() {
  stopLive();
  const mine = new AbortController();
  stream = mine;
  const isMine = () => stream === mine;
  try {
    const path = lastId ? `/api/events?after=${lastId}` : "/api/events";
    const response = await fetch(path, { signal: mine.signal, headers: { accept: "text/event-stream" }, cache: "no-store" });
    if (response.status === 401) {
      stopLive();
      signedOut();
      return;
    }
    if (!response.ok || !response.body) throw new Error(String(response.status));
    tries = 0;
    heard(mine);
    change({ kind: "live" });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done || !isMine()) break;
      heard(mine);
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) tell(block);
    }
  } catch {
    // Whatever it was, the way back is the same.
  }
  if (isMine()) lost();
}

/** @param {AbortController} mine */
function heard(mine) {
  lastHeard = Date.now();
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (stream === mine) lost();
  }, SILENCE_MS);
}

/** @param {string} block */
function tell(block) {
  let name = "";
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("id:")) lastId = line.slice(3).trim();
    else if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data += line.slice(5).trim();
  }
  if (!name) return;
  const event = { name, data: data ? JSON.parse(data) : null };
  for (const listener of listeners) listener(event);
}

function lost() {
  stopLive();
  const isCalm = tries < TRIES_CALM && navigator.onLine;
  change(isCalm ? { kind: "connecting" } : { kind: "stale", since: new Date(lastHeard).toISOString() });
  timer = setTimeout(() => void listen(), RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]);
  tries += 1;
}
