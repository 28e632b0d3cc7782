//! PostgreSQL as an unprivileged user, on a Unix socket: one cluster per test process with one fresh
//! database per call, and clusters of their own for tests that set them up otherwise or kill them.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::processes::{Signal, Tethered, processes, signal};
use crate::waiting::eventually_blocking;

/// In memory if there is room: the server flushes for real, as Void demands, and it costs nothing.
const ROOM_IN_MEMORY_BYTES: u64 = 2 << 30;

/// Whether tests run on PostgreSQL too. They always do, but for `VOID_TEST_ENGINES=sqlite`, with which
/// `scripts/check` leaves out what a machine without a PostgreSQL server cannot do; `scripts/test` unsets it.
pub fn has_postgres() -> bool {
    match std::env::var("VOID_TEST_ENGINES").as_deref() {
        Err(_) | Ok("") => true,
        Ok("sqlite") => false,
        Ok(other) => panic!("VOID_TEST_ENGINES is sqlite or not set, and not {other}"),
    }
}

/// The address of a new, empty database.
pub fn postgres_database() -> String {
    static CLUSTER: OnceLock<PostgresCluster> = OnceLock::new();
    CLUSTER
        .get_or_init(|| PostgresCluster::start(&[]))
        .database()
}

/// A server of its own.
pub struct PostgresCluster {
    folder: PathBuf,
    options: String,
    databases: AtomicU32,
    /// The one that runs comes last; those before it were killed.
    servers: Vec<Tethered>,
}

impl PostgresCluster {
    /// `options` are settings such as `fsync=off`.
    pub fn start(options: &[&str]) -> Self {
        assert!(
            has_postgres(),
            "PostgreSQL is left out, and a test that needs it asks has_postgres() first"
        );
        let folder = tempfile::Builder::new()
            .prefix("void-pg-")
            .tempdir_in(place())
            .expect("the place for test clusters is writable")
            .keep();
        let made = Command::new("/bin/sh")
            .arg("-c")
            .arg(format!(
                "{} {}/initdb -D {} -U postgres -A trust --no-sync --locale=C.UTF-8 -E UTF8",
                as_unprivileged(&folder),
                programs().display(),
                folder.join("data").display()
            ))
            .output()
            .expect("/bin/sh starts");
        assert!(
            made.status.success(),
            "initdb: {}",
            String::from_utf8_lossy(&made.stderr)
        );
        let mut cluster = Self {
            folder,
            options: options
                .iter()
                .map(|option| format!(" -c {option}"))
                .collect(),
            databases: AtomicU32::new(0),
            servers: Vec::new(),
        };
        cluster.serve();
        cluster
    }

    fn serve(&mut self) {
        let folder = self.folder.display();
        let command = format!(
            "exec {} {}/postgres -D {folder}/data -k {folder} -c listen_addresses= \
             -c max_connections=200{} >>{folder}/log 2>&1",
            as_unprivileged(&self.folder),
            programs().display(),
            self.options,
        );
        let mut server = Tethered::start(&command, Signal::INT, &format!("rm -rf {folder}"));
        eventually_blocking("PostgreSQL to answer", || {
            assert!(
                !server.has_ended(),
                "PostgreSQL ended: {}",
                fs::read_to_string(self.folder.join("log")).unwrap_or_default()
            );
            psql(&self.folder, "postgres", "SELECT 1")
                .status
                .success()
                .then_some(())
        });
        self.servers.push(server);
    }

    /// The address of a new, empty database.
    pub fn database(&self) -> String {
        let name = format!("t{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.run("postgres", &format!("CREATE DATABASE {name}"));
        let socket = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{socket}/{name}")
    }

    /// The folder with the server's socket.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs SQL behind everybody's back.
    pub fn run(&self, database: &str, sql: &str) {
        let ran = psql(&self.folder, database, sql);
        assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stderr)
        );
    }

    /// Every process of the server is gone at once, with whatever it had in memory.
    pub fn kill(&mut self) {
        let server = self.servers.last_mut().expect("a server was started");
        let pid = server.pid();
        signal(pid, Signal::STOP);
        let all = processes();
        for child in all.iter().filter(|process| process.parent == pid) {
            signal(child.pid, Signal::KILL);
        }
        signal(pid, Signal::KILL);
        eventually_blocking("PostgreSQL to be gone", || server.has_ended().then_some(()));
    }

    /// After a kill: recovers from what is on disk.
    pub fn start_again(&mut self) {
        self.serve();
    }
}

impl Drop for PostgresCluster {
    fn drop(&mut self) {
        // The one that runs ends before its folder goes.
        while self.servers.pop().is_some() {}
    }
}

/// Runs SQL in the database of this address, behind Void's back; what it says is returned.
pub fn postgres_run(url: &str, sql: &str) -> String {
    let ran = Command::new(programs().join("psql"))
        .args([
            "-X",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-d",
            url,
            "-c",
            sql,
        ])
        .output()
        .expect("psql starts");
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

fn place() -> &'static str {
    let memory = "/dev/shm";
    let room =
        rustix::fs::statvfs(memory).map_or(0, |stat| stat.f_bavail.saturating_mul(stat.f_frsize));
    if room >= ROOM_IN_MEMORY_BYTES {
        memory
    } else {
        "/tmp"
    }
}

fn psql(folder: &Path, database: &str, sql: &str) -> Output {
    Command::new(programs().join("psql"))
        .args(["-X", "-q", "-U", "postgres", "-d", database, "-h"])
        .arg(folder)
        .args(["-c", sql])
        .output()
        .expect("psql starts")
}

/// Debian keeps the server programs per version, outside PATH.
fn programs() -> PathBuf {
    let mut found: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .expect("PostgreSQL is installed (scripts/test does that)")
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .filter(|bin| bin.join("initdb").exists())
        .collect();
    found.sort();
    found
        .pop()
        .expect("a PostgreSQL server is installed (scripts/test does that)")
}

/// PostgreSQL refuses to run as root; then it runs as the package's own user.
fn as_unprivileged(folder: &Path) -> String {
    let we_are_root = fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0);
    if !we_are_root {
        return String::new();
    }
    let given = Command::new("chown")
        .arg("postgres:postgres")
        .arg(folder)
        .status();
    assert!(
        given.is_ok_and(|status| status.success()),
        "the user postgres exists"
    );
    "setpriv --reuid=postgres --regid=postgres --clear-groups --".to_owned()
}
