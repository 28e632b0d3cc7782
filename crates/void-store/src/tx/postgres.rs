//! A transaction on PostgreSQL: statements are bound and rows are read.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use deadpool_postgres::Object;
use futures_util::TryStreamExt as _;
use futures_util::future::try_join_all;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type};
use tokio_postgres::{Column, Statement};

use super::arrays::{self, Answers, ArrayForm};
use super::flights::{StatementReply, Want};
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

    /// Prepares what [`many`](Self::many) sends, so that it is sent at once.
    pub(crate) async fn prepare_many(&self, sql: &'static str) -> Result<(), StoreError> {
        let client = self.client()?;
        let one = client.prepare_cached(sql).await?;
        if let Some(form) = array_form(sql, &one) {
            client.prepare_cached(form.sql).await?;
        }
        Ok(())
    }

    pub(crate) async fn prepare(&self, sql: &'static str) -> Result<(), StoreError> {
        self.client()?.prepare_cached(sql).await?;
        Ok(())
    }

    /// The same statement with each of these values, as one where it has such a form.
    pub(crate) async fn many(
        &self,
        sql: &'static str,
        want: Want,
        sets: &[Vec<Value<'_>>],
    ) -> Result<Vec<StatementReply>, StoreError> {
        let client = self.client()?;
        let one = client.prepare_cached(sql).await?;
        let form = (sets.len() > 1).then(|| array_form(sql, &one)).flatten();
        let Some(form) = form else {
            let all = sets.iter().map(|values| self.one(sql, want, values));
            return try_join_all(all).await;
        };
        let statement = client.prepare_cached(form.sql).await?;
        let arrays = arrays(one.params(), sets)?;
        let arrays: Vec<&(dyn ToSql + Sync)> = arrays.iter().map(|array| &**array as _).collect();
        match (form.answers, want) {
            (Answers::Inserted, Want::Count) => {
                let inserted = client.execute(&statement, &arrays).await?;
                if inserted != sets.len() as u64 {
                    let what = "not every row was inserted, and no error said so";
                    return Err(StoreError::Internal(what.to_owned()));
                }
                Ok(vec![StatementReply::Count(1); sets.len()])
            }
            (Answers::Changed, Want::Count) => {
                let mut counts = vec![0; sets.len()];
                for row in client.query(&statement, &arrays).await? {
                    *place(&mut counts, &row)? += 1;
                }
                Ok(counts.into_iter().map(StatementReply::Count).collect())
            }
            (Answers::Rows, Want::Rows(table)) => {
                let mut answers: Vec<Vec<Row>> = sets.iter().map(|_| Vec::new()).collect();
                let found = client.query(&statement, &arrays).await?;
                let columns = columns(form.sql, &statement);
                for row in &found {
                    place(&mut answers, row)?.push(read(table, &columns, row)?);
                }
                Ok(answers.into_iter().map(StatementReply::Rows).collect())
            }
            (_, _) => Err(StoreError::Internal(
                "a statement was asked for what it does not say".to_owned(),
            )),
        }
    }

    async fn one(
        &self,
        sql: &'static str,
        want: Want,
        values: &[Value<'_>],
    ) -> Result<StatementReply, StoreError> {
        match want {
            Want::Count => self.execute(sql, values).await.map(StatementReply::Count),
            Want::Rows(table) => self
                .query(table, sql, values)
                .await
                .map(StatementReply::Rows),
        }
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

/// Made once for each statement; its text decides it.
fn array_form(sql: &'static str, one: &Statement) -> Option<ArrayForm> {
    static FORMS: LazyLock<RwLock<HashMap<&'static str, Option<ArrayForm>>>> =
        LazyLock::new(RwLock::default);
    let known = FORMS.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(form) = known.get(sql) {
        return *form;
    }
    drop(known);
    let name = |kind: &Type| match *kind {
        Type::INT8 => Some("bigint"),
        Type::TEXT => Some("text"),
        _ => None,
    };
    let types: Option<Vec<&str>> = one.params().iter().map(name).collect();
    let form = types.and_then(|types| arrays::array_form(sql, &types));
    let mut known = FORMS.write().unwrap_or_else(PoisonError::into_inner);
    *known.entry(sql).or_insert(form)
}

/// For each parameter the values that the sets have there.
fn arrays<'a>(
    types: &[Type],
    sets: &'a [Vec<Value<'_>>],
) -> Result<Vec<Box<dyn ToSql + Sync + Send + 'a>>, StoreError> {
    let array = |(at, kind): (usize, &Type)| {
        let values = sets.iter().map(|set| set.get(at));
        let array: Option<Box<dyn ToSql + Sync + Send>> = if *kind == Type::INT8 {
            let number = |value: Option<&Value<'_>>| match value {
                Some(Value::Int(number)) => Some(Some(*number)),
                Some(Value::Null) => Some(None),
                _ => None,
            };
            let numbers: Option<Vec<Option<i64>>> = values.map(number).collect();
            numbers.map(|numbers| Box::new(numbers) as _)
        } else {
            let text = |value: Option<&'a Value<'_>>| match value {
                Some(Value::Text(text)) => Some(Some(&**text)),
                Some(Value::Null) => Some(None),
                _ => None,
            };
            let texts: Option<Vec<Option<&'a str>>> = values.map(text).collect();
            texts.map(|texts| Box::new(texts) as _)
        };
        array.ok_or_else(|| StoreError::Internal(format!("a value of another type than {kind}")))
    };
    types.iter().enumerate().map(array).collect()
}

/// What belongs to the values that the row is about.
fn place<'a, T>(all: &'a mut [T], row: &tokio_postgres::Row) -> Result<&'a mut T, StoreError> {
    let number: i64 = row.try_get(arrays::NUMBER)?;
    let at = usize::try_from(number)
        .ok()
        .and_then(|number| number.checked_sub(1));
    at.and_then(|at| all.get_mut(at))
        .ok_or_else(|| StoreError::Internal("an answer to what was not asked".to_owned()))
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
        Some(Type::BYTEA) => Ok(Value::from(row.try_get::<_, Option<Vec<u8>>>(column)?)),
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
            Self::Bytes(bytes) if *kind == Type::BYTEA => bytes.to_sql(kind, out),
            Self::Int(_) | Self::Text(_) | Self::Bytes(_) | Self::Foreign => {
                Err(format!("a value of another type than {kind}").into())
            }
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}
