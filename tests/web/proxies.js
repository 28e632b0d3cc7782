// A way to the lab that a test can change: what comes back is rewritten.

import { createServer, request } from "node:http";
import { hangUp, listen } from "./ports.js";

/**
 * @param {string} base
 * @param {(path: string, body: string) => string} rewrite of text answers
 * @param {(path: string) => string} [ask] for what is asked onward
 */
export async function proxy(base, rewrite, ask = (path) => path) {
  const to = new URL(base);
  const server = createServer((asked, answer) => {
    const { url = "/", method, headers } = asked;
    // Compressed answers could not be rewritten.
    const onward = request({ host: to.hostname, port: to.port, method, path: ask(url), headers: { ...headers, "accept-encoding": "identity" } }, (answered) => {
      const { statusCode = 502, headers: said } = answered;
      const isText = /html|javascript/.test(String(said["content-type"]));
      if (!isText) {
        answer.writeHead(statusCode, said);
        answered.pipe(answer);
        return;
      }
      let body = "";
      answered.setEncoding("utf8").on("data", (part) => { body += part; }).on("end", () => {
        const { "content-length": _, ...kept } = said;
        answer.writeHead(statusCode, kept).end(rewrite(url, body));
      });
    });
    onward.on("error", () => answer.destroy());
    answer.on("close", () => onward.destroy());
    asked.pipe(onward);
  });
  return { base: `http://127.0.0.1:${await listen(server)}`, stop: () => hangUp(server) };
}
