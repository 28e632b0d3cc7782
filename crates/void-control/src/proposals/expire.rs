//! Time passes: what nobody decided expires, what was approved and could not start lapses.

use void_domain::actors::Actor;
use void_domain::limits::APPROVAL_LAPSES_AFTER;
use void_domain::proposals::{Proposal, State, Status};
use void_domain::time::Timestamp;
use void_store::proposals::Stored;
use void_store::{StoreError, Tx, installation, proposals};

use super::{cancel, recover, rejudge, start, verify};
use crate::control::Control;
use crate::facts::{self, AuditContext};

/// How many end in one transaction.
const BATCH: u32 = 100;

pub(super) fn has_lapsed(proposal: &Proposal, now: Timestamp) -> bool {
    match &proposal.state {
        State::Approved { approval } => now >= approval.at.plus(APPROVAL_LAPSES_AFTER),
        _ => false,
    }
}

pub(crate) async fn sweep(control: &Control) -> Result<(), StoreError> {
    recover::void_left(control).await?;
    while expire_some(control).await? == BATCH as usize {}
    cancel::end_waiting_of_withdrawn(control).await?;
    rejudge::end_void(control).await?;
    recover::follow_abandoned(control).await?;
    verify::resume(control).await?;
    start::start_waiting(control).await
}

/// The one that waits, if its time is not over and it is not of an older copy. Otherwise it ends here if no
/// sweep has seen it yet, so that it does not stand in the way of a new one.
pub(super) async fn unless_over(
    tx: &mut Tx,
    context: &AuditContext,
    waiting: Option<Stored>,
    now: Timestamp,
) -> Result<Option<Stored>, StoreError> {
    let Some(waiting) = waiting else {
        return Ok(None);
    };
    if waiting.epoch != installation::epoch(tx).await? {
        recover::void(tx, context, now, waiting.proposal).await?;
        return Ok(None);
    }
    if waiting.proposal.expires_at > now {
        return Ok(Some(waiting));
    }
    let moved = waiting.proposal.expire(now);
    let moved = moved.map_err(|error| StoreError::Internal(error.to_string()))?;
    if proposals::advance(tx, &moved).await? {
        let system = AuditContext {
            actor: Actor::System.to_string(),
            ..context.clone()
        };
        facts::moved(tx, &system, &moved).await?;
    }
    Ok(None)
}

/// Looks first: most of the time there is nothing to do, and then nothing is written.
async fn expire_some(control: &Control) -> Result<usize, StoreError> {
    let now = control.clock.now();
    let (bridged, latest) = (control.runs.offers.are_made(), control.clock.latest());
    let due = control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let mut due = proposals::list_overdue(tx, latest, BATCH).await?;
                let approved = proposals::list_in(tx, Status::Approved, BATCH).await?;
                due.extend(
                    approved
                        .into_iter()
                        .filter(|stored| has_lapsed(&stored.proposal, latest))
                        // The bridge takes its file back first: an executor may be faster.
                        .filter(|stored| !(bridged && stored.proposal.subject.is_by_file())),
                );
                Ok::<_, StoreError>(due)
            })
        })
        .await?;
    let count = due.len();
    if count == 0 {
        return Ok(0);
    }
    let context = control.context(&control.system_ctx()?);
    let ids: Vec<_> = due.into_iter().map(|stored| stored.proposal.id).collect();
    let woken = ids.clone();
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                for id in ids {
                    let Some(stored) = proposals::find(tx, id).await? else {
                        continue;
                    };
                    // Decided meanwhile: then it did not run out of time.
                    let Ok(moved) = stored.proposal.expire(now) else {
                        continue;
                    };
                    if proposals::advance(tx, &moved).await? {
                        facts::moved(tx, &context, &moved).await?;
                    }
                }
                Ok::<_, StoreError>(())
            })
        })
        .await?;
    for id in woken {
        control.listeners.waiters.wake_id(id);
    }
    Ok(count)
}
