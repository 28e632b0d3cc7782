//! How a proposal stands for whoever looks at it now: what it is, and what keeps an approved one from starting.

use void_domain::instances::StartingInstance;
use void_domain::policy::{Brakes, Cap, Cooldown};
use void_domain::proposals::{DisplayState, Proposal, StartHold, State};
use void_store::{StoreError, Tx, holds};

use super::start;
use crate::control::Control;
use crate::{freezes, instances};

/// In a transaction of its own, if the database has to be asked at all.
pub async fn shown_now(control: &Control, proposal: &Proposal) -> Result<DisplayState, StoreError> {
    if !may_be_held(proposal) {
        return Ok(DisplayState::of(proposal, StartHold::Nothing));
    }
    let (this, proposal) = (control.clone(), proposal.clone());
    control
        .store
        .read(move |tx| Box::pin(async move { display_state(tx, &this, &proposal).await }))
        .await
}

/// In a transaction that reads more than this.
pub async fn display_state(
    tx: &mut Tx,
    control: &Control,
    proposal: &Proposal,
) -> Result<DisplayState, StoreError> {
    let is_held = may_be_held(proposal) && holds::is_held(tx, proposal.id).await?;
    display_state_of(tx, control, proposal, is_held).await
}

/// The same if it is known whether it is held from above.
pub(super) async fn display_state_of(
    tx: &mut Tx,
    control: &Control,
    proposal: &Proposal,
    is_held: bool,
) -> Result<DisplayState, StoreError> {
    let hold = match (is_held, is_held_somehow(proposal)) {
        (true, _) => StartHold::FromAbove,
        (false, true) => start_hold(tx, control, proposal).await?,
        (false, false) => StartHold::Nothing,
    };
    Ok(DisplayState::of(proposal, hold))
}

/// Whether it has not started yet.
fn may_be_held(proposal: &Proposal) -> bool {
    matches!(proposal.state, State::Pending | State::Approved { .. })
}

/// Whether something may keep it from starting: all else is known from the proposal alone.
fn is_held_somehow(proposal: &Proposal) -> bool {
    matches!(proposal.state, State::Approved { .. }) && !proposal.subject.is_by_file()
}

/// The same things that keep [`start::claim`] from it.
async fn start_hold(
    tx: &mut Tx,
    control: &Control,
    approved: &Proposal,
) -> Result<StartHold, StoreError> {
    let (subject, now) = (&approved.subject, control.clock.now());
    if freezes::holds(tx, control, now).await? {
        return Ok(StartHold::Freeze);
    }
    let instance = instances::starting_instance(tx, control, subject).await?;
    if instance != StartingInstance::This || start::is_busy(tx, control, subject).await? {
        return Ok(StartHold::Target);
    }
    let Some(action) = (subject.action_id()).and_then(|id| control.in_force.catalogue.get(id))
    else {
        return Ok(StartHold::Nothing);
    };
    // What ran a moment ago, or as often as it may, rests first.
    let brakes = start::brakes(tx, control, action, start::bound(approved), now).await?;
    Ok(match brakes {
        Brakes {
            cooldown: Cooldown::Over,
            cap: Cap::Free,
            ..
        } => StartHold::Nothing,
        _ => StartHold::Target,
    })
}
