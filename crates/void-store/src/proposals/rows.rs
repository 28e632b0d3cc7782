//! Between a row and a proposal. One fallible conversion: a row that no proposal can be is an error
//! with its id, never a guess.

use serde_json::Value as Json;
use void_domain::actors::{ActorKind, Requester};
use void_domain::catalogue::{Risk, Tier};
use void_domain::changes::Change;
use void_domain::executions::Execution;
use void_domain::failures::AnyCode;
use void_domain::ids::{ActionId, ProposalCode};
use void_domain::proposals::{
    Approval, Cancellation, Failure, Proposal, ProposedAction, ProposedChange, Run, State, Status,
    Subject, SubjectKind, Verification, VerificationOutcome,
};

use super::Stored;
use crate::errors::StoreError;
use crate::values::{Row, Value, values};

macro_rules! columns {
    () => {
        "id, code, epoch, action_id, label, definition, params, tier, risk, target, digest, exec_digest, \
         requester_kind, requester_id, requester_name, reason, taint, asked_count, created_at, expires_at, status, \
         approved_by, approved_at, started_at, ticket_expires_at, lease_until, ended_by, ended_at, result, \
         failure_code, failure_message, decision_reason, verification, verified_at, verification_detail, diff, \
         joined, revision, subject"
    };
}
pub(super) use columns;

pub(super) fn requester_id(requester: &Requester) -> String {
    requester.id.map(|id| id.to_string()).unwrap_or_default()
}

/// The columns from `status` on, in order.
pub(super) fn state_values(proposal: &Proposal) -> Vec<Value<'_>> {
    let approval = proposal.approval();
    let run = proposal.run();
    let (ended_by, ended_at) = match &proposal.state {
        State::Pending | State::Approved { .. } | State::Running { .. } => (None, None),
        State::Executed { at, .. } | State::Unknown { at, .. } | State::Expired { at, .. } => {
            (Some("system"), Some(*at))
        }
        State::Failed { at, settled_by, .. } => (Some(settled_by.as_str()), Some(*at)),
        State::Rejected { by, at, .. } | State::Cancelled { by, at, .. } => {
            (Some(by.as_str()), Some(*at))
        }
        State::Refused { at, .. } => (Some(Approval::POLICY), Some(*at)),
    };
    let failure = match &proposal.state {
        State::Failed { failure, .. }
        | State::Unknown { failure, .. }
        | State::Refused { failure, .. } => Some((
            failure.code.as_str(),
            failure.message.as_str(),
            failure.result.as_ref(),
        )),
        State::Cancelled { why, .. } => Some((why.as_str(), why.message(), None)),
        _ => None,
    };
    let result = match &proposal.state {
        State::Executed { result, .. } => Some(result),
        _ => failure.and_then(|(_, _, result)| result),
    };
    let decision_reason = match &proposal.state {
        State::Rejected { reason, .. } => reason.as_deref(),
        _ => None,
    };
    let verification = match &proposal.state {
        State::Executed { verification, .. } => verification.as_ref(),
        _ => None,
    };
    values![
        proposal.status().as_str(),
        approval.map(|approval| approval.by.as_str()),
        approval.map(|approval| approval.at),
        run.map(|run| run.started_at),
        run.map(|run| run.ticket_expires_at),
        run.map(|run| run.lease_until),
        ended_by,
        ended_at,
        result.map(Json::to_string),
        failure.map(|(code, _, _)| code),
        failure.map(|(_, message, _)| message),
        decision_reason,
        verification.map(|seen| seen.outcome.as_str()),
        verification.map(|seen| seen.at),
        verification.map(|seen| seen.detail.to_string()),
    ]
    .to_vec()
}

pub(super) fn stored(row: &Row) -> Result<Stored, StoreError> {
    let definition = row.json("definition")?;
    let (tier, risk) = grade(row, &definition)?;
    let proposal = Proposal {
        id: row.parse("id")?,
        code: row.parsed("code", ProposalCode::parse)?,
        subject: Subject {
            label: label(row, &definition)?,
            tier,
            risk,
            target: row.string("target")?,
            digest: row.parse("digest")?,
            kind: kind(row, definition)?,
        },
        requested_by: Requester {
            kind: row.parsed("requester_kind", ActorKind::parse)?,
            id: match row.text("requester_id")? {
                "" => None,
                _ => Some(row.parse("requester_id")?),
            },
            name: row.string("requester_name")?,
        },
        reason: row.opt_string("reason")?,
        diff: row.opt_string("diff")?,
        taint: row.json("taint")?,
        count: row.count("asked_count")?,
        joined: row.opt_json("joined")?.unwrap_or_default(),
        revision: row.count("revision")?,
        created_at: row.time("created_at")?,
        expires_at: row.time("expires_at")?,
        state: state(row)?,
    };
    Ok(Stored {
        proposal,
        epoch: row.count("epoch")?,
    })
}

fn kind(row: &Row, definition: Json) -> Result<SubjectKind, StoreError> {
    match row.text("subject")? {
        "action" => Ok(SubjectKind::Action(ProposedAction {
            action_id: row.parsed("action_id", |text| ActionId::parse(text).ok())?,
            execution: Execution::from_definition(&definition),
            definition,
            params: row.json("params")?,
            exec_digest: row.parse("exec_digest")?,
        })),
        "change" => Ok(SubjectKind::Change(ProposedChange {
            change: Change::from_definition(&definition),
            definition,
        })),
        _ => Err(row.corrupt("unknown subject")),
    }
}

/// The strictest of what the row and the stored definition say. The digest binds the definition, so an
/// edited column can raise a risk and never lower it.
fn grade(row: &Row, definition: &Json) -> Result<(Tier, Risk), StoreError> {
    let written = |name: &str| definition.get(name).and_then(Json::as_str);
    let risk = row.parsed("risk", Risk::parse)?;
    let risk = risk.max(written("risk").and_then(Risk::parse).unwrap_or(risk));
    let tier = row.parsed("tier", Tier::parse)?;
    let is_risky =
        risk != Risk::Nominal || written("tier").and_then(Tier::parse) == Some(Tier::Risky);
    Ok((if is_risky { Tier::Risky } else { tier }, risk))
}

/// The label of the stored definition, which the digest binds; the column is for definitions without one.
fn label(row: &Row, definition: &Json) -> Result<String, StoreError> {
    if let Some(label) = definition.pointer("/action/label").and_then(Json::as_str) {
        return Ok(label.to_owned());
    }
    match Change::from_definition(definition) {
        Some(change) => Ok(change.label().to_owned()),
        None => row.string("label"),
    }
}

/// Matches the whole tuple of what a state needs.
fn state(row: &Row) -> Result<State, StoreError> {
    let status = row.parsed("status", Status::parse)?;
    let approval = match (row.opt_text("approved_by")?, row.opt_time("approved_at")?) {
        (Some(by), Some(at)) => Some(Approval {
            by: by.to_owned(),
            at,
        }),
        (None, None) => None,
        _ => return Err(row.corrupt("half an approval")),
    };
    let run = match (
        row.opt_time("started_at")?,
        row.opt_time("ticket_expires_at")?,
        row.opt_time("lease_until")?,
    ) {
        (Some(started_at), Some(ticket_expires_at), Some(lease_until)) => Some(Run {
            started_at,
            ticket_expires_at,
            lease_until,
        }),
        (None, None, None) => None,
        _ => return Err(row.corrupt("half a run")),
    };
    let ended_by = || row.string("ended_by");
    let at = || row.time("ended_at");
    match (status, approval, run) {
        (Status::Pending, None, None) => Ok(State::Pending),
        (Status::Approved, Some(approval), None) => Ok(State::Approved { approval }),
        (Status::Running, Some(approval), Some(run)) => Ok(State::Running { approval, run }),
        (Status::Executed, Some(approval), Some(run)) => Ok(State::Executed {
            approval,
            run,
            at: at()?,
            result: row.json("result")?,
            verification: verification(row)?,
        }),
        (Status::Failed, Some(approval), Some(run)) => Ok(State::Failed {
            approval,
            run,
            at: at()?,
            failure: failure(row)?,
            settled_by: ended_by()?,
        }),
        (Status::Unknown, Some(approval), Some(run)) => Ok(State::Unknown {
            approval,
            run,
            at: at()?,
            failure: failure(row)?,
        }),
        (Status::Rejected, None, None) => Ok(State::Rejected {
            by: ended_by()?,
            at: at()?,
            reason: row.opt_string("decision_reason")?,
        }),
        (Status::Expired, lapsed, None) => Ok(State::Expired { at: at()?, lapsed }),
        (Status::Cancelled, None, None) => Ok(State::Cancelled {
            by: ended_by()?,
            at: at()?,
            why: row.parsed("failure_code", Cancellation::parse)?,
        }),
        (Status::Refused, None, None) => Ok(State::Refused {
            at: at()?,
            failure: failure(row)?,
        }),
        _ => Err(row.corrupt(format!(
            "{} does not fit its approval and run",
            status.as_str()
        ))),
    }
}

fn failure(row: &Row) -> Result<Failure, StoreError> {
    Ok(Failure {
        code: AnyCode::read(row.text("failure_code")?),
        message: row.string("failure_message")?,
        result: row.opt_json("result")?,
    })
}

fn verification(row: &Row) -> Result<Option<Verification>, StoreError> {
    match row.opt_text("verification")? {
        None => Ok(None),
        Some(_) => Ok(Some(Verification {
            outcome: row.parsed("verification", VerificationOutcome::parse)?,
            at: row.time("verified_at")?,
            detail: row.json("verification_detail")?,
        })),
    }
}
