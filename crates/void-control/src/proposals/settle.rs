//! Outcomes that nobody knows: asked for again and again, and settled by evidence or by the owner's
//! word. Nothing is ever repeated.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use void_channels::{Evidence, Outcome};
use void_domain::changes::{Change, ChangeTarget};
use void_domain::executions::Route;
use void_domain::failures::FailureCode;
use void_domain::ids::ProposalId;
use void_domain::permits::{ChangeAuthor, Ticket};
use void_domain::proposals::{Failure, Proposal, State, Status};
use void_store::{StoreError, proposals};

use super::finish;
use super::settling::{Round, Settling};
use super::{ProposalKey, start};
use crate::context::Ctx;
use crate::control::Control;
use crate::instances::{self, Knower};

const UNKNOWN_MAX: u32 = 100;
/// Beyond an action's own limit, which the host keeps.
const END_MARGIN: Duration = Duration::from_secs(30);
/// Codes that say that the machine itself was not reached: about the next run it has no answer either.
const NOT_REACHED: [FailureCode; 3] = [
    FailureCode::Unreachable,
    FailureCode::Timeout,
    FailureCode::ConnectionLost,
];

/// What the owner says happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    Executed,
    Failed,
}

#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    #[error("only the owner settles an unknown outcome")]
    OwnerOnly,
    #[error("there is no such proposal")]
    NotFound,
    #[error("its outcome is not unknown: it is {}", .0.status().as_str())]
    NotUnknown(Box<Proposal>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The owner has looked and says what happened. The record shows that it was the owner's word.
pub async fn settle(
    control: &Control,
    ctx: &Ctx,
    key: ProposalKey,
    said: Settled,
) -> Result<Proposal, SettleError> {
    if !ctx.actor.is_owner() {
        return Err(SettleError::OwnerOnly);
    }
    let (this, context, by) = (control.clone(), control.context(ctx), ctx.actor.to_string());
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                let proposal = key.find(tx).await?.ok_or(SettleError::NotFound)?.proposal;
                let now = this.clock.now();
                if proposal.status() != Status::Unknown {
                    return Err(SettleError::NotUnknown(Box::new(proposal)));
                }
                let moved = match said {
                    Settled::Executed => proposal
                        .succeed(now, &by, json!({"settled_by": by}))
                        .map(|moved| finish::unverified(moved, now, "no_check")),
                    Settled::Failed => {
                        let failure = Failure::new(
                            FailureCode::SettledFailed,
                            "the owner looked: it was not done",
                        );
                        proposal.fail(now, &by, failure)
                    }
                };
                let moved = moved.map_err(|error| StoreError::Internal(error.to_string()))?;
                finish::record(tx, &context, &moved).await?;
                Ok(moved.proposal)
            })
        })
        .await
}

/// Asks about every unknown outcome whose turn it is: each machine by a task of its own, so that one
/// that does not answer holds up neither the others nor the next look.
pub(crate) async fn settle_unknown(control: &Control, settling: &Arc<Settling>) {
    let unknown = control
        .store
        .read(|tx| Box::pin(proposals::list_in(tx, Status::Unknown, UNKNOWN_MAX)))
        .await;
    let unknown = match unknown {
        Ok(unknown) => unknown,
        Err(error) => {
            tracing::warn!(%error, "unknown outcomes could not be read");
            return;
        }
    };
    let unknown = unknown.into_iter().map(|stored| stored.proposal);
    for round in settling.due(unknown, control.clock.now()) {
        tokio::spawn(ask_all(control.clone(), round));
    }
}

async fn ask_all(control: Control, round: Round) {
    let mut is_reached = true;
    for proposal in &round.proposals {
        if control.is_stopping() {
            return;
        }
        if is_reached {
            is_reached = ask(&control, proposal).await;
        }
        round.note(proposal.id, control.clock.now());
    }
}

/// Whether the machine was reached.
async fn ask(control: &Control, proposal: &Proposal) -> bool {
    if !matches!(who_knows(control, proposal).await, Ok(Knower::Us)) {
        // Whoever started it on its own machine settles it, and nobody else.
        return true;
    }
    let evidence = evidence(control, proposal).await;
    if let Evidence::None(failure) = &evidence {
        return !NOT_REACHED.iter().any(|code| failure.code == *code);
    }
    if let Some(outcome) = known(evidence) {
        tracing::info!(proposal = %proposal.id, "an unknown outcome was settled by evidence");
        finish::finish(control, proposal.id, outcome).await;
    }
    true
}

/// What can be found out about a run: from the machine, or from the file that was to change.
async fn evidence(control: &Control, proposal: &Proposal) -> Evidence {
    let (ticket, execution) = (Ticket::of(proposal), proposal.subject.execution());
    match (ticket, execution, proposal.subject.change()) {
        // Only its file can tell; the bridge reads it, and until then it is under way.
        (_, Some(execution), _) if execution.route() == Route::File => Evidence::Started,
        (Some(ticket), Some(execution), _) => {
            control.runs.executor.settle(execution, &ticket).await
        }
        (_, _, Some(change)) => change_evidence(control, proposal, change).await,
        _ => Evidence::None(Failure::new(
            FailureCode::NoEvidence,
            "its stored definition cannot be read",
        )),
    }
}

async fn change_evidence(control: &Control, proposal: &Proposal, change: &Change) -> Evidence {
    let source = control.in_force.catalogue_source.as_ref();
    let writer = control.in_force.change_writers.writer();
    match (change.target, ChangeAuthor::of(proposal)) {
        (ChangeTarget::Catalogue, _) if let Some(source) = source => {
            source.file.settle(change).await
        }
        (ChangeTarget::AgentConfig | ChangeTarget::MetaInputs, Some(author))
            if let Some(writer) = writer =>
        {
            writer.settle(change, author).await
        }
        _ => Evidence::None(Failure::new(
            FailureCode::NoEvidence,
            "what it changes is not here",
        )),
    }
}

async fn who_knows(control: &Control, proposal: &Proposal) -> Result<Knower, StoreError> {
    let (this, proposal) = (control.clone(), proposal.clone());
    control
        .store
        .read(move |tx| Box::pin(async move { instances::knower(tx, &this, &proposal).await }))
        .await
}

/// Evidence as an outcome, if it says anything.
pub(super) fn known(evidence: Evidence) -> Option<Outcome> {
    match evidence {
        Evidence::Done { result } => Some(Outcome::Done { result }),
        Evidence::Failed(failure) => Some(Outcome::Failed(failure)),
        Evidence::Started | Evidence::None(_) => None,
    }
}

/// Follows a run that somebody was cut off from, until its end is known or must have come.
pub(super) async fn follow(control: &Control, id: ProposalId) {
    const PAUSE: Duration = Duration::from_millis(500);
    const UNREACHABLE_FOR: u32 = 10;
    let mut without_answer = 0;
    loop {
        let found = control
            .store
            .read(move |tx| Box::pin(proposals::find(tx, id)))
            .await;
        let Ok(Some(stored)) = found else { return };
        let proposal = stored.proposal;
        let State::Running { run, .. } = &proposal.state else {
            return;
        };
        match who_knows(control, &proposal).await {
            Ok(Knower::Us) => {}
            Ok(Knower::Away(failure)) => {
                finish::finish(control, id, Outcome::Unknown(failure)).await;
                return;
            }
            Ok(Knower::Other) | Err(_) => return,
        }
        let execution = proposal.subject.execution();
        let overdue = execution.is_none_or(|execution| {
            control.clock.now() >= run.started_at.plus(execution.timeout + END_MARGIN)
        });
        let evidence = evidence(control, &proposal).await;
        let failure = match evidence {
            Evidence::Started if !overdue => None,
            Evidence::Started => Some(Failure::new(
                FailureCode::NoEnd,
                "it began, and no end was recorded in its time",
            )),
            Evidence::None(failure) => {
                without_answer += 1;
                (overdue || without_answer >= UNREACHABLE_FOR).then_some(failure)
            }
            evidence => {
                if let Some(outcome) = known(evidence) {
                    finish::finish(control, id, outcome).await;
                }
                return;
            }
        };
        if let Some(failure) = failure {
            let cause = if proposal.subject.is_by_file() {
                "the executor that took the file has not reported"
            } else {
                "Void stopped while it ran, and the outcome could not be found out"
            };
            let failure = Failure {
                message: format!("{cause}: {}", failure.message),
                ..failure
            };
            finish::finish(control, id, Outcome::Unknown(failure)).await;
            let _ = start::start_waiting(control).await;
            return;
        }
        if control.is_stopping() {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}
