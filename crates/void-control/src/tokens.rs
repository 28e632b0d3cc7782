//! Bearer tokens of agents, viewers and nodes: shown once, stored as a hash, withdrawn at once.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use void_domain::actors::{Actor, ActorKind};
use void_domain::capabilities::{Capabilities, Capability};
use void_domain::digests::Digest;
use void_domain::events::{Audience, EventKind, NewEvent};
use void_domain::ids::{TokenId, is_slug};
use void_domain::limits;
use void_domain::secrets::Secret;
use void_domain::time::Timestamp;
use void_store::quarantine::{self, Kind};
use void_store::tokens::{self, Token};
use void_store::{StoreError, Tx, events};

use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::random;

#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("only the owner manages tokens")]
    OwnerOnly,
    #[error("a token is for an agent, a viewer or a node")]
    InvalidKind,
    #[error("a token's name is 1 to 64 of a-z, 0-9 and -, and begins with a letter or digit")]
    InvalidName,
    #[error("a live token of this kind has that name already")]
    NameTaken,
    #[error("there is no such live token")]
    NotFound,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A new token with its text, which is never shown again.
pub struct NewToken {
    pub id: TokenId,
    pub text: Secret,
}

pub async fn create(
    control: &Control,
    ctx: &Ctx,
    kind: ActorKind,
    name: String,
    capabilities: Capabilities,
) -> Result<NewToken, TokenError> {
    if !ctx.actor.is_owner() {
        return Err(TokenError::OwnerOnly);
    }
    if !matches!(kind, ActorKind::Agent | ActorKind::Viewer | ActorKind::Node) {
        return Err(TokenError::InvalidKind);
    }
    if !is_slug(&name) {
        return Err(TokenError::InvalidName);
    }
    let at = control.clock.now();
    let text = new_text(kind.as_str())?;
    let token = Token {
        id: random::token_id(at)?,
        kind,
        name,
        hash: Digest::of(text.expose().as_bytes()),
        capabilities,
        created_at: at,
        last_used_at: None,
        revoked_at: None,
        resident: false,
    };
    let context = control.context(ctx);
    let id = control
        .store
        .write(move |tx| {
            Box::pin(async move {
                match tokens::find_live_named(tx, token.kind, &token.name).await? {
                    // An agent that lives here is not a second one when it gets a token.
                    Some(known) if known.resident => {
                        let (hash, capabilities) = (token.hash, &token.capabilities);
                        tokens::hand_out(tx, known.id, hash, capabilities).await?;
                        quarantine::lift(tx, Kind::Token, &known.id.to_string()).await?;
                        record_created(tx, &context, at, known.id, &token).await?;
                        Ok(known.id)
                    }
                    Some(_) => Err(TokenError::NameTaken),
                    None => {
                        tokens::insert(tx, &token).await?;
                        record_created(tx, &context, at, token.id, &token).await?;
                        Ok(token.id)
                    }
                }
            })
        })
        .await?;
    Ok(NewToken { id, text })
}

async fn record_created(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    id: TokenId,
    token: &Token,
) -> Result<(), StoreError> {
    let detail = json!({
        "kind": token.kind.as_str(),
        "name": token.name,
        "capabilities": token.capabilities,
        "resident": token.resident,
    });
    facts::audit(
        tx,
        context,
        at,
        "token.created",
        Some(id.to_string()),
        detail,
    )
    .await
}

/// The text of a new credential: what it is for, and 256 bits that nobody can guess.
pub fn new_text(what: &str) -> Result<Secret, StoreError> {
    let secret: [u8; 32] = random::bytes()?;
    let secret = URL_SAFE_NO_PAD.encode(secret);
    Ok(Secret::new(format!("void_{what}_{secret}")))
}

/// In whose name an agent that lives here acts, with what it may now. Its identity is made at its first
/// turn; if the owner withdraws it, it stays withdrawn (`None`) until they make a token of that name.
pub async fn resident_ctx(
    control: &Control,
    name: &str,
    capabilities: &[Capability],
) -> Result<Option<Ctx>, StoreError> {
    let token = match newest_agent(control, name).await? {
        Some(token) => token,
        None => settle_in(control, name, capabilities, None).await?,
    };
    if token.revoked_at.is_some() || is_quarantined(control, token.id).await? {
        return Ok(None);
    }
    Ok(Some(Ctx {
        actor: Actor::Agent {
            id: token.id,
            name: token.name,
        },
        capabilities: token.capabilities,
        request_id: random::request_id(control.clock.now())?,
        authenticated_ago: None,
        is_from_outside: false,
    }))
}

/// Whether it came back with an older copy and the owner has not confirmed it.
async fn is_quarantined(control: &Control, id: TokenId) -> Result<bool, StoreError> {
    control
        .store
        .read(move |tx| {
            Box::pin(async move { quarantine::holds(tx, Kind::Token, &id.to_string()).await })
        })
        .await
}

/// The identity of that name, live or withdrawn, if there ever was one.
pub async fn newest_agent(control: &Control, name: &str) -> Result<Option<Token>, StoreError> {
    let name = name.to_owned();
    control
        .store
        .read(move |tx| {
            Box::pin(async move { tokens::newest_named(tx, ActorKind::Agent, &name).await })
        })
        .await
}

/// Makes an agent that lives here known by a token of the owner's choice as well.
pub async fn give_resident_token(
    control: &Control,
    name: &str,
    capabilities: &[Capability],
    text: &Secret,
) -> Result<(), StoreError> {
    control.knows_configured(text);
    settle_in(control, name, capabilities, Some(text)).await?;
    Ok(())
}

async fn settle_in(
    control: &Control,
    name: &str,
    capabilities: &[Capability],
    text: Option<&Secret>,
) -> Result<Token, StoreError> {
    let at = control.clock.now();
    let unknown: [u8; 32] = random::bytes()?;
    let hash = text.map_or_else(
        || Digest::of(&unknown),
        |text| Digest::of(text.expose().as_bytes()),
    );
    let given = text.is_some();
    let token = Token {
        id: random::token_id(at)?,
        kind: ActorKind::Agent,
        name: name.to_owned(),
        hash,
        capabilities: capabilities.iter().copied().collect(),
        created_at: at,
        last_used_at: None,
        revoked_at: None,
        resident: !given,
    };
    let context = control.context(&control.system_ctx()?);
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                match tokens::newest_named(tx, token.kind, &token.name).await? {
                    Some(known) => {
                        if given && known.revoked_at.is_none() && known.hash != token.hash {
                            tokens::hand_out(tx, known.id, token.hash, &known.capabilities).await?;
                            let given = Token {
                                capabilities: known.capabilities.clone(),
                                ..token
                            };
                            record_created(tx, &context, at, known.id, &given).await?;
                        }
                        Ok(known)
                    }
                    None => {
                        tokens::insert(tx, &token).await?;
                        record_created(tx, &context, at, token.id, &token).await?;
                        Ok::<_, StoreError>(token)
                    }
                }
            })
        })
        .await
}

pub async fn revoke(control: &Control, ctx: &Ctx, id: TokenId) -> Result<(), TokenError> {
    if !ctx.actor.is_owner() {
        return Err(TokenError::OwnerOnly);
    }
    let at = control.clock.now();
    let context = control.context(ctx);
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                if !tokens::revoke(tx, id, at).await? {
                    return Err(TokenError::NotFound);
                }
                facts::audit(
                    tx,
                    &context,
                    at,
                    "token.revoked",
                    Some(id.to_string()),
                    json!({}),
                )
                .await?;
                let event = NewEvent {
                    kind: EventKind::AccessRevoked,
                    audience: Audience::OwnerOnly,
                    payload: json!({"token": id}),
                };
                events::append(tx, at, &event).await?;
                Ok(())
            })
        })
        .await
}

/// Newest first, without anything that could be used.
pub async fn list(control: &Control) -> Result<Vec<Token>, StoreError> {
    control
        .store
        .read(|tx| Box::pin(tokens::list(tx, limits::PAGE_ROWS_MAX)))
        .await
}
