//! The owner withdraws an invitation, turns a machine away, or ends a membership. The secret opens nothing any more.

use serde_json::json;
use void_domain::nodes::{Membership, NodeName};
use void_store::{StoreError, nodes, tokens};

use super::record;
use crate::context::Ctx;
use crate::control::Control;

#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    #[error("only the owner removes nodes")]
    OwnerOnly,
    #[error("there is no node of that name")]
    NotFound,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What it was until now: `invited`, `waiting` or `joined`.
pub async fn remove(control: &Control, ctx: &Ctx, name: &str) -> Result<&'static str, RemoveError> {
    if !ctx.actor.is_owner() {
        return Err(RemoveError::OwnerOnly);
    }
    let name = NodeName::parse(name).ok_or(RemoveError::NotFound)?;
    let (at, context) = (control.clock.now(), control.context(ctx));
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                let node = nodes::find(tx, &name).await?.ok_or(RemoveError::NotFound)?;
                nodes::remove(tx, &name).await?;
                if let Membership::Joined { token_id, .. } = node.membership
                    && tokens::revoke(tx, token_id, at).await?
                {
                    crate::tokens::record_revoked(tx, &context, at, token_id).await?;
                }
                let was = node.membership.as_str();
                let detail = json!({"was": was});
                record(tx, &context, at, "node.removed", name.as_str(), detail).await?;
                Ok(was)
            })
        })
        .await
}
