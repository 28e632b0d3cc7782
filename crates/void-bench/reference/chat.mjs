// A chat by the vendor's SDK on Express: a tool loop that streams. README.md says what it leaves out.
//   node chat.mjs FILE PORT          ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY say where the model is
import fs from "node:fs";
import Anthropic from "@anthropic-ai/sdk";
import express from "express";

const [file, port] = process.argv.slice(2);
const payload = JSON.parse(fs.readFileSync(file, "utf8"));
const model = new Anthropic({ maxRetries: 0 });
const tools = [{
  name: "list_actions",
  description: "List the whitelisted fix-it actions you may take (id, label, tier).",
  input_schema: { type: "object", properties: {} },
}];
const handlers = { list_actions: async () => payload };
const ROUNDS_MAX = 50;

const app = express();
app.use(express.json());
app.get("/readyz", (_request, response) => response.json({ ready: true }));
app.post("/turn", async (request, response) => {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const send = (event, data) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const messages = [{ role: "user", content: request.body.text }];
  try {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const stream = model.messages.stream({ model: "talker", max_tokens: 4096, tools, messages });
      stream.on("text", (text) => send("delta", { text }));
      const message = await stream.finalMessage();
      messages.push({ role: "assistant", content: message.content });
      if (message.stop_reason !== "tool_use") break;
      const results = [];
      for (const block of message.content.filter((block) => block.type === "tool_use")) {
        send("tool", { tool: block.name });
        const found = await handlers[block.name](block.input);
        results.push({ type: "tool_result", tool_use_id: block.id, content: JSON.stringify(found) });
      }
      messages.push({ role: "user", content: results });
    }
    send("done", {});
  } catch (error) {
    send("error", { message: String(error?.message ?? error) });
  }
  response.end();
});
// Connections that wait for their turn in a comparison stay open.
app.listen(Number(port), "127.0.0.1").keepAliveTimeout = 600_000;
