//! `agent.toml`: what an agent with a process of its own is, as a typed value. Who wrote it is nobody in particular: every
//! key is known, every text is bounded, and an error names the line and the key.
//!
//! `reading` makes the value of a text, `excesses` says what of it is more than the parent has, `differences` says in
//! words what another config changes, `spending` counts a child's tokens against everybody above it, and `files` is what
//! a commit of a config repository may hold.

mod differences;
mod excesses;
mod files;
mod reading;
mod spending;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub use self::differences::{differences, introduction};
pub use self::excesses::{ConfigCeiling, ConfigExcess, excesses};
pub use self::files::{
    CONFIG_FILE, CommitId, ConfigFiles, FILE_BYTES_MAX, FILES_BYTES_MAX, FILES_MAX, FilesDiff,
    InvalidCommitId, InvalidConfigFile, PATH_BYTES_MAX,
};
pub use self::reading::InvalidAgentConfig;
pub use self::spending::{Overspent, SpentToday, overspent, with_those_below};
use crate::agents::AgentName;
use crate::capabilities::Capabilities;
use crate::ids::ActionId;

pub const CONFIG_BYTES_MAX: usize = 16 * 1024;
pub const MODEL_CHARS_MAX: usize = 128;
pub const TOOLS_MAX: usize = 64;
pub const TOOL_CHARS_MAX: usize = 64;
pub const ACTIONS_MAX: usize = 256;
pub const SCHEDULES_MAX: usize = 16;
pub const SCHEDULE_CHARS_MAX: usize = 64;
/// Far above what one agent uses; a typing mistake is not a budget.
pub const TOKENS_PER_DAY_MAX: u64 = 1_000_000_000;
/// A hundred thousand dollars, in millionths.
pub const COST_MICROS_PER_DAY_MAX: u64 = 100_000_000_000;

/// What produces an agent's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrainKind {
    Builtin,
    Anthropic,
    Openai,
    Ollama,
    Claude,
}

impl BrainKind {
    pub const ALL: [Self; 5] = [
        Self::Builtin,
        Self::Anthropic,
        Self::Openai,
        Self::Ollama,
        Self::Claude,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Anthropic => "anthropic",
            Self::Openai => "openai",
            Self::Ollama => "ollama",
            Self::Claude => "claude",
        }
    }
}

/// What an agent may use up in a day. `None`: no bound of its own; those of everybody above it hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DailyBudget {
    pub tokens: Option<u64>,
    /// In millionths of a dollar.
    pub cost_micros: Option<u64>,
}

/// What one turn may take. `None`: what holds for every turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConfigLimits {
    pub turn_tool_calls: Option<u32>,
    pub turn_seconds: Option<u32>,
    pub turn_output_tokens: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentConfig {
    /// The name of the persona; `None`: the agent has none of its own.
    pub persona: Option<AgentName>,
    pub brain: BrainKind,
    /// `None`: the one that its brain has by the settings.
    pub model: Option<String>,
    pub capabilities: Capabilities,
    /// `None`: every tool that its capabilities give.
    pub tools: Option<BTreeSet<String>>,
    /// The actions of the catalogue that it may ask for; `None`: whatever the catalogue lets it.
    pub actions: Option<BTreeSet<ActionId>>,
    /// When it is woken, each as cron writes it.
    pub schedule: BTreeSet<String>,
    pub budget: DailyBudget,
    pub limits: ConfigLimits,
}
