// @ts-check
// The server, as this page calls it. Every error has a code, a sentence and often a way out.

import { begun } from "./commands.js";
import { t } from "./words.js";

/** @import { Error as ToldError } from "../types/api.js" */
/** @import { Answer, PathOf, Sent } from "../types/calls.js" */

/** What the server, or the way to it, had against a call. */
export class ApiError extends Error {
  /** @param {number} status @param {Partial<ToldError["error"]>} told */
  constructor(status, told) {
    super(told.message ?? t("error.no_reason"));
    this.status = status;
    this.code = told.code ?? "unknown";
    this.hint = told.hint;
    const { row } = told;
    /** The request as it is now. */
    this.row = row && "subject" in row ? row : undefined;
    /** What the owner keeps, as it is now. */
    this.kept = row && !("subject" in row) ? row : undefined;
    this.fields = told.fields;
    /** Where a draft and what is there now change the same. */
    this.conflicts = told.conflicts;
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
 * @param {{body?: unknown, bytes?: Blob, waitsMs?: number}} [how]
 * @returns {Promise<any>} any, because the path says which type it is: see `Answer`
 */
async function call(method, path, { body, bytes, waitsMs } = {}) {
  /** @type {RequestInit} */
  const request = {
    method,
    headers: {},
    credentials: "same-origin",
    cache: "no-store",
    ...(waitsMs ? { signal: AbortSignal.timeout(waitsMs) } : {}),
  };
  if (body !== undefined) {
    request.headers = { "content-type": "application/json" };
    request.body = JSON.stringify(body);
  }
  if (bytes) {
    request.headers = { "content-type": bytes.type || "application/octet-stream" };
    request.body = bytes;
  }
  let response;
  let text = "";
  try {
    response = await fetch(path, request);
    text = await response.text();
  } catch {
    throw new ApiError(0, { code: "offline", message: t("error.offline") });
  }
  const value = parsed(text);
  if (response.ok) return value;
  // A wrong password is no end of a session.
  if (response.status === 401 && !path.startsWith("/api/session")) signedOut();
  throw new ApiError(response.status, /** @type {Partial<ToldError> | null} */ (value)?.error ?? {});
}

/** @param {string} text @returns {unknown} */
function parsed(text) {
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

/** @template {PathOf<"GET">} P @param {P} path @param {number} [waitsMs] @returns {Promise<Answer<"GET", P>>} */
export const get = (path, waitsMs = READ_WAITS_MS) => call("GET", path, { waitsMs });
/** @template {PathOf<"POST">} P @param {P} path @param {Sent<"POST", P>} sent @returns {Promise<Answer<"POST", P>>} */
export const post = (path, ...sent) => call("POST", path, { body: sent[0] ?? {} });
/**
 * A file as it is.
 * @template {PathOf<"POST">} P
 * @param {P} path
 * @param {Blob} bytes
 * @returns {Promise<Answer<"POST", P>>}
 */
export const postFile = (path, bytes) => call("POST", path, { bytes });
/**
 * The same of a large one: how much of it was sent is told, from 0 to 1.
 * @template {PathOf<"POST">} P
 * @param {P} path
 * @param {Blob} bytes
 * @param {(part: number) => void} told
 * @returns {Promise<Answer<"POST", P>>}
 */
export const sendFile = (path, bytes, told) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    request.setRequestHeader("content-type", bytes.type || "application/octet-stream");
    request.upload.onprogress = ({ loaded, total }) => told(total > 0 ? loaded / total : 0);
    request.onerror = () => reject(new ApiError(0, { code: "offline", message: t("error.offline") }));
    request.onload = () => {
      const value = parsed(request.responseText);
      if (request.status >= 200 && request.status < 300) return resolve(/** @type {Answer<"POST", P>} */ (value));
      if (request.status === 401) signedOut();
      return reject(new ApiError(request.status, /** @type {Partial<ToldError> | null} */ (value)?.error ?? {}));
    };
    request.send(bytes);
  });
/** @template {PathOf<"PUT">} P @param {P} path @param {Sent<"PUT", P>} sent @returns {Promise<Answer<"PUT", P>>} */
export const put = (path, ...sent) => call("PUT", path, { body: sent[0] ?? {} });
/**
 * @template {PathOf<"PATCH">} P
 * @param {P} path
 * @param {Sent<"PATCH", P>} sent
 * @returns {Promise<Answer<"PATCH", P>>}
 */
export const patch = (path, ...sent) => call("PATCH", path, { body: sent[0] ?? {} });
/** @template {PathOf<"DELETE">} P @param {P} path @returns {Promise<Answer<"DELETE", P>>} */
export const del = (path) => call("DELETE", path);

/**
 * What went wrong, as one sentence for people.
 * @param {unknown} error
 */
export function sentence(error) {
  if (!(error instanceof ApiError))
    return t("error.here", { message: error instanceof Error ? error.message : String(error) });
  const message = begun(error.message);
  const end = /[.!?…]$/.test(message) ? message : `${message}.`;
  return error.hint ? `${end} ${begun(error.hint)}.` : end;
}
