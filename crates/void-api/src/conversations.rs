//! `/api/conversations`: what was said, saying something, and listening to the answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;
use crate::bounds::{SLUG, UUID};
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
    /// What began it, in words, where nobody spoke.
    #[serde(default)]
    pub begun_by: Vec<String>,
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
    /// If the proposal is a draft that it made: what a yes changes, in Void's words.
    pub draft_summary: Option<String>,
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
    /// What was said, and is answered.
    #[serde(default)]
    #[schemars(required)]
    pub message_id: Option<String>,
    /// The message that is being written: `/api/conversations/{id}/stream?messageId=` reads it, by either id.
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

/// A conversation, and whom it is with.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AttachedConversationsResponse {
    /// Those in which something was said, newest first.
    pub conversations: Vec<AttachedConversation>,
    pub next: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AttachedConversation {
    pub conversation_id: String,
    /// The agent's name.
    pub agent: String,
    /// null: about nothing in particular.
    pub about: Option<ConversationAbout>,
    pub created_at: String,
    pub last_at: String,
    pub messages: u64,
    /// How it begins.
    pub words: String,
    /// If words were looked for: the part of its newest message that has one of them.
    pub found: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ConversationAbout {
    /// `space`, `project`, `page`, `task`, `ref`, `service` or `action`.
    #[schemars(extend("enum" = ABOUT_KINDS))]
    pub kind: Word,
    pub id: String,
}

/// What a conversation can be about.
pub const ABOUT_KINDS: [&str; 7] = [
    "space", "project", "page", "task", "ref", "service", "action",
];

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["kind", "id"]))]
pub struct AttachRequest {
    /// `space`, `project`, `page`, `task`, `ref`, `service` or `action`.
    #[serde(default)]
    #[schemars(required, extend("enum" = ABOUT_KINDS))]
    pub kind: Option<String>,
    #[serde(default)]
    #[schemars(required, regex(pattern = SLUG))]
    pub id: Option<String>,
    /// Whom to talk to; if nobody is named, who answers in that space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = SLUG))]
    pub agent: Option<String>,
}

/// All of a conversation, to be kept elsewhere.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ExportedConversation {
    pub conversation_id: String,
    pub agent: String,
    pub space_id: Option<String>,
    pub about: Option<ConversationAbout>,
    pub created_at: String,
    /// Oldest first.
    pub messages: Vec<ExportedMessage>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ExportedMessage {
    pub id: String,
    pub seq: u64,
    /// `user` or `assistant`.
    pub role: Word,
    /// Markdown.
    pub body: String,
    pub created_at: String,
    /// Of an assistant's message: the turn that made it.
    pub turn: Option<TurnResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ConversationDeletedResponse {
    pub deleted: bool,
}
