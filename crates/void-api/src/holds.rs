//! `/api/proposals/{id}/hold|veto|annotate|lift`: friction on a request that has not started.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_domain::holds::HoldKind;
use void_domain::limits::HOLD_WORDS_BYTES_MAX;

use crate::Word;

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["reason"]))]
pub struct HoldRequest {
    /// Why, for whoever looks at it and for the record.
    #[serde(default)]
    #[schemars(length(min = 1, max = HOLD_WORDS_BYTES_MAX), extend("x-max-bytes" = HOLD_WORDS_BYTES_MAX))]
    pub reason: String,
}

/// What an agent above whoever asked, or the owner, put on a row.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Hold")]
pub struct HoldResponse {
    /// From 1, in the order in which they came.
    pub number: u32,
    #[schemars(extend("enum" = HoldKind::ALL.map(HoldKind::as_str)))]
    pub kind: Word,
    /// The name of an agent, or `owner`.
    pub by: String,
    /// What it is, in words of Void.
    pub sentence: String,
    /// How the words are marked.
    pub words_of: String,
    /// The words of whoever did it; null for an agent, which sees that it was done and by whom.
    pub words: Option<String>,
    /// Foreign content that its writer had read.
    pub taint: Vec<String>,
    pub at: String,
    /// When the owner lifted it; only a hold is lifted.
    pub lifted_at: Option<String>,
}
