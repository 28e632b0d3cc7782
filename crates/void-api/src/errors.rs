//! How every refusal and failure is told.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::Word;
use crate::cards::{MergeConflictResponse, MovedBaseResponse};
use crate::entity_responses::EntityResponse;
use crate::proposals::RowResponse;

#[derive(Debug, Serialize, Deserialize)]
pub struct ErrorResponse {
    pub error: ErrorBody,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct ErrorBody {
    /// Stable; what a program decides by.
    pub code: Word,
    /// What is wrong with which member of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<BTreeMap<String, String>>,
    /// A way out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// A sentence for people.
    pub message: String,
    /// How what this is about stands now: a proposal, or something that the owner keeps.
    #[serde(
        skip_serializing_if = "Option::is_none",
        default,
        deserialize_with = "if_readable"
    )]
    pub row: Option<ErrorRow>,
    /// What is there now instead of what a draft was made of.
    #[serde(
        skip_serializing_if = "Option::is_none",
        default,
        deserialize_with = "if_readable"
    )]
    pub moved: Option<Box<MovedBaseResponse>>,
    /// Where a draft and what is there now change the same, each otherwise; so many more as `conflicts_left_out` says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<MergeConflictResponse>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflicts_left_out: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ErrorRow {
    Proposal(Box<RowResponse>),
    Entity(EntityResponse),
}

/// Why something was refused is understood also where the row is that of another version.
fn if_readable<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let sent = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(sent).ok())
}
