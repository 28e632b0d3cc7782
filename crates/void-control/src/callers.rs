//! Who somebody is, from what they show. There is no branch in which something that cannot be
//! checked is accepted.

use std::time::Duration;

use subtle::ConstantTimeEq as _;
use void_domain::actors::{Actor, ActorKind, Surface};
use void_domain::agents::AgentName;
use void_domain::capabilities::Capabilities;
use void_domain::digests::Digest;
use void_domain::ids::{AgentId, RequestId, SessionId, TokenId};
use void_domain::sessions::{authenticated_ago, is_over};
use void_store::quarantine::{self, Kind};
use void_store::sessions::{self, Session};
use void_store::{StoreError, tokens};

pub use crate::access_refusals::record_refusal;
use crate::context::Ctx;
use crate::control::Control;
use crate::{agents, random};

/// Longer ones are not even hashed.
pub const CREDENTIAL_BYTES_MAX: usize = 512;

/// A caller whose credential was checked.
#[derive(Debug, Clone)]
pub struct Caller {
    pub actor: Actor,
    pub capabilities: Capabilities,
    pub authenticated_ago: Option<Duration>,
    pub credential: Credential,
    /// The session that the caller's cookie stands for.
    pub session: Option<Session>,
}

/// What the caller showed, to be looked at again while a stream is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    OwnerToken,
    Token(TokenId),
    /// A turn of this agent, whose pass ends with it.
    Turn(AgentId),
    /// The process of this agent, which runs on this machine. It opens what is about the process and nothing else.
    Process(AgentId),
    Session {
        id: SessionId,
        hash: Digest,
    },
}

impl Credential {
    const fn token(self) -> Option<TokenId> {
        match self {
            Self::Token(id) => Some(id),
            Self::OwnerToken | Self::Turn(_) | Self::Process(_) | Self::Session { .. } => None,
        }
    }
}

impl Caller {
    pub fn ctx(&self, request_id: RequestId) -> Ctx {
        Ctx {
            actor: self.actor.clone(),
            capabilities: self.capabilities.clone(),
            request_id,
            authenticated_ago: self.authenticated_ago,
            is_from_outside: true,
            token: self.credential.token(),
        }
    }
}

pub fn new_request_id(control: &Control) -> Result<RequestId, StoreError> {
    random::request_id(control.clock.now())
}

/// Whether this is the owner's token; the time it takes tells nothing about it.
pub fn is_owner_token(control: &Control, shown: &str) -> bool {
    shown.len() <= CREDENTIAL_BYTES_MAX
        && bool::from(
            Digest::of(shown.as_bytes())
                .as_bytes()
                .ct_eq(control.owner_token.digest.as_bytes()),
        )
}

/// The holder of a bearer token. `cli` says that our command line sent it, which only labels the
/// record.
pub async fn by_bearer(
    control: &Control,
    shown: &str,
    cli: bool,
) -> Result<Option<Caller>, StoreError> {
    if shown.is_empty() || shown.len() > CREDENTIAL_BYTES_MAX {
        return Ok(None);
    }
    if is_owner_token(control, shown) {
        let surface = if cli { Surface::Cli } else { Surface::Api };
        return Ok(Some(Caller {
            actor: Actor::Owner { surface },
            capabilities: Capabilities::none(),
            authenticated_ago: None,
            credential: Credential::OwnerToken,
            session: None,
        }));
    }
    let hash = Digest::of(shown.as_bytes());
    if let Some((id, name)) = control.process_tokens.holder(hash) {
        return by_process(control, id, &name).await;
    }
    let reading = control
        .store
        .read(move |tx| Box::pin(tokens::find_live(tx, hash)));
    let tokens = &control.remembered.tokens;
    let found = tokens.find(&control.store, hash, reading).await?;
    Ok(found.and_then(|token| {
        let (id, name) = (token.id, token.name);
        let actor = match token.kind {
            ActorKind::Agent => Actor::Agent {
                id: token.agent_id?,
                name: name.parse().ok()?,
            },
            ActorKind::Viewer => Actor::Viewer { id, name },
            ActorKind::Node => Actor::Node { id, name },
            ActorKind::Owner | ActorKind::System => return None,
        };
        Some(Caller {
            actor,
            capabilities: token.capabilities,
            authenticated_ago: None,
            credential: Credential::Token(id),
            session: None,
        })
    }))
}

/// An agent, by the token of its process. Withdrawn, it is nobody, whatever runs.
async fn by_process(
    control: &Control,
    id: AgentId,
    name: &AgentName,
) -> Result<Option<Caller>, StoreError> {
    let agent = agents::find(control, name).await?;
    let Some(agent) = agent.filter(|agent| agent.id == id && agent.is_live()) else {
        return Ok(None);
    };
    if !agents::is_usable(control, id).await? {
        return Ok(None);
    }
    Ok(Some(Caller {
        actor: Actor::Agent {
            id,
            name: agent.name,
        },
        capabilities: agent.capabilities,
        authenticated_ago: None,
        credential: Credential::Process(id),
        session: None,
    }))
}

/// The owner, by the cookie of a session.
pub async fn by_cookie(control: &Control, shown: &str) -> Result<Option<Caller>, StoreError> {
    if shown.is_empty() || shown.len() > CREDENTIAL_BYTES_MAX {
        return Ok(None);
    }
    by_session_hash(control, Digest::of(shown.as_bytes())).await
}

async fn by_session_hash(control: &Control, hash: Digest) -> Result<Option<Caller>, StoreError> {
    let now = control.clock.now();
    let reading = control
        .store
        .read(move |tx| Box::pin(sessions::find_live(tx, hash, now)));
    let sessions = &control.remembered.sessions;
    let found = sessions.find(&control.store, hash, reading).await?;
    // Time passes without a commit.
    let is_live = |session: &Session| session.expires_at > now && !is_over(session.created_at, now);
    let found = found.filter(is_live);
    Ok(found.map(|session| Caller {
        actor: Actor::Owner {
            surface: Surface::Web,
        },
        capabilities: Capabilities::none(),
        authenticated_ago: Some(authenticated_ago(session.authenticated_at, now)),
        credential: Credential::Session {
            id: session.id,
            hash,
        },
        session: Some(session),
    }))
}

/// Whether a caller with an open stream may still listen.
pub async fn is_still_valid(control: &Control, credential: Credential) -> Result<bool, StoreError> {
    match credential {
        Credential::OwnerToken => Ok(true),
        Credential::Turn(agent) => agents::is_usable(control, agent).await,
        Credential::Process(agent) => {
            Ok(control.process_tokens.has(agent) && agents::is_usable(control, agent).await?)
        }
        Credential::Session { hash, .. } => Ok(by_session_hash(control, hash).await?.is_some()),
        Credential::Token(id) => {
            let token = control
                .store
                .read(move |tx| {
                    Box::pin(async move {
                        if quarantine::holds(tx, Kind::Token, &id.to_string()).await? {
                            return Ok(None);
                        }
                        tokens::find(tx, id).await
                    })
                })
                .await?;
            Ok(token.is_some_and(|token| token.revoked_at.is_none()))
        }
    }
}
