// @ts-check
// The server, as this page calls it. Every error has a code, a sentence and often a way out.

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
 * @param {any} [body]
 * @returns {Promise<any>}
 */
async function call(method, path, body) {
  /** @type {RequestInit} */
  const request = { method, headers: {}, credentials: "same-origin", cache: "no-store" };
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

/** @param {string} path */
export const get = (path) => call("GET", path);
/** @param {string} path @param {any} [body] */
export const post = (path, body = {}) => call("POST", path, body);
/** @param {string} path @param {any} [body] */
export const put = (path, body = {}) => call("PUT", path, body);
/** @param {string} path */
export const del = (path) => call("DELETE", path);

/**
 * What went wrong, as one sentence for people.
 * @param {unknown} error
 */
export function sentence(error) {
  if (!(error instanceof ApiError)) return String(error);
  const message = error.message.charAt(0).toUpperCase() + error.message.slice(1);
  const end = /[.!?…]$/.test(message) ? message : `${message}.`;
  return error.hint ? `${end} ${error.hint.charAt(0).toUpperCase()}${error.hint.slice(1)}.` : end;
}
