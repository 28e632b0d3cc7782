// @ts-check
// Integrations: what to paste where, with the address of this very page and never a secret.

import { ownProgram, typed } from "../lib/commands.js";
import { el, mount } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { snippet } from "../parts/copying.js";
import { code, part, source } from "./pieces.js";

const PASTE = "PASTE-THE-TOKEN-HERE";
const CLIENTS = /** @type {const} */ (["claude-code", "claude-desktop", "cursor", "vscode", "codex", "zed"]);

/** What a client starts: Void's own program where the page is opened on Void's machine, one by that name elsewhere. */
const clientProgram = () => (/^(localhost|127\.[\d.]+|\[::1\])$/.test(location.hostname) ? ownProgram() : "void");

/** As `void mcp config CLIENT` prints it. @param {string} client */
function mcpConfig(client) {
  const env = { VOID_AGENT_TOKEN: PASTE, VOID_API_URL: location.origin };
  const server = { args: ["mcp"], command: clientProgram(), env };
  /** @param {object} value */
  const json = (value) => JSON.stringify(value, null, 2);
  switch (client) {
    case "claude-code":
      return json({ mcpServers: { void: { ...server, type: "stdio" } } });
    case "vscode":
      return json({
        inputs: [
          { description: "An agent's token of Void", id: "void-agent-token", password: true, type: "promptString" },
        ],
        servers: { void: { ...server, env: { ...env, VOID_AGENT_TOKEN: "${input:void-agent-token}" }, type: "stdio" } },
      });
    case "codex":
      return `[mcp_servers.void]\ncommand = ${JSON.stringify(clientProgram())}\nargs = ["mcp"]\n\n[mcp_servers.void.env]\nVOID_API_URL = "${location.origin}"\nVOID_AGENT_TOKEN = "${PASTE}"`;
    case "zed":
      return json({ context_servers: { void: { ...server, source: "custom" } } });
    default:
      return json({ mcpServers: { void: server } });
  }
}

/** @returns {import("./pieces.js").Section} */
export function integrationsSection() {
  const place = el("div", { class: "stack tight" });
  const chooser = /** @type {HTMLSelectElement} */ (
    el(
      "select",
      { class: "input", onchange: () => draw() },
      CLIENTS.map((client) => el("option", { value: client }, t(`integrations.${client}`))),
    )
  );
  const draw = () =>
    mount(
      place,
      el("p", { class: "small" }, t(`integrations.${chooser.value}_where`)),
      snippet(mcpConfig(chooser.value), t("integrations.mcp")),
    );
  draw();
  const { origin } = location;
  const auth = `-H "Authorization: Bearer $VOID_AGENT_TOKEN"`;
  return {
    node: el(
      "div",
      { class: "stack" },
      el("p", {}, t("integrations.first"), " ", el("a", { href: "#/settings/tokens" }, t("integrations.make_token"))),
      part(
        t("integrations.mcp"),
        t("integrations.mcp_about"),
        el("label", { class: "field" }, el("span", {}, t("integrations.client")), chooser),
        place,
        source(
          t("integrations.same_as"),
          " ",
          code(typed("void mcp config CLIENT")),
          ". ",
          t("settings.docs", { file: "docs/mcp.md" }),
        ),
      ),
      part(
        t("integrations.mcp_http"),
        t("integrations.mcp_http_about"),
        snippet(`${origin}/mcp`, t("integrations.mcp_http")),
      ),
      part(
        t("integrations.curl"),
        t("integrations.curl_about"),
        snippet(
          `curl ${auth} \\\n  ${origin}/api/actions\n\ncurl ${auth} \\\n  -H "Content-Type: application/json" \\\n  -d '{"reason":"502 since 20:10"}' \\\n  ${origin}/api/actions/ACTION-ID/run`,
          "curl",
        ),
        el("p", { class: "small" }, el("a", { href: "/api/openapi.json" }, t("integrations.openapi"))),
      ),
      part(
        t("integrations.tile"),
        t("integrations.tile_about"),
        snippet(`curl -H "Authorization: Bearer $VOID_VIEWER_TOKEN" ${origin}/api/status`, t("integrations.tile")),
      ),
    ),
  };
}
