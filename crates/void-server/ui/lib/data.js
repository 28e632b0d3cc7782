// @ts-check
// What the server last said, kept fresh: read when somebody begins to look, when an event says that it
// changed, when the connection is back, and now and then for what no event tells. Never made up here.

import { get, ApiError } from "./api.js";
import { noteCalled } from "./commands.js";
import { isRow } from "./items.js";
import { isLive, onConnection, onEvent, tellEach, tellEvent } from "./live.js";
import { noteServerTime } from "./time.js";

/** @import { Home as HomeAnswer } from "../types/api.js" */

/** Events come in bursts; one reading covers them. */
const GATHER_MS = 60;
/** What was read less than this ago is not read again for a second reader. */
const FRESH_MS = 1000;
/** Readings grow old, nodes leave and a freeze ends without an event. */
const LOOK_AGAIN_MS = 30_000;
/** The same where somebody reads how old something is. */
export const LOOK_OFTEN_MS = 10_000;
/** So long a page waits for all of its answers; then it shows those that are there. Proxmox may take twice that. */
export const TOGETHER_MS = 5000;

/**
 * Something that can be read from the server and watched.
 * @template T
 */
export class Resource {
  /**
   * @param {() => Promise<T>} ask reads it from the server
   * @param {RegExp} [events] what changes it
   * @param {number} [everyMs] how often it is read while somebody looks; for what changes without an event
   */
  constructor(ask, events, everyMs) {
    this.ask = ask;
    this.events = events;
    this.everyMs = everyMs;
    /** @type {T | null} */
    this.value = null;
    /** @type {ApiError | null} */
    this.error = null;
    this.readAt = 0;
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
    tellEach(this.watchers, this);
  }

  async read() {
    if (this.reading) {
      this.again = true;
      return;
    }
    this.reading = true;
    try {
      this.fill(await this.ask());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.error = error;
      tellEach(this.watchers, this);
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
    // While nobody looked, nobody heard what changed.
    if (this.value === null) void this.read();
    else if (Date.now() - this.readAt > FRESH_MS) this.refresh();
    const { events, everyMs } = this;
    if (events) {
      this.ends.push(
        onEvent(({ name }) => {
          if (events.test(name) || (name === "asked" && Date.now() - this.readAt > FRESH_MS)) this.refresh();
        }),
      );
    }
    if (everyMs) this.ends.push(lookAgain(() => this.refresh(), everyMs));
    let wasAway = false;
    this.ends.push(
      onConnection(({ kind, isFirst }) => {
        if (kind === "live" && wasAway) this.refresh();
        wasAway = kind !== "live" && !isFirst;
      }),
    );
  }

  #end() {
    clearTimeout(this.timer);
    for (const end of this.ends.splice(0)) end();
  }
}

/**
 * Calls now and then while the page is seen and live, and at once when it is seen again. Returns the end of it.
 * @param {() => void} look
 * @param {number} everyMs
 */
export function lookAgain(look, everyMs) {
  const mayLook = () => document.visibilityState === "visible" && isLive();
  const timer = setInterval(() => {
    if (mayLook()) look();
  }, everyMs);
  const seen = () => {
    if (mayLook()) look();
  };
  document.addEventListener("visibilitychange", seen);
  return () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", seen);
  };
}

/**
 * A resource, whatever is read.
 * @typedef {{value: unknown, error: unknown, watch: (watcher: () => void) => () => void, refresh: () => void}} Watched
 */

/** Whether it was read, or could not be. @param {Watched} resource */
export const isAnswered = ({ value, error }) => value !== null || error !== null;

/**
 * Calls back once every one of them has answered or failed, and at every change after that: a page that is made of
 * several answers is drawn once, and none of its parts pushes another away. Answers that come together are one change.
 * Returns the end of it.
 * @param {Watched[]} resources
 * @param {() => void} changed
 * @returns {{ask: () => void, stop: () => void}} `ask` tells of a change that is in none of them
 */
export function watchTogether(resources, changed) {
  let isWhole = false;
  let isOver = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let soon;
  const ask = () => {
    isWhole ||= resources.every(isAnswered);
    if (!isWhole) return;
    soon ??= setTimeout(() => {
      soon = undefined;
      if (!isOver) changed();
    });
  };
  const late = setTimeout(() => {
    isWhole = true;
    ask();
  }, TOGETHER_MS);
  const ends = resources.map((resource) => resource.watch(ask));
  return {
    ask,
    stop: () => {
      isOver = true;
      clearTimeout(late);
      for (const end of ends) end();
    },
  };
}

/** @extends {Resource<HomeAnswer>} */
class Home extends Resource {
  /** @override @param {HomeAnswer} value */
  fill(value) {
    if (value !== this.value) noteServerTime(value.status.at);
    noteCalled(value.setup);
    super.fill(value);
  }
}

/** Who, status, inbox, services, freeze, what ended: what most of the page shows. */
export const home = new Home(
  () => get("/api/home"),
  /^(proposal|question|service|freeze|node|notification|mute)\./,
  LOOK_AGAIN_MS,
);

/** The catalogue; it changes when the server starts anew. */
export const actions = new Resource(() => get("/api/actions"));

/** Machines that fetch their work. One that goes silent says nothing about it. */
export const nodes = new Resource(() => get("/api/nodes"), /^node\./, LOOK_AGAIN_MS);

/** Machines that Void dials, and whose keys it trusts. */
export const hosts = new Resource(() => get("/api/hosts"));

/** What Proxmox shows. It is asked each time, so only those who need it watch. */
export const proxmox = new Resource(() => get("/api/lab"), /^proposal\.(executed|verified|failed)$/);

/** What ended lately, the newest first. */
export const ended = new Resource(() => get("/api/actions/recent?limit=200"), /^proposal\./);

/** Who one can talk to. */
export const agents = new Resource(() => get("/api/agents"), /^(turn|access)\./);

/** How each row stood when the page last asked. @type {Map<string, string>} */
let stood = new Map();

// A page that asks tells the cards what a stream would have told them.
onEvent(({ name, data }) => {
  if (name !== "asked") return;
  const before = stood;
  const rows = [...data.inbox.items.filter(isRow), ...data.recent];
  stood = new Map(rows.map((row) => [row.id, `${row.display_state} ${row.count}`]));
  home.fill(data);
  for (const id of new Set([...before.keys(), ...stood.keys()]))
    if (before.get(id) !== stood.get(id)) tellEvent({ name: "proposal.asked", data: { id } });
});
