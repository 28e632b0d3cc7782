// A Bot API for one phone, as far as Void speaks to it: long polling, messages with buttons, edits, taps.
// The stricter one is in crates/void-testkit; this one lets a browser test tap.

import { createServer } from "node:http";
import { hangUp, listen } from "./ports.js";
import { until } from "./waiting.js";

const USER = { id: 1, is_bot: false, first_name: "Test", username: "user1" };

export class BotApi {
  /** @type {Map<number, {id: number, text: string, buttons: {text: string, callback_data?: string}[]}>} */
  #messages = new Map();
  /** @type {any[]} */
  #updates = [];
  #next = 1;
  #isOver = false;
  #server = createServer((request, response) => void this.#answer(request, response));
  url = "";

  static async start() {
    const api = new BotApi();
    api.url = `http://127.0.0.1:${await listen(api.#server)}`;
    return api;
  }

  async stop() {
    this.#isOver = true;
    await hangUp(this.#server);
  }

  messages = () => [...this.#messages.values()];

  /** The link of a pairing was opened. @param {string} link */
  open(link) {
    this.#push({ message: { message_id: this.#next++, from: USER, chat: { id: USER.id, type: "private" }, date: 1, text: `/start ${link.split("?start=")[1]}` } });
  }

  /** Taps a button of the newest message that names something, as soon as it is there. @param {string} about @param {RegExp} label */
  async tap(about, label) {
    const [message, button] = await until(`a button ${label}`, () => {
      for (const message of this.messages().reverse()) {
        const button = message.text.includes(about) && message.buttons.find(({ text }) => label.test(text));
        if (button) return [message, button];
      }
      return null;
    });
    const { id } = message;
    this.#push({ callback_query: { id: `cb-${this.#next++}`, from: USER, chat_instance: "1", data: button.callback_data, message: { message_id: id, chat: { id: USER.id, type: "private" }, date: 1 } } });
    await until("the tap is answered", () => this.#updates.length === 0);
  }

  /** @param {any} update */
  #push(update) {
    this.#updates.push({ update_id: this.#next++, ...update });
  }

  /** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
  async #answer(request, response) {
    let body = "";
    for await (const part of request) body += part;
    const params = body ? JSON.parse(body) : {};
    const method = (request.url ?? "").split("/").pop() ?? "";
    const result = await this.#call(method, params);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ ok: true, result }));
  }

  /** @param {string} method @param {any} params */
  async #call(method, params) {
    switch (method) {
      case "getMe": return { id: 123456, is_bot: true, first_name: "Void", username: "void_test_bot" };
      case "getUpdates": {
        this.#updates = this.#updates.filter((update) => update.update_id >= (params.offset ?? 0));
        await until("an update", () => this.#updates.length > 0 || this.#isOver, (params.timeout ?? 0) * 1000).catch(() => {});
        return this.#updates;
      }
      case "sendMessage": case "editMessageText": case "editMessageReplyMarkup": {
        const id = params.message_id ?? this.#next++;
        const buttons = (params.reply_markup?.inline_keyboard ?? []).flat();
        this.#messages.set(id, { id, text: params.text ?? this.#messages.get(id)?.text ?? "", buttons });
        return { message_id: id, chat: { id: USER.id, type: "private" }, date: 1 };
      }
      default: return true;
    }
  }
}
