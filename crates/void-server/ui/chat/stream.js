// @ts-check
// One turn as it is written. It goes on where it was after a loss, a sleep or a hidden tab, until the
// server says that the turn is over. Listening changes nothing.

import { signedOut } from "../lib/api.js";

/** The server says something at least every 15 s. */
const SILENCE_MS = 35_000;
const RETRY_MS = [300, 1000, 2000, 5000];

/**
 * @typedef {{tool: (step: {tool: string, args_summary: string, status: string}) => void, delta: (text: string) => void,
 *   end: () => void, lost: (isLost: boolean) => void}} TurnListener
 */

/**
 * @param {string} conversationId
 * @param {string} messageId
 * @param {TurnListener} listener
 * @returns {() => void} stops listening
 */
export function listenToTurn(conversationId, messageId, listener) {
  const path = `/api/conversations/${conversationId}/stream?messageId=${encodeURIComponent(messageId)}`;
  /** @type {AbortController | null} */
  let stream = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let lastId = "";
  let lastHeard = Date.now();
  let tries = 0;
  let isOver = false;

  const close = () => {
    clearTimeout(timer);
    stream?.abort();
    stream = null;
  };
  const finish = () => {
    if (isOver) return;
    isOver = true;
    close();
    document.removeEventListener("visibilitychange", look);
    removeEventListener("online", again);
  };
  const lost = () => {
    close();
    listener.lost(true);
    timer = setTimeout(() => void listen(), RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]);
    tries += 1;
  };
  /** @param {AbortController} mine */
  const heard = (mine) => {
    lastHeard = Date.now();
    clearTimeout(timer);
    timer = setTimeout(() => { if (stream === mine) lost(); }, SILENCE_MS);
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
    const value = data ? JSON.parse(data) : null;
    if (name === "tool") listener.tool(value);
    else if (name === "delta") listener.delta(value.text);
    else if (name === "done" || name === "error") {
      finish();
      listener.end();
    }
  };
  const listen = async () => {
    close();
    if (isOver) return;
    const mine = new AbortController();
    stream = mine;
    try {
      const response = await fetch(path, { signal: mine.signal, headers: { accept: "text/event-stream", ...(lastId ? { "last-event-id": lastId } : {}) }, cache: "no-store" });
      if (response.status === 401) {
        finish();
        signedOut();
        return;
      }
      // It is not there, or it is nothing to listen to: what is stored tells the rest.
      if (response.status >= 400 && response.status < 500) {
        finish();
        listener.end();
        return;
      }
      if (!response.ok || !response.body) throw new Error(String(response.status));
      tries = 0;
      heard(mine);
      listener.lost(false);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done || stream !== mine) break;
        heard(mine);
        const blocks = (rest + value).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) if (!isOver) tell(block);
      }
    } catch {
      // Whatever it was, the way back is the same.
    }
    if (!isOver && stream === mine) lost();
  };
  const again = () => void listen();
  const look = () => {
    if (document.visibilityState === "visible" && (!stream || Date.now() - lastHeard > SILENCE_MS)) void listen();
  };
  document.addEventListener("visibilitychange", look);
  addEventListener("online", again);
  void listen();
  return finish;
}
