//! The command: which flags, which variables, which folders. Nothing of it is a secret but the pass,
//! which is in the environment only, and nothing of it is the owner's text, which goes in by a pipe.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use void_domain::limits;
use void_domain::secrets::Secret;

use super::{ClaudeConfig, ClaudeLogin};
use crate::brains::Prompt;

/// What the MCP server is called in there: its tools are `mcp__void__…`.
pub(crate) const TOOL_PREFIX: &str = "mcp__void__";
/// Where the gateway is, below the server's address.
const GATEWAY_PATH: &str = "/gateway/anthropic";
/// Of one call to a model, by the program itself.
const RETRIES_MAX: &str = "2";

/// What is switched off: everything that the program does beside answering. The first three matter most:
/// without them a word such as `@/etc/passwd` in a message makes it read that file and show it to the
/// model, with every tool switched off; and it takes up instructions from files.
const SWITCHES: [(&str, &str); 17] = [
    ("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1"),
    ("CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1"),
    ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
    ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
    ("CLAUDE_CODE_DISABLE_BUNDLED_SKILLS", "1"),
    ("CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    // It would ask the same question twice.
    ("CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK", "1"),
    ("CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL", "1"),
    ("CLAUDE_CODE_DISABLE_TERMINAL_TITLE", "1"),
    ("CLAUDE_CODE_MAX_RETRIES", RETRIES_MAX),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("DISABLE_TELEMETRY", "1"),
    // A turn has no tokens to spare for thinking aloud.
    ("MAX_THINKING_TOKENS", "0"),
    ("LANG", "C.UTF-8"),
    ("SHELL", "/bin/sh"),
];

pub(super) struct Command {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
    /// Empty, and the same every time: the program finds its conversations by it.
    pub folder: PathBuf,
}

pub(super) fn command(
    config: &ClaudeConfig,
    prompt: &Prompt,
    pass: &Secret,
    session: Option<&str>,
) -> io::Result<Command> {
    let folders = Folders::make(config)?;
    Ok(Command {
        program: program(&config.program)?,
        arguments: arguments(config, prompt, session),
        environment: environment(config, prompt, pass, &folders),
        folder: folders.room,
    })
}

/// A path is meant from where the server runs, and the program runs elsewhere. A name is looked for.
fn program(path: &Path) -> io::Result<PathBuf> {
    let is_name = path.components().count() == 1 && !path.has_root();
    if is_name {
        return Ok(path.to_owned());
    }
    std::path::absolute(path)
}

struct Folders {
    room: PathBuf,
    home: PathBuf,
    temporary: PathBuf,
}

impl Folders {
    fn make(config: &ClaudeConfig) -> io::Result<Self> {
        let work = std::path::absolute(&config.work_folder)?;
        let within = |name: &str| work.join(name);
        let home = match &config.login {
            ClaudeLogin::Gateway => private(within("home"))?,
            ClaudeLogin::Subscription { home } => std::path::absolute(home)?,
        };
        Ok(Self {
            room: private(within("room"))?,
            home,
            temporary: private(within("tmp"))?,
        })
    }
}

fn private(folder: PathBuf) -> io::Result<PathBuf> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)?;
    Ok(folder)
}

fn arguments(config: &ClaudeConfig, prompt: &Prompt, session: Option<&str>) -> Vec<OsString> {
    let tools: Vec<String> = prompt
        .tools
        .iter()
        .map(|tool| format!("{TOOL_PREFIX}{}", tool.name))
        .collect();
    let rounds_max = (limits::TURN_TOOL_ROUNDS_MAX + 1).to_string();
    let servers = servers(config).to_string();
    let (tools, instructions) = (tools.join(","), prompt.instructions());
    let mut arguments = vec![
        "--print",
        "--output-format=stream-json",
        "--input-format=text",
        "--include-partial-messages",
        "--verbose",
        "--strict-mcp-config",
        "--mcp-config",
        &servers,
        // No tool of its own, and of the others only these; whatever else is asked for is denied.
        "--tools",
        "",
        "--allowedTools",
        &tools,
        "--permission-mode",
        "dontAsk",
        // Neither the owner's settings nor a folder's: hooks and plug-ins are programs.
        "--setting-sources",
        "",
        "--disable-slash-commands",
        "--max-turns",
        &rounds_max,
        "--model",
        &config.model,
        "--system-prompt",
        &instructions,
    ];
    if let Some(session) = session {
        arguments.extend(["--resume", session]);
    }
    arguments.into_iter().map(OsString::from).collect()
}

/// The program replaces `${…}` by its own variable of that name, so the pass is not written here.
fn servers(config: &ClaudeConfig) -> Value {
    json!({"mcpServers": {"void": {
        "type": "stdio",
        "command": text(&config.void_program),
        "args": ["mcp"],
        "env": {
            "VOID_API_URL": config.api_url.to_string(),
            "VOID_AGENT_TOKEN": "${VOID_AGENT_TOKEN}",
        },
    }}})
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn environment(
    config: &ClaudeConfig,
    prompt: &Prompt,
    pass: &Secret,
    folders: &Folders,
) -> Vec<(OsString, OsString)> {
    let mut environment: Vec<(OsString, OsString)> = SWITCHES
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from(value)))
        .collect();
    let mut set = |name: &str, value: OsString| environment.push((OsString::from(name), value));
    set("PATH", config.search_path.clone());
    set("HOME", folders.home.clone().into());
    set("TMPDIR", folders.temporary.clone().into());
    set("VOID_AGENT_TOKEN", pass.expose().into());
    let output_tokens_max = prompt.output_tokens_max.to_string();
    set("CLAUDE_CODE_MAX_OUTPUT_TOKENS", output_tokens_max.into());
    match config.login {
        ClaudeLogin::Gateway => {
            let gateway = format!("{}{GATEWAY_PATH}", config.api_url);
            set("ANTHROPIC_BASE_URL", gateway.into());
            set("ANTHROPIC_AUTH_TOKEN", pass.expose().into());
        }
        ClaudeLogin::Subscription { .. } => {}
    }
    environment
}
