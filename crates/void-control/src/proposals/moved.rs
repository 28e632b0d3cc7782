//! What a draft was made of is not what is there any more: both are shown, and nothing is applied.

use void_domain::changes::Change;
use void_domain::changes::knowledge::entity_id;
use void_domain::knowledge::{Entity, EntityId, Fields};
use void_domain::proposals::{Cancellation, Proposal, State};
use void_store::{StoreError, Tx, revisions};

use crate::context::Ctx;
use crate::control::Control;
use crate::knowledge::writing::live;

/// What there is instead of what a draft was made of.
#[derive(Debug, Clone, PartialEq)]
pub struct MovedBase {
    /// What the draft was made of.
    pub base: Option<Fields>,
    /// `None`: it was thrown away.
    pub now: Option<Entity>,
}

/// For the owner, of a draft that waits or that ended because of it. `None`: what it was made of is there, or it is no such draft.
pub async fn moved_base(
    control: &Control,
    ctx: &Ctx,
    proposal: &Proposal,
) -> Result<Option<MovedBase>, StoreError> {
    let is_about_it = match &proposal.state {
        State::Pending => true,
        State::Cancelled { why, .. } => *why == Cancellation::BaseMoved,
        _ => false,
    };
    let change = proposal.subject.change();
    let based = change.and_then(|change| Some((entity_id(change)?, base_number(change)?)));
    let Some((id, number)) = based.filter(|_| is_about_it && ctx.actor.is_owner()) else {
        return Ok(None);
    };
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let found = look(tx, id, number).await?;
                let now = found.now.as_ref().map(|now| now.head.revision.number);
                Ok((now != Some(number)).then_some(found))
            })
        })
        .await
}

/// The revision that a draft was made of.
pub(super) fn base_number(change: &Change) -> Option<u64> {
    change.base.as_deref()?.parse().ok()
}

/// What was there as this revision, and what is there now.
pub(super) async fn look(tx: &mut Tx, id: EntityId, number: u64) -> Result<MovedBase, StoreError> {
    let base = revisions::find(tx, id, number).await?;
    Ok(MovedBase {
        base: base.map(|stored| stored.fields),
        now: live(tx, id).await?,
    })
}
