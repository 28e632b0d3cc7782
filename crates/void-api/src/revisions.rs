//! `…/revisions`, `…/diff` and `…/restore` of every entity: what it said before, and going back to it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;
use crate::bounds::NUMBER_MAX;
use crate::entities::{DraftOrigin, ORIGINS};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RevisionsResponse {
    /// Newest first.
    pub revisions: Vec<RevisionHeadResponse>,
    pub next: Option<String>,
}

/// A revision without its text.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RevisionHead")]
pub struct RevisionHeadResponse {
    pub revision: u64,
    pub at: String,
    /// Who wrote it down, as the record names them.
    pub by: String,
    /// Where its text came from: `owner`, `import`, `capture` or `draft`.
    #[schemars(extend("enum" = ORIGINS))]
    pub origin: Word,
    pub draft: Option<DraftOrigin>,
    pub vouched_at: Option<String>,
    pub vouched_by: Option<String>,
    /// Why, in the writer's words.
    pub reason: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Revision")]
pub struct RevisionResponse {
    #[serde(flatten)]
    pub head: RevisionHeadResponse,
    pub title: String,
    /// Markdown.
    pub body: String,
    pub project_id: Option<String>,
    pub tags: Vec<String>,
    /// Of a page.
    pub path: Option<String>,
    /// Of a task.
    pub state: Option<Word>,
    pub due: Option<String>,
    /// Of a ref.
    pub url: Option<String>,
    /// Of a space.
    pub agent: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["revision"]))]
pub struct RestoreRequest {
    /// The revision to go back to; a new one says the same.
    #[serde(default)]
    #[schemars(required, range(min = 1, max = NUMBER_MAX))]
    pub revision: Option<u64>,
    /// The revision that was looked at; if something else is there now, nothing is restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = NUMBER_MAX))]
    pub base_revision: Option<u64>,
}

/// What two texts are compared by: words, or what is coarser where too many differ.
pub const GRAINS: [&str; 3] = ["words", "lines", "whole"];

/// What differs between two revisions: by words, and as a unified diff. Title and properties stand before the text.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RevisionDiff")]
pub struct RevisionDiffResponse {
    pub from: RevisionHeadResponse,
    pub to: RevisionHeadResponse,
    /// null if too much differs for one.
    pub unified: Option<String>,
    /// Put together, those that are not added are the older text, and those that are not removed the newer one.
    pub spans: Vec<DiffSpanResponse>,
    /// What was compared: `words`, `lines`, or the `whole` that lies between the first and the last difference.
    #[schemars(extend("enum" = GRAINS))]
    pub grain: Word,
    pub words_added: u64,
    pub words_removed: u64,
    /// How something of it hides from a reader, in words; empty if nothing does.
    pub hidden: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DiffSpan")]
pub struct DiffSpanResponse {
    #[schemars(extend("enum" = ["same", "added", "removed"]))]
    pub kind: Word,
    pub text: String,
    /// How it hides: `invisible`, `bidirectional`, `blanks_only`, `look_alike`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidings: Vec<Word>,
}
