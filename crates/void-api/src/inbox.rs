//! `/api/inbox`: everything that waits for the owner, each kind marked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;
use crate::proposals::RowResponse;
use crate::questions::QuestionResponse;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct InboxResponse {
    pub items: Vec<ItemResponse>,
    pub next: Option<String>,
    pub counts: CountsResponse,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ItemResponse {
    Row(Box<RowItem>),
    Join(JoinItem),
    Question(Box<QuestionItem>),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RowItem {
    /// `proposal`: an action that waits for a decision. `draft`: a change that does. `failure`: nobody knows whether it ran.
    #[schemars(extend("enum" = ["proposal", "draft", "failure"]))]
    pub kind: Word,
    /// The same word stands on all drafts of one turn: they can be shown and decided together. Absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    #[serde(flatten)]
    pub row: RowResponse,
}

/// An agent asks the owner something.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct QuestionItem {
    #[schemars(extend("enum" = ["question"]))]
    pub kind: Word,
    #[serde(flatten)]
    pub question: QuestionResponse,
}

/// A machine asks to be a node.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct JoinItem {
    #[schemars(extend("enum" = ["join"]))]
    pub kind: Word,
    pub name: String,
    /// To be compared with what the machine itself shows.
    pub fingerprint: String,
    pub from: String,
    pub version: Option<String>,
    pub asked_at: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CountsResponse {
    /// Everything that waits for a decision, drafts too.
    pub proposal: u64,
    /// Of the proposals, those that are drafts of a change.
    #[serde(default)]
    #[schemars(required)]
    pub draft: u64,
    pub failure: u64,
    /// Of the proposals, those that nobody could be told about.
    pub untold: u64,
    pub join: u64,
    /// What agents ask the owner.
    #[serde(default)]
    #[schemars(required)]
    pub question: u64,
}
