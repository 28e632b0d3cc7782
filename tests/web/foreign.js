// Somebody else's web site, on this machine under several names.

import { createServer } from "node:http";
import { hangUp, listen } from "./ports.js";

export class ForeignSite {
  /** @type {Map<string, string>} */
  #pages = new Map();
  /** Everything that was asked of it. @type {string[]} */
  asked = [];
  port = 0;
  #server = createServer((request, response) => {
    this.asked.push(`${request.method} ${request.url}`);
    const body = this.#pages.get(request.url ?? "");
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "text/html; charset=utf-8" }).end(body === undefined ? "" : `<!doctype html><title>Foreign</title>${body}`);
  });

  /** @param {number} [port] */
  static async start(port = 0) {
    const site = new ForeignSite();
    site.port = await listen(site.#server, port);
    return site;
  }

  /** Puts up a page and tells its address. @param {string} host @param {string} path @param {string} body */
  at(host, path, body) {
    this.#pages.set(path, body);
    return `http://${host}:${this.port}${path}`;
  }

  stop() {
    return hangUp(this.#server);
  }
}
