//! Reading proposals, as far as the reader may.

use std::collections::HashMap;

use void_domain::actors::Actor;
use void_domain::changes::drafts::DraftContext;
use void_domain::holds::{Hold, in_force};
use void_domain::ids::{ProposalId, RequesterId};
use void_domain::notifications::Told;
use void_domain::proposals::{DisplayState, Proposal, Status, Transition};
use void_store::facts::steps;
use void_store::proposals::{self, ProposalFilter, Stored};
use void_store::{Page, StoreError, Tx, drafts, holds, notifications};

use super::display::display_state_of;
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
    /// Of a draft, the turn in which it was made and what it is asked again of.
    pub draft: DraftContext,
    /// What was put on it from above, oldest first.
    pub holds: Vec<Hold>,
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
                if !is_visible_to(&this, &ctx, &stored.proposal) {
                    return Ok(None);
                }
                let listed = with_history(tx, &this, vec![stored], tells).await?;
                Ok(listed.into_iter().next())
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
        .read(move |tx| {
            Box::pin(async move {
                match proposals::find(tx, id).await? {
                    Some(stored) => steps::history(tx, &stored.proposal).await,
                    None => Ok(Vec::new()),
                }
            })
        })
        .await
}

/// Newest first. An agent sees its own, and a viewer nothing that holds what the owner keeps.
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
    let ctx = ctx.clone();
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let mut page = proposals::list(tx, filter, cursor, limit).await?;
                page.items
                    .retain(|stored| is_visible_to(&this, &ctx, &stored.proposal));
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

/// The changes among what waits, oldest first.
pub async fn list_waiting_changes(
    control: &Control,
    cursor: Option<ProposalId>,
    limit: u32,
) -> Result<Page<Listed>, StoreError> {
    let (this, tells) = (control.clone(), control.listeners.outbox.tells());
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let page = proposals::list_waiting_changes(tx, cursor, limit).await?;
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

pub async fn count_in(control: &Control, status: Status) -> Result<u64, StoreError> {
    control
        .store
        .read(move |tx| Box::pin(proposals::count_by_status(tx, status)))
        .await
}

/// Everything that belongs to them, read by a few statements however many they are.
pub(crate) async fn with_history(
    tx: &mut Tx,
    control: &Control,
    items: Vec<Stored>,
    tells: bool,
) -> Result<Vec<Listed>, StoreError> {
    let proposals: Vec<&Proposal> = items.iter().map(|stored| &stored.proposal).collect();
    let histories = steps::histories(tx, &proposals).await?;
    let mut told = match tells {
        true => {
            let ids: Vec<ProposalId> = proposals.iter().map(|proposal| proposal.id).collect();
            notifications::told(tx, &ids).await?
        }
        false => HashMap::new(),
    };
    let changes = proposals.iter().filter(|one| one.subject.is_change());
    let changes: Vec<ProposalId> = changes.map(|proposal| proposal.id).collect();
    let contexts = drafts::contexts(tx, &changes).await?;
    let ids: Vec<ProposalId> = proposals.iter().map(|proposal| proposal.id).collect();
    let mut held = holds::of_proposals(tx, &ids).await?;
    let mut all = Vec::with_capacity(items.len());
    for (Stored { proposal, .. }, history) in items.into_iter().zip(histories) {
        let holds = held.remove(&proposal.id).unwrap_or_default();
        let is_held = in_force(&holds).is_some();
        all.push(Listed {
            shown: display_state_of(tx, control, &proposal, is_held).await?,
            holds,
            history,
            told: told.remove(&proposal.id),
            draft: contexts.get(&proposal.id).copied().unwrap_or_default(),
            proposal,
        });
    }
    Ok(all)
}
