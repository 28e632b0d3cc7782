//! `/api/inbox`: everything that waits for the owner, each kind marked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;
use crate::proposals::RowResponse;

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
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RowItem {
    /// `proposal`: waits for a decision. `failure`: nobody knows whether it ran.
    #[schemars(extend("enum" = ["proposal", "failure"]))]
    pub kind: Word,
    #[serde(flatten)]
    pub row: RowResponse,
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
    pub proposal: u64,
    pub failure: u64,
    /// Of the proposals, those that nobody could be told about.
    pub untold: u64,
    pub join: u64,
}
