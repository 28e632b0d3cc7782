//! Stopping: the wish first, then nothing of the process is left, nor its token.

use void_domain::agent_processes::Wanted;
use void_domain::agents::AgentName;
use void_tree::Operation;

use super::wishes::{self, Wish};
use super::{AgentProcessError, AgentProcessView, AgentProcesses, view};
use crate::agents;
use crate::context::Ctx;

/// Also one that was withdrawn or has left the tree: what runs can be stopped.
pub async fn stop(
    processes: &AgentProcesses,
    ctx: &Ctx,
    name: &AgentName,
) -> Result<AgentProcessView, AgentProcessError> {
    processes.0.house.judge(ctx, Operation::Kill, name).await?;
    let agent = agents::find(processes.control(), name).await?;
    let wish = Wish {
        agent: agent.ok_or_else(|| AgentProcessError::Nobody(name.clone()))?,
        wanted: Wanted::Stopped,
        verb: "agent.stopped",
    };
    wishes::note(processes, ctx, wish).await?;
    processes.0.supervisor.stop(name.as_str()).await?;
    processes.control().process_tokens.end(name);
    view(processes, name).await
}
