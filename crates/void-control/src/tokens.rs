//! Bearer tokens of agents, viewers and nodes: shown once, stored as a hash, withdrawn at once.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use void_domain::actors::ActorKind;
use void_domain::agents::{AgentRefusal, judge_grant, judge_new_name, poses_as_us};
use void_domain::capabilities::Capabilities;
use void_domain::digests::Digest;
use void_domain::events::Audience;
use void_domain::ids::TokenId;
use void_domain::limits;
use void_domain::secrets::Secret;
use void_domain::time::Timestamp;
use void_store::token_taints::{self, TokenTaint};
use void_store::tokens::{self, Token};
use void_store::{StoreError, Tx, agents as stored_agents};

use crate::agents::{self, AskedToken};
use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::{proposals, random};

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
    #[error("capabilities are for agents")]
    NoAgent,
    #[error(transparent)]
    Refused(#[from] AgentRefusal),
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

/// A token of a viewer or a node, or of an agent: its first makes the agent, and each further one is for the
/// same capabilities.
pub async fn create(
    control: &Control,
    ctx: &Ctx,
    kind: ActorKind,
    name: String,
    capabilities: Capabilities,
) -> Result<NewToken, TokenError> {
    if !matches!(kind, ActorKind::Agent | ActorKind::Viewer | ActorKind::Node) {
        return Err(TokenError::InvalidKind);
    }
    let (asked, text) = ask(control, ctx, kind, &name, capabilities)?;
    if kind != ActorKind::Agent && asked.capabilities != Capabilities::none() {
        return Err(TokenError::NoAgent);
    }
    let context = control.context(ctx);
    let housed = agents::Housed::of(control);
    let id = control
        .store
        .write(move |tx| {
            Box::pin(async move {
                match kind {
                    ActorKind::Agent => agents::add_token(tx, &context, asked, &housed).await,
                    _ => add(tx, &context, kind, asked).await,
                }
            })
        })
        .await?;
    Ok(NewToken { id, text })
}

/// A token for an agent that was withdrawn, which is the same agent again.
pub async fn restore_agent(
    control: &Control,
    ctx: &Ctx,
    name: &str,
    capabilities: Capabilities,
) -> Result<NewToken, TokenError> {
    let (asked, text) = ask(control, ctx, ActorKind::Agent, name, capabilities)?;
    // It may be more than fits into the transaction that brings it back.
    proposals::end_waiting_of_withdrawn(control).await?;
    let context = control.context(ctx);
    let housed = agents::Housed::of(control);
    let id = control
        .store
        .write(move |tx| {
            Box::pin(async move { agents::restore(tx, &context, asked, &housed).await })
        })
        .await?;
    Ok(NewToken { id, text })
}

/// What everybody who asks for a token has to fulfil, and its text.
fn ask(
    control: &Control,
    ctx: &Ctx,
    kind: ActorKind,
    name: &str,
    capabilities: Capabilities,
) -> Result<(AskedToken, Secret), TokenError> {
    if !ctx.actor.is_owner() {
        return Err(TokenError::OwnerOnly);
    }
    let name = name.parse().map_err(|_| TokenError::InvalidName)?;
    judge_grant(&capabilities)?;
    let at = control.clock.now();
    let text = new_text(kind.as_str())?;
    let asked = AskedToken {
        id: random::token_id(at)?,
        hash: Digest::of(text.expose().as_bytes()),
        name,
        capabilities,
        at,
        resident: false,
    };
    Ok((asked, text))
}

/// A viewer's or a node's.
async fn add(
    tx: &mut Tx,
    context: &AuditContext,
    kind: ActorKind,
    asked: AskedToken,
) -> Result<TokenId, TokenError> {
    let token = Token {
        id: asked.id,
        kind,
        agent_id: None,
        name: asked.name.to_string(),
        hash: asked.hash,
        capabilities: asked.capabilities,
        created_at: asked.at,
        last_used_at: None,
        revoked_at: None,
        resident: false,
    };
    let taken = tokens::find_live_named(tx, kind, &token.name).await?;
    if taken.is_some() {
        return Err(TokenError::NameTaken);
    }
    match kind {
        // What a viewer says is shown beside what agents say.
        ActorKind::Viewer => judge_new_name(&asked.name, &stored_agents::names(tx).await?)?,
        _ if poses_as_us(asked.name.as_str()) => return Err(AgentRefusal::Reserved.into()),
        _ => {}
    }
    tokens::insert(tx, &token).await?;
    record_created(tx, context, asked.at, &token).await?;
    Ok(token.id)
}

pub(crate) async fn record_created(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    token: &Token,
) -> Result<(), StoreError> {
    let mut detail = json!({
        "kind": token.kind.as_str(),
        "name": token.name,
        "capabilities": token.capabilities,
        "resident": token.resident,
    });
    if let (Some(agent), Some(members)) = (token.agent_id, detail.as_object_mut()) {
        members.insert("agent_id".to_owned(), json!(agent));
    }
    let subject = Some(token.id.to_string());
    facts::audit(tx, context, at, "token.created", subject, detail).await
}

/// The text of a new credential: what it is for, and 256 bits that nobody can guess.
pub fn new_text(what: &str) -> Result<Secret, StoreError> {
    let secret: [u8; 32] = random::bytes()?;
    let secret = URL_SAFE_NO_PAD.encode(secret);
    Ok(Secret::new(format!("void_{what}_{secret}")))
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
                record_revoked(tx, &context, at, id).await?;
                agents::withdraw_without_tokens(tx, &context, at, id).await?;
                Ok(())
            })
        })
        .await
}

/// A token opens nothing any more; open streams look again at who is listening.
pub(crate) async fn record_revoked(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    id: TokenId,
) -> Result<(), StoreError> {
    let fact = ("token.revoked", Some(id.to_string()), json!({}));
    facts::tell_of(tx, context, at, Audience::OwnerOnly, fact).await
}

/// A token without anything that could be used, and what its holder was given that a stranger could have written.
pub struct ListedToken {
    pub token: Token,
    pub taint: Option<TokenTaint>,
}

/// Newest first.
pub async fn list(control: &Control) -> Result<Vec<ListedToken>, StoreError> {
    control
        .store
        .read(|tx| {
            Box::pin(async move {
                let listed = tokens::list(tx, limits::PAGE_ROWS_MAX).await?;
                let mut taints = token_taints::of_all(tx).await?;
                let listed = listed.into_iter().map(|token| ListedToken {
                    taint: taints.remove(&token.id),
                    token,
                });
                Ok(listed.collect())
            })
        })
        .await
}
