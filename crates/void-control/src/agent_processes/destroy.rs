//! Destroying an agent, for good: nothing of its process is left, it has no token, it leaves the tree, its name is nobody's
//! any more, and its folder lies in the archive. Its children stand under the root (ADR 37).
//!
//! The record is first and decides: whatever a crash cuts off after it is done at the next start, when whoever was
//! withdrawn leaves the tree and folders of destroyed agents go into the archive.

use serde_json::json;
use void_domain::agent_processes::Wanted;
use void_domain::agents::{Agent, AgentName};
use void_domain::time::Timestamp;
use void_store::agent_processes::{self as table, AgentProcess};
use void_store::agent_tombstones::{self as tombstones, AgentTombstone};
use void_store::{StoreError, Tx, agent_pauses, agents as stored, tokens};
use void_tree::Operation;

use super::{AgentProcessError, AgentProcesses, archives, follow_tree, wishes};
use crate::alerts::{self, AgentHealth};
use crate::context::Ctx;
use crate::control::Control;
use crate::detached::detached;
use crate::facts::{self, AuditContext};
use crate::{agents, proposals, tokens as withdrawals, tree};

/// Where its folder lies then, in the data folder. Goes to its end even if its caller goes away.
pub async fn destroy(
    processes: &AgentProcesses,
    ctx: &Ctx,
    name: &AgentName,
) -> Result<String, AgentProcessError> {
    let (processes, ctx, name) = (processes.clone(), ctx.clone(), name.clone());
    detached(async move { run(&processes, &ctx, &name).await }).await
}

async fn run(
    processes: &AgentProcesses,
    ctx: &Ctx,
    name: &AgentName,
) -> Result<String, AgentProcessError> {
    let house = &processes.0.house;
    house.judge(ctx, Operation::Destroy, name).await?;
    let control = processes.control();
    let held = tree::hold(control).await.ok_or(AgentProcessError::Broken)?;
    // Somebody may have moved it while this waited its turn.
    house.judge(ctx, Operation::Destroy, name).await?;
    let agent = agents::find(control, name).await?;
    let agent = agent.ok_or_else(|| AgentProcessError::Nobody(name.clone()))?;
    let tombstone = note(control, ctx, agent).await?;
    processes.0.supervisor.stop(name.as_str()).await?;
    control.process_tokens.end(name);
    let (before, after) = held.remove(ctx, name).await?;
    follow_tree(control, &before, &after).await;
    let lies_in = archives::folder(&tombstone).display().to_string();
    archives::put(processes, tombstone).await?;
    Ok(lies_in)
}

/// Everything that the database has of it ends in one transaction.
async fn note(
    control: &Control,
    ctx: &Ctx,
    agent: Agent,
) -> Result<AgentTombstone, AgentProcessError> {
    let (context, at) = (control.context(ctx), control.clock.now());
    let own = control.process.instance.id.clone();
    let there = wishes::there(control).await?;
    let this = control.clone();
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                if let Some(known) = tombstones::find(tx, &agent.name).await? {
                    return Ok(known);
                }
                let before = table::find(tx, &agent.name).await?;
                wishes::judge_instance(before.as_ref(), &own, &there)?;
                let tombstone = AgentTombstone {
                    name: agent.name.clone(),
                    destroyed_by: context.actor.clone(),
                    destroyed_at: at,
                    archive: format!("{}-{}", agent.name, at.as_ms()),
                };
                tombstones::insert(tx, &tombstone).await?;
                let process = AgentProcess {
                    name: agent.name.clone(),
                    wanted: Wanted::Stopped,
                    instance: own,
                    changed_at: at,
                };
                table::save(tx, &process).await?;
                agent_pauses::delete(tx, &agent.name).await?;
                alerts::follow_agent(tx, &this, &agent.name, &AgentHealth::Stopped, at).await?;
                withdraw(tx, &context, at, &agent).await?;
                wishes::record(tx, &context, at, "agent.destroyed", &agent, None).await?;
                Ok(tombstone)
            })
        })
        .await
}

async fn withdraw(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    agent: &Agent,
) -> Result<(), StoreError> {
    for token in tokens::list_live_of(tx, agent.id).await? {
        if tokens::revoke(tx, token.id, at).await? {
            withdrawals::record_revoked(tx, context, at, token.id).await?;
        }
    }
    if stored::withdraw(tx, agent.id, at).await? {
        let (subject, detail) = (Some(agent.id.to_string()), json!({"name": agent.name}));
        facts::audit(tx, context, at, "agent.withdrawn", subject, detail).await?;
    }
    proposals::withdraw_waiting_of(tx, context, at, agent.id.into()).await?;
    Ok(())
}
