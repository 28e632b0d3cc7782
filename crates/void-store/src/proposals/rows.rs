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
    Approval, Cancellation, Failure, Joined, Proposal, ProposedAction, ProposedChange, Run, State,
    Status, Subject, SubjectKind, Verification, VerificationOutcome,
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
    let definition = json(row, 5)?;
    let (tier, risk) = grade(row, &definition)?;
    let proposal = Proposal {
        id: row.parsed(0, |text| text.parse().ok())?,
        code: row.parsed(1, ProposalCode::parse)?,
        subject: Subject {
            label: label(row, &definition)?,
            tier,
            risk,
            target: row.text(9)?.to_owned(),
            digest: row.parsed(10, |text| text.parse().ok())?,
            kind: kind(row, definition)?,
        },
        requested_by: Requester {
            kind: row.parsed(12, ActorKind::parse)?,
            id: match row.text(13)? {
                "" => None,
                _ => Some(row.parsed(13, |text| text.parse().ok())?),
            },
            name: row.text(14)?.to_owned(),
        },
        reason: row.opt_text(15)?.map(str::to_owned),
        diff: row.opt_text(35)?.map(str::to_owned),
        taint: row.parsed(16, |text| serde_json::from_str(text).ok())?,
        count: row.count(17)?,
        joined: match row.opt_text(36)? {
            None => Joined::default(),
            Some(_) => row.parsed(36, |text| serde_json::from_str(text).ok())?,
        },
        revision: row.count(37)?,
        created_at: row.time(18)?,
        expires_at: row.time(19)?,
        state: state(row)?,
    };
    Ok(Stored {
        proposal,
        epoch: row.count(2)?,
    })
}

fn kind(row: &Row, definition: Json) -> Result<SubjectKind, StoreError> {
    match row.text(38)? {
        "action" => Ok(SubjectKind::Action(ProposedAction {
            action_id: row.parsed(3, |text| ActionId::parse(text).ok())?,
            execution: Execution::from_definition(&definition),
            definition,
            params: json(row, 6)?,
            exec_digest: row.parsed(11, |text| text.parse().ok())?,
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
    let risk = row.parsed(8, Risk::parse)?;
    let risk = risk.max(written("risk").and_then(Risk::parse).unwrap_or(risk));
    let tier = row.parsed(7, Tier::parse)?;
    let is_risky =
        risk != Risk::Nominal || written("tier").and_then(Tier::parse) == Some(Tier::Risky);
    Ok((if is_risky { Tier::Risky } else { tier }, risk))
}

/// The label of the stored definition, which the digest binds; the column is for definitions without one.
fn label(row: &Row, definition: &Json) -> Result<String, StoreError> {
    let written = definition.pointer("/action/label").and_then(Json::as_str);
    let change = Change::from_definition(definition);
    let written = written.or_else(|| change.as_ref().map(Change::label));
    Ok(written.map_or_else(|| row.text(4), Ok)?.to_owned())
}

/// Matches the whole tuple of what a state needs.
fn state(row: &Row) -> Result<State, StoreError> {
    let status = row.parsed(20, Status::parse)?;
    let approval = match (row.opt_text(21)?, row.opt_time(22)?) {
        (Some(by), Some(at)) => Some(Approval {
            by: by.to_owned(),
            at,
        }),
        (None, None) => None,
        _ => return Err(row.corrupt("half an approval")),
    };
    let run = match (row.opt_time(23)?, row.opt_time(24)?, row.opt_time(25)?) {
        (Some(started_at), Some(ticket_expires_at), Some(lease_until)) => Some(Run {
            started_at,
            ticket_expires_at,
            lease_until,
        }),
        (None, None, None) => None,
        _ => return Err(row.corrupt("half a run")),
    };
    let ended_by = || row.text(26).map(str::to_owned);
    let at = || row.time(27);
    match (status, approval, run) {
        (Status::Pending, None, None) => Ok(State::Pending),
        (Status::Approved, Some(approval), None) => Ok(State::Approved { approval }),
        (Status::Running, Some(approval), Some(run)) => Ok(State::Running { approval, run }),
        (Status::Executed, Some(approval), Some(run)) => Ok(State::Executed {
            approval,
            run,
            at: at()?,
            result: json(row, 28)?,
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
            reason: row.opt_text(31)?.map(str::to_owned),
        }),
        (Status::Expired, lapsed, None) => Ok(State::Expired { at: at()?, lapsed }),
        (Status::Cancelled, None, None) => Ok(State::Cancelled {
            by: ended_by()?,
            at: at()?,
            why: row.parsed(29, Cancellation::parse)?,
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
        code: AnyCode::read(row.text(29)?),
        message: row.text(30)?.to_owned(),
        result: match row.opt_text(28)? {
            Some(_) => Some(json(row, 28)?),
            None => None,
        },
    })
}

fn verification(row: &Row) -> Result<Option<Verification>, StoreError> {
    match row.opt_text(32)? {
        None => Ok(None),
        Some(_) => Ok(Some(Verification {
            outcome: row.parsed(32, VerificationOutcome::parse)?,
            at: row.time(33)?,
            detail: json(row, 34)?,
        })),
    }
}

fn json(row: &Row, column: usize) -> Result<Json, StoreError> {
    row.parsed(column, |text| serde_json::from_str(text).ok())
}
