// @ts-check
// A stream of server-sent events that keeps itself open: it goes on where it was, notices silence before
// the first byte as well as after it, and tries again. Read by fetch, not by EventSource, which keeps the
// heartbeat to itself.

/** The server says something at once, */
const OPENS_MS = 10_000;
/** and then at least every 15 s. */
const SILENCE_MS = 35_000;
/** What lasted less than this was no success. */
const STEADY_MS = 3000;

/**
 * @typedef {object} SseListener
 * @property {(lastId: string) => {path: string, headers?: Record<string, string>}} request
 * @property {() => void} opened something was heard; headers alone prove nothing, since a proxy may keep the rest
 * @property {(name: string, data: unknown) => void} event
 * @property {(status: number) => boolean} refused whether this answer ends it
 * @property {(tries: number, lastHeard: number) => number} lost says how long to wait, in milliseconds
 *
 * @typedef {{stop: () => void, again: () => void}} Sse
 */

/**
 * @param {SseListener} listener
 * @returns {Sse} already opening
 */
export function openSse(listener) {
  /** @type {AbortController | null} */
  let stream = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let lastId = "";
  let lastHeard = Date.now();
  /** 0: nothing was heard of this stream yet. */
  let openedAt = 0;
  let tries = 0;
  let isOver = false;

  const close = () => {
    clearTimeout(timer);
    stream?.abort();
    stream = null;
  };
  const lose = () => {
    close();
    if (openedAt > 0 && Date.now() - openedAt > STEADY_MS) tries = 0;
    openedAt = 0;
    const waitMs = listener.lost(tries, lastHeard);
    tries += 1;
    if (!isOver) timer = setTimeout(() => void listen(), waitMs);
  };
  /** @param {AbortController} mine @param {number} ms */
  const expect = (mine, ms) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (stream === mine) lose();
    }, ms);
  };
  /** @param {string} block */
  const tell = (block) => {
    let name = "";
    let data = "";
    for (const line of block.split("\n")) {
      if (line.startsWith("id:")) lastId = line.slice(3).trim();
      else if (line.startsWith("event:")) name = line.slice(6).trim();
      else if (line.startsWith("data:")) data += line.slice(5).trim();
    }
    if (!name) return;
    try {
      listener.event(name, data ? JSON.parse(data) : null);
    } catch (error) {
      reportError(error);
    }
  };
  const listen = async () => {
    close();
    if (isOver) return;
    const mine = new AbortController();
    stream = mine;
    openedAt = 0;
    expect(mine, OPENS_MS);
    try {
      const { path, headers } = listener.request(lastId);
      const response = await fetch(path, {
        signal: mine.signal,
        headers: { accept: "text/event-stream", ...headers },
        cache: "no-store",
      });
      if (stream !== mine) return;
      if (!response.ok && listener.refused(response.status)) return stop();
      if (!response.ok || !response.body) throw new Error(String(response.status));
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done || stream !== mine) break;
        lastHeard = Date.now();
        expect(mine, SILENCE_MS);
        if (openedAt === 0) {
          openedAt = lastHeard;
          listener.opened();
        }
        const blocks = (rest + value).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) if (stream === mine) tell(block);
      }
    } catch {
      // Whatever it was, the way back is the same.
    }
    if (stream === mine) lose();
  };
  const again = () => {
    tries = 0;
    void listen();
  };
  const seen = () => {
    if (document.visibilityState === "visible" && (openedAt === 0 || Date.now() - lastHeard > SILENCE_MS))
      void listen();
  };
  const stop = () => {
    isOver = true;
    close();
    document.removeEventListener("visibilitychange", seen);
    removeEventListener("online", again);
    removeEventListener("offline", lose);
  };
  document.addEventListener("visibilitychange", seen);
  addEventListener("online", again);
  addEventListener("offline", lose);
  void listen();
  return { stop, again };
}
