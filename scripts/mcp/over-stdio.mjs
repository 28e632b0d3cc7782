// The conformance tool speaks HTTP only, so this passes what it posts to `void mcp` line by line, and the
// answers back. It knows nothing of MCP but ids.
//   node over-stdio.mjs VOID_BINARY   (the variables of void mcp)   prints the port it listens on
import http from "node:http";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const bridge = spawn(process.argv[2], ["mcp"], { stdio: ["pipe", "pipe", "inherit"] });
bridge.on("exit", (code) => process.exit(code ?? 1));
const waiting = new Map();
let count = 0;

createInterface({ input: bridge.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  const one = waiting.get(message.id);
  waiting.delete(message.id);
  one?.({ ...message, id: one.id });
});

const server = http.createServer(async (request, response) => {
  if (request.method !== "POST") return response.writeHead(405, { allow: "POST" }).end();
  let body = "";
  for await (const piece of request) body += piece;
  let message;
  try {
    message = JSON.parse(body);
  } catch {
    return response.writeHead(400).end();
  }
  if (message.id === undefined || message.method === undefined) {
    bridge.stdin.write(`${JSON.stringify(message)}\n`);
    return response.writeHead(202).end();
  }
  // Clients of one suite use the same ids at the same time.
  const id = ++count;
  const answer = (said) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(said));
  };
  answer.id = message.id;
  waiting.set(id, answer);
  bridge.stdin.write(`${JSON.stringify({ ...message, id })}\n`);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
