// @ts-check
// A conversation as the server has it, kept once for every place that shows it: its messages, the turn
// that runs, and the ways to say something, stop, try again and begin anew. Nothing is made up here.

import { ApiError, get, post } from "../lib/api.js";
import { isOfTurn, onConnection, onEvent } from "../lib/live.js";
import { changeBlocks } from "./growing.js";
import { listenToTurn } from "./stream.js";

/** @import { Agent, ConversationResponse, Message, MessagesResponse, StepResponse } from "../types/api.js" */
/** @import { TurnEvents, ViewRequest } from "../types/api.js" */

/** The newest messages that are read again when something changed. */
const NEWEST = 20;
const OLDER = 60;

/**
 * @typedef {{tool: string, args: string, status: string, tookMs: number | null, result: string | null, proposalId:
 *   string | null, isLive: boolean, since: number}} Step
 * @typedef {{id: string, text: string, blocks: import("./markdown.js").Block[], steps: Step[], drafts: LiveDraft[],
 *   isWhole: boolean, isLost: boolean, isOver: boolean, stop: () => void}} LiveTurn
 * @typedef {{id: string, summary: string}} LiveDraft what was drafted so far, and waits
 * @typedef {"all" | "live" | "text"} Change what changed: messages or state, the steps, the text only
 */

/** @type {Map<string, Talk>} */
const talks = new Map();

/**
 * @typedef {{kind: "space" | "page" | "task" | "project" | "ref" | "service" | "action", id: string}} About what
 * a talk is about
 */

/** @param {string} slug @param {string} space @param {About | null} [about] */
const keyOfTalk = (slug, space, about = null) => `${space} ${slug} ${about ? `${about.kind}:${about.id}` : ""}`;

/** The conversation about something that is there. @param {About} about @param {string} [slug] */
export function talkAbout(about, slug = "") {
  const known = talks.get(keyOfTalk(slug, "", about));
  if (known) return known;
  const talk = new Talk(slug, "", about);
  talks.set(keyOfTalk(slug, "", about), talk);
  return talk;
}

/**
 * The conversation with an agent: of a space, or of none.
 * @param {string} slug empty for whoever answers in that space
 * @param {string} [space]
 */
export function talkWith(slug, space = "") {
  const known = talks.get(keyOfTalk(slug, space));
  if (known) return known;
  const talk = new Talk(slug, space);
  talks.set(keyOfTalk(slug, space), talk);
  return talk;
}

export class Talk {
  /** @param {string} slug @param {string} [space] @param {About | null} [about] */
  constructor(slug, space = "", about = null) {
    this.slug = slug;
    this.space = space;
    this.about = about;
    this.id = "";
    /** @type {Agent | null} */
    this.agent = null;
    /** Oldest first. @type {Message[]} */
    this.messages = [];
    /** The cursor of older ones. @type {string | null} */
    this.next = null;
    /** Why it could not be read. @type {unknown} */
    this.error = null;
    /** @type {LiveTurn | null} */
    this.live = null;
    this.isReadingOlder = false;
    this.isStopping = false;
    /** Only to be read. */
    this.isPast = false;
    /** @type {Set<(change: Change) => void>} */
    this.watchers = new Set();
    /** @type {Array<() => void>} */
    this.ends = [];
    this.isReading = false;
    this.isAgain = false;
  }

  /** @param {(change: Change) => void} watcher */
  watch(watcher) {
    this.watchers.add(watcher);
    if (this.watchers.size === 1) this.#begin();
    watcher("all");
    return () => {
      this.watchers.delete(watcher);
      if (this.watchers.size === 0) this.#end();
    };
  }

  #begin() {
    void this.open();
    this.ends.push(
      onEvent((event) => {
        if (!isOfTurn(event) || event.data.agent !== this.slug) return;
        const { name, data } = event;
        // Somebody began a new conversation with it elsewhere; about one thing there is one with each agent.
        if (data.conversation_id !== this.id) return void (this.about ? null : this.#look());
        if (name === "turn.started") this.#follow(data.message_id, true);
        return void this.refresh();
      }),
    );
    let wasAway = false;
    this.ends.push(
      onConnection(({ kind, isFirst }) => {
        if (kind === "live" && wasAway) void (this.id ? this.refresh() : this.open());
        wasAway = kind !== "live" && !isFirst;
      }),
    );
  }

  #end() {
    for (const end of this.ends.splice(0)) end();
    this.#hush();
  }

  #hush() {
    this.live?.stop();
    this.live = null;
    this.isStopping = false;
  }

  /** @param {Change} change */
  #tell(change) {
    for (const watcher of [...this.watchers]) watcher(change);
  }

  /** The conversation that goes on. @returns {Promise<ConversationResponse>} */
  #goingOn() {
    const { slug, space, about } = this;
    if (about) return post("/api/conversations", { ...about, ...(slug ? { agent: slug } : {}) });
    if (!space) return get(`/api/agents/${slug}/conversation`);
    return slug ? get(`/api/spaces/${space}/conversation?agent=${slug}`) : get(`/api/spaces/${space}/conversation`);
  }

  /** Whether another one goes on by now. */
  async #look() {
    try {
      const opened = await this.#goingOn();
      if (opened.conversation_id !== this.id) this.#take(opened);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // What is shown stays; the frame says that the server is away.
    }
  }

  /** Reads the conversation that goes on. */
  async open() {
    try {
      this.#take(await this.#goingOn());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.error = error;
      this.#tell("all");
    }
  }

  /** Begins a new one. */
  async beginAnew() {
    const { slug, space } = this;
    if (space) this.#take(await post(`/api/spaces/${space}/conversation?agent=${slug}`));
    else this.#take(await post(`/api/agents/${slug}/conversation`));
  }

  /** @param {ConversationResponse} opened */
  #take(opened) {
    if (opened.conversation_id !== this.id) this.#hush();
    this.id = opened.conversation_id;
    this.agent = opened.agent;
    if (!this.slug) {
      this.slug = opened.agent.slug;
      // Who was asked for by name is the same one.
      const key = keyOfTalk(this.slug, this.space, this.about);
      if (!talks.has(key)) talks.set(key, this);
    }
    this.messages = opened.messages;
    this.next = opened.next;
    this.error = null;
    this.#followNewest();
    this.#tell("all");
  }

  /** Reads the newest messages again. */
  async refresh() {
    if (this.isReading) {
      this.isAgain = true;
      return;
    }
    this.isReading = true;
    const { id } = this;
    try {
      const page = await get(`/api/conversations/${id}/messages?limit=${NEWEST}`);
      if (id === this.id) this.#merge(page);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // The frame says that the server is away; it is read again when it is back.
    } finally {
      this.isReading = false;
    }
    if (this.isAgain) {
      this.isAgain = false;
      await this.refresh();
    }
  }

  /** @param {MessagesResponse} page */
  #merge(page) {
    const first = page.messages[0];
    const newest = this.messages.at(-1);
    if (!first || !newest || first.seq > newest.seq + 1) {
      this.messages = page.messages;
      this.next = page.next;
    } else {
      this.messages = [...this.messages.filter((message) => message.seq < first.seq), ...page.messages];
    }
    this.#followNewest();
    this.#tell("all");
  }

  async readOlder() {
    if (!this.next || this.isReadingOlder) return;
    this.isReadingOlder = true;
    const { id } = this;
    try {
      const page = await get(`/api/conversations/${id}/messages?limit=${OLDER}&cursor=${this.next}`);
      if (id !== this.id) return;
      const oldest = this.messages[0]?.seq ?? Infinity;
      this.messages = [...page.messages.filter((message) => message.seq < oldest), ...this.messages];
      this.next = page.next;
    } finally {
      this.isReadingOlder = false;
      this.#tell("all");
    }
  }

  /** Reads the newest messages of a conversation that is over, then older ones. */
  async readPast() {
    if (this.messages.length > 0) return this.readOlder();
    const page = await get(`/api/conversations/${this.id}/messages?limit=${OLDER}`);
    this.messages = page.messages;
    this.next = page.next;
    return undefined;
  }

  #followNewest() {
    const newest = this.messages.at(-1);
    const isRunning = newest?.turn?.status === "running";
    if (newest && isRunning) this.#follow(newest.id, false);
    else if (this.live && this.messages.some(({ id }) => id === this.live?.id)) this.#hush();
  }

  /**
   * Listens to a turn. `isWhole`: from its first moment, so that what it takes is known.
   * @param {string} messageId
   * @param {boolean} isWhole
   */
  #follow(messageId, isWhole) {
    if (this.live?.id === messageId && !this.live.isOver) return;
    this.#hush();
    /** @type {LiveTurn} */
    const live = {
      id: messageId,
      text: "",
      blocks: [],
      steps: [],
      drafts: [],
      isWhole,
      isLost: false,
      isOver: false,
      stop: () => {},
    };
    this.live = live;
    live.stop = listenToTurn(this.id, messageId, {
      tool: (step) => {
        noteStep(live, step);
        this.#tell("live");
      },
      delta: (text) => {
        live.text += text;
      },
      draft: ({ pending_change_id: draft, summary }) => {
        // Told again after a break.
        if (!live.drafts.some(({ id: known }) => known === draft))
          live.drafts = [...live.drafts, { id: draft, summary }];
        this.#tell("live");
      },
      blocks: (change) => {
        changeBlocks(live.blocks, change);
        this.#tell("text");
      },
      lost: (isLost) => {
        if (live.isLost !== isLost) {
          live.isLost = isLost;
          this.#tell("live");
        }
      },
      end: () => {
        live.isOver = true;
        void this.refresh();
      },
    });
    this.#tell("live");
  }

  /**
   * Says something; throws what the server has against it.
   * @param {string} text
   * @param {ViewRequest | null} view what the owner looks at meanwhile
   */
  async say(text, view) {
    try {
      const started = await post(`/api/conversations/${this.id}/messages`, { text, ...(view ? { view } : {}) });
      if (started.conversation_id === this.id) this.#follow(started.assistant_message_id, true);
    } finally {
      await this.refresh();
    }
  }

  async stop() {
    if (this.isStopping) return;
    this.isStopping = true;
    this.#tell("live");
    try {
      await post(`/api/conversations/${this.id}/stop`);
    } finally {
      this.isStopping = false;
      await this.refresh();
    }
  }

  /** @param {string} messageId */
  async tryAgain(messageId) {
    try {
      const started = await post(`/api/conversations/${this.id}/retry`, { message_id: messageId });
      this.#hush();
      this.#follow(started.assistant_message_id, true);
    } finally {
      await this.refresh();
    }
  }
}

/** A step of a turn that is over. @param {StepResponse} step @returns {Step} */
export const keptStep = (step) => ({
  tool: step.tool,
  args: step.args_summary,
  status: step.status,
  tookMs: step.took_ms,
  result: step.result,
  proposalId: step.proposal_id,
  isLive: false,
  since: 0,
});

/** @param {LiveTurn} live @param {TurnEvents["tool"]} told */
function noteStep(live, told) {
  const open = live.steps.find(
    (step) => step.status === "running" && step.tool === told.tool && step.args === told.args_summary,
  );
  if (told.status === "running" || !open) {
    live.steps = [
      ...live.steps,
      {
        tool: told.tool,
        args: told.args_summary,
        status: told.status,
        tookMs: null,
        result: null,
        proposalId: null,
        isLive: true,
        since: Date.now(),
      },
    ];
    return;
  }
  const tookMs = live.isWhole && !live.isLost ? Date.now() - open.since : null;
  live.steps = live.steps.map((step) => (step === open ? { ...step, status: told.status, tookMs } : step));
}
