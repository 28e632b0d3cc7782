//! A transaction on PostgreSQL: statements are bound and rows are read.

use std::pin::pin;
use std::sync::{Arc, LazyLock};

use deadpool_postgres::Object;
use futures_util::TryStreamExt as _;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type};
use tokio_postgres::{Column, Statement};

use crate::columns::{Columns, ColumnsCache};
use crate::errors::StoreError;
use crate::values::{Gathering, Listing, Row, Value};

static COLUMNS: LazyLock<ColumnsCache> = LazyLock::new(ColumnsCache::default);

/// A connection in use. Statements are prepared once per connection.
///
/// Whoever is dropped in the middle (a caller that hung up, a use case that panicked) may leave a
/// transaction open, so only [`release`](Self::release) gives the connection back to the pool.
pub(crate) struct PostgresTx {
    /// `None` once it went back.
    client: Option<Object>,
}

impl PostgresTx {
    pub(crate) const fn new(client: Object) -> Self {
        Self {
            client: Some(client),
        }
    }

    /// For a connection that has no transaction open.
    pub(crate) fn release(mut self) {
        drop(self.client.take());
    }

    fn client(&self) -> Result<&Object, StoreError> {
        self.client
            .as_ref()
            .ok_or_else(|| StoreError::Internal("the connection went back".to_owned()))
    }

    pub(crate) async fn batch(&self, sql: &str) -> Result<(), StoreError> {
        Ok(self.client()?.batch_execute(sql).await?)
    }

    pub(crate) async fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let client = self.client()?;
        let statement = client.prepare_cached(sql).await?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        Ok(client.execute(&statement, &values).await?)
    }

    pub(crate) async fn query(
        &self,
        table: &'static str,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let client = self.client()?;
        let statement = client.prepare_cached(sql).await?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        let rows = client.query(&statement, &values).await?;
        let columns = columns(sql, &statement);
        rows.iter().map(|row| read(table, &columns, row)).collect()
    }

    /// Keeps no more than `bytes_max` of what comes.
    pub(crate) async fn query_up_to(
        &self,
        table: &'static str,
        sql: &'static str,
        values: &[Value<'_>],
        bytes_max: usize,
    ) -> Result<Listing, StoreError> {
        let client = self.client()?;
        let statement = client.prepare_cached(sql).await?;
        let values = values.iter().map(|value| value as &(dyn ToSql + Sync));
        let mut rows = pin!(client.query_raw(&statement, values).await?);
        let columns = columns(sql, &statement);
        let (mut gathering, mut is_cut) = (Gathering::up_to(bytes_max), false);
        // The rest is received and dropped: the connection is used again.
        while let Some(row) = rows.try_next().await? {
            is_cut = is_cut || !gathering.push(read(table, &columns, &row)?);
        }
        Ok(gathering.end(is_cut))
    }
}

fn columns(sql: &'static str, statement: &Statement) -> Arc<Columns> {
    COLUMNS.of(sql, || {
        Columns::new(statement.columns().iter().map(Column::name))
    })
}

fn read(
    table: &'static str,
    columns: &Arc<Columns>,
    row: &tokio_postgres::Row,
) -> Result<Row, StoreError> {
    let cells: Result<Vec<Value<'static>>, StoreError> = (0..row.len())
        .map(|column| cell(table, row, column))
        .collect();
    cells.map(|cells| Row::new(table, Arc::clone(columns), cells))
}

impl Drop for PostgresTx {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            // Closed: the server rolls back whatever was left open.
            drop(Object::take(client));
        }
    }
}

fn cell(
    table: &'static str,
    row: &tokio_postgres::Row,
    column: usize,
) -> Result<Value<'static>, StoreError> {
    let kind = row
        .columns()
        .get(column)
        .map(|column| column.type_().clone());
    match kind {
        Some(Type::INT8) => Ok(Value::from(row.try_get::<_, Option<i64>>(column)?)),
        Some(Type::TEXT) => Ok(Value::from(row.try_get::<_, Option<String>>(column)?)),
        _ => Err(StoreError::corrupt(
            table,
            "?",
            "a column of a foreign type",
        )),
    }
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(number) if *kind == Type::INT8 => number.to_sql(kind, out),
            Self::Text(text) if *kind == Type::TEXT => text.to_sql(kind, out),
            Self::Int(_) | Self::Text(_) | Self::Foreign => {
                Err(format!("a value of another type than {kind}").into())
            }
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}
