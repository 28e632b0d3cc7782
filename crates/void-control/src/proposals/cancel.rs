//! Withdrawing a request that still waits: by who made it, by the owner, or with whoever made it; what is approved and has
//! not started by the owner, or with whoever made it. Whoever may only draft takes back drafts
//! of their own, and no wish for an action.

use void_domain::capabilities::Capability;
use void_domain::ids::{AgentId, ProposalId, RequesterId};
use void_domain::proposals::{Cancellation, Proposal, Status};
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, agents, proposals};

use super::{is_visible_to, offers};
use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};

/// How many end in one transaction: a batch has a deadline, and what withdraws their requester must not miss it.
pub const WITHDRAWN_AT_ONCE: u32 = 100;

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
    #[error(
        "its file is offered to whoever executes it, who may take it at any moment; freeze, and it is taken back"
    )]
    Offered(Box<Proposal>),
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
                if !is_visible_to(&this, &ctx, &found) {
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
                if found.status() == Status::Approved {
                    if !ctx.actor.is_owner() {
                        return Err(CancelError::NotPending(Box::new(found)));
                    }
                    if offers::is_offered(tx, id).await? {
                        return Err(CancelError::Offered(Box::new(found)));
                    }
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

/// What a requester has waiting, to be decided or to start, ends with it, in the transaction that withdraws it: the first
/// [`WITHDRAWN_AT_ONCE`], oldest first. The sweep ends the others, and until then nobody's yes counts for them. How
/// many ended here.
pub(crate) async fn withdraw_waiting_of(
    tx: &mut Tx,
    context: &AuditContext,
    now: Timestamp,
    requester: RequesterId,
) -> Result<usize, StoreError> {
    let mut ended = 0;
    for stored in proposals::list_waiting_of(tx, requester, WITHDRAWN_AT_ONCE).await? {
        let by = &context.actor;
        let Ok(moved) = stored.proposal.cancel(by, now, Cancellation::Withdrawn) else {
            continue;
        };
        if proposals::advance(tx, &moved).await? {
            facts::moved(tx, context, &moved).await?;
            ended += 1;
        }
    }
    Ok(ended)
}

/// Ends what withdrawn agents still have waiting, so many in each transaction. Looks first: most of the time there is
/// nothing to do, and then nothing is written.
pub(crate) async fn end_waiting_of_withdrawn(control: &Control) -> Result<(), StoreError> {
    let withdrawn = control
        .store
        .read(|tx| Box::pin(agents::list_withdrawn_waiting(tx)))
        .await?;
    for agent in withdrawn {
        while end_some_of(control, agent).await? > 0 {}
    }
    Ok(())
}

async fn end_some_of(control: &Control, agent: AgentId) -> Result<usize, StoreError> {
    let (context, now) = (control.context(&control.system_ctx()?), control.clock.now());
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                // Whoever was brought back meanwhile asks anew, and has nothing waiting of before.
                if !agents::is_withdrawn(tx, agent.into()).await? {
                    return Ok(0);
                }
                withdraw_waiting_of(tx, &context, now, agent.into()).await
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
