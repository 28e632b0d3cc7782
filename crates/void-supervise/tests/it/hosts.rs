//! Who knows the agents of a test: folders, a token, and what was told of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use void_sandbox::{Folder, FolderAccess, SandboxLimits, SandboxMode};
use void_supervise::{
    AgentFacts, Cgroups, Host, HostFuture, LogLine, MountedFolder, Order, Patience, ProcessDriver,
    ProcessState, ProcessStatus, Restarts, Supervisor, SupervisorConfig, TokenText, read_log,
};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_void-supervise-child");
pub(crate) const TOKEN: &str = "void_agent_0123456789abcdefghijklmnopqrstuvwxyzABCDEF0";
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
static SCOPES: AtomicU32 = AtomicU32::new(0);

pub(crate) struct TestHost {
    pub folder: tempfile::TempDir,
    pub port: u16,
    told: Mutex<BTreeMap<String, Vec<ProcessState>>>,
}

impl Host for TestHost {
    fn order<'a>(&'a self, name: &'a str) -> HostFuture<'a, Result<Order, String>> {
        Box::pin(async move {
            if name == "nobody" {
                return Err("there is no such agent".to_owned());
            }
            let state = self.path(name).join("state");
            fs::create_dir_all(&state).map_err(|error| error.to_string())?;
            Ok(Order {
                facts: AgentFacts {
                    name: name.to_owned(),
                    parent: Some("root".to_owned()),
                    api_url: format!("http://127.0.0.1:{}", self.port),
                },
                token: TokenText::new(TOKEN).unwrap(),
                folders: vec![MountedFolder {
                    folder: Folder {
                        path: state,
                        access: FolderAccess::ReadWrite,
                    },
                    inside: PathBuf::from("/state"),
                }],
                server_port: self.port,
                user: None,
                groups: Vec::new(),
                limits: SandboxLimits {
                    memory_bytes: 512 * 1024 * 1024,
                    file_bytes: 1024 * 1024,
                },
                mode: SandboxMode::Full,
                log: self.path(name).join("log"),
            })
        })
    }

    fn changed<'a>(&'a self, name: &'a str, status: &'a ProcessStatus) -> HostFuture<'a, ()> {
        Box::pin(async move {
            let mut told = self.told.lock().unwrap();
            let states = told.entry(name.to_owned()).or_default();
            states.push(status.state.clone());
        })
    }

    fn now_ms(&self) -> i64 {
        1_800_000_000_000
    }
}

impl TestHost {
    pub(crate) fn new(port: u16) -> Arc<Self> {
        Arc::new(Self {
            folder: tempfile::tempdir().unwrap(),
            port,
            told: Mutex::default(),
        })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn told(&self, name: &str) -> Vec<ProcessState> {
        self.told
            .lock()
            .unwrap()
            .get(name)
            .cloned()
            .unwrap_or_default()
    }

    pub(crate) fn log(&self, name: &str) -> Vec<LogLine> {
        read_log(&self.path(name).join("log"), u64::MAX / 4).unwrap()
    }
}

/// A supervisor whose processes are the child of the tests, with these words.
pub(crate) fn supervisor(
    host: &Arc<TestHost>,
    words: Vec<&'static str>,
    cgroups: Option<Cgroups>,
) -> Supervisor {
    let config = SupervisorConfig {
        driver: Arc::new(ProcessDriver {
            program: PROGRAM.into(),
            words,
        }),
        cgroups,
        restarts: Restarts {
            first: Duration::from_millis(10),
            failures_max: 3,
            ..Restarts::default()
        },
        patience: Patience {
            ready_within: Duration::from_secs(5),
            up_within: Duration::from_secs(5),
        },
    };
    Supervisor::begin(config, Arc::clone(host) as Arc<dyn Host>).unwrap()
}

/// Of one test alone.
pub(crate) fn scope() -> String {
    let number = SCOPES.fetch_add(1, Ordering::Relaxed);
    format!("test-{}-{number}", std::process::id())
}

/// `None` where this machine has none.
pub(crate) fn cgroups() -> Option<Cgroups> {
    Cgroups::of_this_process(&scope())
}

/// Whether these tests may make one; nobody but root is asked to.
pub(crate) fn makes_cgroups() -> bool {
    rustix::process::geteuid().is_root() && cgroups().is_some()
}

pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Whether a process of this number runs.
pub(crate) fn runs(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat"));
    status.is_ok_and(|status| !status.contains(") Z "))
}
