//! A machine asks to join, with a join token and the fingerprint of a secret that it keeps. Nothing opens yet.

use serde_json::json;
use void_domain::actors::Actor;
use void_domain::capabilities::Capabilities;
use void_domain::digests::Digest;
use void_domain::ids::RequestId;
use void_domain::nodes::{Asked, JoinRefusal, Node};
use void_domain::text;
use void_store::{StoreError, nodes};

use super::record;
use crate::context::Ctx;
use crate::control::Control;

const VERSION_BYTES_MAX: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    #[error("there is no such invitation, or it is over")]
    NotInvited,
    #[error("somebody has asked with this join token already")]
    Taken,
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub struct JoinRequest {
    pub invite: String,
    pub fingerprint: Digest,
    pub version: String,
    /// The address of the connection.
    pub from: String,
}

/// The node as it is after asking. Asking again with the same fingerprint only looks.
pub async fn join(
    control: &Control,
    request_id: RequestId,
    request: JoinRequest,
) -> Result<Node, JoinError> {
    let invite = Digest::of(request.invite.as_bytes());
    let at = control.clock.now();
    let asked = Asked {
        fingerprint: request.fingerprint,
        at,
        from: request.from,
    };
    let version = text::escaped(text::cut(&request.version, VERSION_BYTES_MAX));
    let ctx = Ctx {
        actor: Actor::System,
        capabilities: Capabilities::none(),
        request_id,
        authenticated_ago: None,
        is_from_outside: false,
        token: None,
    };
    let context = control.context(&ctx);
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let known = nodes::find_invited(tx, invite).await?;
                let known = known.ok_or(JoinError::NotInvited)?;
                let mut node = known.clone().ask(asked.clone()).map_err(refused)?;
                if node.membership == known.membership {
                    return Ok(node);
                }
                node.presence.version = Some(version);
                nodes::save(tx, &node).await?;
                let detail = json!({
                    "fingerprint": asked.fingerprint.to_fingerprint(),
                    "from": asked.from,
                    "version": node.presence.version,
                });
                let name = node.name.as_str();
                record(tx, &context, at, "node.asked", name, detail).await?;
                Ok(node)
            })
        })
        .await
}

fn refused(refusal: JoinRefusal) -> JoinError {
    match refusal {
        JoinRefusal::NotInvited => JoinError::NotInvited,
        JoinRefusal::Taken => JoinError::Taken,
    }
}
