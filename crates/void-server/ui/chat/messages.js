// @ts-check
// One message: what the owner said, or what an agent did, said, asked for, and what Void's own record
// says about it.

import { sentence } from "../lib/api.js";
import { said } from "../lib/commands.js";
import { el, keyed, mount } from "../lib/dom.js";
import { isLive } from "../lib/live.js";
import { clock, time } from "../lib/time.js";
import { t } from "../lib/words.js";
import { decideTogether, isDraftThatWaits } from "../parts/deciding.js";
import { costWords } from "../parts/money.js";
import { shape } from "../parts/states.js";
import { readNodes } from "../parts/taints.js";
import { toast } from "../parts/toasts.js";
import { busyLine, stepChips } from "./chips.js";
import { copyFromChat } from "./copying.js";
import { GrowingText } from "./growing.js";
import { keyOfRequest, liveItem, requestNode, requestsOf } from "./proposals.js";
import { keptStep } from "./talks.js";

/** @import { Message, Row, TruthResponse, Turn } from "../types/api.js" */
/** @typedef {Message & {turn: Turn}} AnswerMessage */

const LINE_LETTERS = 48;
const LINE_PX = 26;

/** @typedef {import("./talks.js").Talk} Talk */
/**
 * @typedef {HTMLElement & {update: (message: Message) => void, grow: () => void, step: () => void}} MessageNode
 *   `grow`: more text came; `step`: more was done
 */

/**
 * @param {Message} message
 * @param {Talk} talk
 * @param {() => void} grown called after every drawing of what is being written
 * @returns {MessageNode}
 */
export function messageNode(message, talk, grown) {
  const node =
    message.role === "user" ? ownNode(message) : answerNode(/** @type {AnswerMessage} */ (message), talk, grown);
  node.style.setProperty("--guess", `${guess(message)}px`);
  return node;
}

/** About how high a message is, for as long as it is out of sight. @param {Message} message */
function guess(message) {
  const lines = message.body.split("\n").reduce((sum, line) => sum + Math.ceil(line.length / LINE_LETTERS), 0);
  const more = message.turn
    ? 64 + (message.turn.trace.length > 0 ? 40 : 0) + 52 * requestsOf(message.turn.truth).length
    : 44;
  return Math.round(lines * LINE_PX + more);
}

/** @param {Message} message @returns {MessageNode} */
function ownNode(message) {
  const copy = el(
    "button",
    { type: "button", class: "said-copy", onclick: () => void copyFromChat(message.body, copy) },
    t("chat.copy"),
  );
  const node = el(
    "li",
    { class: "turn mine", "aria-label": t("chat.by_you") },
    el("p", { class: "turn-label" }, t("chat.by_you")),
    el("p", { class: "own" }, message.body),
    el("div", { class: "turn-foot" }, time(message.created_at), copy),
  );
  return Object.assign(node, { update: () => {}, grow: () => {}, step: () => {} });
}

/**
 * @param {AnswerMessage} message
 * @param {Talk} talk
 * @param {() => void} grown
 * @returns {MessageNode}
 */
function answerNode(message, talk, grown) {
  const chips = stepChips();
  const said = el("div", { class: "said" });
  const busy = el("p", { class: "busy muted" });
  const trouble = el("div", { class: "stack" });
  const requests = el("div", { class: "requests" });
  const together = el("div", {});
  const onRecord = el("p", { class: "muted small on-record", hidden: true }, t("chat.on_record"));
  const record = el("div", { class: "turn-record" });
  const foot = el("div", { class: "turn-foot" });
  const node = el(
    "li",
    { class: "turn", "aria-label": talk.agent?.name ?? t("nav.chat") },
    el("p", { class: "turn-label" }, talk.agent?.name ?? t("nav.chat")),
    chips,
    said,
    busy,
    trouble,
    onRecord,
    requests,
    together,
    record,
    foot,
  );
  const growing = new GrowingText(said);
  /** The stored text that `said` shows. @type {string | null} */
  let shown = null;

  const liveTurn = () => (talk.live?.id === message.id ? talk.live : null);
  const grow = () => {
    const live = liveTurn();
    if (!live) return;
    // What stands there is of an earlier try.
    if (shown !== null) growing.reset();
    shown = null;
    if (growing.blocks.length === 0) requestAnimationFrame(drawBusy);
    if (growing.show(live.blocks)) grown();
  };
  /** What was drafted so far can be decided while the rest is written. */
  const drawLiveDrafts = () =>
    keyed(requests, (liveTurn()?.drafts ?? []).map(liveItem), keyOfRequest, (item) => requestNode(item, () => true));
  const drawBusy = () => {
    const live = liveTurn();
    const isRunning = message.turn.status === "running";
    if (!isRunning) return busyLine(busy, "");
    if (live?.isLost || !isLive()) return busyLine(busy, t("chat.lost"));
    if (talk.isStopping) return busyLine(busy, t("chat.stopping"));
    if (live?.steps.some((step) => step.status === "running")) return busyLine(busy, t("chat.working"));
    return busyLine(busy, live?.text ? t("chat.writing") : t("chat.thinking"));
  };
  /** The text as it is stored; what was drawn while it came stays if it is the same. */
  const settle = () => {
    if (shown !== message.body) growing.finish(message.blocks);
    shown = message.body;
  };
  const draw = () => {
    const { turn } = message;
    const live = liveTurn();
    const isRunning = turn.status === "running";
    const steps = live && isRunning ? live.steps : turn.trace.map(keptStep);
    chips.show(steps, turn.truth);
    drawBusy();
    if (isRunning) {
      mount(trouble);
      onRecord.hidden = true;
      drawLiveDrafts();
      mount(together);
      mount(record);
      mount(foot);
      grow();
      return;
    }
    settle();
    mount(trouble, troubleOf(message, talk));
    onRecord.hidden = requestsOf(turn.truth).length === 0;
    keyed(requests, requestsOf(turn.truth), keyOfRequest, (item) => requestNode(item, () => isLastWith(item.id)));
    drawTogether();
    drawRecord();
    mount(foot, ...footOf(message, talk));
  };
  /** How the requests that waited stand now, as far as it was read. @type {Map<string, string>} */
  const standings = new Map();
  const drawRecord = () => mount(record, ...recordOf(message.turn, standings));
  /** Those of them that are drafts and wait. @type {Set<string>} */
  const drafts = new Set();
  const drawTogether = () =>
    mount(
      together,
      drafts.size > 1
        ? el(
            "button",
            { type: "button", class: "button small", onclick: () => decideTogether([...drafts]) },
            t("together.open", { n: drafts.size }),
          )
        : null,
    );
  requests.addEventListener("standing", (event) => {
    /** @type {Row} */
    const row = /** @type {CustomEvent} */ (event).detail;
    const { id, status } = row;
    const count = drafts.size;
    if (isDraftThatWaits(row)) drafts.add(id);
    else drafts.delete(id);
    if (drafts.size !== count && message.turn.status !== "running") drawTogether();
    if (standings.get(id) === status) return;
    standings.set(id, status);
    if (message.turn.status !== "running") drawRecord();
  });
  /** @param {string} id */
  const isLastWith = (id) =>
    !talk.messages.some(
      (other) => other.seq > message.seq && other.turn && requestsOf(other.turn.truth).some((item) => item.id === id),
    );
  let stamp = "";
  const update = (/** @type {Message} */ next) => {
    message = /** @type {AnswerMessage} */ (next);
    const { turn } = message;
    // What is over does not change, but for being tried again.
    const now =
      turn.status === "running"
        ? ""
        : `${turn.status} ${turn.ended_at} ${talk.messages.at(-1)?.id === message.id} ${isLive()} ${requestsOf(turn.truth).map((item) => isLastWith(item.id))}`;
    if (now && now === stamp) return;
    stamp = now;
    draw();
  };
  update(message);
  const step = () => {
    const live = liveTurn();
    if (live && message.turn.status === "running") {
      chips.show(live.steps, message.turn.truth);
      drawLiveDrafts();
    }
    drawBusy();
  };
  return Object.assign(node, { update, grow, step });
}

/** @param {AnswerMessage} message @param {Talk} talk */
function troubleOf(message, talk) {
  const { turn } = message;
  if (turn.status !== "failed" && turn.status !== "stopped") return null;
  const isNewest = !talk.isPast && talk.messages.at(-1)?.id === message.id;
  const isFailed = turn.status === "failed";
  const words = isFailed ? t("chat.failed", { reason: plainReason(turn.error) }) : t("chat.stopped");
  const again = /** @type {HTMLButtonElement} */ (
    el(
      "button",
      {
        type: "button",
        class: "button small",
        disabled: !isLive(),
        title: isLive() ? "" : t("card.not_connected_why"),
        onclick: () => void retry(),
      },
      t("retry"),
    )
  );
  const retry = async () => {
    again.disabled = true;
    mount(again, t("card.sending"));
    try {
      await talk.tryAgain(message.id);
    } catch (error) {
      toast(sentence(error), { isProblem: true });
      again.disabled = false;
      mount(again, t("retry"));
    }
  };
  return el(
    "div",
    { class: `notice ${isFailed ? "problem" : ""} turn-trouble` },
    shape(isFailed ? "failed" : "paused"),
    el("p", { class: "grow wrap" }, words),
    isNewest ? again : null,
  );
}

/** @param {Turn["error"]} error */
function plainReason(error) {
  const words = error ? said(error.message) : t("error.no_reason");
  return /[.!?…]$/.test(words) ? words : `${words}.`;
}

/**
 * What Void says itself, as it was when the turn ended.
 * @param {Turn} turn
 * @param {Map<string, string>} standings
 */
function recordOf(turn, standings) {
  const { truth } = turn;
  const open = [...truth.waits, ...truth.unverified.filter((item) => item.status === "running")];
  const isOld = open.some((item) => ![undefined, item.status].includes(standings.get(item.id)));
  const [form, tone] = isOld ? ["over", "quiet"] : lookOf(truth);
  // What was asked for stands above, each with how it went: an outcome is said once.
  const isSaid = requestsOf(truth).length > 0 && !truth.before;
  const author = el("strong", {}, isOld ? t("chat.void_then", { at: clock(turn.ended_at ?? "") }) : t("chat.void"));
  return [
    isSaid
      ? null
      : el(
          "p",
          { class: `truth ${tone}` },
          shape(form),
          el("span", {}, author, " ", turn.truth_line, isOld ? ` ${t("chat.void_since")}` : ""),
        ),
    turn.tainted_by.length > 0
      ? el(
          "p",
          { class: "truth" },
          shape("stale"),
          el(
            "span",
            {},
            el("strong", {}, t("chat.void")),
            " ",
            t("chat.tainted"),
            " ",
            readNodes(turn.tainted_by),
            ". ",
            t("chat.tainted_why"),
          ),
        )
      : null,
  ];
}

/**
 * The shape and the colour of a record; what needs the owner comes first.
 * @param {TruthResponse} truth
 * @returns {[string, string]}
 */
function lookOf(truth) {
  if (truth.waits.length > 0) return ["waiting", "waiting"];
  if (truth.refused.length > 0) return ["failed", "bad"];
  if (truth.unverified.length > 0) return ["unsure", ""];
  return truth.ran.length > 0 ? ["done", "ok"] : ["over", "quiet"];
}

/** @param {AnswerMessage} message @param {Talk} talk */
function footOf(message, talk) {
  const { turn } = message;
  const { usage } = turn;
  const tokens = usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  const copy = el(
    "button",
    { type: "button", class: "said-copy", onclick: () => void copyFromChat(message.body, copy) },
    t("chat.copy"),
  );
  const model = turn.brain === "builtin" ? t("chat.brain.builtin") : turn.model;
  return [
    time(turn.ended_at ?? message.created_at),
    el("span", { class: "wrap" }, model),
    tokens > 0
      ? el("span", { class: "number" }, t("chat.tokens", { n: tokens, count: tokens.toLocaleString("en") }))
      : null,
    usage.cost_micros > 0 ? el("span", { class: "number" }, costWords(usage.cost_micros)) : null,
    message.body ? copy : null,
  ];
}
