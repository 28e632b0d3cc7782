//! What `void agents` takes.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  void agents tree\n  void agents can little-blue\n  void agents move sentinel little-blue --dry-run"
)]
pub(crate) enum AgentsCommand {
    /// List them with brain, rights and use
    Ls,
    /// Show who stands under whom
    Tree,
    /// Show what one may do to the others: alone, with your nod, never
    Can {
        /// As the tree calls it
        agent: String,
    },
    /// Keep an agent's process running from now on
    Start(AgentArgs),
    /// End an agent's process, and leave nothing of it
    Stop(AgentArgs),
    /// End an agent's process and start another one
    Restart(AgentArgs),
    /// What an agent's processes wrote
    Logs(AgentLogsArgs),
    /// Put one, with everybody below it, under another one
    Move(AgentMoveArgs),
    /// Show an agent's config, or ask for one of its commits to be applied
    Config(AgentConfigArgs),
    /// Ask for a new agent with a process of its own
    New(AgentNewArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AgentConfigArgs {
    /// The agent's name in the tree
    pub agent: String,
    /// The whole id of a commit of its repository; it waits for your yes
    #[arg(long, value_name = "COMMIT")]
    pub apply: Option<String>,
    /// Why, for the card
    #[arg(long, requires = "apply", value_name = "WHY")]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AgentNewArgs {
    /// 1 to 64 of a-z, 0-9 and -
    pub name: String,
    /// Under whom it is to stand; the root if left out
    #[arg(long, value_name = "AGENT")]
    pub parent: Option<String>,
    /// Its agent.toml; without one it answers by Void's own rules and may nothing
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Why, for the card
    #[arg(long, value_name = "WHY")]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AgentMoveArgs {
    /// As the tree calls it
    pub agent: String,
    /// Under whom it is to stand
    pub parent: String,
    /// Only show who gains and who loses what
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, conflicts_with = "dry_run")]
    pub yes: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AgentArgs {
    /// The agent's name in the tree
    pub name: String,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AgentLogsArgs {
    /// The agent's name in the tree
    pub name: String,
    /// How many of the newest lines, 1 to 500
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub limit: u32,
}
