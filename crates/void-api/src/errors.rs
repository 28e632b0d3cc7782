//! How every refusal and failure is told.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<Box<RowResponse>>,
}
