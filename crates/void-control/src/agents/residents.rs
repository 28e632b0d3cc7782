//! Agents that live in Void: an identity that nobody holds a token for, until the owner makes one.

use void_domain::actors::Actor;
use void_domain::agents::{Agent, AgentName, AgentRefusal, judge_known_name};
use void_domain::capabilities::Capabilities;
use void_domain::digests::Digest;
use void_domain::secrets::Secret;
use void_store::{StoreError, Tx, agents, tokens};
use void_tree::ROOT;

use super::tokens::{AskedToken, change, hand_out, make};
use super::{find, is_usable};
use crate::context::Ctx;
use crate::control::Control;
use crate::facts::AuditContext;
use crate::random;

/// Lets them live here, unless one reads like another agent that there is or was. Their names are nobody else's from
/// then on, also before they have acted.
pub async fn admit_residents(control: &Control, names: &[AgentName]) -> Result<(), ResidentsError> {
    let known = control.store.read(|tx| Box::pin(agents::names(tx))).await?;
    for name in names {
        judge_known_name(name, &known).map_err(|refusal| ResidentsError::Refused {
            name: name.clone(),
            refusal,
        })?;
    }
    // Once a start; whoever asks again has the same.
    let _ = control.in_force.residents.set(names.to_vec());
    Ok(())
}

/// Why somebody cannot live here.
#[derive(Debug, thiserror::Error)]
pub enum ResidentsError {
    #[error("the persona {name}: {refusal}")]
    Refused {
        name: AgentName,
        refusal: AgentRefusal,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Those who live here.
pub(crate) fn residents(control: &Control) -> Vec<AgentName> {
    control.in_force.resident_names()
}

/// Whose names nobody new may have: those who live here, and everybody in the tree.
pub(crate) struct Housed {
    residents: Vec<AgentName>,
    in_tree: Vec<AgentName>,
}

impl Housed {
    pub(crate) fn of(control: &Control) -> Self {
        Self {
            residents: residents(control),
            in_tree: control.in_force.tree.now().names(),
        }
    }

    /// Judges the name of somebody new: those here are others, also where the name is the same.
    pub(super) fn judge_new(&self, name: &AgentName) -> Result<(), AgentRefusal> {
        let mut all = self.residents.iter().chain(&self.in_tree);
        match all.find(|one| one.looks_like(name)) {
            Some(one) => Err(AgentRefusal::ReadsLike(one.clone())),
            None => Ok(()),
        }
    }

    /// Judges the name of a token that somebody outside is to hold. An agent of the tree is made known by its first
    /// token; the root is nobody outside, unless a persona is called so.
    pub(super) fn judge(&self, name: &AgentName) -> Result<(), AgentRefusal> {
        judge_known_name(name, self.residents.iter().chain(&self.in_tree))?;
        match name.as_str() == ROOT && !self.residents.contains(name) {
            true => Err(AgentRefusal::InTree(name.clone())),
            false => Ok(()),
        }
    }
}

/// In whose name an agent that lives here acts, with what it may now. It is made at its first turn; if the
/// owner withdraws it, it stays withdrawn (`None`) until they restore it.
pub async fn resident_ctx(
    control: &Control,
    name: &AgentName,
    capabilities: &Capabilities,
) -> Result<Option<Ctx>, StoreError> {
    let agent = match find(control, name).await? {
        Some(agent) if agent.capabilities == *capabilities => agent,
        Some(_) | None => settle_in(control, name, capabilities, None).await?,
    };
    if !agent.is_live() || !is_usable(control, agent.id).await? {
        return Ok(None);
    }
    Ok(Some(Ctx {
        actor: Actor::Agent {
            id: agent.id,
            name: agent.name,
        },
        capabilities: agent.capabilities,
        request_id: random::request_id(control.clock.now())?,
        authenticated_ago: None,
        is_from_outside: false,
        token: None,
    }))
}

/// Makes an agent that lives here known by a token of the owner's choice as well.
pub async fn give_resident_token(
    control: &Control,
    name: &AgentName,
    capabilities: &Capabilities,
    text: &Secret,
) -> Result<(), StoreError> {
    control.knows_configured(text);
    settle_in(control, name, capabilities, Some(text)).await?;
    Ok(())
}

async fn settle_in(
    control: &Control,
    name: &AgentName,
    capabilities: &Capabilities,
    text: Option<&Secret>,
) -> Result<Agent, StoreError> {
    let at = control.clock.now();
    let unknown: [u8; 32] = random::bytes()?;
    let hash = text.map_or_else(
        || Digest::of(&unknown),
        |text| Digest::of(text.expose().as_bytes()),
    );
    let asked = AskedToken {
        id: random::token_id(at)?,
        hash,
        name: name.clone(),
        capabilities: capabilities.clone(),
        at,
        resident: text.is_none(),
    };
    let context = control.context(&control.system_ctx()?);
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                match agents::find_named(tx, &asked.name).await? {
                    None => make(tx, &context, &asked).await,
                    Some(agent) if !agent.is_live() => Ok(agent),
                    Some(agent) if asked.resident => follow(tx, &context, agent, &asked).await,
                    Some(agent) => {
                        give(tx, &context, &agent, asked).await?;
                        Ok(agent)
                    }
                }
            })
        })
        .await
}

/// As long as the owner has not said with a token what it may do, it may what its persona says now.
async fn follow(
    tx: &mut Tx,
    context: &AuditContext,
    agent: Agent,
    asked: &AskedToken,
) -> Result<Agent, StoreError> {
    let live = tokens::list_live_of(tx, agent.id).await?;
    let is_held = live.iter().any(|token| !token.resident);
    match is_held || agent.capabilities == asked.capabilities {
        true => Ok(agent),
        false => change(tx, context, agent, asked).await,
    }
}

/// Puts the configured text into the agent's first token, unless it has it. What the agent may do stays.
async fn give(
    tx: &mut Tx,
    context: &AuditContext,
    agent: &Agent,
    asked: AskedToken,
) -> Result<(), StoreError> {
    let live = tokens::list_live_of(tx, agent.id).await?;
    let Some(first) = live.first() else {
        return Ok(());
    };
    if live.iter().any(|token| token.hash == asked.hash) {
        return Ok(());
    }
    let asked = AskedToken {
        capabilities: agent.capabilities.clone(),
        ..asked
    };
    hand_out(tx, context, agent, first.id, &asked).await
}
