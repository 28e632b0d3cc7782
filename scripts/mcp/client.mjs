// The official TypeScript client, over HTTP and over standard input: lists the tools and calls each.
//   node client.mjs VOID_BINARY   (VOID_API_URL, VOID_AGENT_TOKEN)
import assert from "node:assert";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { VOID_API_URL, VOID_AGENT_TOKEN } = process.env;

async function use(transport, name) {
  const client = new Client({ name: "void-test", version: "1" });
  await client.connect(transport);
  const tools = (await client.listTools()).tools.map((tool) => tool.name);
  assert.deepEqual((await client.listPrompts()).prompts, []);
  assert.deepEqual((await client.listResources()).resources, []);
  const call = (tool, args) => client.callTool({ name: tool, arguments: args });
  const queued = await call("propose_action", { action_id: "stop-ct107", reason: "a client's test" });
  const proposal = queued.structuredContent.code;
  const calls = {
    service_status: {},
    list_actions: {},
    propose_action: { action_id: "stop-ct107", reason: "asked again" },
    proposal_status: { proposal },
    withdraw_proposal: { proposal },
    search: { query: "stop" },
  };
  assert.deepEqual([...tools].sort(), Object.keys(calls).sort());
  for (const tool of tools) {
    const result = await call(tool, calls[tool]);
    // The client has checked the result against the tool's schema.
    assert(!result.isError && result.structuredContent, JSON.stringify(result));
  }
  const refused = await call("propose_action", { action_id: "no-such", reason: "x" });
  assert(refused.isError && refused.content[0].text.startsWith("unknown_action: "));
  await client.close();
  console.log(`typescript over ${name}: ${tools.length} tools called`);
}

const headers = { Authorization: `Bearer ${VOID_AGENT_TOKEN}` };
await use(new StreamableHTTPClientTransport(new URL(`${VOID_API_URL}/mcp`), { requestInit: { headers } }), "http");
await use(new StdioClientTransport({ command: process.argv[2], args: ["mcp"], env: { VOID_API_URL, VOID_AGENT_TOKEN } }), "stdio");
