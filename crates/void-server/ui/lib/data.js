// @ts-check
// What the server last said, kept fresh: read once, read again when an event says that it changed or
// when the connection is back, never made up here.

import { get, ApiError } from "./api.js";
import { onConnection, onEvent } from "./live.js";

/** Events come in bursts; one reading covers them. */
const GATHER_MS = 60;

/**
 * Something that can be read from the server and watched.
 * @template T
 */
export class Resource {
  /**
   * @param {string} path
   * @param {RegExp} [events] what changes it
   */
  constructor(path, events) {
    this.path = path;
    this.events = events;
    /** @type {T | null} */
    this.value = null;
    /** @type {ApiError | null} */
    this.error = null;
    /** @type {number | null} */
    this.readAt = null;
    /** @type {Set<(resource: Resource<T>) => void>} */
    this.watchers = new Set();
    this.reading = false;
    this.again = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {Array<() => void>} */
    this.ends = [];
  }

  /**
   * Called now, if there is something to show, and at every change. Returns the end of it.
   * @param {(resource: Resource<T>) => void} watcher
   * @returns {() => void}
   */
  watch(watcher) {
    this.watchers.add(watcher);
    if (this.watchers.size === 1) this.#begin();
    if (this.value !== null || this.error !== null) watcher(this);
    return () => {
      this.watchers.delete(watcher);
      if (this.watchers.size === 0) this.#end();
    };
  }

  /** Puts in what came with another answer. @param {T} value */
  fill(value) {
    this.value = value;
    this.error = null;
    this.readAt = Date.now();
    for (const watcher of [...this.watchers]) watcher(this);
  }

  async read() {
    if (this.reading) {
      this.again = true;
      return;
    }
    this.reading = true;
    try {
      this.fill(await get(this.path));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.error = error;
      for (const watcher of [...this.watchers]) watcher(this);
    } finally {
      this.reading = false;
    }
    if (this.again) {
      this.again = false;
      await this.read();
    }
  }

  /** Reads soon; several wishes become one. */
  refresh() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.read(), GATHER_MS);
  }

  #begin() {
    if (this.value === null) void this.read();
    const { events } = this;
    if (events) {
      this.ends.push(onEvent(({ name }) => {
        if (events.test(name)) this.refresh();
      }));
    }
    let wasAway = false;
    this.ends.push(onConnection(({ kind, isFirst }) => {
      if (kind === "live" && wasAway) this.refresh();
      wasAway = kind !== "live" && !isFirst;
    }));
  }

  #end() {
    clearTimeout(this.timer);
    for (const end of this.ends.splice(0)) end();
  }
}

/** Who, status, inbox, services, freeze, what ended: what most of the page shows. */
export const home = /** @type {Resource<any>} */ (new Resource("/api/home", /^(proposal|service|freeze|node|notification)\./));

/** The catalogue; it changes when the server starts anew. */
export const actions = /** @type {Resource<any>} */ (new Resource("/api/actions"));
