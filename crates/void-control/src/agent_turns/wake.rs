//! Waking: the cause first, then the process.

use void_domain::agent_turns::{CAUSES_WAITING_MAX, TurnCause, WaitingCause, WakeCause};
use void_domain::agents::AgentName;
use void_domain::ids::CauseId;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, agent_turns as table};
use void_tree::Operation;

use super::has_process;
use crate::agent_processes::AgentProcessError;
use crate::context::Ctx;
use crate::control::Control;
use crate::random;

/// Whether somebody can be woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeOutcome {
    /// It has a turn as soon as its process runs and its limits let it; what waited already may have taken this in.
    Kept,
    /// It lives in the server, stands nowhere, or is nobody: nothing was kept.
    NoProcess,
}

/// Has an agent look at what happened, in a turn of its own.
pub async fn wake(
    control: &Control,
    agent: &AgentName,
    woken: WakeCause,
) -> Result<WakeOutcome, StoreError> {
    // A server that has just begun has no tree yet.
    control.in_force.tree.opened().await;
    if !has_process(control, agent) {
        return Ok(WakeOutcome::NoProcess);
    }
    let (at, name) = (control.clock.now(), agent.clone());
    let id = CauseId::new(at, random::bytes()?);
    control
        .store
        .write(move |tx| {
            Box::pin(async move { keep(tx, WaitingCause::new(id, name, woken, at)).await })
        })
        .await?;
    tell(control, agent);
    Ok(WakeOutcome::Kept)
}

/// The owner has an agent look around.
pub async fn wake_by_owner(
    control: &Control,
    ctx: &Ctx,
    agent: &AgentName,
) -> Result<(), AgentProcessError> {
    if !ctx.actor.is_owner() {
        return Err(AgentProcessError::NotAbove {
            operation: Operation::Wake,
            name: agent.clone(),
        });
    }
    match wake(control, agent, WakeCause::of(TurnCause::Owner)).await? {
        WakeOutcome::Kept => Ok(()),
        WakeOutcome::NoProcess => Err(AgentProcessError::Unknown),
    }
}

/// The same in a transaction of the caller's, who calls [`tell`] after it. Whether the agent has a process is the
/// caller's to ask ([`has_process`]); what is kept for somebody else is bounded and never looked at. `at`: when it happened.
pub async fn note(
    tx: &mut Tx,
    at: Timestamp,
    agent: &AgentName,
    woken: WakeCause,
) -> Result<(), StoreError> {
    let id = CauseId::new(at, random::bytes()?);
    keep(tx, WaitingCause::new(id, agent.clone(), woken, at)).await
}

/// After the commit.
pub fn tell(control: &Control, agent: &AgentName) {
    control.wakes.tell(agent);
}

/// Joins what waits of its kind, or what came last where there is no more room.
pub(super) async fn keep(tx: &mut Tx, new: WaitingCause) -> Result<(), StoreError> {
    let waiting = table::list_waiting(tx, &new.agent).await?;
    let key = new.cause.key();
    let alike = waiting.iter().position(|one| one.cause.key() == key);
    let is_full = waiting.len() >= CAUSES_WAITING_MAX;
    let joined = alike.or_else(|| is_full.then(|| waiting.len().saturating_sub(1)));
    match joined.and_then(|at| waiting.into_iter().nth(at)) {
        Some(mut kept) => {
            kept.join(&new);
            table::save_waiting(tx, &kept).await
        }
        None => table::save_waiting(tx, &new).await,
    }
}
