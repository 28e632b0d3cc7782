//! `/api/sessions`: the browsers that are signed in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SessionsResponse {
    pub sessions: Vec<ListedSessionResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ListedSession")]
pub struct ListedSessionResponse {
    pub id: String,
    pub opened_at: String,
    /// Give or take an hour.
    pub last_seen_at: String,
    pub expires_at: String,
    /// `token`, `password`, `setup` or `passkey`.
    pub method: Word,
    pub device: String,
    /// Whether it is the one that asks.
    pub current: bool,
}
