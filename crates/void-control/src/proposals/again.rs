//! The owner asks again for a draft that was not applied: a new draft of the same requester, made of what is there now. What both
//! changed is not guessed. Nothing is written but the new draft, which waits like any other.

use void_domain::changes::drafts::{DraftContext, DraftTurn};
use void_domain::changes::knowledge::{
    Draft, InvalidKnowledgeChange, KnowledgeEffect, change, effect, entity_id,
};
use void_domain::changes::{Change, ChangeOp, ChangeTarget, digest_of};
use void_domain::diffs;
use void_domain::failures::FailureCode;
use void_domain::ids::ProposalId;
use void_domain::knowledge::merges::{NoMerge, merge};
use void_domain::knowledge::{Entity, EntityHead, EntityId, EntityKind, Fields};
use void_domain::limits;
use void_domain::policy::Refusal;
use void_domain::proposals::{Cancellation, Proposal, State, Status, Subject};
use void_domain::taint::Taint;
use void_store::proposals::Stored;
use void_store::{ConflictKey, StoreError, Tx, agents, drafts, entities, installation, proposals};

use super::moved::{self, MovedBase};
use super::propose::Proposed;
use super::queue::NewProposal;
use super::{ProposalKey, detached, on_record};
use crate::context::Ctx;
use crate::control::Control;
use crate::facts;
use crate::refusal_counts::RequestRefusal;

#[derive(Debug, thiserror::Error)]
pub enum AgainError {
    #[error("there is no such proposal")]
    NotFound,
    #[error("only the owner asks again for a draft")]
    OwnerOnly,
    #[error("this is no draft of what you keep; ask for it again where it was asked for")]
    NotADraft,
    #[error("it is {}, and what it was made of is still there; decide it as it is", .0.status().as_str())]
    NotNeeded(Box<Proposal>),
    #[error("who drafted it was withdrawn")]
    Withdrawn,
    #[error("what it would change is not there any more")]
    Gone,
    /// Both changed the same; this is what is there now.
    #[error(
        "it cannot be asked again by itself: {why}; edit what is there now, or have it drafted anew"
    )]
    NoMerge {
        why: Box<NoMerge>,
        there: Box<Entity>,
    },
    #[error(transparent)]
    Invalid(#[from] InvalidKnowledgeChange),
    #[error("{}", .0.message())]
    Refused(Refusal),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AgainError {
    pub const fn code(&self) -> FailureCode {
        match self {
            Self::NotFound => FailureCode::NotFound,
            Self::OwnerOnly => FailureCode::OwnerOnly,
            Self::NotADraft => FailureCode::Forbidden,
            Self::NotNeeded(_) => FailureCode::NotNeeded,
            Self::Withdrawn => FailureCode::Withdrawn,
            Self::Gone | Self::NoMerge { .. } => FailureCode::BaseMoved,
            Self::Invalid(_) => FailureCode::Invalid,
            Self::Refused(refusal) => refusal.code(),
            Self::Store(_) => FailureCode::Internal,
        }
    }
}

/// What a draft is made of anew.
struct Ground {
    old: Proposal,
    change: Change,
    context: DraftContext,
    found: MovedBase,
    space: Option<EntityHead>,
}

/// Goes to its end even if its caller goes away.
pub async fn again(control: &Control, ctx: &Ctx, key: ProposalKey) -> Result<Proposal, AgainError> {
    if !ctx.actor.is_owner() {
        return Err(AgainError::OwnerOnly);
    }
    let ground = ground(control, key).await?;
    let (old, context) = (ground.old.clone(), ground.context);
    let mut taint = old.taint.clone();
    let now = ground.found.now.as_ref().map(|now| &now.head);
    let heads = now.into_iter().chain(ground.space.as_ref());
    for source in heads.filter_map(EntityHead::taint_source) {
        taint.add(&source);
    }
    let subject = subject(control, ground).await?;
    let new = new_proposal(control, ctx, &old, (subject, taint, context.turn));
    detached(run(new, old.id)).await
}

fn new_proposal(
    control: &Control,
    ctx: &Ctx,
    old: &Proposal,
    (subject, taint, turn): (Subject, Taint, Option<DraftTurn>),
) -> NewProposal {
    NewProposal {
        control: control.clone(),
        ctx: ctx.clone(),
        subject,
        reason: old.reason.clone(),
        diff: None,
        taint,
        expires_after: limits::PROPOSAL_EXPIRES_AFTER,
        dropped: None,
        refusal: RequestRefusal::default(),
        draft: DraftContext {
            turn,
            again_of: Some(old.id),
        },
        in_name_of: Some(old.requested_by.clone()),
    }
}

async fn ground(control: &Control, key: ProposalKey) -> Result<Ground, AgainError> {
    let found = control
        .store
        .read(move |tx| Box::pin(async move { find(tx, key).await }));
    found.await
}

async fn find(tx: &mut Tx, key: ProposalKey) -> Result<Ground, AgainError> {
    let Stored { proposal: old, .. } = key.find(tx).await?.ok_or(AgainError::NotFound)?;
    let change = old.subject.change().cloned();
    let change = change.filter(|change| change.target == ChangeTarget::Knowledge);
    let change = change.ok_or(AgainError::NotADraft)?;
    // A definition that the digest does not bind was edited in the database.
    if digest_of(old.subject.definition()) != Some(old.subject.digest) {
        return Err(AgainError::NotADraft);
    }
    let found = match (entity_id(&change), moved::base_number(&change)) {
        (Some(id), Some(number)) => moved::look(tx, id, number).await?,
        _ => MovedBase {
            base: None,
            now: None,
        },
    };
    check_state(&old, &change, &found)?;
    let space_id = match &found.now {
        Some(now) => Some(now.head.space_id),
        None => change.about.as_ref().and_then(|about| about.space_id),
    };
    let space = match space_id {
        Some(id) => {
            let head = entities::find_head(tx, EntityId::Space(id)).await?;
            let head = head.filter(|head| head.deleted.is_none());
            Some(head.ok_or(AgainError::Gone)?)
        }
        None => None,
    };
    let contexts = drafts::contexts(tx, &[old.id]).await?;
    let context = contexts.get(&old.id).copied().unwrap_or_default();
    Ok(Ground {
        old,
        change,
        context,
        found,
        space,
    })
}

/// Only what was not applied, and nobody wants as it is: rejected, over, or made of something that is not there any more.
fn check_state(old: &Proposal, change: &Change, found: &MovedBase) -> Result<(), AgainError> {
    let is_undone = match &old.state {
        State::Rejected { .. } => true,
        State::Expired { lapsed, .. } => lapsed.is_none(),
        State::Cancelled { why, .. } => *why == Cancellation::BaseMoved,
        State::Pending => change.op != ChangeOp::Create && !is_base(change, found),
        State::Approved { .. }
        | State::Running { .. }
        | State::Executed { .. }
        | State::Failed { .. }
        | State::Unknown { .. }
        | State::Refused { .. } => false,
    };
    match is_undone {
        true => Ok(()),
        false => Err(AgainError::NotNeeded(Box::new(old.clone()))),
    }
}

fn is_base(change: &Change, found: &MovedBase) -> bool {
    let number = found.now.as_ref().map(|now| now.head.revision.number);
    number.is_some() && number == moved::base_number(change)
}

/// Finds what the draft says of what is there now, away from the threads that serve everybody.
async fn subject(control: &Control, ground: Ground) -> Result<Subject, AgainError> {
    let turns = control.bounds.drafting.turns.clone();
    let turn = turns.acquire_owned().await;
    let turn = turn.map_err(|error| StoreError::Internal(error.to_string()))?;
    let comparing = tokio::task::spawn_blocking(move || {
        let _until_compared = turn;
        let bound = rebased(&ground)?.into_subject();
        Ok(bound.map_err(|error| StoreError::Internal(error.to_string()))?)
    });
    let compared = comparing.await;
    compared.map_err(|error| StoreError::Internal(error.to_string()))?
}

fn rebased(ground: &Ground) -> Result<Change, AgainError> {
    let space = ground
        .space
        .as_ref()
        .map(|head| (head.space_id, &head.title));
    if ground.change.op == ChangeOp::Create {
        let Some(KnowledgeEffect::Create { fields, .. }) = effect(&ground.change, None) else {
            return Err(AgainError::NotADraft);
        };
        return Ok(change(Draft::Create {
            space,
            fields: &fields,
        })?);
    }
    let now = ground.found.now.as_ref().ok_or(AgainError::Gone)?;
    let (_, space) = space.ok_or(AgainError::Gone)?;
    if ground.change.op == ChangeOp::Delete {
        return Ok(change(Draft::Delete { base: now, space })?);
    }
    let base = ground.found.base.as_ref().ok_or(AgainError::Gone)?;
    let drafted = drafted(&ground.change, base).ok_or(AgainError::NotADraft)?;
    let fields = merge(base, &drafted, &now.fields()).map_err(|why| AgainError::NoMerge {
        why: Box::new(why),
        there: Box::new(now.clone()),
    })?;
    Ok(change(Draft::Update {
        base: now,
        space,
        fields: &fields,
    })?)
}

/// What the draft made of its own base.
fn drafted(change: &Change, base: &Fields) -> Option<Fields> {
    let new = diffs::apply(&base.written(), &change.patch).ok()?;
    let kind = EntityKind::parse(&change.entity)?;
    Fields::read(kind, &new).ok()
}

async fn run(new: NewProposal, old: ProposalId) -> Result<Proposal, AgainError> {
    let store = new.control.store.clone();
    store
        .write_closing(move |tx| {
            Box::pin(async move {
                let (context, now) = (new.control.context(&new.ctx), new.control.clock.now());
                tx.take(|| ConflictKey::Proposal(old))?;
                let asked_by = new.in_name_of.as_ref().and_then(|by| by.id);
                if let Some(asked_by) = asked_by
                    && agents::is_withdrawn(tx, asked_by).await?
                {
                    return Err(AgainError::Withdrawn);
                }
                end_waiting(tx, &new, old).await?;
                match new.queue(tx, &context, (&new.taint, now)).await? {
                    Proposed::Queued(made) | Proposed::Started(made) => Ok(made),
                    Proposed::Refused(refusal, _) => Err(AgainError::Refused(refusal)),
                }
            })
        })
        .await
}

/// The draft that waited for what is not there any more ends with the one that takes its place.
async fn end_waiting(tx: &mut Tx, new: &NewProposal, old: ProposalId) -> Result<(), AgainError> {
    let Some(Stored { proposal, epoch }) = proposals::find(tx, old).await? else {
        return Err(AgainError::NotFound);
    };
    if proposal.status() != Status::Pending {
        // Decided since we looked, it may have been applied.
        let is_undone = matches!(
            proposal.status(),
            Status::Rejected | Status::Expired | Status::Cancelled
        );
        return match is_undone {
            true => Ok(()),
            false => Err(AgainError::NotNeeded(Box::new(proposal))),
        };
    }
    if epoch != installation::epoch(tx).await? || !on_record::holds(tx, &proposal).await? {
        return Err(AgainError::NotADraft);
    }
    let (context, now) = (new.control.context(&new.ctx), new.control.clock.now());
    let moved = proposal.cancel("system", now, Cancellation::BaseMoved);
    let moved = moved.map_err(|error| StoreError::Internal(error.to_string()))?;
    if !proposals::advance(tx, &moved).await? {
        let what = "a row changed under its own transaction";
        return Err(StoreError::Internal(what.to_owned()).into());
    }
    facts::moved(tx, &context, &moved).await?;
    Ok(())
}
