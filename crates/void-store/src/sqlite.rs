//! SQLite: one writer thread with group commit, a few read-only connections beside it.

mod reserve;
mod writer;

use std::fs::{File, OpenOptions, TryLockError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, Statement};
use tokio::sync::{Semaphore, mpsc, watch};

use crate::errors::StoreError;
use crate::migrations;
use crate::tx::{Engine, Tx};
use crate::values::{Row, Value};
use crate::writer::Job;

const READERS_MAX: usize = 4;
const STATEMENTS_CACHED: usize = 128;
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

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
) -> Result<(SqliteReaders, watch::Receiver<u64>), StoreError> {
    let lock = lock_folder(&config.path)?;
    let mut connection = connect(&config.path, Access::ReadWrite)?;
    migrations::run_sqlite(&mut connection)?;
    let committed = writer::start(config, connection, lock, queue)?;
    let readers = SqliteReaders {
        path: config.path.clone(),
        idle: Arc::default(),
        places: Arc::new(Semaphore::new(READERS_MAX)),
    };
    Ok((readers, committed))
}

/// One process per file: the writer's numbers live in its memory.
pub(crate) fn lock_folder(path: &Path) -> Result<File, StoreError> {
    let lock_path = path.with_extension("lock");
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&lock_path)
        .map_err(|error| StoreError::ReadOnly(format!("{}: {error}", lock_path.display())))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse),
        Err(TryLockError::Error(error)) => Err(StoreError::Unavailable(format!(
            "{}: {error}",
            lock_path.display()
        ))),
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
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;")?;
        assert_durable(&connection)?;
    }
    Ok(connection)
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

/// A connection in use. Every call is ready at once, so a use case never really waits on it.
pub(crate) struct SqliteTx {
    connection: Connection,
}

impl SqliteTx {
    pub(crate) const fn new(connection: Connection) -> Self {
        Self { connection }
    }

    pub(crate) const fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    pub(crate) fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        bind(&mut statement, values)?;
        Ok(statement.raw_execute()? as u64)
    }

    pub(crate) fn query(
        &mut self,
        table: &'static str,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        bind(&mut statement, values)?;
        let columns = statement.column_count();
        let mut rows = statement.raw_query();
        let mut out = Vec::new();
        while let Some(row) = rows.next()? {
            let mut cells = Vec::with_capacity(columns);
            for column in 0..columns {
                cells.push(match row.get_ref(column)? {
                    ValueRef::Null => Value::Null,
                    ValueRef::Integer(number) => Value::Int(number),
                    ValueRef::Text(text) => match std::str::from_utf8(text) {
                        Ok(text) => Value::from(text.to_owned()),
                        Err(_) => {
                            return Err(StoreError::corrupt(table, "?", "text that is not UTF-8"));
                        }
                    },
                    ValueRef::Real(_) | ValueRef::Blob(_) => {
                        return Err(StoreError::corrupt(
                            table,
                            "?",
                            "a column of a foreign type",
                        ));
                    }
                });
            }
            out.push(Row::new(table, cells));
        }
        Ok(out)
    }
}

/// `$1` is a *named* parameter for SQLite, numbered by first appearance: bound by position,
/// `SET a = $2 WHERE id = $1` would swap its values.
/// One statement without parameters, prepared once per connection.
pub(crate) fn run_cached(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    connection.prepare_cached(sql)?.raw_execute()?;
    Ok(())
}

fn bind(statement: &mut Statement<'_>, values: &[Value<'_>]) -> Result<(), StoreError> {
    const NAMES: [&str; 40] = [
        "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9", "$10", "$11", "$12", "$13", "$14",
        "$15", "$16", "$17", "$18", "$19", "$20", "$21", "$22", "$23", "$24", "$25", "$26", "$27",
        "$28", "$29", "$30", "$31", "$32", "$33", "$34", "$35", "$36", "$37", "$38", "$39", "$40",
    ];
    for (place, (name, value)) in (1..).zip(NAMES.iter().zip(values)) {
        // Nearly always they stand in the statement in their order.
        let index = if statement.parameter_name(place) == Some(name) {
            place
        } else {
            statement
                .parameter_index(name)?
                .ok_or_else(|| StoreError::Internal(format!("{name} is bound but not used")))?
        };
        let value = match value {
            Value::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Value::Int(number) => ToSqlOutput::Borrowed(ValueRef::Integer(*number)),
            Value::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        };
        statement.raw_bind_parameter(index, value)?;
    }
    if values.len() == statement.parameter_count() {
        Ok(())
    } else {
        Err(StoreError::Internal(
            "a statement with values missing".to_owned(),
        ))
    }
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
}

impl SqliteReaders {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) async fn read<T, E, F>(&self, body: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        let Ok(place) = Arc::clone(&self.places).acquire_owned().await else {
            return Err(StoreError::Unavailable("the store is closed".to_owned()).into());
        };
        let readers = self.clone();
        let task = tokio::task::spawn_blocking(move || {
            let _place = place;
            readers.read_blocking(body)
        });
        match task.await {
            Ok(outcome) => outcome,
            Err(error) => Err(StoreError::Internal(error.to_string()).into()),
        }
    }

    fn read_blocking<T, E, F>(&self, body: F) -> Result<T, E>
    where
        E: From<StoreError>,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>>,
    {
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
        let outcome = now(body(&mut tx));
        if let Engine::Sqlite(SqliteTx { connection }) = tx.into_engine() {
            // A connection that cannot end its transaction is not used again.
            if run_cached(&connection, "COMMIT").is_ok() {
                self.idle
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(connection);
            }
        }
        outcome?
    }
}
