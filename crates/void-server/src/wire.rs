//! Proposals as they cross the wire. CONTRACTS names every member of a row.

mod listed;
mod questions;

use serde_json::Value;
use void_api::Word;
use void_api::holds::HoldResponse;
use void_api::proposals::{
    ChangeResponse, ChangedEntityResponse, DraftTurnResponse, RequestedBy, RowError, RowResponse,
    TransitionResponse, WordsResponse,
};
use void_control::proposals::Listed;
use void_domain::cards::words_of;
use void_domain::changes::Change;
use void_domain::failures::FailureCode;
use void_domain::holds::Hold;
use void_domain::hosts::mending_command;
use void_domain::proposals::{Failure, Sight, State, Transition, Verification, Words};

pub(crate) use self::listed::listed_response;
use self::listed::without_words;
pub(crate) use self::questions::{question_response, reminder_response};

fn words_response(words: &Words) -> WordsResponse {
    WordsResponse {
        reason: words.reason.clone(),
        diff: words.diff.clone(),
        at: words.at.to_string(),
    }
}

fn change_response(change: &Change) -> ChangeResponse {
    ChangeResponse {
        target: change.target.as_str().into(),
        entity: change.entity.clone(),
        entity_id: change.entity_id.clone(),
        op: change.op.as_str().into(),
        base_revision: change.base.clone(),
        diff: change.patch.clone(),
        summary: change.summary.clone(),
        about: change.about.as_ref().map(|about| ChangedEntityResponse {
            title: about.title.clone(),
            space_id: about.space_id.map(|id| id.to_string()),
            space: about.space.clone(),
        }),
    }
}

/// The row as a reader with this sight gets it.
pub(crate) fn row_response(listed: &Listed, sight: Sight) -> RowResponse {
    let proposal = &listed.proposal;
    let subject = &proposal.subject;
    let (resolved_by, resolved_at) = proposal.resolution();
    let requester_id = proposal.requested_by.id.map(|id| id.to_string());
    let (result, error, verification) = outcome(&proposal.state, sight);
    let row = RowResponse {
        id: proposal.id.to_string(),
        code: proposal.code.to_string(),
        subject: subject.word().into(),
        action_id: subject.action_id().map(ToString::to_string),
        change: subject.change().map(change_response),
        label: subject.label.clone(),
        params: subject.params().clone(),
        tier: subject.tier.as_str().into(),
        risk: subject.risk.as_str().into(),
        status: proposal.status().as_str().into(),
        display_state: listed.shown.as_str().into(),
        digest: subject.digest.to_string(),
        reason: proposal.reason.clone(),
        diff: proposal.diff.clone(),
        requested_by: RequestedBy {
            kind: proposal.requested_by.kind.as_str().into(),
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
        joined: (proposal.joined.words.iter()).map(words_response).collect(),
        words_left_out: proposal.joined.left_out,
        revision: proposal.revision,
        told: listed.told.map(|told| told.as_str().into()),
        created_at: proposal.created_at.to_string(),
        expires_at: proposal.expires_at.to_string(),
        resolved_at: resolved_at.map(|at| at.to_string()),
        transitions: listed.history.iter().map(transition_response).collect(),
        holds: (listed.holds.iter())
            .map(|hold| hold_response(hold, sight))
            .collect(),
        turn: listed.draft.turn.map(|turn| DraftTurnResponse {
            conversation_id: turn.conversation_id.to_string(),
            message_id: turn.message_id.to_string(),
        }),
        again_of: listed.draft.again_of.map(|id| id.to_string()),
        left_out: None,
    };
    match sight.has_words(&proposal.taint) {
        true => row,
        false => without_words(row),
    }
}

/// Who did what is for everybody who sees the row; the words are for people.
fn hold_response(hold: &Hold, sight: Sight) -> HoldResponse {
    HoldResponse {
        number: hold.number,
        kind: hold.kind.as_str().into(),
        by: hold.by.name().to_owned(),
        sentence: hold.sentence(),
        words_of: words_of(hold.by.name()),
        words: sight.is_whole().then(|| hold.words.clone()),
        taint: hold.taint.sources().to_vec(),
        at: hold.at.to_string(),
        lifted_at: hold.lifted_at.map(|at| at.to_string()),
    }
}

fn transition_response(step: &Transition) -> TransitionResponse {
    TransitionResponse {
        from: step.from.map(|status| status.as_str().into()),
        to: step.to.as_str().into(),
        at: step.at.to_string(),
        by: step.by.clone(),
    }
}

fn outcome(state: &State, sight: Sight) -> (Option<Value>, Option<RowError>, Option<Word>) {
    let error = |failure: &Failure| row_error(state, failure, sight);
    match state {
        State::Executed {
            result,
            verification,
            ..
        } => {
            let seen = verification
                .as_ref()
                .map(|seen| seen.outcome.as_str().into());
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
                mended_by: None,
            };
            (None, Some(error), None)
        }
        State::Rejected { reason, .. } => {
            let error = reason.as_ref().map(|reason| RowError {
                code: FailureCode::Rejected.to_string(),
                message: reason.clone(),
                mended_by: None,
            });
            (None, error, None)
        }
        State::Pending | State::Approved { .. } | State::Running { .. } | State::Expired { .. } => {
            (None, None, None)
        }
    }
}

/// Why it ended badly, and what puts it right, for a reader with this sight.
pub(crate) fn row_error(state: &State, failure: &Failure, sight: Sight) -> RowError {
    let message = sight.message(state, failure);
    RowError {
        code: failure.code.to_string(),
        mended_by: mending_command(&message).map(str::to_owned),
        message,
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
