//! What a start finds: runs that a crash cut off, approvals that have not started, wishes whose
//! definition has changed. Nothing risky is repeated; what cannot be known is called unknown.

use std::sync::Arc;

use void_domain::catalogue::{Action, Params};
use void_domain::proposals::{Cancellation, Failure, Proposal, State, Status};
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, installation, proposals};

use super::executing::Working;
use super::{settle, start};
use crate::control::Control;
use crate::instances;
use crate::records::{self, Scribe};

/// Far above the bound on what may be open.
const OPEN_MAX: u32 = 100_000;

/// The action and parameters of a proposal, if the catalogue still says exactly what was proposed.
pub(super) fn current_definition(
    control: &Control,
    proposal: &Proposal,
) -> Option<(Arc<Action>, Params)> {
    let action = control.catalogue.get(&proposal.wish.action_id)?;
    let params = action.params.check(&proposal.wish.params).ok()?;
    let same = action.digest_with(&params) == Ok(proposal.wish.digest)
        && action.exec_digest() == proposal.wish.exec_digest
        && *action.definition() == proposal.wish.definition;
    same.then(|| (Arc::clone(action), params))
}

pub(crate) async fn recover(control: &Control) -> Result<(), StoreError> {
    let (this, scribe) = (control.clone(), control.scribe(&control.system_ctx()?));
    let running = control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                cancel_changed(tx, &this, &scribe).await?;
                let running = proposals::list_in(tx, Status::Running, OPEN_MAX).await?;
                Ok::<_, StoreError>(running)
            })
        })
        .await?;
    // With one process per file every run found here was cut off. On PostgreSQL another instance may
    // be working on it; the sweep looks again when its lease is over.
    if control.store.is_sqlite() {
        for stored in running {
            follow_in_background(control, &stored.proposal);
        }
    }
    start::start_waiting(control).await
}

/// Runs that nobody here works on, and whose instance has had its time: asking is safe then, because
/// a host that has not seen the ticket will not run it any more.
pub(super) async fn follow_abandoned(control: &Control) -> Result<(), StoreError> {
    let now = control.clock.now();
    let running = control
        .store
        .read(|tx| Box::pin(proposals::list_in(tx, Status::Running, OPEN_MAX)))
        .await?;
    for stored in running {
        if let State::Running { run, .. } = stored.proposal.state
            && now >= run.lease_until
        {
            follow_in_background(control, &stored.proposal);
        }
    }
    Ok(())
}

fn follow_in_background(control: &Control, proposal: &Proposal) {
    let id = proposal.id;
    let Some(working) = Working::on(control, id) else {
        return;
    };
    tracing::warn!(proposal = %id, "a run was cut off; asking what became of it");
    let control = control.clone();
    tokio::spawn(async move {
        settle::follow(&control, id).await;
        drop(working);
    });
}

/// Why something waits on although the catalogue here does not have it: another instance would run it,
/// or there is no catalogue at all, which is a mistake and not a decision.
pub(super) async fn kept_though_unknown(
    tx: &mut Tx,
    control: &Control,
    proposal: &Proposal,
) -> Result<Option<String>, StoreError> {
    if let Some(name) = instances::somebody_else_would_run(tx, control, &proposal.wish).await? {
        return Ok(Some(format!(
            "the catalogue of this instance does not have it like this; {name} has: decide it there"
        )));
    }
    if control.catalogue.actions().len() == 0 {
        let message = "this server has no catalogue, so nothing can run; it waits on: put actions.json back and start again";
        return Ok(Some(message.to_owned()));
    }
    Ok(None)
}

/// What waits must be what would run; the catalogue may have changed while we were not there.
async fn cancel_changed(tx: &mut Tx, control: &Control, scribe: &Scribe) -> Result<(), StoreError> {
    let now = control.clock.now();
    for status in [Status::Pending, Status::Approved] {
        for stored in proposals::list_in(tx, status, OPEN_MAX).await? {
            if current_definition(control, &stored.proposal).is_none()
                && kept_though_unknown(tx, control, &stored.proposal)
                    .await?
                    .is_none()
            {
                cancel(
                    tx,
                    scribe,
                    stored.proposal,
                    now,
                    Cancellation::DefinitionChanged,
                )
                .await?;
            }
        }
    }
    Ok(())
}

/// Raises the epoch and ends everything that was open: nothing of an older copy comes back to life.
pub(crate) async fn void_open(
    tx: &mut Tx,
    scribe: &Scribe,
    now: Timestamp,
    why: Cancellation,
) -> Result<u64, StoreError> {
    installation::raise_epoch(tx).await?;
    let mut voided = 0;
    for status in [Status::Pending, Status::Approved] {
        for stored in proposals::list_in(tx, status, OPEN_MAX).await? {
            cancel(tx, scribe, stored.proposal, now, why).await?;
            voided += 1;
        }
    }
    for stored in proposals::list_in(tx, Status::Running, OPEN_MAX).await? {
        let failure = Failure::new(
            why.as_str(),
            "it ran when the copy was made; the copy cannot know how it ended",
        );
        let Ok(moved) = stored.proposal.lose(now, failure) else {
            continue;
        };
        proposals::advance(tx, &moved).await?;
        records::moved(tx, scribe, &moved).await?;
        voided += 1;
    }
    Ok(voided)
}

async fn cancel(
    tx: &mut Tx,
    scribe: &Scribe,
    proposal: Proposal,
    now: Timestamp,
    why: Cancellation,
) -> Result<(), StoreError> {
    let Ok(moved) = proposal.cancel("system", now, why) else {
        return Ok(());
    };
    if proposals::advance(tx, &moved).await? {
        records::moved(tx, scribe, &moved).await?;
    }
    Ok(())
}
