//! `/api/proposals`: the life of a proposal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use void_domain::changes::{ChangeOp, ChangeTarget};
use void_domain::limits::REASON_BYTES_MAX;
use void_domain::proposals::{DisplayState, Status};

use crate::Word;
use crate::bounds::{DIGEST, NUMBER_MAX};
use crate::holds::HoldResponse;
use crate::schemas;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProposalsResponse {
    pub proposals: Vec<RowResponse>,
    pub next: Option<String>,
}

#[derive(Debug, Default, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DecisionWord {
    Approve,
    #[default]
    Reject,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Decision", extend("required" = ["decision", "digest"]))]
pub struct DecideRequest {
    /// `approve` or `reject`.
    #[serde(default)]
    #[schemars(required)]
    pub decision: Option<DecisionWord>,
    /// The digest of the row that was seen.
    #[serde(default)]
    #[schemars(required, regex(pattern = DIGEST))]
    pub digest: Option<String>,
    /// The revision of the row that was seen, 0 if left out; an approval of an older one is refused as `changed`.
    #[serde(default)]
    #[schemars(range(max = NUMBER_MAX))]
    pub revision: Option<u64>,
    #[serde(default)]
    #[schemars(length(max = REASON_BYTES_MAX), extend("x-max-bytes" = REASON_BYTES_MAX))]
    pub reason: Option<String>,
}

#[derive(Debug, Default, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutcomeWord {
    Executed,
    #[default]
    Failed,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["outcome"]))]
pub struct SettleRequest {
    /// `executed` or `failed`.
    #[serde(default)]
    #[schemars(required)]
    pub outcome: Option<OutcomeWord>,
}

/// One proposal as every list, answer and error shows it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Row")]
pub struct RowResponse {
    pub id: String,
    /// What people say instead of the id; unique while the row is open.
    pub code: String,
    /// `action` or `change`.
    #[serde(default = "action")]
    #[schemars(extend("enum" = ["action", "change"]), required)]
    pub subject: Word,
    /// null if it is a change.
    pub action_id: Option<String>,
    /// What would change, as Void itself found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeResponse>,
    pub label: String,
    #[schemars(with = "schemas::Params")]
    pub params: Value,
    /// `safe` or `risky`.
    #[schemars(extend("enum" = ["safe", "risky"]))]
    pub tier: Word,
    /// `nominal`, `guarded` or `critical`.
    #[schemars(extend("enum" = ["nominal", "guarded", "critical"]))]
    pub risk: Word,
    /// pending, approved, running, executed, failed, rejected, expired, cancelled, unknown or refused.
    #[schemars(extend("enum" = Status::ALL.map(Status::as_str)))]
    pub status: Word,
    /// How it is shown: `status` with what it waits for and how its check ended. Every surface has the same words for it.
    #[serde(default)]
    #[schemars(required, extend("enum" = DisplayState::ALL.map(DisplayState::as_str)))]
    pub display_state: Word,
    /// What an approval binds.
    pub digest: String,
    /// The requester's own words.
    pub reason: Option<String>,
    /// What would change, in the requester's own words too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    pub requested_by: RequestedBy,
    pub agent_id: Option<String>,
    pub resolved_by: Option<String>,
    /// What came back. An agent gets its typed members only: what a machine printed is for people.
    #[schemars(with = "Option<schemas::RunResult>")]
    pub result: Option<Value>,
    pub error: Option<RowError>,
    /// null, `verified`, `failed` or `unverified`.
    #[schemars(extend("enum" = ["verified", "failed", "unverified", null]))]
    pub verification: Option<Word>,
    /// How often it was asked for while it waited.
    pub count: u64,
    /// Foreign content that the requester had read.
    pub taint: Vec<String>,
    /// What it said when it asked for the same again, where that differs.
    pub joined: Vec<WordsResponse>,
    /// How many later requests said something else that is not kept here; the record has how it begins.
    pub words_left_out: u64,
    /// Rises whenever a later request changes what a person should read before a yes.
    pub revision: u64,
    /// Whether a message about it arrived: `not_yet`, `somebody`, or `nobody` (no way has worked so
    /// far). Absent where there is no way to send one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["not_yet", "somebody", "nobody", null]))]
    pub told: Option<Word>,
    pub created_at: String,
    pub expires_at: String,
    pub resolved_at: Option<String>,
    pub transitions: Vec<TransitionResponse>,
    /// What agents above whoever asked, and the owner, put on it, oldest first. While a hold of them is not lifted nothing
    /// starts, and no yes counts.
    #[serde(default)]
    #[schemars(required)]
    pub holds: Vec<HoldResponse>,
    /// Of a draft, the turn in which an agent made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<DraftTurnResponse>,
    /// Of a draft that was asked again, the one that it says again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_of: Option<String>,
    /// What is left out of the row's texts: in a list, where its own read and its card have them whole, and for an agent
    /// whatever was said after a stranger's text was read, unless it asks for that. Absent where nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOutResponse>,
}

/// Drafts of one turn can be decided together.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DraftTurn")]
pub struct DraftTurnResponse {
    pub conversation_id: String,
    /// The agent's message that the turn wrote.
    pub message_id: String,
}

/// How much is left out of a row, whose `change`, `diff` and `joined` are shortened then.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "LeftOut")]
pub struct LeftOutResponse {
    /// Bytes that are not there.
    pub bytes: u64,
    /// How many sentences of the change's `summary` are not there.
    pub sentences: u64,
    /// How many lines the whole change adds.
    pub added_lines: u64,
    /// How many lines the whole change removes.
    pub removed_lines: u64,
}

/// The subject of rows of servers that know of no other.
fn action() -> Word {
    Word::from("action")
}

/// What a change changes. All of it is bound by the digest.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Change")]
pub struct ChangeResponse {
    /// `knowledge`, `agent_config`, `meta_inputs`, `topology` or `catalogue`.
    #[schemars(extend("enum" = ChangeTarget::ALL.map(ChangeTarget::as_str)))]
    pub target: Word,
    pub entity: String,
    /// Which one; of catalogues, the instance whose it is.
    pub entity_id: Option<String>,
    /// `create`, `update` or `delete`.
    #[schemars(extend("enum" = ChangeOp::ALL.map(ChangeOp::as_str)))]
    pub op: Word,
    /// What it was made against: the digest of a file, or a revision. null if there was nothing.
    pub base_revision: Option<String>,
    /// A unified diff against that.
    pub diff: String,
    /// What that means, in words of Void; what widens comes first.
    pub summary: Vec<String>,
    /// Of knowledge: what it is called and where it is. null of everything else.
    pub about: Option<ChangedEntityResponse>,
}

/// What a change of knowledge is about, in the words of the moment in which it was drafted.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ChangedEntity")]
pub struct ChangedEntityResponse {
    /// What it is called before the change; of something new, what it will be called.
    pub title: String,
    /// Where it is, or will be; null of a new space.
    pub space_id: Option<String>,
    pub space: Option<String>,
}

/// Words of the requester from a later request for the same.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Words")]
pub struct WordsResponse {
    pub reason: Option<String>,
    pub diff: Option<String>,
    pub at: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RequestedBy {
    pub kind: Word,
    pub id: Option<String>,
    pub name: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RowError {
    pub code: String,
    pub message: String,
    /// The command that prints what puts it right on the machine, where one does: `void provision local`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mended_by: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Transition")]
pub struct TransitionResponse {
    pub from: Option<Word>,
    pub to: Word,
    pub at: String,
    pub by: String,
}
