//! Servers as processes of their own. They end with this one, however it ends, and their folders go
//! with them.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use void_testkit::processes::{Signal, signal};
use void_testkit::{Tethered, free_port};

use crate::Outcome;
use crate::http::{self, Connection};
use crate::subject::{Engine, Host, OWNER_TOKEN, catalogue_text};

const START_PATIENCE: Duration = Duration::from_secs(60);
/// In which the kernel counts a process's time, on every Linux.
const TICK: Duration = Duration::from_millis(10);
const UNTOLD: &str = "the kernel does not tell what a process uses";
/// What the server can do is measured, not what a token may.
const UNLIMITED: &str = "[limits]\ntoken_requests_per_s = 1000000\ntoken_rows_per_minute = 1000000\nopen_proposals = 1000000\n";
const LOOK_EVERY: Duration = Duration::from_micros(200);

/// Bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Resident {
    pub all: u64,
    pub own: u64,
}

pub(crate) struct Server {
    process: Tethered,
    pub address: SocketAddr,
    /// From before the process was made to its first answer.
    pub ready_after: Duration,
}

impl Server {
    /// `command` is a shell line; `ready_path` answers 200 when the server is ready.
    pub(crate) async fn start(
        command: &str,
        folder: &Path,
        port: u16,
        ready_path: &str,
    ) -> Outcome<Self> {
        let log = folder.join("log");
        let begun = Instant::now();
        let mut process = Tethered::start(
            &format!("exec {command} >/dev/null 2>{}", quoted(&log)),
            Signal::TERM,
            "true",
        );
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        while !answers(address, ready_path).await {
            if process.has_ended() || begun.elapsed() > START_PATIENCE {
                let said = fs::read_to_string(&log).unwrap_or_default();
                return Err(format!("a server did not start: {command}\n{said}").into());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(Self {
            process,
            address,
            ready_after: begun.elapsed(),
        })
    }

    /// Void with a stub for the machines.
    pub(crate) async fn subject(engine: &Engine, folder: &Path) -> Outcome<Self> {
        Self::subject_on(Host::Local, engine, folder).await
    }

    /// The same with its actions elsewhere.
    pub(crate) async fn subject_on(host: Host, engine: &Engine, folder: &Path) -> Outcome<Self> {
        let port = free_port();
        let database = match engine {
            Engine::Sqlite => String::new(),
            Engine::Postgres(url) => format!("--postgres '{url}'"),
        };
        let own = quoted(&own_program()?);
        let remote = match host {
            Host::Local => "",
            Host::Remote => "--remote",
        };
        let command = format!(
            "{own} serve-void --folder {} --port {port} {remote} {database}",
            quoted(folder)
        );
        Self::start(&command, folder, port, "/readyz").await
    }

    pub(crate) async fn floor(folder: &Path) -> Outcome<Self> {
        let port = free_port();
        let own = quoted(&own_program()?);
        let command = format!(
            "{own} serve-floor --folder {} --port {port}",
            quoted(folder)
        );
        Self::start(&command, folder, port, "/readyz").await
    }

    /// The product as its users start it, with a safe and a risky action for each of so many clients.
    pub(crate) async fn product(program: &Path, folder: &Path, clients: usize) -> Outcome<Self> {
        Self::with_catalogue(program, folder, &catalogue_text(clients)).await
    }

    /// The product with another catalogue.
    pub(crate) async fn with_catalogue(
        program: &Path,
        folder: &Path,
        catalogue: &str,
    ) -> Outcome<Self> {
        Self::with_settings(program, folder, catalogue, "").await
    }

    /// The same with more tables in its settings.
    pub(crate) async fn with_settings(
        program: &Path,
        folder: &Path,
        catalogue: &str,
        settings: &str,
    ) -> Outcome<Self> {
        let port = free_port();
        fs::write(folder.join("actions.json"), catalogue)?;
        fs::write(folder.join("void.toml"), format!("{UNLIMITED}{settings}"))?;
        let command = format!(
            "env -i OWNER_TOKEN={OWNER_TOKEN} VOID_LISTEN=127.0.0.1:{port} VOID_DATA={} {} serve",
            quoted(folder),
            quoted(program)
        );
        Self::start(&command, folder, port, "/readyz").await
    }

    /// The product with a model at this address.
    pub(crate) async fn talking(
        program: &Path,
        folder: &Path,
        clients: usize,
        model: SocketAddr,
    ) -> Outcome<Self> {
        let port = free_port();
        fs::write(folder.join("actions.json"), catalogue_text(clients))?;
        let command = format!(
            "env -i OWNER_TOKEN={OWNER_TOKEN} VOID_LISTEN=127.0.0.1:{port} VOID_DATA={} VOID_BRAIN=anthropic \
             VOID_MODEL=talker ANTHROPIC_API_KEY=unused ANTHROPIC_BASE_URL=http://{model} {} serve",
            quoted(folder),
            quoted(program)
        );
        Self::start(&command, folder, port, "/readyz").await
    }

    /// Ends it as a power cut would, as far as the process goes.
    pub(crate) fn kill(mut self) {
        signal(self.process.pid(), Signal::KILL);
        while !self.process.has_ended() {
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// What it has computed so far, in the kernel too.
    pub(crate) fn computed(&self) -> Outcome<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.pid()))?;
        // After the name, which may hold anything: user and system time are fields 14 and 15.
        let (_, fields) = stat.rsplit_once(')').ok_or(UNTOLD)?;
        let ticks = fields.split_whitespace().skip(11).take(2);
        let ticks: u32 = ticks.filter_map(|field| field.parse::<u32>().ok()).sum();
        Ok(TICK * ticks)
    }

    /// What of it is in memory now: all, and without what is only mapped from files.
    pub(crate) fn resident_bytes(&self) -> Outcome<Resident> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.pid()))?;
        let bytes = |name: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
            Some(kibibytes * 1024)
        };
        let both = bytes("VmRSS:").zip(bytes("RssAnon:"));
        let (all, own) = both.ok_or(UNTOLD)?;
        Ok(Resident { all, own })
    }
}

async fn answers(address: SocketAddr, path: &str) -> bool {
    let Ok(mut connection) = Connection::open(address).await else {
        return false;
    };
    let answer = connection.call(&http::request("GET", path, "")).await;
    answer.is_ok_and(|answer| answer.status == 200)
}

pub(crate) fn own_program() -> Outcome<PathBuf> {
    Ok(std::env::current_exe()?)
}

/// For the shell; our own folders and programs have no quotes in their names.
pub(crate) fn quoted(path: &Path) -> String {
    format!("'{}'", path.display())
}

/// A folder of our own on the disk that is measured; it goes away when it is dropped.
pub(crate) fn folder_in(place: &Path) -> Outcome<TempDir> {
    fs::create_dir_all(place)?;
    Ok(tempfile::Builder::new()
        .prefix("void-bench-")
        .tempdir_in(place)?)
}
