//! The owner goes back to an older revision, by a new one that says the same. It is the older text, so it is as foreign as
//! that one was.

use void_domain::knowledge::{Entity, EntityId, Revision};
use void_store::revisions;

use super::writing::{EntityStep, Writing, live, revise};
use super::{KnowledgeError, may_write};
use crate::context::Ctx;
use crate::control::Control;

/// `base`: the revision that the caller looked at; without one it is whichever is there now.
pub async fn restore(
    control: &Control,
    ctx: &Ctx,
    id: EntityId,
    number: u64,
    base: Option<u64>,
) -> Result<Entity, KnowledgeError> {
    may_write(ctx)?;
    let (context, at) = (control.context(ctx), control.clock.now());
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let current = live(tx, id).await?.ok_or(KnowledgeError::NotFound)?;
                let newest = current.head.revision.number;
                if base.is_some_and(|base| base != newest) {
                    return Err(KnowledgeError::Conflict(Box::new(current)));
                }
                let old = revisions::find(tx, id, number).await?;
                let old = old.ok_or(KnowledgeError::NotFound)?;
                if old.fields == current.fields() {
                    return Ok(current);
                }
                let revision = Revision {
                    number: newest.saturating_add(1),
                    at,
                    by: context.actor.clone(),
                    origin: old.revision.origin,
                    vouched: old.revision.vouched,
                    reason: Some(format!("revision {number} again")),
                };
                let step = EntityStep::Changed;
                revise(
                    tx,
                    Writing::by_owner(&context, at),
                    step,
                    (current, old.fields, revision),
                )
                .await
            })
        })
        .await
}
