//! A transaction on SQLite: statements are bound and rows are read.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement};

use crate::columns::{Columns, ColumnsCache};
use crate::errors::StoreError;
use crate::values::{Gathering, Listing, Row, Value};

static COLUMNS: LazyLock<ColumnsCache> = LazyLock::new(ColumnsCache::default);

/// A connection in use. Every call is ready at once, so a use case never really waits on it.
pub(crate) struct SqliteTx {
    connection: Connection,
}

impl SqliteTx {
    pub(crate) const fn new(connection: Connection) -> Self {
        Self { connection }
    }

    pub(crate) fn into_connection(self) -> Connection {
        self.connection
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
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        Ok(self.query_up_to(table, sql, values, usize::MAX)?.rows)
    }

    /// Reads no further than `bytes_max`.
    pub(crate) fn query_up_to(
        &mut self,
        table: &'static str,
        sql: &'static str,
        values: &[Value<'_>],
        bytes_max: usize,
    ) -> Result<Listing, StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        bind(&mut statement, values)?;
        let columns = COLUMNS.of(sql, || Columns::new(statement.column_names()));
        let width = statement.column_count();
        let mut rows = statement.raw_query();
        let mut gathering = Gathering::up_to(bytes_max);
        while let Some(row) = rows.next()? {
            let mut cells = Vec::with_capacity(width);
            for column in 0..width {
                cells.push(cell(row.get_ref(column)?).into_owned());
            }
            if !gathering.push(Row::new(table, Arc::clone(&columns), cells)) {
                return Ok(gathering.end(true));
            }
        }
        Ok(gathering.end(false))
    }
}

impl SqliteTx {
    /// The rows where they lie, each before the next one is read.
    pub(crate) fn each<E: From<StoreError>>(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
        mut see: impl FnMut(&[Value<'_>]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut statement = self
            .connection
            .prepare_cached(sql)
            .map_err(StoreError::from)?;
        bind(&mut statement, values)?;
        let width = statement.column_count();
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(StoreError::from)? {
            let mut cells = Vec::with_capacity(width);
            for column in 0..width {
                cells.push(cell(row.get_ref(column).map_err(StoreError::from)?));
            }
            see(&cells)?;
        }
        Ok(())
    }
}

fn cell(value: ValueRef<'_>) -> Value<'_> {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => Value::from(text),
            Err(_) => Value::Foreign,
        },
        ValueRef::Blob(bytes) => Value::from(bytes),
        ValueRef::Real(_) => Value::Foreign,
    }
}

/// One statement without parameters, prepared once per connection.
pub(crate) fn run_cached(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    connection.prepare_cached(sql)?.raw_execute()?;
    Ok(())
}

/// `$1` is a *named* parameter for SQLite, numbered by first appearance: bound by position,
/// `SET a = $2 WHERE id = $1` would swap its values.
fn bind(statement: &mut Statement<'_>, values: &[Value<'_>]) -> Result<(), StoreError> {
    const NAMES: [&str; 40] = [
        "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9", "$10", "$11", "$12", "$13", "$14",
        "$15", "$16", "$17", "$18", "$19", "$20", "$21", "$22", "$23", "$24", "$25", "$26", "$27",
        "$28", "$29", "$30", "$31", "$32", "$33", "$34", "$35", "$36", "$37", "$38", "$39", "$40",
    ];
    for (before, value) in values.iter().enumerate() {
        let place = before + 1;
        let name = NAMES.get(before).map_or_else(
            || Cow::Owned(format!("${place}")),
            |name| Cow::Borrowed(*name),
        );
        // Nearly always they stand in the statement in their order.
        let index = if statement.parameter_name(place) == Some(&*name) {
            place
        } else {
            statement
                .parameter_index(&name)?
                .ok_or_else(|| StoreError::Internal(format!("{name} is bound but not used")))?
        };
        let value = match value {
            Value::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Value::Int(number) => ToSqlOutput::Borrowed(ValueRef::Integer(*number)),
            Value::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Value::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Value::Foreign => {
                let what = "a value of a foreign type is never written";
                return Err(StoreError::Internal(what.to_owned()));
            }
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
