//! A process that is started again because another config of its agent was applied: whether it comes up is waited for.

use std::time::Duration;

use void_domain::agent_processes::Wanted;
use void_domain::agents::AgentName;
use void_store::StoreError;
use void_store::agent_processes::{self as table, AgentProcess};
use void_supervise::{ProcessState, ProcessStatus};

use super::Inner;
use crate::parts::change_writers::{EffectFuture, ProcessRestarter, Restarted};

/// Between two looks at how it stands.
const LOOK_EVERY: Duration = Duration::from_millis(50);

impl ProcessRestarter for Inner {
    fn restart<'a>(&'a self, agent: &'a AgentName) -> EffectFuture<'a, Restarted> {
        Box::pin(self.restart_and_look(agent))
    }
}

impl Inner {
    async fn restart_and_look(&self, agent: &AgentName) -> Restarted {
        match self.is_wanted(agent).await {
            Ok(true) => {}
            Ok(false) => return Restarted::NotWanted,
            Err(why) => return Restarted::IsNotUp(why),
        }
        if let Err(over) = self.supervisor.restart(agent.as_str()).await {
            return Restarted::IsNotUp(over.to_string());
        }
        let within = self.house.config.patience.up_within;
        let up = tokio::time::timeout(within, self.look_until_settled(agent)).await;
        up.unwrap_or_else(|_| {
            let why = why(&self.supervisor.status(agent.as_str()));
            Restarted::IsNotUp(format!("it was not up within {} s{why}", within.as_secs()))
        })
    }

    /// One that was given up is meant to run all the same: another config may be what it lacked.
    async fn is_wanted(&self, agent: &AgentName) -> Result<bool, String> {
        let control = &self.house.control;
        let (name, own) = (agent.clone(), control.process.instance.id.clone());
        let at = control.clock.now();
        let asked = control
            .store
            .write(move |tx| {
                Box::pin(async move {
                    let row = table::find(tx, &name).await?;
                    let Some(row) = row.filter(|row| row.instance == own) else {
                        return Ok::<_, StoreError>(false);
                    };
                    if row.wanted == Wanted::GivenUp {
                        let again = AgentProcess {
                            wanted: Wanted::Running,
                            changed_at: at,
                            ..row.clone()
                        };
                        table::save(tx, &again).await?;
                    }
                    Ok(row.wanted != Wanted::Stopped)
                })
            })
            .await;
        asked.map_err(|error| error.to_string())
    }

    async fn look_until_settled(&self, agent: &AgentName) -> Restarted {
        loop {
            let status = self.supervisor.status(agent.as_str());
            match status.state {
                ProcessState::Running | ProcessState::Asleep => return Restarted::IsUp,
                ProcessState::GivenUp { .. } => {
                    let why = why(&status);
                    return Restarted::IsNotUp(format!("it failed again and again{why}"));
                }
                ProcessState::Stopped | ProcessState::Starting | ProcessState::Crashed { .. } => {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
            }
        }
    }
}

fn why(status: &ProcessStatus) -> String {
    let ending = status.ending.as_ref();
    ending.map_or_else(String::new, |ending| format!(": {ending}"))
}
