//! What `void agents` takes.

use clap::{Args, Subcommand, ValueEnum};

use super::questions::{AgentAskArgs, AgentLooseEndsArgs, AgentRemindArgs, AgentRemindersArgs};

#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  void agents tree\n  void agents can little-blue\n  void agents move sentinel little-blue --dry-run\n  void agents mailbox sentinel --state dead"
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
    /// Restart an agent on its newest applied config and program
    Update(AgentArgs),
    /// End an agent for good: its process, tokens and place go, its name is nobody's, its folder lies in the archive
    Destroy(AgentDestroyArgs),
    /// Let an agent rest: it is not woken and gets no turn until you resume it
    Pause(AgentArgs),
    /// Let a paused agent go on
    Resume(AgentArgs),
    /// Have an agent with a process look around, in a turn of its own
    Wake(AgentArgs),
    /// What an agent's processes wrote
    Logs(AgentLogsArgs),
    /// Put a message of yours into an agent's mailbox
    Send(AgentSendArgs),
    /// What is in an agent's mailbox, newest first
    Mailbox(AgentMailboxArgs),
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
pub(crate) struct AgentDestroyArgs {
    /// The agent's name in the tree
    pub name: String,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AgentSendArgs {
    /// The agent's name in the tree
    pub name: String,
    /// What you have to say
    #[arg(required = true)]
    pub words: Vec<String>,
    /// Your own name for it: the same again with the same key is one message
    #[arg(long)]
    pub key: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AgentMailboxArgs {
    /// The agent's name in the tree
    pub name: String,
    /// Which of them
    #[arg(long, value_enum, default_value_t)]
    pub state: MailboxState,
    /// How many of the newest, 1 to 500
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=500))]
    pub limit: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum MailboxState {
    #[default]
    All,
    /// Waiting, or handed out and not acknowledged
    Open,
    Acknowledged,
    /// What reaches nobody
    Dead,
}

impl MailboxState {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Open => "open",
            Self::Acknowledged => "acknowledged",
            Self::Dead => "dead",
        }
    }
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AgentLogsArgs {
    /// The agent's name in the tree
    pub name: String,
    /// How many of the newest lines, 1 to 500
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub limit: u32,
}
