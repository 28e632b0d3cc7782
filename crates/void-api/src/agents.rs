//! `/api/agents` and `/api/little-blue`: who talks here, and the conversation with each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_domain::conversations::VIEW_KINDS;
use void_domain::limits::MESSAGE_BYTES_MAX;

use crate::Word;
use crate::conversations::MessageResponse;

/// Text without a NUL that has more in it than blanks.
pub const SAID: &str = "^[^\\u0000]*[^\\s\\u0000\\u0085\\u200b\\ufeff\\u001c-\\u001f][^\\u0000]*$";

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgentsResponse {
    pub agents: Vec<AgentResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Agent")]
pub struct AgentResponse {
    /// What `agent_id` is in the rows it asks for; null until it has acted or was talked to.
    pub id: Option<String>,
    pub slug: Word,
    pub name: Word,
    pub about: Word,
    /// builtin, anthropic, openai, ollama or claude.
    pub brain: String,
    pub model: String,
    /// What it may do; empty if its token was withdrawn.
    pub capabilities: Vec<String>,
    /// Whether the owner withdrew its token: it does not answer then.
    pub withdrawn: bool,
    /// Tokens it may use a day; null means no bound.
    pub daily_tokens: Option<u64>,
    /// What it used since midnight UTC.
    pub used_tokens: u64,
    /// In millionths of a dollar, by the prices that the owner set.
    pub used_cost_micros: u64,
}

/// A conversation as it opens: its newest messages, oldest of them first.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ConversationResponse {
    pub conversation_id: String,
    pub space_id: Option<String>,
    pub agent: AgentResponse,
    pub messages: Vec<MessageResponse>,
    /// The cursor of older messages.
    pub next: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ConversationsResponse {
    pub conversations: Vec<SummaryResponse>,
    pub next: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ConversationSummary")]
pub struct SummaryResponse {
    pub conversation_id: String,
    pub created_at: String,
    pub last_at: String,
    pub messages: u64,
    /// How it begins.
    pub words: String,
    /// If words were looked for: the part of its newest message that has one of them.
    pub found: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["text"]))]
pub struct SayRequest {
    /// What the owner says, in Markdown; something that can be seen.
    #[serde(default)]
    #[schemars(length(min = 1, max = MESSAGE_BYTES_MAX), regex(pattern = SAID))]
    #[schemars(extend("x-max-bytes" = MESSAGE_BYTES_MAX))]
    pub text: String,
    /// What the owner looks at meanwhile: what "this" and "here" mean. It is kept nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<ViewRequest>,
}

/// What has the form of an id: of an entity, a service, a guest (`NODE/NUMBER`), an entry of the record, …
const VIEW_ID: &str = "^[A-Za-z0-9][A-Za-z0-9-]{0,63}(/[1-9][0-9]{0,9})?$";

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(extend("required" = ["entityType", "entityId"]))]
pub struct ViewRequest {
    #[serde(default)]
    #[schemars(required, extend("enum" = VIEW_KINDS))]
    pub entity_type: Option<String>,
    /// Of a screen its name: home, inbox, lab, chat, knowledge, search, audit, settings or more.
    #[serde(default)]
    #[schemars(required, regex(pattern = VIEW_ID))]
    pub entity_id: Option<String>,
}
