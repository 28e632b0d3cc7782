//! What is in the files of agents. A file has no mark that a process could not take off, so the mark is the server's and
//! stands for all files of a folder: whoever reads one of them has read what anybody had read who wrote into it.

use void_domain::agents::AgentName;
use void_domain::taint::Taint;
use void_store::{StoreError, agent_turns as table};

use crate::control::Control;

pub async fn file_taint(control: &Control, agent: &AgentName) -> Result<Taint, StoreError> {
    let agent = agent.clone();
    control
        .store
        .read(move |tx| Box::pin(async move { table::file_taint(tx, &agent).await }))
        .await
}

/// Before anything is written that whoever writes could have from there.
pub async fn mark_files(
    control: &Control,
    agents: Vec<AgentName>,
    read: &Taint,
) -> Result<(), StoreError> {
    if read.is_clean() || agents.is_empty() {
        return Ok(());
    }
    let (at, read) = (control.clock.now(), read.clone());
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                for agent in &agents {
                    table::mark_files(tx, agent, &read, at).await?;
                }
                Ok(())
            })
        })
        .await
}
