//! The owner invites a machine: a join token, shown once and good for an hour.

use std::time::Duration;

use serde_json::json;
use void_domain::agents::poses_as_us;
use void_domain::digests::Digest;
use void_domain::nodes::{Membership, Node, NodeName};
use void_domain::secrets::Secret;
use void_domain::time::Timestamp;
use void_store::{StoreError, nodes};

use super::record;
use crate::context::Ctx;
use crate::control::Control;
use crate::tokens;

pub const INVITE_LASTS: Duration = Duration::from_secs(60 * 60);

#[derive(Debug, thiserror::Error)]
pub enum InviteError {
    #[error("only the owner invites nodes")]
    OwnerOnly,
    #[error("a node's name is 1 to 63 of a-z, 0-9 and -, and begins with a letter or digit")]
    InvalidName,
    #[error(
        "this name reads like one that Void uses for the owner, for itself or for somebody who is no node"
    )]
    Reserved,
    #[error("a node of that name has joined already")]
    Joined,
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub struct Invited {
    pub name: NodeName,
    /// Shown this once.
    pub text: Secret,
    pub expires_at: Timestamp,
}

/// An earlier invitation of that name that nobody has used to the end is void from now on.
pub async fn invite(control: &Control, ctx: &Ctx, name: &str) -> Result<Invited, InviteError> {
    if !ctx.actor.is_owner() {
        return Err(InviteError::OwnerOnly);
    }
    let name = NodeName::parse(name).ok_or(InviteError::InvalidName)?;
    let at = control.clock.now();
    let (text, expires_at) = (tokens::new_text("join")?, at.plus(INVITE_LASTS));
    let hash = Digest::of(text.expose().as_bytes());
    let node = Node::invite(name.clone(), hash, expires_at);
    let context = control.context(ctx);
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let known = nodes::find(tx, &node.name).await?;
                if let Some(Membership::Joined { .. }) =
                    known.as_ref().map(|known| &known.membership)
                {
                    return Err(InviteError::Joined);
                }
                if known.is_none() && poses_as_us(node.name.as_str()) {
                    return Err(InviteError::Reserved);
                }
                nodes::save(tx, &node).await?;
                let detail = json!({"expires_at": expires_at});
                let name = node.name.as_str();
                record(tx, &context, at, "node.invited", name, detail).await?;
                Ok(())
            })
        })
        .await?;
    Ok(Invited {
        name,
        text,
        expires_at,
    })
}
