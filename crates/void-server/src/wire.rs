//! The shapes that cross the wire for proposals. CONTRACTS names every member of a row.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use void_control::proposals::Listed;
use void_domain::notifications::Told;
use void_domain::proposals::{Failure, Sight, State, Status, Transition, Verification, Words};

use crate::schemas;

/// What every JSON reader keeps whole.
pub(crate) const REVISION_MAX: u64 = (1 << 53) - 1;

/// One proposal as every list, answer and error shows it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Row")]
pub(crate) struct RowResponse {
    pub id: String,
    /// What people say instead of the id; unique while the row is open.
    pub code: String,
    pub action_id: String,
    pub label: String,
    #[schemars(with = "schemas::Params")]
    pub params: Value,
    /// `safe` or `risky`.
    #[schemars(extend("enum" = ["safe", "risky"]))]
    pub tier: &'static str,
    /// `nominal`, `guarded` or `critical`.
    #[schemars(extend("enum" = ["nominal", "guarded", "critical"]))]
    pub risk: &'static str,
    /// pending, approved, running, executed, failed, rejected, expired, cancelled, unknown or refused.
    #[schemars(extend("enum" = Status::ALL.map(Status::as_str)))]
    pub status: &'static str,
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
    pub verification: Option<&'static str>,
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
    pub told: Option<&'static str>,
    pub created_at: String,
    pub expires_at: String,
    pub resolved_at: Option<String>,
    pub transitions: Vec<TransitionResponse>,
}

/// Words of the requester from a later request for the same.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Words")]
pub(crate) struct WordsResponse {
    pub reason: Option<String>,
    pub diff: Option<String>,
    pub at: String,
}

impl WordsResponse {
    fn new(words: &Words) -> Self {
        Self {
            reason: words.reason.clone(),
            diff: words.diff.clone(),
            at: words.at.to_string(),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RequestedBy {
    pub kind: &'static str,
    pub id: Option<String>,
    pub name: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RowError {
    pub code: String,
    pub message: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Transition")]
pub(crate) struct TransitionResponse {
    pub from: Option<&'static str>,
    pub to: &'static str,
    pub at: String,
    pub by: String,
}

impl RowResponse {
    /// The row as a reader with this sight gets it.
    pub(crate) fn new(listed: &Listed, sight: Sight) -> Self {
        let proposal = &listed.proposal;
        let subject = &proposal.subject;
        let (resolved_by, resolved_at) = proposal.resolution();
        let requester_id = proposal.requested_by.id.map(|id| id.to_string());
        let (result, error, verification) = outcome(&proposal.state, sight);
        Self {
            id: proposal.id.to_string(),
            code: proposal.code.to_string(),
            action_id: subject.action_id.to_string(),
            label: subject.label.clone(),
            params: subject.params.clone(),
            tier: subject.tier.as_str(),
            risk: subject.risk.as_str(),
            status: proposal.status().as_str(),
            digest: subject.digest.to_string(),
            reason: proposal.reason.clone(),
            diff: proposal.diff.clone(),
            requested_by: RequestedBy {
                kind: proposal.requested_by.kind.as_str(),
                id: requester_id.clone(),
                name: proposal.requested_by.name.clone(),
            },
            agent_id: requester_id.filter(|_| proposal.requested_by.kind.as_str() == "agent"),
            resolved_by: resolved_by.map(str::to_owned),
            result,
            error,
            verification,
            count: proposal.count,
            taint: proposal.taint.sources().to_vec(),
            joined: (proposal.joined.words.iter())
                .map(WordsResponse::new)
                .collect(),
            words_left_out: proposal.joined.left_out,
            revision: proposal.revision,
            told: listed.told.map(Told::as_str),
            created_at: proposal.created_at.to_string(),
            expires_at: proposal.expires_at.to_string(),
            resolved_at: resolved_at.map(|at| at.to_string()),
            transitions: listed.history.iter().map(TransitionResponse::new).collect(),
        }
    }

    pub(crate) fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl TransitionResponse {
    fn new(step: &Transition) -> Self {
        Self {
            from: step.from.map(Status::as_str),
            to: step.to.as_str(),
            at: step.at.to_string(),
            by: step.by.clone(),
        }
    }
}

fn outcome(state: &State, sight: Sight) -> (Option<Value>, Option<RowError>, Option<&'static str>) {
    let error = |failure: &Failure| RowError {
        code: failure.code.clone(),
        message: sight.message(state, failure),
    };
    match state {
        State::Executed {
            result,
            verification,
            ..
        } => {
            let seen = verification.as_ref().map(|seen| seen.outcome.as_str());
            let result = result_with_check(result, verification.as_ref(), sight);
            (Some(result), None, seen)
        }
        State::Failed { failure, .. }
        | State::Unknown { failure, .. }
        | State::Refused { failure, .. } => {
            let result = failure.result.as_ref().map(|result| sight.result(result));
            (result, Some(error(failure)), None)
        }
        State::Cancelled { why, .. } => {
            let error = RowError {
                code: why.as_str().to_owned(),
                message: why.message().to_owned(),
            };
            (None, Some(error), None)
        }
        State::Rejected { reason, .. } => {
            let error = reason.as_ref().map(|reason| RowError {
                code: "rejected".to_owned(),
                message: reason.clone(),
            });
            (None, error, None)
        }
        State::Pending | State::Approved { .. } | State::Running { .. } | State::Expired { .. } => {
            (None, None, None)
        }
    }
}

/// What came back, and what its check saw; where there was no check, there is nothing to add.
pub(crate) fn result_with_check(
    result: &Value,
    verification: Option<&Verification>,
    sight: Sight,
) -> Value {
    let mut result = sight.result(result);
    if let (Value::Object(members), Some(seen)) = (&mut result, verification)
        && seen.detail.get("reason").and_then(Value::as_str) != Some("no_check")
    {
        members.insert("check".to_owned(), seen.detail.clone());
    }
    result
}
