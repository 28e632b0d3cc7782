//! Tokens of agents: the first makes the agent, a further one is the same agent's, and the name of a withdrawn
//! one is given only to itself. All in the caller's transaction, so that two requests for one name at the same
//! moment make one agent.

use serde_json::json;
use void_domain::actors::ActorKind;
use void_domain::agents::AgentRefusal;
use void_domain::agents::{Agent, AgentName, AgentState, Holding, TokenGrant, judge_new_name};
use void_domain::capabilities::Capabilities;
use void_domain::digests::Digest;
use void_domain::ids::{AgentId, TokenId};
use void_domain::time::Timestamp;
use void_store::quarantine::{self, Kind};
use void_store::tokens::{self, Token};
use void_store::{StoreError, Tx, agent_tombstones, agents};

use super::residents::Housed;
use crate::facts::{self, AuditContext};
use crate::proposals::{self, WITHDRAWN_AT_ONCE};
use crate::tokens::{TokenError, record_created};

/// A token that is to be an agent's.
pub(crate) struct AskedToken {
    pub id: TokenId,
    pub hash: Digest,
    pub name: AgentName,
    pub capabilities: Capabilities,
    pub at: Timestamp,
    /// An agent that lives here; nobody gets the text.
    pub resident: bool,
}

impl AskedToken {
    fn of(&self, agent: AgentId) -> Token {
        Token {
            id: self.id,
            kind: ActorKind::Agent,
            agent_id: Some(agent),
            name: self.name.to_string(),
            hash: self.hash,
            capabilities: self.capabilities.clone(),
            created_at: self.at,
            last_used_at: None,
            revoked_at: None,
            resident: self.resident,
        }
    }
}

/// The id of the token that the asker holds then.
pub(crate) async fn add_token(
    tx: &mut Tx,
    context: &AuditContext,
    asked: AskedToken,
    housed: &Housed,
) -> Result<TokenId, TokenError> {
    let Some(agent) = agents::find_named(tx, &asked.name).await? else {
        judge_new_name(&asked.name, &agents::names(tx).await?)?;
        housed.judge(&asked.name)?;
        make(tx, context, &asked).await?;
        return Ok(asked.id);
    };
    let live = tokens::list_live_of(tx, agent.id).await?;
    let unheld = live.iter().find(|token| token.resident);
    let holding = match unheld {
        Some(_) => Holding::Nobody,
        None => Holding::Somebody,
    };
    match (agent.judge_token(&asked.capabilities, holding)?, unheld) {
        (TokenGrant::First, Some(unheld)) => {
            hand_out(tx, context, &agent, unheld.id, &asked).await?;
            Ok(unheld.id)
        }
        (TokenGrant::First | TokenGrant::Further, _) => {
            insert(tx, context, agent.id, &asked).await?;
            Ok(asked.id)
        }
    }
}

/// Brings a withdrawn agent back: the same one, with what the owner says now, and with nothing waiting of before.
pub(crate) async fn restore(
    tx: &mut Tx,
    context: &AuditContext,
    asked: AskedToken,
    housed: &Housed,
) -> Result<TokenId, TokenError> {
    housed.judge(&asked.name)?;
    if agent_tombstones::find(tx, &asked.name).await?.is_some() {
        return Err(AgentRefusal::Destroyed.into());
    }
    let found = agents::find_named(tx, &asked.name).await?;
    let withdrawn = found.ok_or(AgentRefusal::NotWithdrawn)?;
    let agent = withdrawn.restore(asked.capabilities.clone())?;
    if !agents::restore(tx, agent.id, &agent.capabilities).await? {
        return Err(AgentRefusal::NotWithdrawn.into());
    }
    let ended = proposals::withdraw_waiting_of(tx, context, asked.at, agent.id.into()).await?;
    if ended >= WITHDRAWN_AT_ONCE as usize {
        let text = "what it had waiting is still being ended: try again";
        return Err(StoreError::Unavailable(text.to_owned()).into());
    }
    record(tx, context, asked.at, "agent.restored", &agent).await?;
    insert(tx, context, agent.id, &asked).await?;
    Ok(asked.id)
}

/// A new agent with its first token.
pub(super) async fn make(
    tx: &mut Tx,
    context: &AuditContext,
    asked: &AskedToken,
) -> Result<Agent, StoreError> {
    let agent = Agent {
        id: AgentId::of_first_token(asked.id),
        name: asked.name.clone(),
        capabilities: asked.capabilities.clone(),
        created_at: asked.at,
        state: AgentState::Live,
    };
    agents::insert(tx, &agent).await?;
    record(tx, context, asked.at, "agent.created", &agent).await?;
    insert(tx, context, agent.id, asked).await?;
    Ok(agent)
}

/// Gives the token of an agent that lives here a text that somebody holds; with it the owner has said what the
/// agent may do.
pub(super) async fn hand_out(
    tx: &mut Tx,
    context: &AuditContext,
    agent: &Agent,
    unheld: TokenId,
    asked: &AskedToken,
) -> Result<(), StoreError> {
    tokens::hand_out(tx, unheld, asked.hash).await?;
    quarantine::lift(tx, Kind::Token, &unheld.to_string()).await?;
    if agent.capabilities != asked.capabilities {
        change(tx, context, agent.clone(), asked).await?;
    }
    let token = Token {
        id: unheld,
        resident: false,
        ..asked.of(agent.id)
    };
    record_created(tx, context, asked.at, &token).await
}

/// Gives a live agent other capabilities.
pub(super) async fn change(
    tx: &mut Tx,
    context: &AuditContext,
    agent: Agent,
    asked: &AskedToken,
) -> Result<Agent, StoreError> {
    let changed = Agent {
        capabilities: asked.capabilities.clone(),
        ..agent
    };
    if !agents::set_capabilities(tx, changed.id, &changed.capabilities).await? {
        return Err(StoreError::Internal(
            "an agent was withdrawn under its own transaction".to_owned(),
        ));
    }
    record(tx, context, asked.at, "agent.changed", &changed).await?;
    Ok(changed)
}

async fn insert(
    tx: &mut Tx,
    context: &AuditContext,
    agent: AgentId,
    asked: &AskedToken,
) -> Result<(), StoreError> {
    let token = asked.of(agent);
    tokens::insert(tx, &token).await?;
    record_created(tx, context, asked.at, &token).await
}

async fn record(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    verb: &'static str,
    agent: &Agent,
) -> Result<(), StoreError> {
    let detail = json!({"name": agent.name, "capabilities": agent.capabilities});
    facts::audit(tx, context, at, verb, Some(agent.id.to_string()), detail).await
}
