//! Starting and restarting: the wish first, then the process.

use void_domain::agent_processes::Wanted;
use void_domain::agents::{Agent, AgentName};
use void_tree::Operation;

use super::wishes::{self, RESTARTED, UPDATED, Wish};
use super::{AgentProcessError, AgentProcessView, AgentProcesses, view};
use crate::agents;
use crate::context::Ctx;

/// From now on it runs, also after a restart of the server, until somebody stops it or it fails too often.
pub async fn start(
    processes: &AgentProcesses,
    ctx: &Ctx,
    name: &AgentName,
) -> Result<AgentProcessView, AgentProcessError> {
    let wish = wish(processes, ctx, name, (Operation::Start, "agent.started")).await?;
    wishes::note(processes, ctx, wish).await?;
    processes.0.supervisor.start(name.as_str()).await?;
    view(processes, name).await
}

/// Its process ends and another one begins.
pub async fn restart(
    processes: &AgentProcesses,
    ctx: &Ctx,
    name: &AgentName,
) -> Result<AgentProcessView, AgentProcessError> {
    let wish = wish(processes, ctx, name, (Operation::Restart, RESTARTED)).await?;
    wishes::note(processes, ctx, wish).await?;
    processes.0.supervisor.restart(name.as_str()).await?;
    view(processes, name).await
}

/// The same on the newest config that was applied and on the program as it is now: both are looked up at each start.
pub async fn update(
    processes: &AgentProcesses,
    ctx: &Ctx,
    name: &AgentName,
) -> Result<AgentProcessView, AgentProcessError> {
    let wish = wish(processes, ctx, name, (Operation::Update, UPDATED)).await?;
    wishes::note(processes, ctx, wish).await?;
    processes.0.supervisor.restart(name.as_str()).await?;
    view(processes, name).await
}

async fn wish(
    processes: &AgentProcesses,
    ctx: &Ctx,
    name: &AgentName,
    (operation, verb): (Operation, &'static str),
) -> Result<Wish, AgentProcessError> {
    processes.0.house.judge(ctx, operation, name).await?;
    let agent = processes.0.house.usable(name).await?;
    Ok(Wish {
        agent: agent.ok_or_else(|| AgentProcessError::Nobody(name.clone()))?,
        wanted: Wanted::Running,
        verb,
    })
}

impl super::House {
    /// An agent that somebody could act as now.
    pub(super) async fn usable(
        &self,
        name: &AgentName,
    ) -> Result<Option<Agent>, void_store::StoreError> {
        let agent = agents::find(&self.control, name).await?;
        let Some(agent) = agent.filter(Agent::is_live) else {
            return Ok(None);
        };
        let is_usable = agents::is_usable(&self.control, agent.id).await?;
        Ok(is_usable.then_some(agent))
    }
}
