//! The owner has compared the fingerprint: from now on the node's secret opens its mailbox.

use serde_json::json;
use void_domain::actors::ActorKind;
use void_domain::capabilities::Capabilities;
use void_domain::digests::Digest;
use void_domain::nodes::{ApproveRefusal, Node, NodeName};
use void_store::tokens::{self, Token};
use void_store::{StoreError, nodes};

use super::record;
use crate::context::Ctx;
use crate::control::Control;
use crate::random;

#[derive(Debug, thiserror::Error)]
pub enum ApproveError {
    #[error("only the owner lets nodes in")]
    OwnerOnly,
    #[error("no node of that name has asked to join")]
    NotFound,
    #[error("it does not wait for you: it is {0}")]
    NotWaiting(&'static str),
    #[error("the node shows {0}, not that fingerprint; nothing was opened")]
    OtherFingerprint(String),
    #[error("a node token of that name is live already")]
    NameTaken,
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub async fn approve(
    control: &Control,
    ctx: &Ctx,
    name: &str,
    fingerprint: Digest,
) -> Result<Node, ApproveError> {
    if !ctx.actor.is_owner() {
        return Err(ApproveError::OwnerOnly);
    }
    let name = NodeName::parse(name).ok_or(ApproveError::NotFound)?;
    let at = control.clock.now();
    let (id, by, context) = (
        random::token_id(at)?,
        ctx.actor.to_string(),
        control.context(ctx),
    );
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let node = nodes::find(tx, &name)
                    .await?
                    .ok_or(ApproveError::NotFound)?;
                let (state, shown) = (node.membership.as_str(), node.membership.fingerprint());
                let node = node.approve(fingerprint, id, at, by).map_err(|refusal| {
                    let shown = shown.map(Digest::to_fingerprint).unwrap_or_default();
                    match refusal {
                        ApproveRefusal::NotWaiting => ApproveError::NotWaiting(state),
                        ApproveRefusal::OtherFingerprint => ApproveError::OtherFingerprint(shown),
                    }
                })?;
                let taken = tokens::find_live_named(tx, ActorKind::Node, name.as_str()).await?;
                if taken.is_some() {
                    return Err(ApproveError::NameTaken);
                }
                let token = Token {
                    id,
                    kind: ActorKind::Node,
                    agent_id: None,
                    name: name.to_string(),
                    hash: fingerprint,
                    capabilities: Capabilities::none(),
                    created_at: at,
                    last_used_at: None,
                    revoked_at: None,
                    resident: false,
                };
                tokens::insert(tx, &token).await?;
                nodes::save(tx, &node).await?;
                let detail = json!({"fingerprint": fingerprint.to_fingerprint(), "token": id});
                record(tx, &context, at, "node.joined", name.as_str(), detail).await?;
                Ok(node)
            })
        })
        .await
}
