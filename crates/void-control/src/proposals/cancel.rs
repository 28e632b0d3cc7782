//! Withdrawing a request that still waits: by who made it, or by the owner. Whoever may only draft takes back drafts
//! of their own, and no wish for an action.

use void_domain::capabilities::Capability;
use void_domain::ids::ProposalId;
use void_domain::proposals::{Cancellation, Proposal};
use void_store::{StoreError, proposals};

use super::is_visible_to;
use crate::context::Ctx;
use crate::control::Control;
use crate::facts;

#[derive(Debug, thiserror::Error)]
pub enum CancelError {
    #[error("there is no such proposal")]
    NotFound,
    #[error("only who asked for it, or the owner, withdraws a proposal")]
    Forbidden,
    #[error("taking back a wish for an action needs the capability act, a draft act or suggest")]
    NoCapability,
    #[error("it no longer waits: it is {}", .0.status().as_str())]
    NotPending(Box<Proposal>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub async fn cancel(control: &Control, ctx: &Ctx, id: ProposalId) -> Result<Proposal, CancelError> {
    let (this, ctx, context) = (control.clone(), ctx.clone(), control.context(ctx));
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                let found = proposals::find(tx, id)
                    .await?
                    .ok_or(CancelError::NotFound)?
                    .proposal;
                if !is_visible_to(&ctx, &found) {
                    return Err(CancelError::NotFound);
                }
                let own =
                    found.requested_by.id.is_some() && found.requested_by == ctx.actor.requester();
                if !ctx.actor.is_owner() && !own {
                    return Err(CancelError::Forbidden);
                }
                if !has_capability(&ctx, &found) {
                    return Err(CancelError::NoCapability);
                }
                let now = this.clock.now();
                let Ok(moved) =
                    found
                        .clone()
                        .cancel(&ctx.actor.to_string(), now, Cancellation::Withdrawn)
                else {
                    return Err(CancelError::NotPending(Box::new(found)));
                };
                if !proposals::advance(tx, &moved).await? {
                    return Err(CancelError::NotPending(Box::new(found)));
                }
                facts::moved(tx, &context, &moved).await?;
                Ok(moved.proposal)
            })
        })
        .await
}

/// Whether the right is one to this kind of request, whosever it is.
fn has_capability(ctx: &Ctx, proposal: &Proposal) -> bool {
    let has = |capability| ctx.capabilities.has(capability);
    let drafts = proposal.subject.is_change() && has(Capability::Suggest);
    ctx.actor.is_owner() || has(Capability::Act) || drafts
}
