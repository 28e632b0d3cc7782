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
  const prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
  // A token without suggest drafts no runbook.
  assert.deepEqual(prompts, ["what_is_wrong", "what_changed"]);
  for (const prompt of prompts) {
    const { messages } = await client.getPrompt({ name: prompt });
    assert(messages[0].content.text && messages.length > 1, prompt);
  }
  const resources = (await client.listResources()).resources.map((resource) => resource.uri);
  assert.deepEqual(resources, ["services", "actions", "proposals", "spaces"].map((list) => `void://${list}`));
  for (const uri of [...resources, "void://actions/stop-ct107", "void://search?q=stop"]) {
    const { contents } = await client.readResource({ uri });
    assert(JSON.parse(contents[0].text), uri);
  }
  const { resourceTemplates } = await client.listResourceTemplates();
  assert(resourceTemplates.some((template) => template.uriTemplate === "void://refs/{id}"));
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
