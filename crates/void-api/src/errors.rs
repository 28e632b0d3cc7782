//! How every refusal and failure is told.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::Word;
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
    /// How the proposal stands that this is about.
    #[serde(
        skip_serializing_if = "Option::is_none",
        default,
        deserialize_with = "if_readable"
    )]
    pub row: Option<Box<RowResponse>>,
}

/// Why something was refused is understood also where the row is that of another version.
fn if_readable<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let sent = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(sent).ok())
}
