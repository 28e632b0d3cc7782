// @ts-check
// The server, as this page calls it. Every error has a code, a sentence and often a way out.

import { withTimes } from "./time.js";
import { t } from "./words.js";

/** What the server, or the way to it, had against a call. */
export class ApiError extends Error {
  /** @param {number} status @param {{code?: string, message?: string, hint?: string, row?: any, fields?: any}} told */
  constructor(status, told) {
    super(told.message ?? t("error.no_reason"));
    this.status = status;
    this.code = told.code ?? "unknown";
    this.hint = told.hint;
    this.row = told.row;
    this.fields = told.fields;
  }
}

/** An answer that did not come until then does not come; what waits on it would wait for ever. */
const READ_WAITS_MS = 30_000;

/** Those who want to know that the session is over. @type {Set<() => void>} */
const leavers = new Set();

/** @param {() => void} callback */
export function whenSignedOut(callback) {
  leavers.add(callback);
}

export function signedOut() {
  for (const leave of leavers) leave();
}

/**
 * @param {string} method
 * @param {string} path
 * @param {{body?: any, waitsMs?: number}} [how]
 * @returns {Promise<any>}
 */
async function call(method, path, { body, waitsMs } = {}) {
  /** @type {RequestInit} */
  const request = { method, headers: {}, credentials: "same-origin", cache: "no-store", ...(waitsMs ? { signal: AbortSignal.timeout(waitsMs) } : {}) };
  if (body !== undefined) {
    request.headers = { "content-type": "application/json" };
    request.body = JSON.stringify(body);
  }
  let response;
  let text = "";
  try {
    response = await fetch(path, request);
    text = await response.text();
  } catch {
    throw new ApiError(0, { code: "offline", message: t("error.offline") });
  }
  /** @type {any} */
  let value = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    value = null;
  }
  if (response.ok) return value;
  // A wrong password is no end of a session.
  if (response.status === 401 && !path.startsWith("/api/session")) signedOut();
  throw new ApiError(response.status, value?.error ?? {});
}

/** @param {string} path @param {number} [waitsMs] */
export const get = (path, waitsMs = READ_WAITS_MS) => call("GET", path, { waitsMs });
/** @param {string} path @param {any} [body] */
export const post = (path, body = {}) => call("POST", path, { body });
/** @param {string} path @param {any} [body] */
export const put = (path, body = {}) => call("PUT", path, { body });
/** @param {string} path */
export const del = (path) => call("DELETE", path);

/**
 * What went wrong, as one sentence for people.
 * @param {unknown} error
 */
export function sentence(error) {
  if (!(error instanceof ApiError)) return t("error.here", { message: error instanceof Error ? error.message : String(error) });
  const said = withTimes(error.message);
  const message = said.charAt(0).toUpperCase() + said.slice(1);
  const end = /[.!?…]$/.test(message) ? message : `${message}.`;
  return error.hint ? `${end} ${error.hint.charAt(0).toUpperCase()}${error.hint.slice(1)}.` : end;
}
