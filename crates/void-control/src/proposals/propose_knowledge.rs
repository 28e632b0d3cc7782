//! Somebody drafts a change of what the owner keeps. It waits, whoever drafts it: nothing is written before a person says
//! yes to exactly the difference that they were shown.

use void_domain::changes::drafts::{DraftContext, DraftTurn};
use void_domain::changes::knowledge::{Draft, InvalidKnowledgeChange, change};
use void_domain::ids::SpaceId;
use void_domain::knowledge::{
    Body, Entity, EntityHead, EntityId, EntityKind, Fields, FieldsPatch, TextEdit, edits,
};
use void_domain::limits::{self, CHANGE_PATCH_BYTES_MAX};
use void_domain::policy::{self, Refusal};
use void_domain::proposals::Subject;
use void_domain::taint::Taint;
use void_store::{StoreError, entities};

use super::detached;
use super::propose::Proposed;
use super::queue::NewProposal;
use crate::access_refusals;
use crate::context::Ctx;
use crate::control::Control;
use crate::knowledge::writing::live;
use crate::parts::drafting::UnderWay;
use crate::parts::row_budgets::TooManyRows;
use crate::refusal_counts::RequestRefusal;
use crate::{row_budgets, token_taints};

/// What somebody wants to be changed.
#[derive(Debug, Clone)]
pub enum WantedChange {
    Create {
        kind: EntityKind,
        /// Where it will be; a new space is nowhere.
        space_id: Option<SpaceId>,
        fields: FieldsPatch,
    },
    Update {
        id: EntityId,
        /// The revision that was read; without one it is whichever is there now.
        base: Option<u64>,
        fields: FieldsPatch,
        /// Of its text, after what `fields` says.
        edits: Vec<TextEdit>,
    },
    Delete {
        id: EntityId,
        base: Option<u64>,
    },
}

#[derive(Debug, Clone)]
pub struct KnowledgeRequest {
    pub wanted: WantedChange,
    pub reason: Option<String>,
    pub taint: Taint,
    /// The turn in which it was made, if it was made in one.
    pub turn: Option<DraftTurn>,
}

#[derive(Debug, thiserror::Error)]
pub enum ProposeKnowledgeError {
    #[error("{}", .0.message())]
    Refused(Refusal),
    #[error("there is no such thing here")]
    NotFound,
    #[error("it was changed since it was read; read it again and draft against what it says now")]
    Moved(Box<Entity>),
    #[error(transparent)]
    Invalid(#[from] InvalidKnowledgeChange),
    #[error("the reason is longer than {} bytes", limits::REASON_BYTES_MAX)]
    ReasonTooLong,
    #[error(transparent)]
    TooManyRows(#[from] TooManyRows),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Proposes a change of knowledge. Goes to its end even if its caller goes away.
pub async fn propose_knowledge(
    control: &Control,
    ctx: &Ctx,
    request: KnowledgeRequest,
) -> Result<Proposed, ProposeKnowledgeError> {
    let reason = request.reason.as_ref();
    if reason.is_some_and(|reason| reason.len() > limits::REASON_BYTES_MAX) {
        return Err(ProposeKnowledgeError::ReasonTooLong);
    }
    // Before any work is done for it, and before it is told what there is.
    row_budgets::take(control, ctx)?;
    if let Some(refusal) = policy::judge_change(ctx.actor.kind(), &ctx.capabilities) {
        access_refusals::record_refusal(control, ctx, "propose_knowledge").await?;
        return Err(ProposeKnowledgeError::Refused(refusal));
    }
    check_size(&request.wanted)?;
    let under_way = match row_budgets::requester(ctx) {
        Some(id) => Some(control.bounds.drafting.begin(id)?),
        None => None,
    };
    let found = find(control, &request.wanted).await?;
    let mut taint = request.taint;
    // The row says what the space is called, to whoever drafts too.
    if let Some(source) = found.space.as_ref().and_then(EntityHead::taint_source) {
        taint.add(&source);
    }
    // What a draft leaves of somebody else's words is read by whoever approves it.
    if let Some(source) = found
        .base
        .as_ref()
        .and_then(|base| base.head.taint_source())
    {
        taint.add(&source);
        // Whether an edit finds its place says something of the text.
        if let WantedChange::Update { .. } = &request.wanted {
            token_taints::mark(control, ctx, &taint).await?;
        }
    }
    let subject = subject(control, request.wanted, found, under_way).await?;
    row_budgets::charge(
        control,
        ctx,
        kept_bytes(&subject, request.reason.as_deref()),
    );
    let new = NewProposal {
        control: control.clone(),
        ctx: ctx.clone(),
        subject,
        reason: request.reason,
        diff: None,
        taint,
        expires_after: limits::PROPOSAL_EXPIRES_AFTER,
        dropped: None,
        refusal: RequestRefusal::default(),
        draft: DraftContext {
            turn: request.turn,
            again_of: None,
        },
        in_name_of: None,
    };
    detached(run(new)).await
}

/// What is kept of a draft, whatever becomes of it.
pub(super) fn kept_bytes(subject: &Subject, reason: Option<&str>) -> usize {
    let patch = subject.change().map_or(0, |change| change.patch.len());
    patch.saturating_add(reason.map_or(0, str::len))
}

async fn run(new: NewProposal) -> Result<Proposed, ProposeKnowledgeError> {
    let store = new.control.store.clone();
    let proposed = store
        .write(move |tx| {
            Box::pin(async move {
                let NewProposal { control, ctx, .. } = &new;
                let context = control.context(ctx);
                let taint = token_taints::united(tx, ctx, &new.taint).await?;
                let asking = (&taint, control.clock.now());
                match policy::judge_change(ctx.actor.kind(), &ctx.capabilities) {
                    Some(refusal) => new.refuse(tx, &context, asking, refusal).await,
                    None => new.queue(tx, &context, asking).await,
                }
            })
        })
        .await?;
    Ok(proposed)
}

/// Told without looking at anything: an edit cannot be longer than what it may change.
fn check_size(wanted: &WantedChange) -> Result<(), ProposeKnowledgeError> {
    let WantedChange::Update { edits, .. } = wanted else {
        return Ok(());
    };
    let bytes = |edit: &TextEdit| edit.find.len().saturating_add(edit.replace.len());
    let all = edits.iter().map(bytes).fold(0, usize::saturating_add);
    match all > CHANGE_PATCH_BYTES_MAX {
        true => Err(InvalidKnowledgeChange::PatchTooLarge.into()),
        false => Ok(()),
    }
}

/// What a draft is about, as it is now.
struct ChangeTarget {
    base: Option<Entity>,
    space: Option<EntityHead>,
}

async fn find(
    control: &Control,
    wanted: &WantedChange,
) -> Result<ChangeTarget, ProposeKnowledgeError> {
    let (id, base, space) = match wanted {
        WantedChange::Create { kind, space_id, .. } => {
            if (*kind == EntityKind::Space) != space_id.is_none() {
                return Err(ProposeKnowledgeError::NotFound);
            }
            (None, None, *space_id)
        }
        WantedChange::Update { id, base, .. } | WantedChange::Delete { id, base } => {
            (Some(*id), *base, None)
        }
    };
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let found = match id {
                    Some(id) => {
                        let found = live(tx, id).await?;
                        Some(found.ok_or(ProposeKnowledgeError::NotFound)?)
                    }
                    None => None,
                };
                if let (Some(base), Some(found)) = (base, &found)
                    && base != found.head.revision.number
                {
                    return Err(ProposeKnowledgeError::Moved(Box::new(found.clone())));
                }
                let space = space.or(found.as_ref().map(|found| found.head.space_id));
                let space = match space {
                    Some(id) => {
                        let head = entities::find_head(tx, EntityId::Space(id)).await?;
                        let head = head.filter(|head| head.deleted.is_none());
                        Some(head.ok_or(ProposeKnowledgeError::NotFound)?)
                    }
                    None => None,
                };
                Ok(ChangeTarget { base: found, space })
            })
        })
        .await
}

/// Finds the difference, away from the threads that serve everybody, one draft after the other. Who goes away meanwhile
/// still has one under way.
async fn subject(
    control: &Control,
    wanted: WantedChange,
    found: ChangeTarget,
    under_way: Option<UnderWay>,
) -> Result<Subject, ProposeKnowledgeError> {
    let turns = control.bounds.drafting.turns.clone();
    let turn = turns.acquire_owned().await;
    let turn = turn.map_err(|error| StoreError::Internal(error.to_string()))?;
    let comparing = tokio::task::spawn_blocking(move || {
        let _until_compared = (turn, under_way);
        let change = compare(wanted, &found)?;
        let bound = change.into_subject();
        Ok(bound.map_err(|error| StoreError::Internal(error.to_string()))?)
    });
    let compared = comparing.await;
    compared.map_err(|error| StoreError::Internal(error.to_string()))?
}

fn compare(
    wanted: WantedChange,
    found: &ChangeTarget,
) -> Result<void_domain::changes::Change, ProposeKnowledgeError> {
    let space = found
        .space
        .as_ref()
        .map(|head| (head.space_id, &head.title));
    let drafted = match (wanted, &found.base, space) {
        (WantedChange::Create { kind, fields, .. }, None, space) => {
            let fields = fields
                .into_new(kind)
                .map_err(InvalidKnowledgeChange::Fields)?;
            change(Draft::Create {
                space,
                fields: &fields,
            })
        }
        (WantedChange::Update { fields, edits, .. }, Some(base), Some((_, space))) => {
            let fields = updated(base, fields, &edits)?;
            change(Draft::Update {
                base,
                space,
                fields: &fields,
            })
        }
        (WantedChange::Delete { .. }, Some(base), Some((_, space))) => {
            change(Draft::Delete { base, space })
        }
        (
            WantedChange::Create { .. } | WantedChange::Update { .. } | WantedChange::Delete { .. },
            _,
            _,
        ) => return Err(ProposeKnowledgeError::NotFound),
    };
    Ok(drafted?)
}

fn updated(
    base: &Entity,
    fields: FieldsPatch,
    wanted: &[TextEdit],
) -> Result<Fields, InvalidKnowledgeChange> {
    let fields = fields.onto(base.fields())?;
    if wanted.is_empty() {
        return Ok(fields);
    }
    let body = edits::apply(fields.body.as_str(), wanted)?;
    let body = Body::new(body).map_err(|wrong| InvalidKnowledgeChange::Field("body", wrong))?;
    Ok(Fields { body, ..fields })
}
