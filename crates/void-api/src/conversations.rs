//! `/api/conversations`: what was said, saying something, and listening to the answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;
use crate::bounds::UUID;
use crate::markdown::Block;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Message")]
pub struct MessageResponse {
    pub id: String,
    pub conversation_id: String,
    /// Its place in the conversation, from 1.
    pub seq: u64,
    /// `user` or `assistant`.
    pub role: Word,
    /// Markdown.
    pub body: String,
    /// The same as a tree of what may be shown of it.
    pub blocks: Vec<Block>,
    pub created_at: String,
    /// Of an assistant's message: the turn that made it.
    pub turn: Option<TurnResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Turn")]
pub struct TurnResponse {
    /// running, done, stopped or failed.
    pub status: Word,
    pub ended_at: Option<String>,
    pub brain: String,
    pub model: String,
    pub trace: Vec<StepResponse>,
    pub usage: UsageResponse,
    pub truth: TruthResponse,
    /// The same in words; the server says it, not the model.
    pub truth_line: String,
    /// What was read that a stranger could have written.
    pub tainted_by: Vec<String>,
    pub error: Option<TurnFailure>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct StepResponse {
    pub tool: String,
    pub args_summary: String,
    /// `ok`, `denied` (a request that was refused) or `error`.
    pub status: String,
    /// None of the following is kept for turns of older versions.
    pub took_ms: Option<u64>,
    /// The beginning of what came back.
    pub result: Option<String>,
    /// The proposal that it made or asked about.
    pub proposal_id: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct UsageResponse {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
    pub cost_micros: u64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct TruthResponse {
    pub ran: Vec<TruthItemResponse>,
    pub waits: Vec<TruthItemResponse>,
    pub refused: Vec<TruthItemResponse>,
    pub unverified: Vec<TruthItemResponse>,
    /// What became of earlier proposals that the turn only looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Box<Self>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct TruthItemResponse {
    /// The proposal; empty for a request that did not become one.
    pub id: String,
    pub code: String,
    pub action_id: String,
    pub label: String,
    pub status: String,
    pub reason: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct TurnFailure {
    pub code: String,
    pub message: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct MessagesResponse {
    /// Oldest first.
    pub messages: Vec<MessageResponse>,
    /// The cursor of older ones.
    pub next: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct StartedResponse {
    pub conversation_id: String,
    /// The message that is being written: `/api/conversations/{id}/stream?messageId=` reads it.
    pub assistant_message_id: String,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryRequest {
    /// The turn's message; the newest one if left out.
    #[serde(default)]
    #[schemars(regex(pattern = UUID))]
    pub message_id: Option<String>,
}
