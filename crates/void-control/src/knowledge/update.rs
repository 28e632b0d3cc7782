//! The owner changes something. Nobody's words are lost by it: who looked at an older revision is shown what is there now.

use void_domain::knowledge::{Entity, EntityId, Fields};

use super::writing::{Writing, update_in};
use super::{KnowledgeError, TextSource, check_reason, may_write};
use crate::context::Ctx;
use crate::control::Control;

#[derive(Debug, Clone)]
pub struct EntityUpdate {
    pub id: EntityId,
    /// The revision that the caller looked at.
    pub base: u64,
    pub fields: Fields,
    pub source: TextSource,
    pub reason: Option<String>,
}

pub async fn update(
    control: &Control,
    ctx: &Ctx,
    update: EntityUpdate,
) -> Result<Entity, KnowledgeError> {
    may_write(ctx)?;
    check_reason(update.reason.as_ref())?;
    let (context, at) = (control.context(ctx), control.clock.now());
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let writer = update.source.origin();
                update_in(tx, Writing::by_owner(&context, at), update, writer).await
            })
        })
        .await
}
