//! What a start finds: runs that a crash cut off, approvals that have not started, requests whose
//! definition has changed. Nothing risky is repeated; what cannot be known is called unknown.

use void_domain::ids::ProposalId;
use void_domain::proposals::{Cancellation, Failure, Proposal, State, Status};
use void_domain::time::Timestamp;
use void_store::proposals::Stored;
use void_store::{StoreError, Tx, installation, proposals};

use super::executing::Working;
use super::{plans, settle, start};
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::instances;

/// Far above the bound on what may be open.
const OPEN_MAX: u32 = 100_000;
/// How many end in one transaction: a batch has a deadline, and others wait for it.
const AT_ONCE: u32 = 100;

pub(crate) async fn recover(control: &Control) -> Result<(), StoreError> {
    void_left(control).await?;
    cancel_changed(control).await?;
    // With one process per file every run found here was cut off. On PostgreSQL another instance may
    // be working on it; the sweep looks again when its lease is over.
    if control.store.is_sqlite() {
        for stored in list_in(control, Status::Running).await? {
            follow_in_background(control, &stored.proposal);
        }
    }
    start::start_waiting(control).await
}

async fn list_in(control: &Control, status: Status) -> Result<Vec<Stored>, StoreError> {
    control
        .store
        .read(move |tx| Box::pin(proposals::list_in(tx, status, OPEN_MAX)))
        .await
}

/// Runs that nobody here works on, and whose instance has had its time: asking is safe then, because
/// a host that has not seen the ticket will not run it any more.
pub(super) async fn follow_abandoned(control: &Control) -> Result<(), StoreError> {
    let now = control.clock.now();
    for stored in list_in(control, Status::Running).await? {
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
    if let Some(name) = instances::somebody_else_would_run(tx, control, &proposal.subject).await? {
        return Ok(Some(format!(
            "the catalogue of this instance does not have it like this; {name} has: decide it there"
        )));
    }
    if !proposal.subject.is_change() && control.in_force.catalogue.actions().len() == 0 {
        let message = "this server has no catalogue, so nothing can run; it waits on: put actions.json back and start again";
        return Ok(Some(message.to_owned()));
    }
    Ok(None)
}

/// What waits must be what would run; the catalogue may have changed while we were not there.
async fn cancel_changed(control: &Control) -> Result<(), StoreError> {
    let mut changed = list_in(control, Status::Pending).await?;
    changed.extend(list_in(control, Status::Approved).await?);
    changed.retain(|stored| plans::current(control, &stored.proposal).is_none());
    for some in changed.chunks(AT_ONCE as usize) {
        let ids: Vec<_> = some.iter().map(|stored| stored.proposal.id).collect();
        let (this, context) = (control.clone(), control.context(&control.system_ctx()?));
        control
            .store
            .write_closing(move |tx| {
                Box::pin(async move {
                    for id in ids {
                        cancel_unless_kept(tx, &this, &context, id).await?;
                    }
                    Ok::<_, StoreError>(())
                })
            })
            .await?;
    }
    Ok(())
}

/// Ends an approved proposal whose subject is no longer what was approved.
pub(super) async fn cancel_changed_one(
    control: &Control,
    id: ProposalId,
) -> Result<(), StoreError> {
    let (this, context) = (control.clone(), control.context(&control.system_ctx()?));
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move { cancel_unless_kept(tx, &this, &context, id).await })
        })
        .await?;
    control.listeners.waiters.wake_id(id);
    Ok(())
}

async fn cancel_unless_kept(
    tx: &mut Tx,
    control: &Control,
    context: &AuditContext,
    id: ProposalId,
) -> Result<(), StoreError> {
    let Some(Stored { proposal, .. }) = proposals::find(tx, id).await? else {
        return Ok(());
    };
    if kept_though_unknown(tx, control, &proposal).await?.is_some() {
        return Ok(());
    }
    let now = control.clock.now();
    cancel(tx, context, proposal, now, Cancellation::DefinitionChanged).await
}

/// Ends what was open before the epoch was raised: nothing of an older copy comes back to life. The first of
/// them here, the others by [`void_left`]; none of them is decided or started meanwhile. How many they are.
pub(crate) async fn void_open(
    tx: &mut Tx,
    context: &AuditContext,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let epoch = installation::epoch(tx).await?;
    let open = proposals::count_open_before(tx, epoch).await?;
    void_some(tx, context, now).await?;
    Ok(open)
}

/// Ends what [`void_open`] left, in pieces of which each is soon over.
pub(crate) async fn void_left(control: &Control) -> Result<(), StoreError> {
    for _ in 0..OPEN_MAX / AT_ONCE {
        let read = control.store.read(|tx| Box::pin(list_void(tx)));
        if read.await?.is_empty() {
            break;
        }
        let (context, now) = (control.context(&control.system_ctx()?), control.clock.now());
        control
            .store
            .write_closing(move |tx| Box::pin(async move { void_some(tx, &context, now).await }))
            .await?;
    }
    Ok(())
}

async fn list_void(tx: &mut Tx) -> Result<Vec<Stored>, StoreError> {
    let epoch = installation::epoch(tx).await?;
    proposals::list_open_before(tx, epoch, AT_ONCE).await
}

async fn void_some(tx: &mut Tx, context: &AuditContext, now: Timestamp) -> Result<(), StoreError> {
    for Stored { proposal, .. } in list_void(tx).await? {
        void(tx, context, now, proposal).await?;
    }
    Ok(())
}

pub(super) async fn void(
    tx: &mut Tx,
    context: &AuditContext,
    now: Timestamp,
    proposal: Proposal,
) -> Result<(), StoreError> {
    let why = Cancellation::Restored;
    if proposal.status() != Status::Running {
        return cancel(tx, context, proposal, now, why).await;
    }
    let failure = Failure::new(
        why.code(),
        "it ran when the copy was made; the copy cannot know how it ended",
    );
    let Ok(moved) = proposal.mark_unknown(now, failure) else {
        return Ok(());
    };
    proposals::advance(tx, &moved).await?;
    facts::moved(tx, context, &moved).await
}

async fn cancel(
    tx: &mut Tx,
    context: &AuditContext,
    proposal: Proposal,
    now: Timestamp,
    why: Cancellation,
) -> Result<(), StoreError> {
    let Ok(moved) = proposal.cancel("system", now, why) else {
        return Ok(());
    };
    if proposals::advance(tx, &moved).await? {
        facts::moved(tx, context, &moved).await?;
    }
    Ok(())
}
