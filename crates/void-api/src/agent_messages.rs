//! `/api/agents/{name}/messages` and `…/wake`: mailboxes of agents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_domain::agent_messages::{AgentMessageState, OwnWake, TEXT_BYTES_MAX};

use crate::Word;

/// Without control characters but line breaks and tabs, and with something that can be seen.
pub const TEXT: &str = r"^[^\u0000-\u0008\u000b-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u0008\u000b-\u001f\u007f-\u009f]*$";
pub const KEY: &str = "^[A-Za-z0-9._:-]{1,64}$";

const CAUSES: [&str; 4] = [
    OwnWake::ALL[0].as_str(),
    OwnWake::ALL[1].as_str(),
    OwnWake::ALL[2].as_str(),
    OwnWake::ALL[3].as_str(),
];

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Mailbox")]
pub struct MailboxResponse {
    pub agent: String,
    pub counts: MailboxCountsResponse,
    /// The newest first.
    pub messages: Vec<AgentMessageResponse>,
    /// The cursor of older ones.
    pub next: Option<String>,
}

/// Of all that is kept, whatever was asked for.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MailboxCounts")]
pub struct MailboxCountsResponse {
    pub waiting: u64,
    /// Handed out and not acknowledged.
    pub delivered: u64,
    pub acknowledged: u64,
    pub dead: u64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AgentMessage")]
pub struct AgentMessageResponse {
    pub id: String,
    /// `owner`, or the name of an agent; the server says it.
    pub from: String,
    pub to: String,
    /// What the sender calls it; its id, if it did not say.
    pub key: String,
    #[schemars(extend("enum" = ["text", "wake"]))]
    pub kind: Word,
    /// An agent's words, which may say anything. Null for a wake.
    pub text: Option<String>,
    /// Why an agent woke itself: `timer`, `file`, `hook` or `job`. Null for a text.
    pub wake: Option<Word>,
    /// What the sender had read that a stranger could have written.
    pub taint: Vec<String>,
    #[schemars(extend("enum" = AgentMessageState::WORDS))]
    pub state: Word,
    /// How often it was handed out.
    pub deliveries: u32,
    pub sent_at: String,
    pub expires_at: String,
    /// When it was acknowledged, or was found to reach nobody.
    pub ended_at: Option<String>,
    /// Why it reaches nobody: `receiver_gone`, `out_of_reach`, `expired` or `never_acknowledged`. Null otherwise.
    pub why: Option<Word>,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["text"]))]
pub struct AgentMessageRequest {
    #[serde(default)]
    #[schemars(length(min = 1, max = TEXT_BYTES_MAX), regex(pattern = TEXT), extend("x-max-bytes" = TEXT_BYTES_MAX))]
    pub text: String,
    /// Your own name for it: the same send with the same key is one message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = KEY))]
    pub key: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AgentMessageSent")]
pub struct AgentMessageSentResponse {
    pub message: AgentMessageResponse,
    /// It was there already.
    pub repeat: bool,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["cause"]))]
pub struct AgentWakeRequest {
    #[serde(default)]
    #[schemars(extend("enum" = CAUSES))]
    pub cause: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgentWakeResponse {
    pub id: String,
    /// A wake for the same cause waits already.
    pub repeat: bool,
}
