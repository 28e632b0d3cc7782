//! What the commands about questions and reminders take.

use clap::Args;

#[derive(Debug, Clone, Args)]
pub(crate) struct InboxAnswerArgs {
    /// The question's code, such as Q-7F3K
    pub code: String,
    /// In words
    #[arg(required_unless_present = "option", conflicts_with = "option")]
    pub text: Option<String>,
    /// With the option of this number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
    pub option: Option<u8>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AgentAskArgs {
    /// The agent's name in the tree
    pub name: String,
    /// What you want to know
    pub text: String,
    /// Something to choose from; once for each
    #[arg(long = "option", value_name = "TEXT")]
    pub options: Vec<String>,
    /// After how long nobody needs the answer any more, such as 2h; a day if left out
    #[arg(long, value_name = "TIME")]
    pub expires: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AgentRemindArgs {
    /// The agent's name in the tree
    pub name: String,
    /// What it is woken with
    pub text: String,
    /// Once: a time of day such as 22:00, or a moment such as 2026-11-16T22:00:00Z
    #[arg(
        long,
        value_name = "TIME",
        required_unless_present_any = ["every", "cron"],
        conflicts_with_all = ["every", "cron"]
    )]
    pub at: Option<String>,
    /// Again and again, such as 30m or 6h
    #[arg(long, value_name = "TIME", conflicts_with = "cron")]
    pub every: Option<String>,
    /// As five fields of cron say: minute hour day month weekday
    #[arg(long, value_name = "FIELDS")]
    pub cron: Option<String>,
    /// The time zone of --cron, such as Europe/Berlin; UTC if left out
    #[arg(long, requires = "cron")]
    pub zone: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AgentRemindersArgs {
    /// Only those of this agent
    pub name: Option<String>,
    /// Remind nobody any more of the one with this id
    #[arg(long, value_name = "ID", conflicts_with = "name")]
    pub cancel: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AgentLooseEndsArgs {
    /// Whose, with everybody below
    #[arg(default_value = "root")]
    pub name: String,
}
