//! One PostgreSQL cluster per test process, as an unprivileged user, on a Unix socket; one fresh
//! database per call.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::processes::{Signal, Tethered};
use crate::waiting::eventually_blocking;

struct Cluster {
    folder: PathBuf,
    _server: Tethered,
}

/// The address of a new, empty database.
pub fn postgres_database() -> String {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let cluster = CLUSTER.get_or_init(start);
    let name = format!("t{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let made = psql(&cluster.folder, &format!("CREATE DATABASE {name}"));
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let socket = cluster.folder.display().to_string().replace('/', "%2F");
    format!("postgres://postgres@{socket}/{name}")
}

fn start() -> Cluster {
    let programs = programs();
    let folder = tempfile::Builder::new()
        .prefix("void-pg-")
        .tempdir_in("/tmp")
        .expect("/tmp is writable")
        .keep();
    let data = folder.join("data");
    let as_user = as_unprivileged(&folder);
    let shown = (programs.display(), data.display(), folder.display());
    let made = Command::new("/bin/sh")
        .arg("-c")
        .arg(format!(
            "{as_user} {}/initdb -D {} -U postgres -A trust --no-sync --locale=C.UTF-8 -E UTF8",
            shown.0, shown.1
        ))
        .output()
        .expect("/bin/sh starts");
    assert!(
        made.status.success(),
        "initdb: {}",
        String::from_utf8_lossy(&made.stderr)
    );
    // The tests kill Void, not the machine: the server's own fsync only costs time here.
    let command = format!(
        "exec {as_user} {}/postgres -D {} -k {} -c listen_addresses= -c fsync=off -c max_connections=200 >{}/log 2>&1",
        shown.0, shown.1, shown.2, shown.2
    );
    let mut server = Tethered::start(
        &command,
        Signal::INT,
        &format!("rm -rf {}", folder.display()),
    );
    eventually_blocking("PostgreSQL to answer", || {
        assert!(
            !server.has_ended(),
            "PostgreSQL ended: {}",
            fs::read_to_string(folder.join("log")).unwrap_or_default()
        );
        psql(&folder, "SELECT 1").status.success().then_some(())
    });
    Cluster {
        folder,
        _server: server,
    }
}

fn psql(folder: &Path, sql: &str) -> Output {
    Command::new(programs().join("psql"))
        .args(["-X", "-q", "-U", "postgres", "-d", "postgres", "-h"])
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
