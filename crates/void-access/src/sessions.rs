//! The owner's browser sessions: opened by a proof, kept by use up to an end, ended by time, by the owner
//! or by another password. Of a cookie only the hash is stored. Using a session keeps it open and proves
//! nothing.

mod proofs;
mod refusals;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use void_control::facts::{self, AuditContext};
use void_control::{Ctx, random};
use void_domain::actors::{Actor, Surface};
use void_domain::capabilities::Capabilities;
use void_domain::digests::Digest;
use void_domain::events::Audience;
use void_domain::ids::{RequestId, SessionId};
use void_domain::limits;
use void_domain::secrets::Secret;
use void_domain::sessions::{expires_at, is_over};
use void_domain::time::Timestamp;
use void_store::challenges::Purpose;
use void_store::{StoreError, Tx, sessions};

use self::proofs::Proven;
use crate::owners::OwnerAccess;
use crate::passwords::{Busy, CheckError};

pub use self::proofs::Proof;
pub use self::refusals::record_bearer;
pub use void_store::sessions::Session;

/// Uses nearer to the last one that was noted are not noted.
const NOTE_USE_EVERY: Duration = Duration::from_secs(60 * 60);

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("that does not prove that you are the owner")]
    Wrong,
    #[error("there is no such open session")]
    NotFound,
    #[error(transparent)]
    Busy(#[from] Busy),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<CheckError> for SessionError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Busy(busy) => Self::Busy(busy),
            CheckError::Store(error) => Self::Store(error),
        }
    }
}

/// From where somebody shows a proof.
#[derive(Debug, Clone)]
pub struct SessionOrigin {
    /// In words of ours.
    pub device: String,
    /// The address of the connection.
    pub address: String,
}

/// A new session with its cookie's value, which is never shown again.
pub struct Opened {
    pub cookie: Secret,
    pub session: Session,
}

/// Opens a session for whoever proves to be the owner.
pub async fn open(
    access: &OwnerAccess,
    request_id: RequestId,
    proof: &Proof,
    place: SessionOrigin,
) -> Result<Opened, SessionError> {
    let ctx = Ctx {
        actor: Actor::Owner {
            surface: Surface::Web,
        },
        capabilities: Capabilities::none(),
        request_id,
        authenticated_ago: Some(Duration::ZERO),
        is_from_outside: true,
        token: None,
    };
    let opened = match proofs::check(access, proof, Purpose::Login).await? {
        Some(proven) => insert(access, &ctx, proven, &place).await,
        None => Err(SessionError::Wrong),
    };
    if matches!(opened, Err(SessionError::Wrong)) {
        refusals::record(access, request_id, proof.method(), &place.address, None).await?;
    }
    opened
}

async fn insert(
    access: &OwnerAccess,
    ctx: &Ctx,
    proven: Proven,
    place: &SessionOrigin,
) -> Result<Opened, SessionError> {
    let at = access.control().clock().now();
    let secret: [u8; 32] = random::bytes()?;
    let text = URL_SAFE_NO_PAD.encode(secret);
    let session = Session {
        id: random::session_id(at)?,
        hash: Digest::of(text.as_bytes()),
        created_at: at,
        authenticated_at: at,
        expires_at: expires_at(at, at),
        ended_at: None,
        method: proven.method(),
        device: place.device.clone(),
        last_seen_at: at,
    };
    let detail = json!({
        "method": session.method.as_str(), "device": session.device, "from": place.address,
    });
    let (context, inserted) = (access.control().context(ctx), session.clone());
    access
        .control()
        .store()
        .write(move |tx| {
            Box::pin(async move {
                if !proven.redeem(tx, at).await? {
                    return Err(SessionError::Wrong);
                }
                sessions::insert(tx, &inserted).await?;
                let subject = Some(inserted.id.to_string());
                facts::audit(tx, &context, at, "session.opened", subject, detail).await?;
                Ok(())
            })
        })
        .await?;
    Ok(Opened {
        cookie: Secret::new(text),
        session,
    })
}

/// The person behind an open session proves again who they are.
pub async fn confirm(
    access: &OwnerAccess,
    ctx: &Ctx,
    session: &Session,
    proof: &Proof,
    address: &str,
) -> Result<Session, SessionError> {
    let id = session.id;
    let confirmed = match proofs::check(access, proof, Purpose::Confirm(id)).await? {
        Some(proven) => renew(access, ctx, id, proven, address.to_owned()).await,
        None => Err(SessionError::Wrong),
    };
    match confirmed {
        Ok(authenticated_at) => Ok(Session {
            authenticated_at,
            ..session.clone()
        }),
        Err(error) => {
            if matches!(error, SessionError::Wrong) {
                let method = proof.method();
                refusals::record(access, ctx.request_id, method, address, Some(id)).await?;
            }
            Err(error)
        }
    }
}

async fn renew(
    access: &OwnerAccess,
    ctx: &Ctx,
    id: SessionId,
    proven: Proven,
    address: String,
) -> Result<Timestamp, SessionError> {
    let (context, at) = (
        access.control().context(ctx),
        access.control().clock().now(),
    );
    access
        .control()
        .store()
        .write(move |tx| {
            Box::pin(async move {
                let redeemed = proven.redeem(tx, at).await?;
                if !redeemed || !sessions::authenticate(tx, id, at).await? {
                    return Err(SessionError::Wrong);
                }
                let detail = json!({"method": proven.method().as_str(), "from": address});
                let subject = Some(id.to_string());
                facts::audit(tx, &context, at, "session.confirmed", subject, detail).await?;
                Ok(at)
            })
        })
        .await
}

/// Notes that a session is in use, which keeps it open. Whether this use was noted, and the cookie
/// should be kept longer.
pub async fn note_use(access: &OwnerAccess, session: &mut Session) -> Result<bool, StoreError> {
    let now = access.control().clock().now();
    if now.since(session.last_seen_at) < NOTE_USE_EVERY {
        return Ok(false);
    }
    let (id, expires_at) = (session.id, expires_at(session.created_at, now));
    let noted = access
        .control()
        .store()
        .write(move |tx| Box::pin(sessions::slide(tx, id, now, expires_at)))
        .await?;
    if noted {
        (session.last_seen_at, session.expires_at) = (now, expires_at);
    }
    Ok(noted)
}

/// Those that are open, newest first.
pub async fn list(access: &OwnerAccess) -> Result<Vec<Session>, StoreError> {
    let now = access.control().clock().now();
    let mut open = access
        .control()
        .store()
        .read(move |tx| Box::pin(sessions::list_live(tx, now, limits::PAGE_ROWS_MAX)))
        .await?;
    open.retain(|session| !is_over(session.created_at, now));
    Ok(open)
}

/// Ends the caller's own session; its open streams close.
pub async fn close(access: &OwnerAccess, ctx: &Ctx, id: SessionId) -> Result<(), StoreError> {
    end(access, ctx, id, "session.closed").await.map(|_| ())
}

/// Ends whichever session the owner names; its open streams close.
pub async fn revoke(access: &OwnerAccess, ctx: &Ctx, id: SessionId) -> Result<(), SessionError> {
    if end(access, ctx, id, "session.revoked").await? {
        Ok(())
    } else {
        Err(SessionError::NotFound)
    }
}

async fn end(
    access: &OwnerAccess,
    ctx: &Ctx,
    id: SessionId,
    verb: &'static str,
) -> Result<bool, StoreError> {
    let at = access.control().clock().now();
    let context = access.control().context(ctx);
    access
        .control()
        .store()
        .write_closing(move |tx| {
            Box::pin(async move {
                let ended = sessions::end(tx, id, at).await?;
                if ended {
                    record_end(tx, &context, at, id, verb).await?;
                }
                Ok(ended)
            })
        })
        .await
}

async fn record_end(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    id: SessionId,
    verb: &'static str,
) -> Result<(), StoreError> {
    let fact = (verb, Some(id.to_string()), json!({}));
    facts::tell_of(tx, context, at, Audience::OwnerOnly, fact).await
}
