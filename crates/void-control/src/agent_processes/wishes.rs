//! What is wanted of a process, in one transaction with the record.

use serde_json::json;
use void_domain::agent_processes::Wanted;
use void_domain::agents::Agent;
use void_domain::events::Audience;
use void_domain::time::Timestamp;
use void_store::agent_processes::{self as table, AgentProcess};
use void_store::{StoreError, Tx};

use super::{AgentProcessError, AgentProcesses};
use crate::alerts::{self, AgentHealth};
use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::instances;

pub(super) struct Wish {
    pub agent: Agent,
    pub wanted: Wanted,
    pub verb: &'static str,
}

/// `false`: that is wanted already, and nothing is on the record.
pub(super) async fn note(
    processes: &AgentProcesses,
    ctx: &Ctx,
    wish: Wish,
) -> Result<bool, AgentProcessError> {
    let control = processes.control();
    let at = control.clock.now();
    let context = control.context(ctx);
    let own = control.process.instance.id.clone();
    let there = there(control).await?;
    let this = control.clone();
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let before = table::find(tx, &wish.agent.name).await?;
                judge_instance(before.as_ref(), &own, &there)?;
                let is_so = before
                    .is_some_and(|before| before.wanted == wish.wanted && before.instance == own);
                if is_so && wish.verb != RESTARTED && wish.verb != UPDATED {
                    return Ok(false);
                }
                let process = AgentProcess {
                    name: wish.agent.name.clone(),
                    wanted: wish.wanted,
                    instance: own,
                    changed_at: at,
                };
                table::save(tx, &process).await?;
                if wish.wanted == Wanted::Stopped {
                    let name = &wish.agent.name;
                    alerts::follow_agent(tx, &this, name, &AgentHealth::Stopped, at).await?;
                }
                record(tx, &context, at, wish.verb, &wish.agent, None).await?;
                Ok(true)
            })
        })
        .await
}

/// The instances that are there, by their ids and names.
pub(super) async fn there(control: &Control) -> Result<Vec<(String, String)>, StoreError> {
    let there = instances::list(control).await?.into_iter();
    let there = there.map(|instance| (instance.id, instance.name.to_string()));
    Ok(there.collect())
}

/// What runs at another instance is that one's to change, as long as it is there.
pub(super) fn judge_instance(
    before: Option<&AgentProcess>,
    own: &str,
    there: &[(String, String)],
) -> Result<(), AgentProcessError> {
    let Some(before) = before.filter(|before| before.wanted == Wanted::Running) else {
        return Ok(());
    };
    let others = there.iter().filter(|(id, _)| id != own);
    match others.into_iter().find(|(id, _)| *id == before.instance) {
        Some((_, instance)) => Err(AgentProcessError::Elsewhere {
            name: before.name.clone(),
            instance: instance.clone(),
        }),
        None => Ok(()),
    }
}

/// A restart is a wish each time.
pub(super) const RESTARTED: &str = "agent.restarted";
pub(super) const UPDATED: &str = "agent.updated";

/// On the record, and told to the owner.
pub(super) async fn record(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    verb: &'static str,
    agent: &Agent,
    why: Option<String>,
) -> Result<(), StoreError> {
    record_for(tx, context, at, (verb, Audience::OwnerOnly), agent, why).await
}

/// Whoever may hear of what happens to this agent: people, and whoever stands above it.
pub(super) fn of(agent: &Agent) -> Audience {
    Audience::Requester(agent.id.into())
}

pub(super) async fn record_for(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    (verb, audience): (&'static str, Audience),
    agent: &Agent,
    why: Option<String>,
) -> Result<(), StoreError> {
    let detail = json!({"name": agent.name, "why": why});
    let subject = Some(agent.id.to_string());
    facts::tell_of(tx, context, at, audience, (verb, subject, detail)).await
}
