//! Copies of the SQLite file: made while the server runs, opened and checked before they count.

use std::fs::{self, File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use tokio::sync::oneshot;
use void_domain::digests::Digest;

use crate::errors::StoreError;
use crate::facts;
use crate::facts::chains::{self, Link};
use crate::sqlite::{Access, connect, now};
use crate::store::Store;
use crate::tx::{Engine, SqliteTx, Tx};
use crate::{heads, migrations};

/// Copied at a time, then synced: 8 MB.
const PAGES_PER_STEP: i32 = 2_048;
const BUSY_PAUSE: Duration = Duration::from_millis(5);
const CHAIN_PAGE: u32 = 10_000;
/// What the check of a copy keeps of it in memory, at the most.
const CHECK_CACHE_KIB: u32 = 64 * 1024;
/// How far a copy stands back for whoever is served: half of what the system knows.
const NICE: i32 = 10;
const SQLITE_BEGINNING: &[u8; 16] = b"SQLite format 3\0";

/// What a checked copy holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    pub audit_seq: u64,
    pub audit_hash: Digest,
}

/// Copies the running database to `target`, which appears only when it is whole and checked.
pub async fn create(store: &Store, target: &Path) -> Result<Checked, StoreError> {
    let Some(readers) = store.sqlite_readers() else {
        let text = "this Void uses PostgreSQL; back it up with pg_dump";
        return Err(StoreError::Unavailable(text.to_owned()));
    };
    let (source, target) = (readers.path().to_owned(), target.to_owned());
    let (made, told) = oneshot::channel();
    let make = move || {
        // Whoever is served goes first. The threads of the check are as nice.
        let _ = rustix::process::nice(NICE);
        let _ = made.send(make(&source, &target));
    };
    std::thread::Builder::new()
        .name("void-backup".to_owned())
        .spawn(make)
        .map_err(|error| StoreError::Unavailable(error.to_string()))?;
    told.await
        .map_err(|_| StoreError::Internal("the copy was not finished".to_owned()))?
}

fn make(source: &Path, target: &Path) -> Result<Checked, StoreError> {
    let partial = target.with_extension("partial");
    let made = copy(source, &partial).and_then(|()| check(&partial));
    let made = made.and_then(|checked| {
        fs::rename(&partial, target).map_err(|error| unwritable(target, &error))?;
        sync_folder(target)?;
        Ok(checked)
    });
    if made.is_err() {
        let _ = fs::remove_file(&partial);
    }
    made
}

fn copy(source: &Path, target: &Path) -> Result<(), StoreError> {
    let _ = fs::remove_file(target);
    private(target)?;
    let file = File::open(target).map_err(|error| unwritable(target, &error))?;
    let sync = || file.sync_data().map_err(|error| unwritable(target, &error));
    let source = connect(source, Access::ReadOnly)?;
    // One snapshot for all of it: whoever writes meanwhile does not wait, and does not make it begin anew.
    source.execute_batch("BEGIN; SELECT id FROM heads")?;
    let mut copy = rusqlite::Connection::open(target)?;
    // It is nobody's before it is whole, and it is synced here.
    copy.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    let copying = Backup::new(&source, &mut copy)?;
    loop {
        match copying.step(PAGES_PER_STEP)? {
            StepResult::Done => break,
            // Piece by piece, so that no commit waits for all of it to reach the disk.
            StepResult::More => sync()?,
            _ => std::thread::sleep(BUSY_PAUSE),
        }
    }
    drop(copying);
    // A copy is one file: no write-ahead log beside it that could be forgotten.
    copy.execute_batch("PRAGMA journal_mode = DELETE")?;
    copy.close().map_err(|(_, error)| StoreError::from(error))?;
    file.sync_all().map_err(|error| unwritable(target, &error))
}

/// An empty file that only we can read, whatever the umask says.
fn private(path: &Path) -> Result<(), StoreError> {
    let made = OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(path)
        .and_then(|file| file.set_permissions(fs::Permissions::from_mode(0o600)));
    made.map_err(|error| unwritable(path, &error))
}

/// Opens a copy, lets SQLite check it and walks the whole audit chain.
pub fn check(path: &Path) -> Result<Checked, StoreError> {
    std::thread::scope(|scope| {
        let pages = scope.spawn(|| check_pages(path));
        let record = check_record(path);
        let stopped = |_| Err(StoreError::Internal("a check stopped".to_owned()));
        pages.join().unwrap_or_else(stopped)?;
        record
    })
}

fn check_pages(path: &Path) -> Result<(), StoreError> {
    let connection = connect(path, Access::ReadOnly)?;
    // Every entry of every index is looked up in its table and the other way round.
    connection.execute_batch(&format!("PRAGMA cache_size = -{CHECK_CACHE_KIB}"))?;
    let verdict: String =
        connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    match verdict.as_str() {
        "ok" => Ok(()),
        _ => Err(StoreError::corrupt("the backup", path.display(), verdict)),
    }
}

fn check_record(path: &Path) -> Result<Checked, StoreError> {
    let connection = connect(path, Access::ReadOnly)?;
    migrations::check_sqlite(&connection)?;
    show_as_facts(&connection)?;
    let mut tx = Tx::new(Engine::Sqlite(SqliteTx::new(connection)));
    now(Box::pin(walk(&mut tx)))?
}

/// A copy from before `facts` is walked as it is: its `audit` is the same entries. The names are of this connection only.
fn show_as_facts(connection: &rusqlite::Connection) -> Result<(), StoreError> {
    let sql = "SELECT COUNT(*) FROM main.sqlite_master WHERE type = 'table' AND name = 'audit'";
    let is_older: bool = connection.query_row(sql, [], |row| row.get(0))?;
    if is_older {
        connection.execute_batch(
            "CREATE TEMP VIEW facts AS SELECT *, NULL AS audience FROM main.audit; \
             CREATE TEMP VIEW heads AS SELECT id, audit_seq, audit_hash, audit_seq AS told_after, 0 AS numbered_from, \
             open_proposals FROM main.heads;",
        )?;
    }
    Ok(())
}

async fn walk(tx: &mut Tx) -> Result<Checked, StoreError> {
    let mut at = Link::START;
    loop {
        let piece = chains::walk(tx, at, u64::MAX, CHAIN_PAGE).await?;
        if let Some((seq, why)) = piece.broken {
            let what = format!("the chain is broken here: {why}");
            return Err(StoreError::corrupt("facts", seq, what));
        }
        if piece.rows == 0 {
            break;
        }
        at = piece.at;
    }
    let Link { seq, hash } = at;
    if let Some(found) = facts::strays::find(tx).await? {
        return Err(StoreError::corrupt(
            "facts",
            found.first,
            "it stands beyond the head: Void did not write it; a start sets it aside",
        ));
    }
    let heads = heads::load(tx).await?;
    if (heads.audit_seq, heads.audit_hash) != (seq, hash) {
        return Err(StoreError::corrupt(
            "facts",
            heads.audit_seq,
            "the newest entries are missing",
        ));
    }
    Ok(Checked {
        audit_seq: seq,
        audit_hash: hash,
    })
}

/// The process that works on the database now, if there is one.
pub fn held_by(database: &Path) -> Option<u32> {
    crate::sqlite::held_by(database)
}

/// Whether a file could be a database at all, by how it begins.
pub fn is_database(path: &Path) -> bool {
    let mut beginning = [0; SQLITE_BEGINNING.len()];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut beginning))
        .is_ok_and(|()| beginning == *SQLITE_BEGINNING)
}

/// Puts a checked copy in place of the database, which must not be in use. What it replaces is kept
/// beside it under `replaced`. The caller then voids what waited in the copy.
pub fn restore(copy: &Path, database: &Path, replaced: &Path) -> Result<Checked, StoreError> {
    let _lock = crate::sqlite::lock_folder(database)?;
    let checked = check(copy)?;
    let partial = database.with_extension("partial");
    let _ = fs::remove_file(&partial);
    private(&partial)?;
    // Not fs::copy, which takes over how open the copy was.
    let copied = File::open(copy).and_then(|mut from| {
        let mut to = OpenOptions::new().write(true).open(&partial)?;
        std::io::copy(&mut from, &mut to)
    });
    copied.map_err(|error| unwritable(&partial, &error))?;
    File::open(&partial)
        .and_then(|file| file.sync_all())
        .map_err(|error| unwritable(&partial, &error))?;
    if database.exists() {
        fold_log(database)?;
        fs::rename(database, replaced).map_err(|error| unwritable(replaced, &error))?;
        crate::sqlite::close_to_others(replaced);
    }
    fs::rename(&partial, database).map_err(|error| unwritable(database, &error))?;
    sync_folder(database)?;
    Ok(checked)
}

/// Brings everything in the write-ahead log into the file, so that the file alone is whole.
fn fold_log(database: &Path) -> Result<(), StoreError> {
    if let Ok(connection) = connect(database, Access::ReadWrite) {
        connection.execute_batch("PRAGMA journal_mode = DELETE")?;
        return Ok(());
    }
    // Too damaged to open: keep the log beside it for whoever looks at it later.
    for extension in ["db-wal", "db-shm"] {
        let log = database.with_extension(extension);
        if log.exists() {
            let kept = database.with_extension(format!("{extension}.damaged"));
            fs::rename(&log, &kept).map_err(|error| unwritable(&kept, &error))?;
        }
    }
    Ok(())
}

fn sync_folder(path: &Path) -> Result<(), StoreError> {
    let folder = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| unwritable(folder, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> StoreError {
    match error.kind() {
        std::io::ErrorKind::StorageFull => StoreError::DiskFull,
        _ => StoreError::ReadOnly(format!("{}: {error}", path.display())),
    }
}
