// @ts-check
// One turn as it is written, until the server says that the turn is over. Listening changes nothing.

import { signedOut } from "../lib/api.js";
import { openSse } from "../lib/sse.js";

/** @import { TurnEvents } from "../types/api.js" */

const RETRY_MS = [300, 1000, 2000, 5000];

/**
 * @typedef {{tool: (step: TurnEvents["tool"]) => void, delta: (text: string) => void,
 *   draft: (draft: TurnEvents["draft"]) => void, blocks: (change: TurnEvents["block"]) => void, end: () => void,
 *   lost: (isLost: boolean) => void}} TurnListener
 */

/**
 * @param {string} conversationId
 * @param {string} messageId
 * @param {TurnListener} listener
 * @returns {() => void} stops listening
 */
export function listenToTurn(conversationId, messageId, listener) {
  const path = `/api/conversations/${conversationId}/stream?messageId=${encodeURIComponent(messageId)}&blocks=true`;
  const stream = openSse({
    request: (lastId) => (lastId ? { path, headers: { "last-event-id": lastId } } : { path }),
    opened: () => listener.lost(false),
    event: (name, value) => {
      if (name === "tool") listener.tool(/** @type {TurnEvents["tool"]} */ (value));
      else if (name === "delta") listener.delta(/** @type {TurnEvents["delta"]} */ (value).text);
      else if (name === "draft") listener.draft(/** @type {TurnEvents["draft"]} */ (value));
      else if (name === "block") listener.blocks(/** @type {TurnEvents["block"]} */ (value));
      else if (name === "done" || name === "error") {
        stream.stop();
        listener.end();
      }
    },
    refused: (status) => {
      if (status < 400 || status >= 500) return false;
      stream.stop();
      // It is not there, or it is nothing to listen to: what is stored tells the rest.
      if (status === 401) signedOut();
      else listener.end();
      return true;
    },
    lost: (tries) => {
      listener.lost(true);
      return RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] ?? 0;
    },
  });
  return stream.stop;
}
