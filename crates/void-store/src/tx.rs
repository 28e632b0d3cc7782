//! One transaction on either engine. Use cases see this type and nothing below it.

mod postgres;
mod sqlite;

use void_domain::budgets::LIST_BYTES_MAX;

use crate::errors::StoreError;
use crate::heads::Heads;
use crate::values::{Listing, Row, Value};

pub(crate) use self::postgres::PostgresTx;
pub(crate) use self::sqlite::{SqliteTx, run_cached};

pub struct Tx {
    engine: Engine,
    /// Present in the writer only.
    heads: Option<Heads>,
}

pub(crate) enum Engine {
    Sqlite(SqliteTx),
    Postgres(PostgresTx),
}

impl Tx {
    pub(crate) const fn new(engine: Engine) -> Self {
        Self {
            engine,
            heads: None,
        }
    }

    pub(crate) const fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    pub(crate) fn into_engine(self) -> Engine {
        self.engine
    }

    /// The numbers of this batch. A read has none, and neither has a write that came by a wrong way.
    pub(crate) fn heads(&mut self) -> Result<&mut Heads, StoreError> {
        self.heads
            .as_mut()
            .ok_or_else(|| StoreError::Internal("a read tried to write".to_owned()))
    }

    pub(crate) const fn heads_now(&self) -> Option<Heads> {
        self.heads
    }

    pub(crate) const fn set_heads(&mut self, heads: Option<Heads>) {
        self.heads = heads;
    }

    /// How many rows the statement changed.
    pub(crate) async fn execute(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<u64, StoreError> {
        match &mut self.engine {
            Engine::Sqlite(tx) => tx.execute(sql, values),
            Engine::Postgres(tx) => tx.execute(sql, values).await,
        }
    }

    /// All rows; `table` names them in errors. The statement bounds how many there can be.
    pub(crate) async fn all(
        &mut self,
        table: &'static str,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        match &mut self.engine {
            Engine::Sqlite(tx) => tx.query(table, sql, values),
            Engine::Postgres(tx) => tx.query(table, sql, values).await,
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
