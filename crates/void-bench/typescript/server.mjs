// The least that an MCP server with one tool is, by the official TypeScript SDK. Its tool hands out a file.
//   node server.mjs FILE          on standard input and output
//   node server.mjs FILE PORT     over HTTP, without sessions
import fs from "node:fs";
import http from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

const [file, port] = process.argv.slice(2);
const payload = JSON.parse(fs.readFileSync(file, "utf8"));

function server() {
  const made = new McpServer({ name: "minimal", version: "1.0.0" });
  made.registerTool("list_actions", { description: "Lists actions" }, async () => ({
    content: [{ type: "text", text: JSON.stringify(payload) }],
    structuredContent: payload,
  }));
  return made;
}

if (port === undefined) {
  await server().connect(new StdioServerTransport());
} else {
  const answer = async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: undefined,
      enableJsonResponse: true,
    });
    const made = server();
    response.on("close", () => {
      transport.close();
      made.close();
    });
    await made.connect(transport);
    await transport.handleRequest(request, response, JSON.parse(body));
  };
  const listening = http.createServer((request, response) => {
    if (request.method === "GET") return response.writeHead(200, { "content-length": 0 }).end();
    answer(request, response).catch(() => response.destroy());
  });
  // Connections that wait until all of them are warm stay open.
  listening.keepAliveTimeout = 600_000;
  listening.listen(Number(port), "127.0.0.1");
}
