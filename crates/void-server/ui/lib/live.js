// @ts-check
// One stream of events for the whole page. It resumes where it was, and says in words how it is.

/** @typedef {{kind: "live"} | {kind: "connecting"} | {kind: "stale", since: string}} Connection */
/** @typedef {(event: {name: string, data: any}) => void} Listener */

const NAMES = [
  "proposal.created", "proposal.approved", "proposal.started", "proposal.executed", "proposal.verified", "proposal.failed",
  "proposal.rejected", "proposal.refused", "proposal.expired", "proposal.cancelled", "proposal.unknown", "service.changed",
  "freeze.changed", "node.changed", "turn.started", "turn.finished", "turn.failed", "notification.failed",
];
const HEARTBEAT_MS = 20_000;
const RETRY_MS = [500, 1000, 2000, 5000];

/** @type {Set<Listener>} */
const listeners = new Set();
/** @type {Set<(connection: Connection) => void>} */
const watchers = new Set();
/** @type {Connection} */
let connection = { kind: "connecting" };
/** @type {EventSource | null} */
let source = null;
let lastId = "";
let tries = 0;
/** @type {number | undefined} */
let retry;
let lastHeard = Date.now();

/** @param {Listener} listener */
export function onEvent(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** @param {(connection: Connection) => void} watcher */
export function onConnection(watcher) {
  watchers.add(watcher);
  watcher(connection);
  return () => watchers.delete(watcher);
}

export const isLive = () => connection.kind === "live";

/** @param {Connection} next */
function change(next) {
  if (next.kind === connection.kind) return;
  connection = next;
  for (const watcher of watchers) watcher(next);
}

export function start() {
  open();
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible" && !isLive()) open();
  });
  addEventListener("online", open);
  addEventListener("offline", lost);
}

export function stop() {
  clearTimeout(retry);
  source?.close();
  source = null;
}

function open() {
  stop();
  const stream = new EventSource(lastId ? `/api/events?after=${lastId}` : "/api/events");
  source = stream;
  stream.onopen = () => {
    tries = 0;
    lastHeard = Date.now();
    change({ kind: "live" });
  };
  stream.onerror = () => {
    if (source === stream) lost();
  };
  for (const name of NAMES) {
    stream.addEventListener(name, (event) => {
      lastId = event.lastEventId;
      lastHeard = Date.now();
      const data = JSON.parse(event.data);
      for (const listener of listeners) listener({ name, data });
    });
  }
}

function lost() {
  stop();
  change(tries < 2 ? { kind: "connecting" } : { kind: "stale", since: new Date(lastHeard).toISOString() });
  if (tries >= 2 && connection.kind === "connecting") change({ kind: "stale", since: new Date(lastHeard).toISOString() });
  const pause = RETRY_MS[Math.min(tries, RETRY_MS.length - 1)];
  tries += 1;
  retry = setTimeout(open, pause);
}

export { HEARTBEAT_MS };
