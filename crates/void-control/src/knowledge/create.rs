//! The owner makes something new.

use void_domain::ids::SpaceId;
use void_domain::knowledge::{Entity, Fields};

use super::writing::{Writing, create_in};
use super::{KnowledgeError, TextSource, check_reason, may_write};
use crate::context::Ctx;
use crate::control::Control;

#[derive(Debug, Clone)]
pub struct NewEntity {
    /// Where it belongs; a space belongs nowhere.
    pub space_id: Option<SpaceId>,
    pub fields: Fields,
    pub source: TextSource,
    pub reason: Option<String>,
}

pub async fn create(
    control: &Control,
    ctx: &Ctx,
    new: NewEntity,
) -> Result<Entity, KnowledgeError> {
    may_write(ctx)?;
    check_reason(new.reason.as_ref())?;
    let (context, at) = (control.context(ctx), control.clock.now());
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let origin = new.source.origin();
                create_in(tx, Writing::by_owner(&context, at), new, origin).await
            })
        })
        .await
}
