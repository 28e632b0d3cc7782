//! A PostgreSQL cluster for one run, as an unprivileged user, on a Unix socket. Unlike the one of the
//! tests it flushes, because that is what is measured.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use void_testkit::Tethered;
use void_testkit::processes::Signal;

use crate::Outcome;

const START_PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Where distributions keep the server's programs, outside PATH.
const PROGRAMS: [&str; 3] = ["/usr/lib/postgresql", "/usr/pgsql", "/opt/postgresql"];

/// An empty database of its own.
#[derive(Debug, Clone)]
pub(crate) struct Database {
    pub name: String,
    /// The folder of the socket.
    pub socket: PathBuf,
}

impl Database {
    pub(crate) fn url(&self) -> String {
        let socket = self.socket.display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{socket}/{}", self.name)
    }
}

pub(crate) struct Cluster {
    programs: PathBuf,
    folder: PathBuf,
    made: AtomicU32,
    server: Tethered,
}

impl Cluster {
    /// `None` if no server is installed here.
    pub(crate) fn start() -> Outcome<Option<Self>> {
        let Some(programs) = programs() else {
            return Ok(None);
        };
        // Not below the measured folder: the server's own user must be able to enter it.
        let folder = tempfile::Builder::new()
            .prefix("void-bench-pg-")
            .tempdir()?
            .keep();
        let as_user = as_unprivileged(&folder)?;
        let (bin, home) = (programs.display(), folder.display());
        succeed(run(
            "/bin/sh",
            &[
                "-c",
                &format!(
                    "{as_user} {bin}/initdb -D {home}/data -U postgres -A trust --no-sync --locale=C.UTF-8 -E UTF8"
                ),
            ],
        )?)?;
        let server = Tethered::start(
            &format!(
                "exec {as_user} {bin}/postgres -D {home}/data -k {home} -c listen_addresses= >{home}/log 2>&1"
            ),
            Signal::INT,
            &format!("rm -rf {home}"),
        );
        let mut cluster = Self {
            programs,
            folder,
            made: AtomicU32::new(0),
            server,
        };
        cluster.wait()?;
        Ok(Some(cluster))
    }

    pub(crate) fn database(&self) -> Outcome<Database> {
        let name = format!("bench{}", self.made.fetch_add(1, Ordering::Relaxed));
        succeed(self.sql("postgres", &format!("CREATE DATABASE {name}"))?)?;
        Ok(Database {
            name,
            socket: self.folder.clone(),
        })
    }

    /// The one number that a statement answers with.
    pub(crate) fn count(&self, database: &Database, sql: &str) -> Outcome<usize> {
        let output = self.sql(&database.name, sql)?;
        let said = String::from_utf8_lossy(&output.stdout).trim().parse();
        succeed(output)?;
        Ok(said?)
    }

    fn wait(&mut self) -> Outcome<()> {
        let begun = Instant::now();
        while !self.sql("postgres", "SELECT 1")?.status.success() {
            if self.server.has_ended() || begun.elapsed() > START_PATIENCE {
                let said = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                return Err(format!("PostgreSQL did not start: {said}").into());
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    fn sql(&self, database: &str, sql: &str) -> Outcome<Output> {
        let folder = self.folder.display().to_string();
        let psql = self.programs.join("psql").display().to_string();
        let args = [
            "-X", "-q", "-t", "-A", "-U", "postgres", "-d", database, "-h", &folder, "-c", sql,
        ];
        run(&psql, &args)
    }
}

fn programs() -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = PROGRAMS
        .iter()
        .filter_map(|place| fs::read_dir(place).ok())
        .flatten()
        .flatten()
        .map(|version| version.path().join("bin"))
        .filter(|bin| bin.join("initdb").exists() && bin.join("psql").exists())
        .collect();
    found.sort();
    found.pop()
}

/// PostgreSQL refuses to run as root; then it runs as the package's own user.
fn as_unprivileged(folder: &Path) -> Outcome<&'static str> {
    if fs::metadata("/proc/self")?.uid() != 0 {
        return Ok("");
    }
    let folder = folder.display().to_string();
    succeed(run("chown", &["postgres:postgres", &folder])?)?;
    Ok("setpriv --reuid=postgres --regid=postgres --clear-groups --")
}

#[expect(
    clippy::disallowed_methods,
    reason = "the benchmark starts its own database"
)]
fn run(program: &str, args: &[&str]) -> Outcome<Output> {
    Ok(Command::new(program).args(args).output()?)
}

/// Its words, if it failed.
fn succeed(output: Output) -> Outcome<()> {
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned().into())
}
