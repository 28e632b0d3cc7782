//! `/api/agents/{name}/start` and its like: processes of agents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;

pub const STATES: [&str; 6] = [
    "stopped", "starting", "running", "asleep", "crashed", "given_up",
];

/// How an agent's process stands.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AgentProcess")]
pub struct AgentProcessResponse {
    pub name: String,
    /// At this instance.
    #[schemars(extend("enum" = STATES))]
    pub state: Word,
    /// What is wanted of it: `running`, `stopped`, or `given_up` because it ended unasked too often; null if it was
    /// never started.
    pub wanted: Option<Word>,
    /// Of the process that runs.
    pub pid: Option<u32>,
    /// How often it ended unasked in a row; 0 while it runs.
    pub failures: u32,
    /// How it ended the last time that it ended unasked.
    pub why: Option<String>,
    /// The owner paused it: it is not woken and gets no turn.
    #[serde(default)]
    #[schemars(required)]
    pub paused: bool,
}

/// An agent that is no more.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AgentDestroyed")]
pub struct AgentDestroyedResponse {
    pub name: String,
    /// Where its folder lies, in the data folder.
    pub archive: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AgentPause")]
pub struct AgentPauseResponse {
    pub name: String,
    pub paused: bool,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AgentLog")]
pub struct AgentLogResponse {
    /// The newest last. An agent wrote them, and they may say anything.
    pub lines: Vec<AgentLogLineResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AgentLogLine")]
pub struct AgentLogLineResponse {
    pub at: String,
    /// Without tokens and control characters.
    pub text: String,
}
