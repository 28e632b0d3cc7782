// A model that says what a test wants, in the form of Ollama's chat, and remembers what it was asked.

import { createServer } from "node:http";
import { hangUp, listen } from "./ports.js";
import { sleep } from "./waiting.js";

/** @typedef {{text: string} | {tool: string, args: any} | {pauseMs: number} | {words: string[], everyMs: number}} Step */

export class Model {
  /** What comes next, one list for each time it is asked. @type {Step[][]} */
  answers = [];
  /** @type {any[]} */
  asked = [];
  #host = "";
  #server = createServer((request, response) => void this.#answer(request, response));

  static async start() {
    const model = new Model();
    model.#host = `127.0.0.1:${await listen(model.#server)}`;
    return model;
  }

  /** What makes a server think with it. */
  get env() {
    return { VOID_BRAIN: "ollama", VOID_MODEL: "scripted", OLLAMA_HOST: this.#host };
  }

  stop() {
    return hangUp(this.#server);
  }

  /** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
  async #answer(request, response) {
    let body = "";
    for await (const part of request) body += part;
    this.asked.push(body ? JSON.parse(body) : {});
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    const line = (/** @type {any} */ message, /** @type {any} */ more = {}) => response.write(`${JSON.stringify({ model: "scripted", created_at: "2027-01-15T08:00:00Z", message: { role: "assistant", content: "", ...message }, done: false, ...more })}\n`);
    for (const step of this.answers.shift() ?? [{ text: "I have nothing to say." }]) {
      if ("text" in step) line({ content: step.text });
      else if ("tool" in step) line({ tool_calls: [{ function: { name: step.tool, arguments: step.args } }] });
      else if ("pauseMs" in step) await sleep(step.pauseMs);
      else await stream(step, (word) => line({ content: word }));
    }
    line({}, { done: true, done_reason: "stop", prompt_eval_count: 10, eval_count: 10 });
    response.end();
  }
}

/** By the clock, not by sleeps added up: a busy machine still gets so many a second. @param {{words: string[], everyMs: number}} step @param {(word: string) => void} say */
async function stream({ words, everyMs }, say) {
  const begin = Date.now();
  for (let said = 0; said < words.length;) {
    const due = Math.min(words.length, Math.floor((Date.now() - begin) / everyMs) + 1);
    for (; said < due; said += 1) say(words[said] ?? "");
    await sleep(Math.max(1, everyMs));
  }
}
