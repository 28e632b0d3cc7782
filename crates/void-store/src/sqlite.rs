//! SQLite: one writer thread with group commit, a few read-only connections beside it.

mod checkpoints;
mod reserve;
#[cfg(test)]
mod tests;
mod versions;
mod writer;

use std::ffi::OsString;
use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::{Semaphore, mpsc, watch};

use crate::errors::StoreError;
use crate::heads::Newest;
use crate::lanes::ReadTurn;
use crate::migrations;
use crate::rollbacks::HighWater;
use crate::store::Reading;
use crate::tx::{Engine, SqliteTx, Tx, run_cached};
use crate::values::DatabaseBytes;
use crate::writer::Job;

pub use self::versions::Version;
use self::versions::Versions;

pub(crate) const READERS_MAX: usize = 4;
const STATEMENTS_CACHED: usize = 128;
/// What the writer keeps of the database in memory, at the most; SQLite's own 2 MB do not hold the ends of all indexes.
const WRITER_CACHE_KIB: u32 = 32 * 1024;
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Read and written by the account that runs Void.
const PRIVATE: u32 = 0o600;

#[derive(Debug, Clone)]
pub struct SqliteConfig {
    pub path: PathBuf,
    /// Below this much free disk, new work is refused and only what closes work is tried.
    pub low_water_bytes: u64,
}

impl SqliteConfig {
    pub const LOW_WATER_BYTES: u64 = 4 * 1024 * 1024;

    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            low_water_bytes: Self::LOW_WATER_BYTES,
        }
    }
}

pub(crate) fn open(
    config: &SqliteConfig,
    queue: mpsc::Receiver<Box<dyn Job>>,
) -> Result<(SqliteReaders, watch::Receiver<Newest>, HighWater), StoreError> {
    let lock = lock_folder(&config.path)?;
    keep_private(&config.path);
    let mut connection = connect(&config.path, Access::ReadWrite)?;
    migrations::run_sqlite(&mut connection)?;
    let (committed, high_water) = writer::start(config, connection, lock, queue)?;
    let readers = SqliteReaders {
        path: config.path.clone(),
        idle: Arc::default(),
        places: Arc::new(Semaphore::new(READERS_MAX)),
        versions: Arc::new(Versions::new(&config.path)),
    };
    Ok((readers, committed, high_water))
}

/// One process per file: the writer's numbers live in its memory.
pub(crate) fn lock_folder(path: &Path) -> Result<File, StoreError> {
    let lock_path = path.with_extension("lock");
    let mut lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(PRIVATE)
        .open(&lock_path)
        .map_err(|error| StoreError::ReadOnly(format!("{}: {error}", lock_path.display())))?;
    match lock.try_lock() {
        Ok(()) => {
            // Who holds it, for whoever comes second. The lock itself is what counts.
            let _ = lock
                .set_len(0)
                .and_then(|()| lock.rewind())
                .and_then(|()| writeln!(lock, "{}", std::process::id()));
            Ok(lock)
        }
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse),
        Err(TryLockError::Error(error)) => Err(StoreError::Unavailable(format!(
            "{}: {error}",
            lock_path.display()
        ))),
    }
}

/// The process that works on the database now, if there is one.
pub(crate) fn held_by(path: &Path) -> Option<u32> {
    let mut lock = File::open(path.with_extension("lock")).ok()?;
    if !matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)) {
        return None;
    }
    let mut text = String::new();
    lock.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// Only the owner's account reads the record. SQLite makes its log and its index as open as the file
/// itself, so the file is made before SQLite makes it; what an older release left open is closed.
fn keep_private(path: &Path) {
    // Whatever does not work here is told by opening the file.
    let _ = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(PRIVATE)
        .open(path);
    for end in ["", "-wal", "-shm"] {
        let mut name = OsString::from(path);
        name.push(end);
        close_to_others(Path::new(&name));
    }
}

/// Takes away what others may do with a file; a file that is not there stays away.
pub(crate) fn close_to_others(path: &Path) {
    let is_open = |mode: u32| mode & !PRIVATE & 0o777 != 0;
    if std::fs::metadata(path).is_ok_and(|file| is_open(file.permissions().mode())) {
        let _ = std::fs::set_permissions(path, Permissions::from_mode(PRIVATE));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    ReadWrite,
    ReadOnly,
}

pub(crate) fn connect(path: &Path, access: Access) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX
        | match access {
            Access::ReadWrite => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
            Access::ReadOnly => OpenFlags::SQLITE_OPEN_READ_ONLY,
        };
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Plans do not depend on bound values, so a statement is prepared once and not again per value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    connection.execute_batch(
        "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY;",
    )?;
    if access == Access::ReadWrite {
        // The log is copied by `checkpoints`.
        connection.execute_batch(&format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864; \
             PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -{WRITER_CACHE_KIB};"
        ))?;
        assert_durable(&connection)?;
    }
    Ok(connection)
}

/// The file and its log; the log is not there while nobody has the file open.
pub(crate) fn file_bytes(path: &Path) -> Result<DatabaseBytes, StoreError> {
    let unreadable = |error| StoreError::Unavailable(format!("{}: {error}", path.display()));
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    Ok(DatabaseBytes {
        database: std::fs::metadata(path).map_err(unreadable)?.len(),
        log: Some(std::fs::metadata(log).map_or(0, |log| log.len())),
    })
}

/// With `synchronous=NORMAL` a power cut loses acknowledged commits, so it is checked, not hoped.
fn assert_durable(connection: &Connection) -> Result<(), StoreError> {
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    let synchronous: i64 = connection.query_row("PRAGMA synchronous", [], |row| row.get(0))?;
    let foreign_keys: i64 = connection.query_row("PRAGMA foreign_keys", [], |row| row.get(0))?;
    if (mode.as_str(), synchronous, foreign_keys) == ("wal", 2, 1) {
        return Ok(());
    }
    Err(StoreError::Unavailable(format!(
        "SQLite does not give the durability that Void needs here (journal {mode}, synchronous {synchronous})"
    )))
}

/// Runs a body on a SQLite transaction: it is ready at once, or it waited for something it must not.
pub(crate) fn now<T>(future: BoxFuture<'_, T>) -> Result<T, StoreError> {
    match catch_unwind(AssertUnwindSafe(|| future.now_or_never())) {
        Ok(Some(outcome)) => Ok(outcome),
        Ok(None) => Err(StoreError::Internal(
            "a use case waited for something outside the database".to_owned(),
        )),
        Err(_) => Err(StoreError::Internal("a use case panicked".to_owned())),
    }
}

/// Read-only connections, opened when they are first needed.
#[derive(Clone)]
pub(crate) struct SqliteReaders {
    path: PathBuf,
    idle: Arc<Mutex<Vec<Connection>>>,
    places: Arc<Semaphore>,
    versions: Arc<Versions>,
}

impl SqliteReaders {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn version(&self) -> Option<Version> {
        self.versions.now()
    }

    pub(crate) async fn read(&self, turn: ReadTurn, read: Reading) -> Result<(), StoreError> {
        let Ok(place) = Arc::clone(&self.places).acquire_owned().await else {
            return Err(StoreError::Unavailable("the store is closed".to_owned()));
        };
        let readers = self.clone();
        let task = tokio::task::spawn_blocking(move || {
            // Until it is done, also when whoever asked has left.
            let _places = (turn, place);
            readers.read_blocking(read)
        });
        match task.await {
            Ok(outcome) => outcome,
            Err(error) => Err(StoreError::Internal(error.to_string())),
        }
    }

    fn read_blocking(&self, read: Reading) -> Result<(), StoreError> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let connection = match idle {
            Some(connection) => connection,
            None => connect(&self.path, Access::ReadOnly)?,
        };
        run_cached(&connection, "BEGIN")?;
        let mut tx = Tx::new(Engine::Sqlite(SqliteTx::new(connection)));
        let outcome = now(read(&mut tx));
        if let Engine::Sqlite(tx) = tx.into_engine() {
            let connection = tx.into_connection();
            // A connection that cannot end its transaction is not used again.
            if run_cached(&connection, "COMMIT").is_ok() {
                self.idle
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(connection);
            }
        }
        outcome
    }
}
