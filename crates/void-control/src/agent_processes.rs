//! Processes of agents that have one: who may start and stop them, what is wanted of each over a restart of the
//! server, and what is on the record.
//!
//! What is wanted is a row (`wishes`), written before anything happens; the process follows it. Residents run in the
//! server and have none. A process that runs is an agent by a token that lives in memory ([`crate::callers`]).

mod deploys;
mod folders;
mod house;
mod start;
mod stop;
mod users;
mod wishes;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use void_domain::agent_processes::Wanted;
use void_domain::agents::AgentName;
use void_store::{StoreError, agent_processes as table};
use void_supervise::{LOG_BYTES_MAX, Supervisor, SupervisorConfig, read_log};
use void_tree::ROOT;

pub use self::start::{restart, start};
pub use self::stop::stop;
pub use self::users::{InvalidUserRange, UserRange};
pub use void_sandbox::{Fence, Kernel, SandboxLimits, SandboxMode};
pub use void_supervise::{
    Cgroups, Driver, Ending, LogLine, NspawnDriver, Patience, ProcessDriver, ProcessState,
    ProcessStatus, Restarts,
};

use self::house::House;
use crate::agents;
use crate::context::Ctx;
use crate::control::Control;
use crate::parts::tree::Tree;

/// Lines of a log that are told at a time.
pub const LOG_LINES_MAX: usize = 500;

pub struct AgentProcessesConfig {
    /// The data folder: `meta`, `agents`, `applied`.
    pub data: PathBuf,
    /// Where programs of this machine reach the server.
    pub api: SocketAddr,
    pub driver: Arc<dyn Driver>,
    pub cgroups: Option<Cgroups>,
    /// Who they run as, one each; `None`: as the server.
    pub users: Option<UserRange>,
    pub limits: SandboxLimits,
    pub mode: SandboxMode,
    pub restarts: Restarts,
    pub patience: Patience,
}

/// Cheap to clone; all clones are the same.
#[derive(Clone)]
pub struct AgentProcesses(Arc<Inner>);

struct Inner {
    house: Arc<House>,
    supervisor: Supervisor,
}

/// How an agent's process stands and what is wanted of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentProcessView {
    pub name: AgentName,
    pub status: ProcessStatus,
    /// `None`: it was never started.
    pub wanted: Option<Wanted>,
}

#[derive(Debug, thiserror::Error)]
pub enum AgentProcessError {
    #[error("only the owner starts and stops agents")]
    OwnerOnly,
    #[error("no agent of that name stands in the tree")]
    Unknown,
    #[error("{0} lives in the server and has no process of its own")]
    Resident(AgentName),
    #[error("{0} is nobody here yet, or was withdrawn")]
    Nobody(AgentName),
    #[error("{name} runs at the instance {instance}")]
    Elsewhere { name: AgentName, instance: String },
    #[error(transparent)]
    Over(#[from] void_supervise::Over),
    #[error("its log cannot be read")]
    Log(#[source] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AgentProcesses {
    /// Ready to start some; none runs yet.
    pub fn new(control: &Control, config: AgentProcessesConfig) -> io::Result<Self> {
        let supervised = SupervisorConfig {
            driver: Arc::clone(&config.driver),
            cgroups: config.cgroups.clone(),
            restarts: config.restarts,
            patience: config.patience,
        };
        let house = Arc::new(House {
            control: control.clone(),
            config,
        });
        let host: Arc<dyn void_supervise::Host> = Arc::<House>::clone(&house);
        let supervisor = Supervisor::begin(supervised, host)?;
        let inner = Arc::new(Inner { house, supervisor });
        let restarter: Weak<Inner> = Arc::downgrade(&inner);
        control.in_force.change_writers.set_restarter(restarter);
        Ok(Self(inner))
    }

    /// Starts what ran here before the server ended.
    pub async fn resume(&self) -> Result<(), StoreError> {
        let control = self.control();
        let instance = control.process.instance.id.clone();
        let wanted = control
            .store
            .read(move |tx| Box::pin(async move { table::list_wanted(tx, &instance).await }))
            .await?;
        for process in wanted {
            if self
                .0
                .supervisor
                .start(process.name.as_str())
                .await
                .is_err()
            {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Ends all of them. What is wanted of them stays.
    pub async fn end(&self) {
        self.0.supervisor.end().await;
    }

    /// What the kernel cannot keep them from, where they start all the same because the owner said so.
    pub fn open_fences(&self) -> Vec<Fence> {
        match self.0.house.config.mode {
            SandboxMode::Full => Vec::new(),
            SandboxMode::Incomplete => Kernel::of_this_machine().missing(),
        }
    }

    fn control(&self) -> &Control {
        &self.0.house.control
    }

    fn log_of(&self, name: &AgentName) -> PathBuf {
        folders::log(&self.0.house.config.data, name)
    }
}

/// How it stands. The owner asks about any, a process about itself.
pub async fn view(
    processes: &AgentProcesses,
    name: &AgentName,
) -> Result<AgentProcessView, AgentProcessError> {
    processes.0.house.judge_place(name).await?;
    let found = name.clone();
    let control = processes.control();
    let row = control
        .store
        .read(move |tx| Box::pin(async move { table::find(tx, &found).await }))
        .await?;
    Ok(AgentProcessView {
        name: name.clone(),
        status: processes.0.supervisor.status(name.as_str()),
        wanted: row.map(|row| row.wanted),
    })
}

/// What its processes wrote, newest last. It is an agent's text and may say anything.
pub async fn logs(
    processes: &AgentProcesses,
    ctx: &Ctx,
    name: &AgentName,
    lines: usize,
) -> Result<Vec<LogLine>, AgentProcessError> {
    if !ctx.actor.is_owner() {
        return Err(AgentProcessError::OwnerOnly);
    }
    processes.0.house.judge_place(name).await?;
    let path = processes.log_of(name);
    let read = tokio::task::spawn_blocking(move || read_log(&path, LOG_BYTES_MAX)).await;
    let read = read.map_err(io::Error::other).and_then(|read| read);
    let mut all = read.map_err(AgentProcessError::Log)?;
    let surplus = all.len().saturating_sub(lines.min(LOG_LINES_MAX));
    all.drain(..surplus);
    Ok(all)
}

impl House {
    /// Who stands in the tree and has a process of its own.
    async fn judge_place(&self, name: &AgentName) -> Result<(), AgentProcessError> {
        let is_resident = agents::residents(&self.control).contains(name);
        if is_resident || name.as_str() == ROOT {
            return Err(AgentProcessError::Resident(name.clone()));
        }
        match self.tree().await.topology.has(name) {
            true => Ok(()),
            false => Err(AgentProcessError::Unknown),
        }
    }

    /// The tree in force; one that is missing or wrong gives nobody a place.
    async fn tree(&self) -> Arc<Tree> {
        self.control.in_force.tree.opened().await
    }
}
