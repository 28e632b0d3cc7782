//! Reading proposals, as far as the reader may.

use void_domain::actors::Actor;
use void_domain::ids::{ProposalId, RequesterId};
use void_domain::notifications::Told;
use void_domain::proposals::{DisplayState, Proposal, Status, Transition};
use void_store::proposals::{self, ProposalFilter, Stored};
use void_store::{Page, StoreError, Tx, notifications};

use super::display::display_state;
use super::{ProposalKey, is_visible_to, plans};
use crate::context::Ctx;
use crate::control::Control;

/// A proposal with its history.
#[derive(Debug, Clone)]
pub struct Listed {
    pub proposal: Proposal,
    pub history: Vec<Transition>,
    /// Whether the owner was told; `None` where there is no way to tell.
    pub told: Option<Told>,
    /// How it is shown, on every surface.
    pub shown: DisplayState,
}

pub async fn find(
    control: &Control,
    ctx: &Ctx,
    key: ProposalKey,
) -> Result<Option<Listed>, StoreError> {
    let (this, ctx, tells) = (
        control.clone(),
        ctx.clone(),
        control.listeners.outbox.tells(),
    );
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let Some(stored) = key.find(tx).await? else {
                    return Ok(None);
                };
                if !is_visible_to(&ctx, &stored.proposal) {
                    return Ok(None);
                }
                listed(tx, &this, stored, tells).await.map(Some)
            })
        })
        .await
}

/// Whether what was asked for is still what would run.
pub fn is_current(control: &Control, proposal: &Proposal) -> bool {
    plans::current(control, proposal).is_some()
}

/// The last runs of an action before this proposal, newest first.
pub async fn runs_before(
    control: &Control,
    proposal: &Proposal,
    limit: u32,
) -> Result<Vec<Listed>, StoreError> {
    let Some(action) = proposal.subject.action_id().cloned() else {
        return Ok(Vec::new());
    };
    let id = proposal.id;
    let this = control.clone();
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let mut runs = proposals::list_started_of(tx, &action, limit + 1).await?;
                runs.retain(|stored| stored.proposal.id != id);
                runs.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
                with_history(tx, &this, runs, false).await
            })
        })
        .await
}

pub async fn history(control: &Control, id: ProposalId) -> Result<Vec<Transition>, StoreError> {
    control
        .store
        .read(move |tx| Box::pin(proposals::history(tx, id)))
        .await
}

/// Newest first. An agent sees its own.
pub async fn list(
    control: &Control,
    ctx: &Ctx,
    status: Option<Status>,
    cursor: Option<ProposalId>,
    limit: u32,
) -> Result<Page<Listed>, StoreError> {
    let requester = match &ctx.actor {
        Actor::Agent { id, .. } => Some(RequesterId::from(*id)),
        Actor::Node { id, .. } => Some(RequesterId::from(*id)),
        Actor::Owner { .. } | Actor::Viewer { .. } | Actor::System => None,
    };
    let (this, tells) = (control.clone(), control.listeners.outbox.tells());
    let filter = ProposalFilter { status, requester };
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let page = proposals::list(tx, filter, cursor, limit).await?;
                let items = with_history(tx, &this, page.items, tells).await?;
                Ok(Page {
                    items,
                    next: page.next,
                })
            })
        })
        .await
}

/// What waits, oldest first.
pub async fn list_waiting(
    control: &Control,
    cursor: Option<ProposalId>,
    limit: u32,
) -> Result<Page<Listed>, StoreError> {
    let (this, tells) = (control.clone(), control.listeners.outbox.tells());
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let page = proposals::list_waiting(tx, cursor, limit).await?;
                let items = with_history(tx, &this, page.items, tells).await?;
                Ok(Page {
                    items,
                    next: page.next,
                })
            })
        })
        .await
}

/// Everybody's in one state, newest first.
pub async fn list_in(
    control: &Control,
    status: Status,
    limit: u32,
) -> Result<Vec<Listed>, StoreError> {
    let filter = ProposalFilter {
        status: Some(status),
        requester: None,
    };
    let this = control.clone();
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let page = proposals::list(tx, filter, None, limit).await?;
                with_history(tx, &this, page.items, false).await
            })
        })
        .await
}

/// What ended, newest end first.
pub async fn list_ended(control: &Control, limit: u32) -> Result<Vec<Listed>, StoreError> {
    let (this, tells) = (control.clone(), control.listeners.outbox.tells());
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let ended = proposals::list_ended(tx, limit).await?;
                with_history(tx, &this, ended, tells).await
            })
        })
        .await
}

/// Whether the owner has ever decided anything.
pub async fn is_any_decided(control: &Control) -> Result<bool, StoreError> {
    let store = &control.store;
    store
        .read(|tx| Box::pin(proposals::is_any_decided(tx)))
        .await
}

pub async fn count_in(control: &Control, status: Status) -> Result<u64, StoreError> {
    control
        .store
        .read(move |tx| Box::pin(proposals::count_by_status(tx, status)))
        .await
}

async fn with_history(
    tx: &mut Tx,
    control: &Control,
    items: Vec<Stored>,
    tells: bool,
) -> Result<Vec<Listed>, StoreError> {
    let mut all = Vec::with_capacity(items.len());
    for stored in items {
        all.push(listed(tx, control, stored, tells).await?);
    }
    Ok(all)
}

async fn listed(
    tx: &mut Tx,
    control: &Control,
    stored: Stored,
    tells: bool,
) -> Result<Listed, StoreError> {
    let id = stored.proposal.id;
    Ok(Listed {
        shown: display_state(tx, control, &stored.proposal).await?,
        proposal: stored.proposal,
        history: proposals::history(tx, id).await?,
        told: match tells {
            true => notifications::told(tx, id).await?,
            false => None,
        },
    })
}
