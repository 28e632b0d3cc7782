//! The owner throws something away, and takes it back. What is thrown away is shown nowhere and stays as it was.

use void_domain::knowledge::{Entity, EntityHead, EntityId};

use super::writing::{Writing, delete_in, undelete_in};
use super::{KnowledgeError, may_write};
use crate::context::Ctx;
use crate::control::Control;

/// `base`: the revision that the caller looked at; without one it is thrown away as it is now.
pub async fn delete(
    control: &Control,
    ctx: &Ctx,
    id: EntityId,
    base: Option<u64>,
) -> Result<EntityHead, KnowledgeError> {
    may_write(ctx)?;
    let (context, at) = (control.context(ctx), control.clock.now());
    control
        .store
        .write(move |tx| {
            Box::pin(async move { delete_in(tx, Writing::by_owner(&context, at), id, base).await })
        })
        .await
}

/// What nobody threw away is there already.
pub async fn undelete(
    control: &Control,
    ctx: &Ctx,
    id: EntityId,
) -> Result<Entity, KnowledgeError> {
    may_write(ctx)?;
    let (context, at) = (control.context(ctx), control.clock.now());
    control
        .store
        .write(move |tx| {
            Box::pin(async move { undelete_in(tx, Writing::by_owner(&context, at), id).await })
        })
        .await
}
