//! Friction from above: an agent that stands above whoever asked, or the owner, holds a request that has not started,
//! vetoes it, or puts words beside it. Only the owner lifts a hold. Nothing here lets anything happen, and nothing here
//! undoes what a person has said yes to.

use void_domain::actors::{Actor, ActorKind};
use void_domain::agents::AgentName;
use void_domain::failures::FailureCode;
use void_domain::holds::{self, Hold, HoldBy, HoldKind, HoldRefusal};
use void_domain::proposals::{Approval, Cancellation, Proposal, State};
use void_domain::taint::Taint;
use void_store::{ConflictKey, StoreError, Tx, agents, holds as table, proposals as stored};
use void_tree::{Operation, Right};

use crate::context::Ctx;
use crate::control::Control;
use crate::facts;
use crate::proposals::{ProposalKey, is_visible_to, offers};
use crate::{token_taints, tree};

#[derive(Debug, Clone)]
pub struct HoldRequest {
    pub kind: HoldKind,
    /// Why, in words of whoever does it.
    pub words: String,
    /// What they had read that a stranger could have written.
    pub taint: Taint,
}

#[derive(Debug, thiserror::Error)]
pub enum HoldError {
    #[error("there is no such proposal")]
    NotFound,
    #[error("that is for the owner, and for agents above whoever asked for it")]
    NotAbove,
    #[error("only the owner lifts a hold")]
    OwnerOnly,
    #[error(transparent)]
    Refused(#[from] HoldRefusal),
    /// It runs, or it is over; the row says how it stands.
    #[error("it no longer waits: it is {}", .0.status().as_str())]
    NotWaiting(Box<Proposal>),
    #[error("a person said yes to it, and only the owner takes that back")]
    Approved(Box<Proposal>),
    #[error(
        "its file is offered to whoever executes it; hold it, and once the file is taken back it can be vetoed"
    )]
    Offered(Box<Proposal>),
    #[error("nobody holds it")]
    NotHeld(Box<Proposal>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl HoldError {
    pub fn code(&self) -> FailureCode {
        match self {
            Self::NotFound => FailureCode::NotFound,
            Self::NotAbove => FailureCode::Forbidden,
            Self::OwnerOnly => FailureCode::OwnerOnly,
            Self::Refused(refusal) => refusal.code(),
            Self::NotWaiting(_) | Self::Approved(_) => FailureCode::AlreadyDecided,
            Self::Offered(_) => FailureCode::Busy,
            Self::NotHeld(_) => FailureCode::NotNeeded,
            Self::Store(_) => FailureCode::Unavailable,
        }
    }
}

const fn operation(kind: HoldKind) -> Operation {
    match kind {
        HoldKind::Hold => Operation::Hold,
        HoldKind::Veto => Operation::Veto,
        HoldKind::Annotation => Operation::Annotate,
    }
}

/// Holds, vetoes or annotates it. The row as it is then.
pub async fn add(
    control: &Control,
    ctx: &Ctx,
    key: ProposalKey,
    request: HoldRequest,
) -> Result<Proposal, HoldError> {
    let (this, ctx) = (control.clone(), ctx.clone());
    let added = control
        .store
        .write_closing(move |tx| {
            Box::pin(async move { add_in(tx, &this, &ctx, key, request).await })
        })
        .await?;
    control.listeners.waiters.wake_id(added.id);
    Ok(added)
}

async fn add_in(
    tx: &mut Tx,
    control: &Control,
    ctx: &Ctx,
    key: ProposalKey,
    request: HoldRequest,
) -> Result<Proposal, HoldError> {
    let found = key.find(tx).await?.ok_or(HoldError::NotFound)?.proposal;
    tx.take(|| ConflictKey::Proposal(found.id))?;
    let by = judge_by(tx, control, ctx, operation(request.kind), &found).await?;
    judge_state(tx, request.kind, &found).await?;
    let there = table::list(tx, found.id).await?;
    let number = holds::judge(&there, request.kind, &by, &request.words)?;
    let (context, now) = (control.context(ctx), control.clock.now());
    let hold = Hold {
        number,
        kind: request.kind,
        by,
        words: request.words,
        taint: token_taints::united(tx, ctx, &request.taint).await?,
        at: now,
        lifted_at: None,
    };
    table::insert(tx, found.id, &hold).await?;
    match request.kind {
        HoldKind::Hold => facts::held(tx, &context, now, "proposal.held", (&found, &hold)).await?,
        HoldKind::Annotation => {
            facts::held(tx, &context, now, "proposal.annotated", (&found, &hold)).await?;
        }
        HoldKind::Veto => {
            facts::held(tx, &context, now, "proposal.vetoed", (&found, &hold)).await?;
            let by = ctx.actor.to_string();
            let Ok(moved) = found.clone().cancel(&by, now, Cancellation::Vetoed) else {
                return Err(HoldError::NotWaiting(Box::new(found)));
            };
            if !stored::advance(tx, &moved).await? {
                return Err(HoldError::NotWaiting(Box::new(found)));
            }
            facts::moved(tx, &context, &moved).await?;
            return Ok(moved.proposal);
        }
    }
    Ok(found)
}

/// Who does it: the owner, or an agent that stands above the agent that asked. Whoever may not see the row is not told
/// that there is one.
async fn judge_by(
    tx: &mut Tx,
    control: &Control,
    ctx: &Ctx,
    operation: Operation,
    found: &Proposal,
) -> Result<HoldBy, HoldError> {
    let name = match &ctx.actor {
        Actor::Owner { .. } => return Ok(HoldBy::Owner),
        Actor::Agent { id, name } if !agents::is_withdrawn(tx, (*id).into()).await? => name,
        Actor::Agent { .. } | Actor::Viewer { .. } | Actor::Node { .. } | Actor::System => {
            return Err(refused(control, ctx, found));
        }
    };
    let Some(asked_by) = requester(found) else {
        return Err(refused(control, ctx, found));
    };
    // A name is one agent's for good; an older row of somebody else's would be nobody's to hold.
    let known = agents::find_named(tx, &asked_by).await?;
    let is_its = known.is_some_and(|agent| found.requested_by.id == Some(agent.id.into()));
    match is_its && tree::right_of(control, ctx, operation, &asked_by) == Right::Alone {
        true => Ok(HoldBy::Agent(name.clone())),
        false => Err(refused(control, ctx, found)),
    }
}

fn refused(control: &Control, ctx: &Ctx, found: &Proposal) -> HoldError {
    match is_visible_to(control, ctx, found) {
        true => HoldError::NotAbove,
        false => HoldError::NotFound,
    }
}

/// The agent that asked.
pub(crate) fn requester(proposal: &Proposal) -> Option<AgentName> {
    let asked = &proposal.requested_by;
    match asked.kind {
        ActorKind::Agent => asked.name.parse().ok(),
        ActorKind::Owner | ActorKind::Viewer | ActorKind::Node | ActorKind::System => None,
    }
}

/// What waits for a yes, and what policy let through and has not started. What a person approved is theirs.
async fn judge_state(tx: &mut Tx, kind: HoldKind, found: &Proposal) -> Result<(), HoldError> {
    match &found.state {
        State::Pending => Ok(()),
        State::Approved { approval } if Approval::is_by_policy(approval) => {
            let is_offered = kind == HoldKind::Veto && offers::is_offered(tx, found.id).await?;
            match is_offered {
                true => Err(HoldError::Offered(Box::new(found.clone()))),
                false => Ok(()),
            }
        }
        State::Approved { .. } => Err(HoldError::Approved(Box::new(found.clone()))),
        State::Running { .. }
        | State::Executed { .. }
        | State::Failed { .. }
        | State::Unknown { .. }
        | State::Rejected { .. }
        | State::Expired { .. }
        | State::Cancelled { .. }
        | State::Refused { .. } => Err(HoldError::NotWaiting(Box::new(found.clone()))),
    }
}

/// The owner lifts every hold on it. What policy had let through starts then, if it still may; what waits for a yes waits
/// on.
pub async fn lift(control: &Control, ctx: &Ctx, key: ProposalKey) -> Result<Proposal, HoldError> {
    if !ctx.actor.is_owner() {
        return Err(HoldError::OwnerOnly);
    }
    let (this, context) = (control.clone(), control.context(ctx));
    let lifted = control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let found = key.find(tx).await?.ok_or(HoldError::NotFound)?.proposal;
                tx.take(|| ConflictKey::Proposal(found.id))?;
                let now = this.clock.now();
                let there = table::list(tx, found.id).await?;
                let Some(hold) = holds::in_force(&there) else {
                    return Err(HoldError::NotHeld(Box::new(found)));
                };
                table::lift(tx, found.id, now).await?;
                let fact = (&found, hold);
                facts::held(tx, &context, now, "proposal.hold_lifted", fact).await?;
                Ok(found)
            })
        })
        .await?;
    crate::proposals::start_waiting_soon(control);
    Ok(lifted)
}
