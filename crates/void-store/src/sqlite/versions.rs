//! Whether anybody has committed anything: SQLite's own answer, for whoever remembers what it read.
//!
//! `PRAGMA data_version` of a connection that writes nothing changes with every commit of every other
//! connection, of this process or of another. It is the very test by which SQLite decides whether a page that
//! it keeps in memory is still good. It looks at the shared index of the log and waits for nobody.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::{Access, connect};
use crate::errors::StoreError;

const ASK: &str = "PRAGMA data_version";

/// The database as it was at one moment. Two that are equal had no commit between them; there is no order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    number: i64,
    /// Numbers of one connection say nothing about another's.
    connection: u64,
}

pub(crate) struct Versions {
    path: PathBuf,
    asked: Mutex<Option<(Connection, u64)>>,
    connections: AtomicU64,
}

impl Versions {
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            asked: Mutex::default(),
            connections: AtomicU64::new(0),
        }
    }

    /// `None`: it cannot be told, and nothing that was remembered may be used.
    pub(crate) fn now(&self) -> Option<Version> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let open = match asked.take() {
            Some(open) => open,
            None => self.open().ok()?,
        };
        let found = ask(&open.0);
        let (number, connection) = (found.ok()?, open.1);
        // One that failed is not asked again.
        *asked = Some(open);
        Some(Version { number, connection })
    }

    fn open(&self) -> Result<(Connection, u64), StoreError> {
        let connection = connect(&self.path, Access::ReadOnly)?;
        connection.busy_timeout(Duration::ZERO)?;
        let number = self.connections.fetch_add(1, Ordering::Relaxed);
        Ok((connection, number))
    }
}

fn ask(connection: &Connection) -> rusqlite::Result<i64> {
    let mut statement = connection.prepare_cached(ASK)?;
    statement.query_row([], |row| row.get(0))
}
