//! `/api/proposals/{id}/card`: everything that the owner reads before deciding.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_domain::proposals::DisplayState;

use crate::Word;
use crate::proposals::RowResponse;
use crate::services::ServiceResponse;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Card")]
pub struct CardResponse {
    pub row: RowResponse,
    /// `Safe`, `Risky`, `Risky, may cut you off` or `Risky, changes what is allowed`.
    pub tier_words: Word,
    /// What Void itself saw of the services that this is about, whatever the requester says.
    pub evidence: Vec<ServiceResponse>,
    /// What happens on yes, as a verb phrase.
    pub consequence: String,
    pub target: String,
    /// Every value that the digest binds, whole: what the requester chose first, then the definition's.
    pub bound: Vec<BoundResponse>,
    /// How words of the requester are marked.
    pub words_of: String,
    /// The same once it is over, to follow *has*, *would have* or *may have*.
    pub past: String,
    /// What is looked at afterwards, as a sentence; also that nothing is.
    pub checked_by: String,
    /// The service that is looked at afterwards, if one is.
    pub verify: Option<String>,
    pub inverse: Option<InverseResponse>,
    pub allowed_by: AllowedBy,
    /// What was asked for is no longer what would run: it cannot be approved, nor asked for again.
    pub changed: bool,
    /// Foreign content that the requester had read.
    pub read_before: Vec<String>,
    /// An approval needs a login of the last minutes, and this session's is older.
    pub needs_login: bool,
    /// Earlier runs of the same action, newest first.
    pub runs: Vec<RunResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Bound")]
pub struct BoundResponse {
    pub name: String,
    pub value: String,
    /// The requester chose it.
    pub is_param: bool,
}

/// The action that undoes this one, as a request of its own.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Inverse")]
pub struct InverseResponse {
    pub id: String,
    pub label: String,
    pub tier: Word,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AllowedBy {
    /// null for a change: no action of the catalogue allows it.
    pub id: Option<String>,
    pub digest: String,
    /// The commit of the catalogue, where it is in a git work tree.
    pub commit: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Run")]
pub struct RunResponse {
    pub id: String,
    pub code: String,
    pub status: Word,
    /// As on a row.
    #[serde(default)]
    #[schemars(required, extend("enum" = DisplayState::ALL.map(DisplayState::as_str)))]
    pub display_state: Word,
    pub verification: Option<Word>,
    pub started_at: Option<String>,
    /// From its start to its end.
    pub took_ms: Option<u64>,
}
