//! `/api/proposals/{id}/card`: everything that the owner reads before deciding.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_domain::proposals::DisplayState;

use crate::Word;
use crate::proposals::RowResponse;
use crate::revisions::{DiffSpanResponse, GRAINS};
use crate::runbooks::RunbookResponse;
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
    pub runs: Vec<PastRunResponse>,
    /// Of a draft of what the owner keeps: what changes, word by word. null of everything else, and of a deletion. The same as a
    /// unified diff is `row.change.diff`.
    pub difference: Option<DifferenceResponse>,
    /// For the owner, of a draft whose base was changed meanwhile: what is there now. It cannot be approved; asking again makes a
    /// draft against that.
    pub moved: Option<MovedBaseResponse>,
    /// The owner's pages about the action, then those about the services that it is about.
    #[serde(default)]
    #[schemars(required)]
    pub runbooks: Vec<RunbookResponse>,
}

/// What is there instead of what a draft was made of; both are shown, and nothing is applied.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MovedBase")]
pub struct MovedBaseResponse {
    /// It was thrown away; everything else is null then.
    pub gone: bool,
    pub revision: Option<u64>,
    pub title: Option<String>,
    /// Markdown, whole.
    pub body: Option<String>,
    pub updated_at: Option<String>,
    pub updated_by: Option<String>,
    /// What was changed since the draft was made, word by word; null if that is not known any more.
    pub difference: Option<DifferenceResponse>,
}

/// A place that the draft and what is there now both change, each otherwise.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MergeConflict")]
pub struct MergeConflictResponse {
    /// The line of what is there now with which it begins, from 1; title and properties are lines before the text.
    pub line: u64,
    /// What both were made of.
    pub base: String,
    pub draft: String,
    pub now: String,
}

/// All that a draft changes, made from the patch that the digest binds. Nothing is left out of it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Difference")]
pub struct DifferenceResponse {
    pub parts: Vec<DifferencePartResponse>,
    pub words_added: u64,
    pub words_removed: u64,
    /// In how many places something changes, over all parts.
    pub places: u64,
    /// How something of it hides from a reader, in words; empty if nothing does.
    pub hidden: Vec<String>,
}

/// Lines that change, with some around them that stay. Title and properties are lines before the text.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DifferencePart")]
pub struct DifferencePartResponse {
    /// The line with which it begins before the change, from 1.
    pub line: u64,
    /// What was compared: `words`, `lines`, or the `whole` of the part.
    #[schemars(extend("enum" = GRAINS))]
    pub grain: Word,
    /// In their order. Their `text` is as it is to be shown: what would not be seen in it is escaped as `\\u{…}`.
    pub spans: Vec<DiffSpanResponse>,
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
pub struct PastRunResponse {
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
