//! Records how an execution ended. The effect has happened or not; this write is retried until it
//! is on disk, because nobody else knows.

use std::time::Duration;

use serde_json::json;
use void_channels::Outcome;
use void_domain::fail_point;
use void_domain::ids::ProposalId;
use void_domain::proposals::{
    InvalidTransition, Moved, Proposal, State, Verification, VerificationOutcome,
};
use void_domain::time::Timestamp;
use void_store::{ConflictKey, StoreError, Tx, proposals};

use super::{on_record, start, verify};
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::stops;

const RETRY_FIRST: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_secs(5);

pub(super) async fn finish(control: &Control, id: ProposalId, outcome: Outcome) {
    finish_by(control, id, "system", outcome).await;
}

/// The same on somebody else's word: a foreign executor's report.
pub(super) async fn finish_by(
    control: &Control,
    id: ProposalId,
    by: &'static str,
    outcome: Outcome,
) {
    let mut pause = RETRY_FIRST;
    let ended = loop {
        match write(control, id, by, outcome.clone()).await {
            Ok(ended) => break ended,
            Err(error) => {
                tracing::error!(%error, proposal = %id, "an outcome could not be recorded; it is tried again");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(RETRY_MAX);
            }
        }
    };
    if ended.as_ref().is_some_and(stops::is_power)
        && let Err(error) = stops::refresh(control).await
    {
        tracing::warn!(%error, "what the owner stopped could not be read; it is tried again");
    }
    if ended.as_ref().is_some_and(Proposal::is_unchecked) {
        verify::start(control, id, control.bounds.limits.verify_within);
    }
    let is_over = |ended: &Proposal| ended.status().is_end() && !ended.is_unchecked();
    control.listeners.waiters.ends(id, ended.filter(is_over));
    control.listeners.waiters.wake_id(id);
    start::target_is_free(control).await;
}

/// The proposal as it ended, or as it waits again, unless it was settled by others meanwhile.
async fn write(
    control: &Control,
    id: ProposalId,
    by: &'static str,
    outcome: Outcome,
) -> Result<Option<Proposal>, StoreError> {
    let (this, context) = (control.clone(), control.context(&control.system_ctx()?));
    fail_point!("finish.commit.before");
    let ended = control
        .store
        .write_closing_shared(move |tx| {
            let (this, context, outcome) = (this.clone(), context.clone(), outcome.clone());
            Box::pin(async move {
                let now = this.clock.now();
                tx.take(|| ConflictKey::Proposal(id))?;
                let Some(stored) = proposals::find(tx, id).await? else {
                    return Ok(None);
                };
                // Whoever starts on it next is after this in the record too.
                tx.take(|| ConflictKey::Target(stored.proposal.subject.target.clone()))?;
                let outcome = match outcome {
                    Outcome::Busy(failure)
                        if !on_record::approval_holds(tx, &stored.proposal).await? =>
                    {
                        Outcome::Failed(failure)
                    }
                    outcome => outcome,
                };
                // Settled meanwhile, by evidence or by the owner: what is recorded stays.
                let Some(moved) = ended(&this, stored.proposal, now, by, outcome) else {
                    return Ok(None);
                };
                if !record(tx, &context, &moved).await? {
                    return Ok(None);
                }
                // A change is said to be done once what was written has been read back.
                if moved.proposal.subject.is_change() && moved.proposal.is_unchecked() {
                    let seen = Verification {
                        outcome: VerificationOutcome::Verified,
                        at: now,
                        detail: json!({"reason": "read_back"}),
                    };
                    let checked = verify::record_in(tx, &context, moved.proposal, seen).await?;
                    return Ok(Some(checked));
                }
                Ok::<_, StoreError>(Some(moved.proposal))
            })
        })
        .await?;
    fail_point!("finish.commit.after");
    Ok(ended)
}

fn ended(
    control: &Control,
    proposal: Proposal,
    now: Timestamp,
    by: &str,
    outcome: Outcome,
) -> Option<Moved> {
    let moved: Result<Moved, InvalidTransition> = match outcome {
        Outcome::Done { result } if proposal.subject.is_change() => {
            proposal.succeed(now, by, result)
        }
        Outcome::Done { result } => match verify::checks(control, &proposal, &result) {
            Ok(_) => proposal.succeed(now, by, result),
            Err(reason) => proposal
                .succeed(now, by, result)
                .map(|moved| unverified(moved, now, reason)),
        },
        Outcome::Failed(failure) => proposal.fail(now, by, failure),
        Outcome::Busy(failure) => match proposal.approval() {
            Some(approval) if !approval.is_by_policy() => proposal.put_back(now),
            _ => proposal.fail(now, by, failure),
        },
        Outcome::Unknown(failure) => proposal.mark_unknown(now, failure),
    };
    moved.ok()
}

/// Where there is no check the record says so at once, and nothing reads as done.
pub(super) fn unverified(moved: Moved, now: Timestamp, reason: &str) -> Moved {
    let seen = Verification {
        outcome: VerificationOutcome::Unverified,
        at: now,
        detail: json!({"reason": reason}),
    };
    match moved.proposal.clone().verify(seen) {
        Ok(proposal) => Moved { proposal, ..moved },
        Err(_) => moved,
    }
}

/// Stores an end, if the row is still open.
pub(super) async fn record(
    tx: &mut Tx,
    context: &AuditContext,
    moved: &Moved,
) -> Result<bool, StoreError> {
    debug_assert!(!matches!(
        moved.proposal.state,
        State::Pending | State::Running { .. }
    ));
    fail_point!("finish.write.before");
    let won = proposals::advance(tx, moved).await?;
    if won {
        facts::moved(tx, context, moved).await?;
    }
    fail_point!("finish.write.after");
    Ok(won)
}
