//! Processes of agents that have one: who may start and stop them, what is wanted of each over a restart of the
//! server, and what is on the record.
//!
//! What is wanted is a row (`wishes`), written before anything happens; the process follows it. Residents run in the
//! server and have none. A process that runs is an agent by a token that lives in memory ([`crate::callers`]).

mod archives;
mod destroy;
mod folders;
mod follow;
mod house;
mod judging;
mod logs;
mod start;
mod stop;
mod users;
mod wakes;
mod wishes;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use void_domain::agent_processes::Wanted;
use void_domain::agents::AgentName;
use void_domain::failures::FailureCode;
use void_store::{StoreError, agent_pauses, agent_processes as table, agent_turns};
use void_supervise::{Supervisor, SupervisorConfig};
use void_tree::{Operation, ROOT};

pub use self::destroy::destroy;
pub(crate) use self::follow::follow_tree;
pub use self::logs::{LOG_LINES_MAX, logs};
pub use self::start::{restart, start, update};
pub use self::stop::stop;
pub use self::users::{InvalidUserRange, UserRange};
pub use void_sandbox::{
    Fence, Kernel, SandboxLimits, SandboxMode, is_making_code_refused, refused_calls,
};
pub use void_supervise::{
    Cgroups, Driver, Ending, LogLine, NspawnDriver, Patience, ProcessDriver, ProcessState,
    ProcessStatus, Restarts,
};

use self::house::House;
use crate::control::Control;
use crate::parts::tree::Tree;
use crate::tree::TreeCommitError;
use crate::{agents, freezes};

/// How often it is looked who waits for a turn without having been told of.
const LOOK_EVERY: Duration = Duration::from_secs(15);

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
    pub is_paused: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum AgentProcessError {
    #[error("{operation} of {name} is not for you: by the tree in force that is for the owner and for agents above it", operation = .operation.as_str())]
    NotAbove {
        operation: Operation,
        name: AgentName,
    },
    #[error(
        "everything is frozen, and only the owner starts, changes or destroys agents until they thaw"
    )]
    Frozen,
    #[error("something is wrong with the tree of agents, so nobody is taken out of it")]
    Broken,
    #[error(transparent)]
    Tree(#[from] TreeCommitError),
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
    #[error("it is destroyed, and its folder is put into the archive at the next start")]
    Archive(#[source] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AgentProcessError {
    pub fn code(&self) -> FailureCode {
        match self {
            Self::NotAbove { .. } | Self::Resident(_) => FailureCode::Forbidden,
            Self::Frozen => FailureCode::Frozen,
            Self::Broken | Self::Tree(_) => FailureCode::TreeBroken,
            Self::Unknown | Self::Nobody(_) => FailureCode::NotFound,
            Self::Elsewhere { .. } => FailureCode::Busy,
            Self::Over(_) | Self::Log(_) | Self::Archive(_) | Self::Store(_) => {
                FailureCode::Unavailable
            }
        }
    }
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
        wakes::follow(control, &inner);
        let known: std::sync::Weak<Inner> = Arc::downgrade(&inner);
        control.agent_processes.set(known);
        Ok(Self(inner))
    }

    /// Those of this server; `None`: it looks after none.
    pub fn of(control: &Control) -> Option<Self> {
        control.agent_processes.get().map(Self)
    }

    /// Starts what ran here before the server ended, after what a destruction left undone was done.
    pub async fn resume(&self) -> Result<(), StoreError> {
        archives::finish(self).await?;
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

    /// Wakes whoever is told of, and from time to time whoever waited: what another instance kept, and what was held back.
    /// Until the server stops.
    pub async fn attend(&self) {
        let control = self.control().clone();
        let mut stopping = control.stopping();
        loop {
            let told = tokio::select! {
                _ = stopping.wait_for(|stop| *stop) => return,
                told = control.wakes.next() => Some(told),
                () = tokio::time::sleep(LOOK_EVERY) => None,
            };
            let told = match told {
                Some(told) => told,
                None => match self.waiting().await {
                    Ok(waiting) => waiting,
                    Err(error) => {
                        tracing::error!(%error, "who waits for a turn cannot be read");
                        continue;
                    }
                },
            };
            for name in told {
                // Whoever does not run looks for itself when it does.
                if self.0.supervisor.wake(name.as_str()).await.is_err() {
                    return;
                }
            }
        }
    }

    /// Who could have a turn and sleeps here.
    async fn waiting(&self) -> Result<BTreeSet<AgentName>, StoreError> {
        let control = self.control();
        let at = control.clock.now();
        if freezes::current(control).await?.holds_at(at) {
            return Ok(BTreeSet::new());
        }
        let waiting = control.store.read(move |tx| {
            Box::pin(async move { agent_turns::list_agents_waiting(tx, at).await })
        });
        let status = |name: &AgentName| self.0.supervisor.status(name.as_str()).state;
        let sleeps = |name: &AgentName| status(name) == ProcessState::Asleep;
        Ok(waiting.await?.into_iter().filter(sleeps).collect())
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

    /// The data folder.
    pub(crate) fn data(&self) -> &Path {
        &self.0.house.config.data
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
        is_paused: agents::is_paused(control, name).await?,
    })
}

/// How all of them stand who have a place in the tree, by name.
pub async fn list(processes: &AgentProcesses) -> Result<Vec<AgentProcessView>, StoreError> {
    let control = processes.control();
    let tree = processes.0.house.tree().await;
    let residents = agents::residents(control);
    let read = control.store.read(|tx| {
        Box::pin(async move {
            let rows = table::list(tx).await?;
            Ok::<_, StoreError>((rows, agent_pauses::list(tx).await?))
        })
    });
    let (rows, paused) = read.await?;
    let mut wanted: BTreeMap<AgentName, Wanted> =
        rows.into_iter().map(|row| (row.name, row.wanted)).collect();
    let own = |name: &&AgentName| name.as_str() != ROOT && !residents.contains(*name);
    let members = tree.topology.entries().map(|(name, _)| name).filter(own);
    let view = |name: &AgentName| AgentProcessView {
        name: name.clone(),
        status: processes.0.supervisor.status(name.as_str()),
        wanted: wanted.remove(name),
        is_paused: paused.contains(name),
    };
    Ok(members.map(view).collect())
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
