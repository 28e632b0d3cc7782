//! Bearer tokens of agents, viewers and nodes: shown once, stored as a hash, withdrawn at once.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use void_domain::actors::{Actor, ActorKind};
use void_domain::capabilities::Capabilities;
use void_domain::digests::Digest;
use void_domain::events::{Audience, EventDraft, EventKind};
use void_domain::ids::{TokenId, is_slug};
use void_domain::limits;
use void_domain::secrets::Secret;
use void_store::tokens::{self, Token};
use void_store::{StoreError, events};

use crate::context::Ctx;
use crate::control::Control;
use crate::{random, records};

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
    let secret: [u8; 32] = random::bytes()?;
    let text = format!("void_{}_{}", kind.as_str(), URL_SAFE_NO_PAD.encode(secret));
    let token = Token {
        id: random::token_id(at)?,
        kind,
        name,
        hash: Digest::of(text.as_bytes()),
        capabilities,
        created_at: at,
        last_used_at: None,
        revoked_at: None,
    };
    let id = token.id;
    let scribe = control.scribe(ctx);
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                if tokens::is_name_live(tx, token.kind, &token.name).await? {
                    return Err(TokenError::NameTaken);
                }
                tokens::insert(tx, &token).await?;
                let detail = json!({"kind": token.kind.as_str(), "name": token.name, "capabilities": token.capabilities});
                records::audit(tx, &scribe, at, "token.created", Some(token.id.to_string()), detail).await?;
                Ok(())
            })
        })
        .await?;
    Ok(NewToken {
        id,
        text: Secret::new(text),
    })
}

/// The identity of an agent that lives here: its token's record, whose text nobody knows. Made once; if
/// the owner withdraws it, it stays withdrawn until they make a token of that name.
pub async fn ensure_agent(
    control: &Control,
    name: &str,
    capabilities: Capabilities,
) -> Result<TokenId, StoreError> {
    let at = control.clock.now();
    let secret: [u8; 32] = random::bytes()?;
    let token = Token {
        id: random::token_id(at)?,
        kind: ActorKind::Agent,
        name: name.to_owned(),
        hash: Digest::of(&secret),
        capabilities,
        created_at: at,
        last_used_at: None,
        revoked_at: None,
    };
    let scribe = control.scribe(&control.system_ctx()?);
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                if let Some(known) = tokens::newest_named(tx, token.kind, &token.name).await? {
                    return Ok(known.id);
                }
                tokens::insert(tx, &token).await?;
                let detail = json!({"kind": token.kind.as_str(), "name": token.name, "capabilities": token.capabilities});
                let subject = Some(token.id.to_string());
                records::audit(tx, &scribe, at, "token.created", subject, detail).await?;
                Ok::<_, StoreError>(token.id)
            })
        })
        .await
}

/// In whose name an agent acts that lives here, with what it may now. `None` if it was withdrawn.
pub async fn agent_ctx(control: &Control, id: TokenId) -> Result<Option<Ctx>, StoreError> {
    let found = control
        .store
        .read(move |tx| Box::pin(tokens::find(tx, id)))
        .await?;
    let live = found.filter(|token| token.revoked_at.is_none() && token.kind == ActorKind::Agent);
    let Some(token) = live else {
        return Ok(None);
    };
    Ok(Some(Ctx {
        actor: Actor::Agent {
            id: token.id,
            name: token.name,
        },
        capabilities: token.capabilities,
        request_id: random::request_id(control.clock.now())?,
        authenticated_ago: None,
    }))
}

pub async fn revoke(control: &Control, ctx: &Ctx, id: TokenId) -> Result<(), TokenError> {
    if !ctx.actor.is_owner() {
        return Err(TokenError::OwnerOnly);
    }
    let at = control.clock.now();
    let scribe = control.scribe(ctx);
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                if !tokens::revoke(tx, id, at).await? {
                    return Err(TokenError::NotFound);
                }
                records::audit(
                    tx,
                    &scribe,
                    at,
                    "token.revoked",
                    Some(id.to_string()),
                    json!({}),
                )
                .await?;
                let event = EventDraft {
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
