//! `/api/agents/{name}/loose-ends`: what is open for an agent and everybody below it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::questions::QuestionResponse;
use crate::reminders::ReminderResponse;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct LooseEndsResponse {
    /// Whoever was asked for first, then those below who have something open.
    pub agents: Vec<AgentLooseEndsResponse>,
    /// What the first one had asked and was answered within the last seven days, newest first.
    pub answered: Vec<QuestionResponse>,
    /// There are more below than were looked at.
    pub is_cut: bool,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AgentLooseEnds")]
pub struct AgentLooseEndsResponse {
    pub agent: String,
    /// What it asked and nobody answered yet.
    pub asked: Vec<QuestionResponse>,
    /// What it was asked and did not answer yet.
    pub to_answer: Vec<QuestionResponse>,
    pub reminders: Vec<ReminderResponse>,
    /// What it asked for and what waits for the owner.
    pub proposals: Vec<WaitingProposalResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "WaitingProposal")]
pub struct WaitingProposalResponse {
    pub id: String,
    pub code: String,
    pub label: String,
    /// `null` if it is a change.
    pub action_id: Option<String>,
    pub created_at: String,
    pub expires_at: String,
}
