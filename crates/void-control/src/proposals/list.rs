//! Reading proposals, as far as the reader may.

use void_domain::actors::Actor;
use void_domain::ids::ProposalId;
use void_domain::proposals::{Proposal, Status, Transition};
use void_store::proposals::{self, Filter, Stored};
use void_store::{Page, StoreError, Tx};

use super::{ProposalKey, is_visible_to};
use crate::context::Ctx;
use crate::control::Control;

/// A proposal with its history.
#[derive(Debug, Clone)]
pub struct Listed {
    pub proposal: Proposal,
    pub history: Vec<Transition>,
}

pub async fn find(
    control: &Control,
    ctx: &Ctx,
    key: ProposalKey,
) -> Result<Option<Listed>, StoreError> {
    let ctx = ctx.clone();
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
                let history = proposals::history(tx, stored.proposal.id).await?;
                Ok(Some(Listed {
                    proposal: stored.proposal,
                    history,
                }))
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
        Actor::Agent { id, .. } | Actor::Node { id, .. } => Some(*id),
        Actor::Owner { .. } | Actor::Viewer { .. } | Actor::System => None,
    };
    let filter = Filter { status, requester };
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let page = proposals::list(tx, filter, cursor, limit).await?;
                let items = with_history(tx, page.items).await?;
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
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let page = proposals::list_waiting(tx, cursor, limit).await?;
                let items = with_history(tx, page.items).await?;
                Ok(Page {
                    items,
                    next: page.next,
                })
            })
        })
        .await
}

/// What ended, newest end first.
pub async fn list_ended(control: &Control, limit: u32) -> Result<Vec<Listed>, StoreError> {
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let ended = proposals::list_ended(tx, limit).await?;
                with_history(tx, ended).await
            })
        })
        .await
}

pub async fn count_in(control: &Control, status: Status) -> Result<u64, StoreError> {
    control
        .store
        .read(move |tx| Box::pin(proposals::count_by_status(tx, status)))
        .await
}

async fn with_history(tx: &mut Tx, items: Vec<Stored>) -> Result<Vec<Listed>, StoreError> {
    let mut listed = Vec::with_capacity(items.len());
    for stored in items {
        let history = proposals::history(tx, stored.proposal.id).await?;
        listed.push(Listed {
            proposal: stored.proposal,
            history,
        });
    }
    Ok(listed)
}
