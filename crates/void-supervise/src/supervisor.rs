//! The agent processes of this server, each in a task of its own (`agents`).
//!
//! All of them run in one thread that ends with the server and not before: the kernel ends a confined process with the
//! thread that started it.

mod agents;

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use self::agents::{Asked, Supervised, What};
use crate::cgroups::Cgroups;
use crate::drivers::Driver;
use crate::orders::Order;
use crate::restarts::Restarts;
use crate::states::ProcessStatus;

/// Of one agent that nobody has heard out yet.
const WISHES_MAX: usize = 16;

pub type HostFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Who knows the agents: where their folders are, with which token they act, and what is recorded of them.
pub trait Host: Send + Sync {
    /// What one more process of this agent is started with; otherwise why there can be none, in words.
    fn order<'a>(&'a self, name: &'a str) -> HostFuture<'a, Result<Order, String>>;
    /// Its state changed; not told of every nap.
    fn changed<'a>(&'a self, name: &'a str, status: &'a ProcessStatus) -> HostFuture<'a, ()>;
    /// The time, for the log.
    fn now_ms(&self) -> i64;
}

pub struct SupervisorConfig {
    pub driver: Arc<dyn Driver>,
    pub cgroups: Option<Cgroups>,
    pub restarts: Restarts,
    pub patience: Patience,
}

/// How long a process may take.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Until it says that it is confined.
    pub ready_within: Duration,
    /// Until it is up after another config was applied, failures on the way included. Otherwise the one before is put back.
    pub up_within: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            ready_within: Duration::from_secs(20),
            up_within: Duration::from_secs(60),
        }
    }
}

/// The supervisor has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("agent processes are no longer looked after: the server ends")]
pub struct Over;

/// What the tasks share.
struct Shared {
    config: SupervisorConfig,
    host: Arc<dyn Host>,
    statuses: Mutex<BTreeMap<String, ProcessStatus>>,
}

struct Wish {
    name: String,
    asked: Asked,
}

pub struct Supervisor {
    shared: Arc<Shared>,
    /// Taken when the server ends.
    wishes: Mutex<Option<mpsc::Sender<Wish>>>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
}

impl Supervisor {
    pub fn begin(config: SupervisorConfig, host: Arc<dyn Host>) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let shared = Arc::new(Shared {
            config,
            host,
            statuses: Mutex::default(),
        });
        let (wishes, wished) = mpsc::channel(WISHES_MAX);
        let all = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("agent-processes".to_owned())
            .spawn(move || runtime.block_on(look_after(all, wished)))?;
        Ok(Self {
            shared,
            wishes: Mutex::new(Some(wishes)),
            thread: Mutex::new(Some(thread)),
        })
    }

    /// From now on it runs. Back before it does: its state says how it stands.
    pub async fn start(&self, name: &str) -> Result<(), Over> {
        self.ask(name, What::Start).await
    }

    /// Back when nothing of it is left.
    pub async fn stop(&self, name: &str) -> Result<(), Over> {
        self.ask(name, What::Stop).await
    }

    /// Back when nothing of the process before is left.
    pub async fn restart(&self, name: &str) -> Result<(), Over> {
        self.ask(name, What::Restart).await
    }

    /// There is something for it to do. Whoever does not run is not woken.
    pub async fn wake(&self, name: &str) -> Result<(), Over> {
        self.ask(name, What::Wake).await
    }

    async fn ask(&self, name: &str, what: What) -> Result<(), Over> {
        let (done, heard) = oneshot::channel();
        let name = name.to_owned();
        let asked = Asked { what, done };
        let wish = Wish { name, asked };
        let wishes = lock(&self.wishes).clone().ok_or(Over)?;
        wishes.send(wish).await.map_err(|_| Over)?;
        drop(wishes);
        heard.await.map_err(|_| Over)
    }

    /// Of one that was never started: stopped.
    pub fn status(&self, name: &str) -> ProcessStatus {
        lock(&self.shared.statuses)
            .get(name)
            .cloned()
            .unwrap_or(ProcessStatus::STOPPED)
    }

    /// Ends all of them; nobody is told that they stopped, because they are meant to run again.
    pub async fn end(&self) {
        drop(lock(&self.wishes).take());
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            let joined = tokio::task::spawn_blocking(move || thread.join()).await;
            if !matches!(joined, Ok(Ok(()))) {
                tracing::error!("the thread of the agent processes did not end well");
            }
        }
    }
}

impl Shared {
    fn note(&self, name: &str, status: ProcessStatus) {
        lock(&self.statuses).insert(name.to_owned(), status);
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn look_after(shared: Arc<Shared>, mut wished: mpsc::Receiver<Wish>) {
    let mut agents: BTreeMap<String, mpsc::Sender<Asked>> = BTreeMap::new();
    let mut tasks = tokio::task::JoinSet::new();
    while let Some(Wish { name, asked }) = wished.recv().await {
        let agent = agents.entry(name).or_insert_with_key(|name| {
            let (agent, asked) = mpsc::channel(WISHES_MAX);
            let supervised = Supervised::new(Arc::clone(&shared), name.clone(), asked);
            tasks.spawn(supervised.run());
            agent
        });
        // Whoever has too many wishes waiting is told that nobody hears them.
        let _ = agent.try_send(asked);
    }
    drop(agents);
    while tasks.join_next().await.is_some() {}
    if let Some(cgroups) = &shared.config.cgroups {
        cgroups.end_all();
    }
}
