// Somebody else's web site, on this machine under several names.

import { createServer } from "node:http";

export class ForeignSite {
  /** @type {Map<string, string>} */
  #pages = new Map();
  /** Everything that was asked of it. @type {string[]} */
  asked = [];

  /** @param {number} [port] */
  static async start(port = 0) {
    const site = new ForeignSite();
    site.server = createServer((request, response) => {
      site.asked.push(`${request.method} ${request.url}`);
      const body = site.#pages.get(request.url ?? "");
      response.writeHead(body === undefined ? 404 : 200, { "content-type": "text/html; charset=utf-8" }).end(body === undefined ? "" : `<!doctype html><title>Foreign</title>${body}`);
    });
    await new Promise((resolve) => site.server.listen(port, "127.0.0.1", () => resolve(null)));
    site.port = site.server.address().port;
    return site;
  }

  /** Puts up a page and tells its address. @param {string} host @param {string} path @param {string} body */
  at(host, path, body) {
    this.#pages.set(path, body);
    return `http://${host}:${this.port}${path}`;
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
