//! What an agent's processes wrote. It is an agent's text and may say anything: whoever reads it as an agent is marked.

use std::io;

use void_domain::agents::AgentName;
use void_supervise::{LOG_BYTES_MAX, LogLine, read_log};
use void_tree::Operation;

use super::{AgentProcessError, AgentProcesses};
use crate::context::Ctx;

/// Lines of a log that are told at a time.
pub const LOG_LINES_MAX: usize = 500;

/// Newest last, without tokens and control characters. For the owner, and for agents above it.
pub async fn logs(
    processes: &AgentProcesses,
    ctx: &Ctx,
    name: &AgentName,
    lines: usize,
) -> Result<Vec<LogLine>, AgentProcessError> {
    let house = &processes.0.house;
    house.judge(ctx, Operation::GetLogs, name).await?;
    let path = processes.log_of(name);
    let read = tokio::task::spawn_blocking(move || read_log(&path, LOG_BYTES_MAX)).await;
    let read = read.map_err(io::Error::other).and_then(|read| read);
    let mut all = read.map_err(AgentProcessError::Log)?;
    let surplus = all.len().saturating_sub(lines.min(LOG_LINES_MAX));
    all.drain(..surplus);
    Ok(all)
}
