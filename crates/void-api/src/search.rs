//! `/api/search`: what the owner keeps by its text, and what is in the lab by its name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_domain::knowledge::SearchKind;

use crate::Word;

pub const SEARCH_MODES: [&str; 2] = ["hybrid", "text"];

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SearchResponse {
    /// How was looked: by words and by meaning, or by words alone.
    #[schemars(extend("enum" = SEARCH_MODES))]
    pub mode: Word,
    /// Why not by meaning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The best first.
    pub results: Vec<SearchHitResponse>,
    pub next: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SearchHit")]
pub struct SearchHitResponse {
    #[schemars(extend("enum" = SearchKind::ALL.map(SearchKind::as_str)))]
    pub kind: Word,
    pub id: String,
    /// What is in the lab is in no space.
    pub space_id: Option<String>,
    /// Empty where a stranger could have written it and the caller is not the owner.
    pub title: String,
    /// The title in parts, with the words that were looked for marked.
    #[serde(default)]
    pub title_spans: Vec<SearchSpanResponse>,
    /// The part of the text that shows why it was found.
    pub snippet: Vec<SearchSpanResponse>,
    /// Of use only to compare results of one search.
    pub score: u64,
    /// Of a task, a service, an action or a proposal: how it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Word>,
    /// A stranger could have written it.
    #[serde(default)]
    pub foreign: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SearchSpan")]
pub struct SearchSpanResponse {
    pub text: String,
    /// It was looked for.
    pub hit: bool,
}
