//! Deciding drafts of what the owner keeps: several at once, with the owner's own words in one, and asking again for one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_domain::limits::{DRAFTS_AT_ONCE_MAX, REASON_BYTES_MAX};

use crate::bounds::{DIGEST, NUMBER_MAX, UUID};
use crate::cards::{MergeConflictResponse, MovedBaseResponse};
use crate::drafts::DraftFields;
use crate::errors::ErrorBody;
use crate::proposals::{DecisionWord, RowResponse};

/// Drafts that are decided alike, each for itself: one that cannot be decided holds up none of the others.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DraftDecisions", extend("required" = ["decision", "drafts"]))]
pub struct DraftDecisionsRequest {
    /// `approve` or `reject`.
    #[serde(default)]
    #[schemars(required)]
    pub decision: Option<DecisionWord>,
    /// In the order in which they are decided.
    #[serde(default)]
    #[schemars(required, length(min = 1, max = DRAFTS_AT_ONCE_MAX))]
    pub drafts: Vec<SeenDraft>,
    /// Of a rejection; it stands with each of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = REASON_BYTES_MAX), extend("x-max-bytes" = REASON_BYTES_MAX))]
    pub reason: Option<String>,
}

/// One of them, as it was seen.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["id", "digest"]))]
pub struct SeenDraft {
    /// The id of its proposal.
    #[schemars(regex(pattern = UUID))]
    pub id: String,
    /// The digest of the row that was seen.
    #[schemars(regex(pattern = DIGEST))]
    pub digest: String,
    /// The revision of the row that was seen, 0 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = NUMBER_MAX))]
    pub revision: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DraftResults")]
pub struct DraftResultsResponse {
    /// In the order of the request.
    pub results: Vec<DraftResult>,
}

/// What became of one: its row as it is now, or why it was not decided.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct DraftResult {
    pub id: String,
    pub row: Option<RowResponse>,
    #[schemars(with = "Option<DraftRefusal>")]
    pub error: Option<ErrorBody>,
}

/// Why one was not decided, as any other error.
#[derive(JsonSchema)]
#[expect(
    dead_code,
    reason = "for the document; errors are written by hand there"
)]
struct DraftRefusal {
    /// Stable; what a program decides by.
    code: String,
    /// A sentence for people.
    message: String,
    /// A way out.
    #[schemars(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// How it stands now.
    #[schemars(skip_serializing_if = "Option::is_none")]
    row: Option<RowResponse>,
    /// What is there now instead of what it was made of.
    #[schemars(skip_serializing_if = "Option::is_none")]
    moved: Option<MovedBaseResponse>,
    #[schemars(skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<MergeConflictResponse>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    conflicts_left_out: Option<u64>,
}

/// A draft with the owner's own words in it.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EditedApproval", extend("required" = ["digest", "fields"]))]
pub struct ApproveEditedRequest {
    /// The digest of the row that was seen.
    #[serde(default)]
    #[schemars(required, regex(pattern = DIGEST))]
    pub digest: Option<String>,
    /// The revision of the row that was seen, 0 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = NUMBER_MAX))]
    pub revision: Option<u64>,
    /// What is stored instead of what was drafted; what is left out stays as drafted.
    #[serde(default)]
    #[schemars(required)]
    pub fields: Option<DraftFields>,
}

/// Nothing has to be said.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AskAgain")]
pub struct AgainRequest {}
