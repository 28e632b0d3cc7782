//! The owner takes a conversation along, or away. What an agent did in it stays on the record either way.

use serde_json::json;
use void_domain::conversations::{Conversation, Message};
use void_domain::ids::ConversationId;
use void_domain::limits::PAGE_ROWS_MAX;
use void_store::conversations;

use super::TurnError;
use crate::context::Ctx;
use crate::control::Control;
use crate::facts;

/// All of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    pub conversation: Conversation,
    /// Oldest first.
    pub messages: Vec<Message>,
}

/// As many messages as are kept of one conversation, which retention bounds.
pub async fn export(
    control: &Control,
    ctx: &Ctx,
    id: ConversationId,
) -> Result<Exported, TurnError> {
    if !ctx.actor.is_owner() {
        return Err(TurnError::OwnerOnly);
    }
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let found = conversations::find(tx, id).await?;
                let conversation = found.ok_or(TurnError::NotFound)?;
                let mut messages: Vec<Message> = Vec::new();
                loop {
                    let before = messages.last().map(|message| message.seq);
                    let page = conversations::page_before(tx, id, before, PAGE_ROWS_MAX).await?;
                    messages.extend(page.items);
                    if page.next.is_none() {
                        break;
                    }
                }
                messages.reverse();
                Ok(Exported {
                    conversation,
                    messages,
                })
            })
        })
        .await
}

/// Takes a conversation away with all that was said in it, unless a turn runs in it.
pub async fn delete(control: &Control, ctx: &Ctx, id: ConversationId) -> Result<(), TurnError> {
    if !ctx.actor.is_owner() {
        return Err(TurnError::OwnerOnly);
    }
    let (context, at) = (control.context(ctx), control.clock.now());
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let found = conversations::find(tx, id).await?;
                let conversation = found.ok_or(TurnError::NotFound)?;
                if let Some(running) = conversations::running_in(tx, id).await? {
                    return Err(TurnError::Busy(running.id));
                }
                let newest = conversations::next_seq(tx, id).await?.saturating_sub(1);
                conversations::delete(tx, id).await?;
                let detail = json!({
                    "agent": conversation.agent,
                    "space_id": conversation.space_id,
                    "last_seq": newest,
                });
                let subject = Some(id.to_string());
                facts::audit(tx, &context, at, "conversation.deleted", subject, detail).await?;
                Ok::<_, TurnError>(())
            })
        })
        .await
}
