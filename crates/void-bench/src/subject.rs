//! Void as it is measured: the whole application in a process of its own, on a real socket and a real
//! database. Only the machines are missing: a stub stands where the channels are, and counts.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::routing::get;
use serde_json::{Value, json};
use tokio::sync::watch;
use void_agent::turns::Talk;
use void_capture::{Allowances, Captures, Extractor, FetchPatience, Fetcher, SystemResolver};
use void_channels::{
    Channel, Channels, Checker, Evidence, LocalConfig, Outcome as Ended, SshConfig,
};
use void_control::agent_processes::{
    AgentProcesses, AgentProcessesConfig, Patience, ProcessDriver, Restarts, SandboxLimits,
    SandboxMode,
};
use void_control::instances::Identity;
use void_control::{Beside, Clock, Control, ControlConfig, Limits};
use void_domain::catalogue::{Catalogue, Lockout};
use void_domain::executions::Execution;
use void_domain::permits::{Permit, Ticket};
use void_domain::secrets::Secret;
use void_domain::services::Services;
use void_server::{Bound, FirstSteps, Plane, PlaneConfig, ServerConfig};
use void_store::{PostgresConfig, SqliteConfig, Store};

use crate::Outcome;

/// Good for one run on loopback.
pub(crate) const OWNER_TOKEN: &str = "void-bench-owner-0123456789abcdef";
/// Where the stub tells how often it was asked to act.
pub(crate) const EFFECTS_PATH: &str = "/bench/effects";
/// One pair of actions per client, so that nobody waits for somebody else's target.
pub(crate) const CLIENTS_MAX: usize = 256;

/// Which database is behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Engine {
    Sqlite,
    Postgres(String),
}

impl Engine {
    pub(crate) const fn as_str(&self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres(_) => "postgres",
        }
    }

    pub(crate) async fn open(&self, folder: &Path) -> Outcome<Store> {
        Ok(match self {
            Self::Sqlite => Store::open_sqlite(SqliteConfig::new(folder.join("void.db"))).await?,
            Self::Postgres(url) => {
                let config = PostgresConfig {
                    url: Secret::new(url.as_str()),
                    ca_file: None,
                };
                Store::open_postgres(config).await?
            }
        })
    }
}

/// Where the actions of a catalogue are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Host {
    /// The machine of the server itself.
    Local,
    /// One that every instance reaches, if nothing stood in front of it.
    Remote,
}

impl Host {
    const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Remote => "lab",
        }
    }

    fn table(self) -> Value {
        match self {
            Self::Local => json!({}),
            // An address for documentation: there is no such machine.
            Self::Remote => json!({"lab": {"address": "192.0.2.1"}}),
        }
    }
}

/// A catalogue in which every client has a safe and a risky action on targets of its own.
pub(crate) fn catalogue_text(clients: usize) -> String {
    catalogue_on(Host::Local, clients)
}

fn catalogue_on(host: Host, clients: usize) -> String {
    let actions = (0..clients).flat_map(|index| [safe(host, index), risky(host, index)]);
    json!({"hosts": host.table(), "actions": actions.collect::<Vec<_>>()}).to_string()
}

/// The first one without the risky ones.
pub(crate) fn safe_catalogue_text(clients: usize) -> String {
    let actions = (0..clients).map(|index| safe(Host::Local, index));
    json!({"hosts": {}, "actions": actions.collect::<Vec<_>>()}).to_string()
}

fn safe(host: Host, index: usize) -> Value {
    json!({
        "id": format!("safe-{index}"),
        "label": format!("Restart service {index} of the lab"),
        "kind": "service_restart",
        "host": host.name(),
        "service": format!("safe{index}"),
        "tier": "safe",
        "cooldown_s": 0,
    })
}

fn risky(host: Host, index: usize) -> Value {
    json!({
        "id": format!("risky-{index}"),
        "label": format!("Scale service {index} of the lab"),
        "kind": "scale",
        "node": host.name(),
        "via": "host",
        "service": format!("risky{index}"),
        "tier": "risky",
        "params": {"n": {"type": "integer", "min": 0, "max": 1_000_000_000}},
    })
}

/// Does nothing, at once, and counts.
#[derive(Default)]
struct Stub {
    effects: AtomicU64,
}

impl Channel for Stub {
    fn execute(&self, _permit: Permit) -> Pin<Box<dyn Future<Output = Ended> + Send + '_>> {
        self.effects.fetch_add(1, Ordering::Relaxed);
        let result = json!({"exit": 0, "duration_ms": 12, "output": "restarted"});
        Box::pin(async { Ended::Done { result } })
    }

    fn settle<'a>(
        &'a self,
        _execution: &'a Execution,
        _ticket: &'a Ticket,
    ) -> Pin<Box<dyn Future<Output = Evidence> + Send + 'a>> {
        Box::pin(async { Evidence::Started })
    }
}

/// The use cases alone, in this process.
pub(crate) async fn control(engine: &Engine, folder: &Path) -> Outcome<Control> {
    let stub = Arc::new(Stub::default());
    let config = config(engine, Host::Local, folder, &stub).await?;
    Ok(Control::start(config, Beside::default()).await?)
}

async fn config(
    engine: &Engine,
    host: Host,
    folder: &Path,
    stub: &Arc<Stub>,
) -> Outcome<ControlConfig> {
    let catalogue = Catalogue::parse(&catalogue_on(host, CLIENTS_MAX), &Lockout::default())
        .map_err(|problems| format!("the catalogue: {:?}", problems.first()))?;
    Ok(ControlConfig {
        store: engine.open(folder).await?,
        channels: Arc::new(channels(&catalogue, folder)?),
        catalogue,
        catalogue_commit: None,
        catalogue_source: None,
        services: Services::default(),
        checker: Checker::new(None),
        executor: Some(Arc::<Stub>::clone(stub)),
        rehearsal: false,
        clock: Clock::system(),
        owner_token: Secret::new(OWNER_TOKEN),
        limits: Limits {
            open_proposals: u64::MAX,
            safe_runs_per_agent_hour: u32::MAX,
            ..Limits::default()
        },
        backups_folder: None,
        witness_file: Some(folder.join("witness.json")),
        instance: Identity::of_folder(folder, None)?,
        replace_catalogue: false,
    })
}

/// Serves until the process is ended.
pub(crate) async fn serve(engine: &Engine, host: Host, folder: &Path, port: u16) -> Outcome<()> {
    let stub = Arc::new(Stub::default());
    let config = config(engine, host, folder, &stub).await?;
    let plane = Plane::start(PlaneConfig {
        control: config,
        bridge: None,
        notifiers: Default::default(),
        embeddings: Default::default(),
    })
    .await?;
    let bound = Bound::to(SocketAddr::from(([127, 0, 0, 1], port))).await?;
    let processes = processes(plane.control(), folder, bound.address)?;
    let router = void_server::router(ServerConfig {
        talk: Talk::new(plane.control().clone(), Vec::new()),
        plane,
        captures: captures()?,
        processes,
        public_url: None,
        allowed_hosts: Vec::new(),
        listens_on: bound.address,
        first_steps: FirstSteps::default(),
        doctor: Arc::new(|_scope| Box::pin(async { Vec::new() })),
    })
    .route(
        EFFECTS_PATH,
        get(async move || stub.effects.load(Ordering::Relaxed).to_string()),
    );
    let (_stop, stopped) = watch::channel(false);
    void_server::serve(bound, router, stopped).await;
    Ok(())
}

/// None is started here.
fn processes(control: &Control, folder: &Path, api: SocketAddr) -> Outcome<AgentProcesses> {
    let program = std::env::current_exe()?;
    let config = AgentProcessesConfig {
        data: folder.to_owned(),
        api,
        driver: Arc::new(ProcessDriver {
            program,
            words: Vec::new(),
        }),
        cgroups: None,
        users: None,
        limits: SandboxLimits {
            memory_bytes: u64::MAX,
            file_bytes: u64::MAX,
        },
        mode: SandboxMode::Full,
        restarts: Restarts::default(),
        patience: Patience::default(),
    };
    Ok(AgentProcesses::new(control, config)?)
}

/// As the product has them; nothing is captured here.
fn captures() -> Outcome<Captures> {
    let fetcher = Fetcher::of_this_machine(
        Allowances::default(),
        Arc::new(SystemResolver),
        FetchPatience::default(),
    );
    let extractor = Extractor::new(std::env::current_exe()?, Vec::new());
    Ok(Captures::new(fetcher, extractor))
}

/// The real ones, which the stub stands in front of.
fn channels(catalogue: &Catalogue, folder: &Path) -> Outcome<Channels> {
    let run_folder = folder.join("run");
    fs::create_dir_all(&run_folder)?;
    let ssh = SshConfig {
        program: PathBuf::from("/usr/bin/ssh"),
        keyscan: PathBuf::from("/usr/bin/ssh-keyscan"),
        key: None,
        known_hosts: folder.join("known_hosts"),
        run_folder,
    };
    let local = LocalConfig {
        program: PathBuf::from("/bin/false"),
        args: Vec::new(),
        list: folder.join("list.json"),
        state: folder.join("state"),
        trust_own_list: false,
    };
    Ok(Channels::new(catalogue, ssh, local, None)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogues_are_such_as_void_reads() {
        for host in [Host::Local, Host::Remote] {
            let text = catalogue_on(host, CLIENTS_MAX);
            let catalogue = Catalogue::parse(&text, &Lockout::default()).unwrap();
            assert_eq!(catalogue.actions().len(), 2 * CLIENTS_MAX);
        }
    }
}
