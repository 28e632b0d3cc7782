//! What `void agents` takes.

use clap::{Args, Subcommand};

use super::questions::{AgentAskArgs, AgentLooseEndsArgs, AgentRemindArgs, AgentRemindersArgs};

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
    /// Ask an agent something; it is woken by it
    Ask(AgentAskArgs),
    /// Wake an agent later, once or again and again
    Remind(AgentRemindArgs),
    /// What agents are to be reminded of
    Reminders(AgentRemindersArgs),
    /// What is open for an agent and everybody below it
    LooseEnds(AgentLooseEndsArgs),
    /// Put one, with everybody below it, under another one
    Move(AgentMoveArgs),
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
