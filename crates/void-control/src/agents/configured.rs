//! Agents that the owner makes and changes by their configs. Nobody holds a token of such an agent until the owner gives
//! one out: its process has one of its own.

use void_domain::agents::{AgentName, AgentRefusal, judge_new_name};
use void_domain::capabilities::Capabilities;
use void_domain::digests::Digest;
use void_store::{StoreError, Tx, agents};

use super::residents::Housed;
use super::tokens::{AskedToken, change, make};
use crate::control::Control;
use crate::facts::AuditContext;
use crate::random;

/// What became of an agent whose config was applied.
pub(crate) enum Configured {
    /// It is there, with what its config says.
    Yes,
    /// The owner withdrew it, and nobody but the owner brings it back.
    Withdrawn,
}

/// Makes the agent, or gives it what its config says.
pub(crate) async fn configure(
    tx: &mut Tx,
    context: &AuditContext,
    control: &Control,
    (name, capabilities): (&AgentName, &Capabilities),
) -> Result<Configured, StoreError> {
    let at = control.clock.now();
    let unknown: [u8; 32] = random::bytes()?;
    let asked = AskedToken {
        id: random::token_id(at)?,
        hash: Digest::of(&unknown),
        name: name.clone(),
        capabilities: capabilities.clone(),
        at,
        resident: true,
    };
    Ok(match agents::find_named(tx, name).await? {
        None => {
            make(tx, context, &asked).await?;
            Configured::Yes
        }
        Some(agent) if !agent.is_live() => Configured::Withdrawn,
        Some(agent) => {
            if agent.capabilities != *capabilities {
                change(tx, context, agent, &asked).await?;
            }
            Configured::Yes
        }
    })
}

/// Whether somebody new may be called so: nobody has, had or is about to have a name that is taken for it.
pub(crate) async fn judge_free_name(
    control: &Control,
    name: &AgentName,
) -> Result<Result<(), AgentRefusal>, StoreError> {
    let known = control.store.read(|tx| Box::pin(agents::names(tx))).await?;
    let housed = Housed::of(control);
    Ok(judge_new_name(name, &known).and_then(|()| housed.judge_new(name)))
}
