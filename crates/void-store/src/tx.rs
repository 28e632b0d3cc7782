//! One transaction on either engine. Use cases see this type and nothing below it.

mod arrays;
pub(crate) mod flights;
mod postgres;
mod sqlite;

use void_domain::budgets::LIST_BYTES_MAX;

use crate::errors::StoreError;
use crate::heads::Heads;
use crate::values::{Listing, Row, Value};

use self::flights::FlightTx;
pub use self::flights::{ConflictKey, Whose};
pub(crate) use self::postgres::PostgresTx;
pub(crate) use self::sqlite::{SqliteTx, run_cached};

pub struct Tx {
    engine: Engine,
    /// Present in the writer only.
    heads: Option<Heads>,
    /// What [`Tx::fixed`] found, while it may be kept.
    kept: Option<Kept>,
}

/// Rows by the statement that reads them.
type Kept = Vec<(&'static str, Option<Row>)>;

pub(crate) enum Engine {
    Sqlite(SqliteTx),
    Postgres(PostgresTx),
    /// One of several use cases at a time, on PostgreSQL.
    Flight(FlightTx),
}

impl Tx {
    pub(crate) const fn new(engine: Engine) -> Self {
        Self {
            engine,
            heads: None,
            kept: None,
        }
    }

    pub(crate) const fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    pub(crate) fn into_engine(self) -> Engine {
        self.engine
    }

    /// The numbers of this batch. A read has none, and neither has a write that came by a wrong way.
    pub(crate) fn heads(&self) -> Result<Heads, StoreError> {
        self.heads_now().ok_or_else(no_heads)
    }

    pub(crate) fn heads_now(&self) -> Option<Heads> {
        match &self.engine {
            Engine::Flight(tx) => Some(tx.heads()),
            Engine::Sqlite(_) | Engine::Postgres(_) => self.heads,
        }
    }

    pub(crate) fn change_heads(
        &mut self,
        change: impl FnOnce(&mut Heads),
    ) -> Result<(), StoreError> {
        match &mut self.engine {
            Engine::Flight(tx) => tx.change_heads(change),
            Engine::Sqlite(_) | Engine::Postgres(_) => {
                change(self.heads.as_mut().ok_or_else(no_heads)?);
            }
        }
        Ok(())
    }

    pub(crate) const fn set_heads(&mut self, heads: Option<Heads>) {
        self.heads = heads;
    }

    /// Nobody who runs beside this use case is about the same; see [`crate::Store::write_shared`].
    ///
    /// To be taken before it judges by that, and before it writes. An error is to be handed on: the use case runs
    /// again.
    pub fn take(&mut self, key: impl FnOnce() -> ConflictKey) -> Result<(), StoreError> {
        match &mut self.engine {
            Engine::Flight(tx) => tx.take_key(key()),
            Engine::Sqlite(_) | Engine::Postgres(_) => Ok(()),
        }
    }

    /// Takes the key unless there is room for everybody: whoever runs beside this use case adds one at the most to
    /// what was counted.
    pub fn take_if_scarce(
        &mut self,
        count: u64,
        limit: u64,
        key: impl FnOnce() -> ConflictKey,
    ) -> Result<(), StoreError> {
        match &mut self.engine {
            Engine::Flight(tx) if count.saturating_add(tx.size()) > limit => tx.take_key(key()),
            _ => Ok(()),
        }
    }

    /// The answer to a statement without values about what only a use case that runs alone can change.
    pub(crate) async fn fixed(
        &mut self,
        table: &'static str,
        sql: &'static str,
    ) -> Result<Option<Row>, StoreError> {
        let known = match &self.engine {
            Engine::Flight(tx) => tx.fixed(sql).map(|rows| rows.into_iter().next()),
            Engine::Sqlite(_) | Engine::Postgres(_) => self.kept_row(sql),
        };
        if let Some(row) = known {
            return Ok(row);
        }
        let row = self.one(table, sql, &[]).await?;
        if let Some(kept) = &mut self.kept {
            kept.push((sql, row.clone()));
        }
        Ok(row)
    }

    fn kept_row(&self, sql: &'static str) -> Option<Option<Row>> {
        let mut kept = self.kept.iter().flatten();
        let found = kept.find(|(kept_sql, _)| *kept_sql == sql);
        found.map(|(_, row)| row.clone())
    }

    /// From here on what [`Tx::fixed`] reads is read once, until somebody may have changed it.
    pub(crate) fn keep_fixed(&mut self) {
        self.kept.get_or_insert_default();
    }

    /// For whoever changes it, or cannot tell whether somebody did.
    pub(crate) fn forget_fixed(&mut self) {
        self.kept = None;
    }

    /// Some errors end SQLite's transaction: what a use case that went on wrote then would be committed at once, alone.
    fn check_open(&mut self) -> Result<(), StoreError> {
        let has_ended = match &mut self.engine {
            Engine::Sqlite(tx) => self.heads.is_some() && tx.connection().is_autocommit(),
            Engine::Postgres(_) | Engine::Flight(_) => false,
        };
        match has_ended {
            true => Err(StoreError::Internal(
                "the transaction has ended before its batch".to_owned(),
            )),
            false => Ok(()),
        }
    }

    /// How many rows the statement changed.
    pub(crate) async fn execute(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<u64, StoreError> {
        self.check_open()?;
        match &mut self.engine {
            Engine::Sqlite(tx) => tx.execute(sql, values),
            Engine::Postgres(tx) => tx.execute(sql, values).await,
            Engine::Flight(tx) => tx.execute(sql, values).await,
        }
    }

    /// All rows; `table` names them in errors. The statement bounds how many there can be.
    pub(crate) async fn all(
        &mut self,
        table: &'static str,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        self.check_open()?;
        match &mut self.engine {
            Engine::Sqlite(tx) => tx.query(table, sql, values),
            Engine::Postgres(tx) => tx.query(table, sql, values).await,
            Engine::Flight(tx) => tx.query(table, sql, values).await,
        }
    }

    /// The rows of a list, as far as they fit into its bound of bytes.
    pub(crate) async fn list(
        &mut self,
        table: &'static str,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<Listing, StoreError> {
        self.list_up_to(table, sql, values, LIST_BYTES_MAX).await
    }

    /// The first rows that fit into this many bytes; one always does.
    pub(crate) async fn list_up_to(
        &mut self,
        table: &'static str,
        sql: &'static str,
        values: &[Value<'_>],
        bytes_max: usize,
    ) -> Result<Listing, StoreError> {
        match &mut self.engine {
            Engine::Sqlite(tx) => tx.query_up_to(table, sql, values, bytes_max),
            Engine::Postgres(tx) => tx.query_up_to(table, sql, values, bytes_max).await,
            Engine::Flight(_) => Err(read_alone(table)),
        }
    }

    /// The rows one by one, in the order of the statement's columns: none is kept, and on SQLite none is copied. The
    /// statement bounds how many there can be, for PostgreSQL also in bytes.
    pub(crate) async fn each<E: From<StoreError>>(
        &mut self,
        table: &'static str,
        sql: &'static str,
        values: &[Value<'_>],
        mut see: impl FnMut(&[Value<'_>]) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        match &mut self.engine {
            Engine::Sqlite(tx) => tx.each(sql, values, see),
            Engine::Postgres(tx) => {
                let rows = tx.query_up_to(table, sql, values, LIST_BYTES_MAX).await?;
                rows.rows.iter().try_for_each(|row| see(row.cells()))
            }
            Engine::Flight(_) => Err(E::from(read_alone(table))),
        }
    }

    pub(crate) async fn one(
        &mut self,
        table: &'static str,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<Option<Row>, StoreError> {
        Ok(self.all(table, sql, values).await?.into_iter().next())
    }

    /// The first row, read.
    pub(crate) async fn find<T>(
        &mut self,
        table: &'static str,
        sql: &'static str,
        values: &[Value<'_>],
        read: impl FnOnce(&Row) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let row = self.one(table, sql, values).await?;
        row.as_ref().map(read).transpose()
    }

    /// All rows, read: one that cannot be is an error.
    pub(crate) async fn read<T>(
        &mut self,
        table: &'static str,
        sql: &'static str,
        values: &[Value<'_>],
        read: impl Fn(&Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = self.all(table, sql, values).await?;
        rows.iter().map(read).collect()
    }

    /// The number that the statement calls `total`.
    pub(crate) async fn count(
        &mut self,
        table: &'static str,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<u64, StoreError> {
        match self.one(table, sql, values).await? {
            Some(row) => row.count("total"),
            None => Ok(0),
        }
    }
}

fn read_alone(table: &str) -> StoreError {
    StoreError::Internal(format!("{table}: a list is read alone"))
}

fn no_heads() -> StoreError {
    StoreError::Internal("a read tried to write".to_owned())
}
