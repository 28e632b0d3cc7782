//! The owner pauses an agent, also one that lives in the server: it is not woken and gets no turn until they resume it. A
//! process that it has goes on sleeping. What it asked for before stays, and so does what was decided.

use serde_json::json;
use void_domain::agents::AgentName;
use void_domain::events::Audience;
use void_store::{StoreError, agent_pauses, agents as stored};

use crate::context::Ctx;
use crate::control::Control;
use crate::facts;

#[derive(Debug, thiserror::Error)]
pub enum AgentPauseError {
    #[error("only the owner pauses and resumes agents")]
    OwnerOnly,
    #[error("{0} is nobody here yet, or was withdrawn")]
    Nobody(AgentName),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// `false`: it is paused already, and nothing is on the record.
pub async fn pause(
    control: &Control,
    ctx: &Ctx,
    name: &AgentName,
) -> Result<bool, AgentPauseError> {
    change(control, ctx, name, PauseChange::Pause).await
}

/// `false`: it is not paused.
pub async fn resume(
    control: &Control,
    ctx: &Ctx,
    name: &AgentName,
) -> Result<bool, AgentPauseError> {
    change(control, ctx, name, PauseChange::Resume).await
}

#[derive(Clone, Copy)]
enum PauseChange {
    Pause,
    Resume,
}

async fn change(
    control: &Control,
    ctx: &Ctx,
    name: &AgentName,
    wanted: PauseChange,
) -> Result<bool, AgentPauseError> {
    if !ctx.actor.is_owner() {
        return Err(AgentPauseError::OwnerOnly);
    }
    let (context, at) = (control.context(ctx), control.clock.now());
    let name = name.clone();
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                let found = stored::find_named(tx, &name).await?;
                let Some(agent) = found.filter(void_domain::agents::Agent::is_live) else {
                    return Err(AgentPauseError::Nobody(name));
                };
                let (changed, verb) = match wanted {
                    PauseChange::Pause => {
                        let by = &context.actor;
                        (
                            agent_pauses::insert(tx, &name, by, at).await?,
                            "agent.paused",
                        )
                    }
                    PauseChange::Resume => {
                        (agent_pauses::delete(tx, &name).await?, "agent.resumed")
                    }
                };
                if changed {
                    let detail = json!({"name": agent.name, "why": null});
                    let fact = (verb, Some(agent.id.to_string()), detail);
                    facts::tell_of(tx, &context, at, Audience::OwnerOnly, fact).await?;
                }
                Ok(changed)
            })
        })
        .await
}
