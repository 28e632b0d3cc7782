//! Offers: an approved proposal whose executor is not Void but whoever takes its file out of the file bridge's
//! `approved/`. Which file lies where is the bridge's work; that something may be taken, was taken, or may no
//! longer be taken is a step of the proposal, judged here by what every other start is judged by.
//!
//! The intent is recorded before the file is public, and the file is taken back before the record says that
//! nobody may take it. An offer that is gone was taken: it is never made twice.

use void_domain::fail_point;
use void_domain::failures::FailureCode;
use void_domain::ids::ProposalId;
use void_domain::proposals::{Failure, Run, State, Status};
use void_store::{StoreError, Tx, bridge as files, holds, proposals as table};

use super::{expire, finish, on_record, rejudge, start};
use crate::control::Control;
use crate::facts;

pub use void_channels::Outcome;

/// Who acted, in the history of the proposal.
pub const BY: &str = "file";

/// Whether an approved proposal may be in `approved/` now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferStanding {
    Open,
    /// Frozen, held from above, cooling down, or its target is busy.
    Held,
    /// Nobody took it in time, or nobody may any more.
    Lapsed,
    /// No longer approved.
    Over,
}

/// Whether what is under way on the target holds it back; an offer that was made holds its own target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetBusy {
    Counts,
    IsItself,
}

/// How it stands with the offer of this proposal.
pub async fn standing(
    control: &Control,
    id: ProposalId,
    busy: TargetBusy,
) -> Result<OfferStanding, StoreError> {
    let this = control.clone();
    control
        .store
        .read(move |tx| Box::pin(async move { standing_in(tx, &this, id, busy).await }))
        .await
}

async fn standing_in(
    tx: &mut Tx,
    control: &Control,
    id: ProposalId,
    busy: TargetBusy,
) -> Result<OfferStanding, StoreError> {
    let Some(stored) = table::find(tx, id).await? else {
        return Ok(OfferStanding::Over);
    };
    let proposal = stored.proposal;
    let now = control.clock.now();
    if proposal.status() != Status::Approved {
        return Ok(OfferStanding::Over);
    }
    let is_void = rejudge::why_void(tx, control, &proposal, now)
        .await?
        .is_some();
    if is_void || expire::has_lapsed(&proposal, control.clock.latest()) {
        return Ok(OfferStanding::Lapsed);
    }
    let Some(action) = proposal
        .subject
        .action_id()
        .and_then(|id| control.in_force.catalogue.get(id))
    else {
        return Ok(OfferStanding::Held);
    };
    let bound = start::bound(&proposal);
    let brakes = start::brakes(tx, control, action, bound, now).await?;
    let free = brakes.refusal().is_none() && !holds::is_held(tx, id).await?;
    let busy = busy == TargetBusy::Counts && start::is_busy(tx, control, &proposal.subject).await?;
    Ok(if free && !busy {
        OfferStanding::Open
    } else {
        OfferStanding::Held
    })
}

/// Records that its file is about to be public. `false`: it may not be, now.
pub async fn make(control: &Control, id: ProposalId) -> Result<bool, StoreError> {
    let this = control.clone();
    let context = control.context(&control.system_ctx()?);
    fail_point!("bridge.offer.before");
    let offered = control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let standing = standing_in(tx, &this, id, TargetBusy::Counts).await?;
                if standing != OfferStanding::Open
                    || !on_record::still_holds(tx, &this, &context, id).await?
                {
                    return Ok(false);
                }
                files::set_offered(tx, id, Some(this.clock.now())).await?;
                Ok::<_, StoreError>(true)
            })
        })
        .await?;
    fail_point!("bridge.offer.after");
    Ok(offered)
}

/// The file is in Void's hands, so the record may say that the offer is over.
pub async fn retract(control: &Control, id: ProposalId) -> Result<(), StoreError> {
    let this = control.clone();
    let context = control.context(&control.system_ctx()?);
    fail_point!("bridge.retract.before");
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                let now = this.clock.now();
                files::set_offered(tx, id, None).await?;
                let Some(stored) = table::find(tx, id).await? else {
                    return Ok(());
                };
                if !matches!(stored.proposal.state, State::Approved { .. }) {
                    return Ok(());
                }
                if let Some(why) = rejudge::why_void(tx, &this, &stored.proposal, now).await? {
                    return rejudge::end(tx, &context, stored.proposal, why, now).await;
                }
                if expire::has_lapsed(&stored.proposal, this.clock.latest())
                    && let Ok(moved) = stored.proposal.expire(now)
                    && table::advance(tx, &moved).await?
                {
                    facts::moved(tx, &context, &moved).await?;
                }
                Ok::<_, StoreError>(())
            })
        })
        .await?;
    fail_point!("bridge.retract.after");
    control.listeners.waiters.wake_id(id);
    Ok(())
}

/// Whether its file may be taken at any moment: then nobody but the bridge ends it.
pub(crate) async fn is_offered(tx: &mut Tx, id: ProposalId) -> Result<bool, StoreError> {
    let known = files::find_of(tx, id).await?;
    Ok(known.is_some_and(|known| known.offered_at.is_some()))
}

/// A foreign executor took the file. The record follows: this is the move to *running*. `false`: it was not
/// there to be taken.
pub async fn claim(control: &Control, id: ProposalId) -> Result<bool, StoreError> {
    let now = control.clock.now();
    let context = control.context(&control.system_ctx()?);
    let this = control.clone();
    fail_point!("bridge.claim.before");
    let claimed = control
        .store
        .write(move |tx| {
            Box::pin(async move {
                if !on_record::still_holds(tx, &this, &context, id).await? {
                    return Ok(false);
                }
                let Some(stored) = table::find(tx, id).await? else {
                    return Ok(false);
                };
                let Some(execution) = stored.proposal.subject.execution() else {
                    return Ok(false);
                };
                let run = Run {
                    started_at: now,
                    ticket_expires_at: now,
                    lease_until: now.plus(execution.timeout),
                };
                let Ok(moved) = stored.proposal.start_by(BY, run) else {
                    return Ok(false);
                };
                files::set_offered(tx, id, None).await?;
                if !table::advance(tx, &moved).await? {
                    return Ok(false);
                }
                facts::moved(tx, &context, &moved).await?;
                Ok::<_, StoreError>(true)
            })
        })
        .await?;
    fail_point!("bridge.claim.after");
    Ok(claimed)
}

/// A foreign executor says how it ended.
pub async fn report(control: &Control, id: ProposalId, outcome: Outcome) {
    finish::finish_by(control, id, BY, outcome).await;
}

/// The bridge was switched off while an offer was public: whether somebody took it cannot be known here.
/// `false` if there was no offer.
pub(super) async fn mark_taken_unknown(
    control: &Control,
    id: ProposalId,
) -> Result<bool, StoreError> {
    let (this, context) = (control.clone(), control.context(&control.system_ctx()?));
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                let is_offered = is_offered(tx, id).await?;
                let stored = table::find(tx, id).await?.filter(|_| is_offered);
                let Some(proposal) = stored.map(|stored| stored.proposal) else {
                    return Ok(false);
                };
                if !matches!(proposal.state, State::Approved { .. }) {
                    return Ok(false);
                }
                let now = this.clock.now();
                let run = Run {
                    started_at: now,
                    ticket_expires_at: now,
                    lease_until: now,
                };
                let message = "its file was offered, and the file bridge is switched off now; \
                               whether somebody took it is not known";
                let impossible = |error: void_domain::proposals::InvalidTransition| {
                    StoreError::Internal(error.to_string())
                };
                files::set_offered(tx, id, None).await?;
                let started = proposal.start(run).map_err(impossible)?;
                let failure = Failure::new(FailureCode::BridgeOff, message);
                let lost = started
                    .proposal
                    .clone()
                    .mark_unknown(now, failure)
                    .map_err(impossible)?;
                for moved in [started, lost] {
                    if !table::advance(tx, &moved).await? {
                        return Ok(false);
                    }
                    facts::moved(tx, &context, &moved).await?;
                }
                Ok::<_, StoreError>(true)
            })
        })
        .await
}
