//! `void mcp config CLIENT`: what to put where, for clients whose files are known.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::{McpClient, McpConfigArgs};
use crate::exit::{CommandError, Exit};
use crate::output::Output;
use crate::settings::Environment;

const TOKEN: &str = "PASTE-THE-TOKEN-HERE";
const BEFORE: &str = "void token new --kind agent --name NAME --cap read --cap act";

/// What a client starts, and with what.
struct Started {
    command: String,
    variables: Vec<(&'static str, String)>,
}

pub(in crate::commands) fn config(
    args: &McpConfigArgs,
    url: Option<&str>,
    here: &str,
    environment: &Environment,
    output: &Output,
) -> Result<Exit, CommandError> {
    let started = Started::new(args, url, here, environment)?;
    let (file, snippet) = started.snippet(args.client);
    let before = output.typed(BEFORE);
    if output.json {
        output.value(json!({"file": file, "snippet": snippet, "before": before}));
    } else {
        output.note(format!("First make a token for it:  {before}"));
        output.note(format!("Then put this into {file}:\n"));
        output.line(&snippet);
    }
    Ok(Exit::Done)
}

impl Started {
    fn new(
        args: &McpConfigArgs,
        url: Option<&str>,
        here: &str,
        environment: &Environment,
    ) -> Result<Self, CommandError> {
        let set = |name: &str| environment.get(name).filter(|value| !value.is_empty());
        let url = url.or_else(|| set("VOID_API_URL"));
        let url = crate::client::server_url(url.unwrap_or(here))?;
        let token = match (args.with_token, set("VOID_AGENT_TOKEN")) {
            (false, _) => TOKEN,
            (true, Some(token)) => token,
            (true, None) => {
                let message = "--with-token needs the token in VOID_AGENT_TOKEN";
                return Err(CommandError::usage(message).next(BEFORE));
            }
        };
        let mut variables = vec![
            ("VOID_API_URL", url),
            ("VOID_AGENT_TOKEN", token.to_owned()),
        ];
        if let Some(registry) = set("VOID_TOOL_REGISTRY") {
            variables.push(("VOID_TOOL_REGISTRY", registry.to_owned()));
        }
        let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("void"));
        Ok(Self {
            command: program.display().to_string(),
            variables,
        })
    }

    fn snippet(&self, client: McpClient) -> (&'static str, String) {
        let servers = |name: &str, entry: Value| pretty(&json!({ name: {"void": entry} }));
        match client {
            McpClient::ClaudeCode => (
                ".mcp.json in the project, or for yourself: claude mcp add-json void '…' with the inner object",
                servers("mcpServers", self.entry(&[("type", "stdio")])),
            ),
            McpClient::ClaudeDesktop => (
                "claude_desktop_config.json (Settings, Developer, Edit Config)",
                servers("mcpServers", self.entry(&[])),
            ),
            McpClient::Cursor => (
                "~/.cursor/mcp.json, or .cursor/mcp.json in the project",
                servers("mcpServers", self.entry(&[])),
            ),
            McpClient::Vscode => (".vscode/mcp.json in the project", self.vscode()),
            McpClient::Codex => ("~/.codex/config.toml", self.toml()),
            McpClient::Zed => (
                "settings.json of Zed (zed: open settings)",
                servers("context_servers", self.entry(&[("source", "custom")])),
            ),
        }
    }

    fn entry(&self, more: &[(&str, &str)]) -> Value {
        let variables = self.variables.iter();
        let environment: serde_json::Map<String, Value> = variables
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect();
        let mut entry = json!({"command": self.command, "args": ["mcp"], "env": environment});
        for (name, value) in more {
            if let Value::Object(members) = &mut entry {
                members.insert((*name).to_owned(), json!(value));
            }
        }
        entry
    }

    /// It asks for the token when it starts the server, and keeps it out of the file.
    fn vscode(&self) -> String {
        let mut entry = self.entry(&[("type", "stdio")]);
        let token = entry.pointer_mut("/env/VOID_AGENT_TOKEN");
        let asks = token.filter(|token| **token == TOKEN).map(|token| {
            *token = json!("${input:void-agent-token}");
        });
        let mut snippet = json!({"servers": {"void": entry}});
        if let (Some(()), Value::Object(members)) = (asks, &mut snippet) {
            let input = json!({
                "type": "promptString", "id": "void-agent-token",
                "description": "An agent's token of Void", "password": true,
            });
            members.insert("inputs".to_owned(), json!([input]));
        }
        pretty(&snippet)
    }

    fn toml(&self) -> String {
        let text = |value: &str| toml::Value::String(value.to_owned()).to_string();
        let mut lines = vec![
            "[mcp_servers.void]".to_owned(),
            format!("command = {}", text(&self.command)),
            "args = [\"mcp\"]".to_owned(),
            String::new(),
            "[mcp_servers.void.env]".to_owned(),
        ];
        let variables = self.variables.iter();
        lines.extend(variables.map(|(name, value)| format!("{name} = {}", text(value))));
        lines.join("\n")
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
