//! What is wanted of a process, in one transaction with the record.

use serde_json::json;
use void_domain::agent_processes::Wanted;
use void_domain::agents::Agent;
use void_domain::events::Audience;
use void_domain::time::Timestamp;
use void_store::agent_processes::{self as table, AgentProcess};
use void_store::{StoreError, Tx};

use super::{AgentProcessError, AgentProcesses};
use crate::context::Ctx;
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
    let there: Vec<(String, String)> = instances::list(control)
        .await?
        .into_iter()
        .map(|instance| (instance.id, instance.name.to_string()))
        .collect();
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let before = table::find(tx, &wish.agent.name).await?;
                if let Some(before) = &before
                    && before.wanted == Wanted::Running
                    && before.instance != own
                    && let Some((_, instance)) = there.iter().find(|(id, _)| *id == before.instance)
                {
                    return Err(AgentProcessError::Elsewhere {
                        name: wish.agent.name,
                        instance: instance.clone(),
                    });
                }
                let is_so = before
                    .is_some_and(|before| before.wanted == wish.wanted && before.instance == own);
                if is_so && wish.verb != RESTARTED {
                    return Ok(false);
                }
                let process = AgentProcess {
                    name: wish.agent.name.clone(),
                    wanted: wish.wanted,
                    instance: own,
                    changed_at: at,
                };
                table::save(tx, &process).await?;
                record(tx, &context, at, wish.verb, &wish.agent, None).await?;
                Ok(true)
            })
        })
        .await
}

/// A restart is a wish each time.
pub(super) const RESTARTED: &str = "agent.restarted";

/// On the record, and told to the owner.
pub(super) async fn record(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    verb: &'static str,
    agent: &Agent,
    why: Option<String>,
) -> Result<(), StoreError> {
    let detail = json!({"name": agent.name, "why": why});
    let subject = Some(agent.id.to_string());
    facts::tell_of(
        tx,
        context,
        at,
        Audience::OwnerOnly,
        (verb, subject, detail),
    )
    .await
}
