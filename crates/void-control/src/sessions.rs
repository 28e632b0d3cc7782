//! The owner's browser sessions: opened with the owner's token, a cookie whose hash alone is stored.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use void_domain::actors::{Actor, Surface};
use void_domain::capabilities::Capabilities;
use void_domain::digests::Digest;
use void_domain::events::{Audience, EventDraft, EventKind};
use void_domain::ids::{RequestId, SessionId};
use void_domain::secrets::Secret;
use void_store::sessions::{self, Session};
use void_store::{StoreError, events};

use crate::access::is_owner_token;
use crate::context::Ctx;
use crate::control::Control;
use crate::{random, records};

pub const SESSION_LASTS: Duration = Duration::from_secs(30 * 24 * 60 * 60);

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("that is not the owner's token")]
    WrongToken,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Opens a session for whoever shows the owner's token. The result is the cookie's value.
pub async fn open(
    control: &Control,
    request_id: RequestId,
    shown: &str,
) -> Result<Secret, SessionError> {
    let ctx = Ctx {
        actor: Actor::Owner {
            surface: Surface::Web,
        },
        capabilities: Capabilities::none(),
        request_id,
        authenticated_ago: Some(Duration::ZERO),
    };
    if !is_owner_token(control, shown) {
        return Err(SessionError::WrongToken);
    }
    let at = control.clock.now();
    let secret: [u8; 32] = random::bytes()?;
    let text = URL_SAFE_NO_PAD.encode(secret);
    let session = Session {
        id: random::session_id(at)?,
        hash: Digest::of(text.as_bytes()),
        created_at: at,
        authenticated_at: at,
        expires_at: at.plus(SESSION_LASTS),
        ended_at: None,
    };
    let scribe = control.scribe(&ctx);
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                sessions::insert(tx, &session).await?;
                let subject = Some(session.id.to_string());
                records::audit(tx, &scribe, at, "session.opened", subject, json!({})).await
            })
        })
        .await?;
    Ok(Secret::new(text))
}

/// Ends a session; its open streams close.
pub async fn close(control: &Control, ctx: &Ctx, id: SessionId) -> Result<(), StoreError> {
    let at = control.clock.now();
    let scribe = control.scribe(ctx);
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                if sessions::end(tx, id, at).await? {
                    records::audit(
                        tx,
                        &scribe,
                        at,
                        "session.closed",
                        Some(id.to_string()),
                        json!({}),
                    )
                    .await?;
                    let event = EventDraft {
                        kind: EventKind::AccessRevoked,
                        audience: Audience::OwnerOnly,
                        payload: json!({"session": id}),
                    };
                    events::append(tx, at, &event).await?;
                }
                Ok(())
            })
        })
        .await
}
