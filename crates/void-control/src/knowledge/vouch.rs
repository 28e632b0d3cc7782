//! The owner has read what a stranger could have written and answers for it: from then on it taints nobody.

use void_domain::knowledge::{Entity, EntityHead, EntityId, EntityKind, Revision, Vouched};
use void_store::{Tx, entities};

use super::writing::{EntityStep, Writing, live, record};
use super::{KnowledgeError, may_write};
use crate::context::Ctx;
use crate::control::Control;

/// `revision`: the one that the owner has read. A ref stays foreign whoever has read it.
pub async fn vouch(
    control: &Control,
    ctx: &Ctx,
    id: EntityId,
    revision: u64,
) -> Result<Entity, KnowledgeError> {
    may_write(ctx)?;
    let (context, at) = (control.context(ctx), control.clock.now());
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let current = live(tx, id).await?.ok_or(KnowledgeError::NotFound)?;
                if current.head.revision.number != revision {
                    return Err(KnowledgeError::Conflict(Box::new(current)));
                }
                if id.kind() == EntityKind::Ref || !current.head.is_foreign() {
                    return Err(KnowledgeError::NothingToVouch);
                }
                vouch_in(tx, Writing::by_owner(&context, at), current).await
            })
        })
        .await
}

/// Stores that the owner answers for what was read in this transaction.
pub(crate) async fn vouch_in(
    tx: &mut Tx,
    writing: Writing<'_>,
    current: Entity,
) -> Result<Entity, KnowledgeError> {
    let vouched = Vouched {
        by: writing.audit.actor.clone(),
        at: writing.at,
    };
    let (id, number) = (current.head.id, current.head.revision.number);
    if !entities::vouch(tx, id, number, &vouched).await? {
        return Err(KnowledgeError::Conflict(Box::new(current)));
    }
    let read = Entity {
        head: EntityHead {
            revision: Revision {
                vouched: Some(vouched),
                ..current.head.revision
            },
            ..current.head
        },
        body: current.body,
    };
    let bytes = Some(read.body.as_str().len());
    let writing = Writing {
        diff: None,
        ..writing
    };
    record(tx, writing, EntityStep::Vouched, &read.head, bytes).await?;
    Ok(read)
}
