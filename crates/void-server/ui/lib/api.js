// @ts-check
// The server, as this page calls it. Every error has a code, a sentence and often a way out.

export class ApiError extends Error {
  /** @param {number} status @param {{code?: string, message?: string, hint?: string, row?: any, fields?: any}} told */
  constructor(status, told) {
    super(told.message ?? "The server gave no reason.");
    this.status = status;
    this.code = told.code ?? "unknown";
    this.hint = told.hint;
    this.row = told.row;
    this.fields = told.fields;
  }
}

/** Called when a session is over. @type {() => void} */
let onLoggedOut = () => {};

/** @param {() => void} callback */
export function whenLoggedOut(callback) {
  onLoggedOut = callback;
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
  try {
    response = await fetch(path, request);
  } catch {
    throw new ApiError(0, { code: "offline", message: "The server cannot be reached." });
  }
  const text = await response.text();
  /** @type {any} */
  let value = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    value = null;
  }
  if (response.ok) return value;
  const error = new ApiError(response.status, value?.error ?? {});
  if (response.status === 401 && path !== "/api/session") onLoggedOut();
  throw error;
}

/** @param {string} path */
export const get = (path) => call("GET", path);
/** @param {string} path @param {any} [body] */
export const post = (path, body = {}) => call("POST", path, body);
/** @param {string} path */
export const del = (path) => call("DELETE", path);
