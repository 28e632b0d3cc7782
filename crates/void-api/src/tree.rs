//! `/api/agents/topology`, `…/can` and `…/move`: who stands under whom, what one may do to another because of it, and
//! moving somebody.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;
use crate::agent_processes::AgentProcessResponse;
use crate::bounds::SLUG;

/// A commit of the tree's repository.
pub const COMMIT: &str = "^[0-9a-f]{40,64}$";
/// How many names a list of a change has; `who_count` and `over_count` say how many there are.
pub const NAMES_MAX: usize = 100;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct TopologyResponse {
    /// Everybody, parents before their children; then whoever has no position.
    pub agents: Vec<MemberResponse>,
    /// How the processes stand of those who have one.
    pub processes: Vec<AgentProcessResponse>,
    /// What is wrong with the tree, in words. Whoever is named has no right over anybody.
    pub problems: Vec<String>,
    /// The commit of `meta` that is in force; null while there is none.
    pub commit: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Member")]
pub struct MemberResponse {
    pub name: String,
    /// `resident`: it lives in the server and has no process of its own. `process`: it has one.
    #[schemars(extend("enum" = ["resident", "process"]))]
    pub kind: Word,
    pub parent: Option<String>,
    /// How many generations below the root; null: it has no position.
    pub depth: Option<u32>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CanResponse {
    pub agent: MemberResponse,
    /// Withdrawn, it may do nothing.
    pub withdrawn: bool,
    pub capabilities: Vec<String>,
    /// What each operation is in words, of somebody called it.
    pub operations: Vec<OperationResponse>,
    /// What it may do to everybody, itself included.
    pub over: Vec<RightsResponse>,
    pub next: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Operation")]
pub struct OperationResponse {
    pub operation: Word,
    pub words: Word,
    /// The capability without which nobody may.
    pub needs: Option<Word>,
}

/// Every operation is in one of the three lists.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Rights")]
pub struct RightsResponse {
    pub agent: MemberResponse,
    /// How the one that acts stands to it: `self`, `ancestor`, `descendant`, `sibling` or `stranger`.
    #[schemars(extend("enum" = ["self", "ancestor", "descendant", "sibling", "stranger"]))]
    pub relation: Word,
    /// By how many generations, for an ancestor and a descendant.
    pub generations: Option<u8>,
    pub alone: Vec<Word>,
    pub with_nod: Vec<Word>,
    pub never: Vec<Word>,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["parent"]))]
pub struct AgentMoveRequest {
    /// Under whom it is to stand.
    #[serde(default)]
    #[schemars(regex(pattern = SLUG))]
    pub parent: String,
    /// Only tells what it would change.
    #[serde(default)]
    pub dry_run: bool,
    /// `before` of the answer that was looked at: if the tree is another one by then, nothing is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = COMMIT))]
    pub commit: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgentMoveResponse {
    pub name: String,
    pub from: Option<String>,
    pub to: String,
    /// How many stand below it and go along.
    pub below: usize,
    /// False: it was only looked at.
    pub moved: bool,
    /// The commit of the tree that it was judged by, and the one that came of it.
    pub before: Option<String>,
    pub commit: Option<String>,
    /// Who may do what to whom from then on, and who no longer may.
    pub changes: Vec<RightsChangeResponse>,
    /// The same in sentences.
    pub words: Vec<String>,
}

/// The same for each of `who` over each of `over`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RightsChange")]
pub struct RightsChangeResponse {
    pub who: Vec<String>,
    pub who_count: usize,
    pub over: Vec<String>,
    pub over_count: usize,
    pub gains: Vec<RightShiftResponse>,
    pub loses: Vec<RightShiftResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RightShift")]
pub struct RightShiftResponse {
    pub operation: Word,
    /// `never`, `with_nod` or `alone`.
    #[schemars(extend("enum" = ["never", "with_nod", "alone"]))]
    pub from: Word,
    #[schemars(extend("enum" = ["never", "with_nod", "alone"]))]
    pub to: Word,
}
