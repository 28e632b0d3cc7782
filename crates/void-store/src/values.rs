//! Portable scalars: null, 64-bit integer, text and bytes. Nothing else crosses to a database, so both
//! engines store the same.

use std::borrow::Cow;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use void_domain::digests::Digest;
use void_domain::time::Timestamp;

use crate::columns::Columns;
use crate::errors::StoreError;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Value<'a> {
    Null,
    Int(i64),
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
    /// Something that no column of ours holds. It was put there behind Void's back, and is an error of its
    /// row alone: the others are still read.
    Foreign,
}

impl Value<'_> {
    pub(crate) fn into_owned(self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Int(number) => Value::Int(number),
            Self::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Self::Bytes(bytes) => Value::Bytes(Cow::Owned(bytes.into_owned())),
            Self::Foreign => Value::Foreign,
        }
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<Timestamp> for Value<'_> {
    fn from(at: Timestamp) -> Self {
        Self::Int(at.as_ms())
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(Cow::Borrowed(bytes))
    }
}

impl From<Vec<u8>> for Value<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(Cow::Owned(bytes))
    }
}

impl From<Digest> for Value<'_> {
    fn from(digest: Digest) -> Self {
        Self::Text(Cow::Owned(digest.to_string()))
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(optional: Option<T>) -> Self {
        optional.map_or(Self::Null, Into::into)
    }
}

/// Numbers that count: they come from rows, so they fit.
pub(crate) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A span in milliseconds.
pub(crate) fn ms(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

macro_rules! values {
    ($($value:expr),* $(,)?) => {
        &[$($crate::values::Value::from($value)),*]
    };
}
pub(crate) use values;

/// One row of a result, read by the names of its columns.
#[derive(Debug, Clone)]
pub struct Row {
    table: &'static str,
    columns: Arc<Columns>,
    cells: Vec<Value<'static>>,
}

impl Row {
    pub(crate) const fn new(
        table: &'static str,
        columns: Arc<Columns>,
        cells: Vec<Value<'static>>,
    ) -> Self {
        Self {
            table,
            columns,
            cells,
        }
    }

    pub(crate) fn cells(&self) -> &[Value<'static>] {
        &self.cells
    }

    /// What to call this row in an error: its first column, which is the key.
    fn id(&self) -> String {
        match self.cells.first() {
            Some(Value::Text(text)) => text.clone().into_owned(),
            Some(Value::Int(number)) => number.to_string(),
            Some(Value::Null | Value::Bytes(_) | Value::Foreign) | None => "?".to_owned(),
        }
    }

    pub(crate) fn corrupt(&self, what: impl ToString) -> StoreError {
        StoreError::corrupt(self.table, self.id(), what)
    }

    /// A column that the statement does not name is a mistake of ours and no damage of the row.
    fn cell(&self, column: &str) -> Result<&Value<'static>, StoreError> {
        self.columns
            .position(column)
            .and_then(|position| self.cells.get(position))
            .ok_or_else(|| {
                let table = self.table;
                StoreError::Internal(format!("{table}: no one column is called {column}"))
            })
    }

    pub(crate) fn text(&self, column: &str) -> Result<&str, StoreError> {
        self.opt_text(column)?
            .ok_or_else(|| self.corrupt(format!("column {column} is empty")))
    }

    pub(crate) fn opt_text(&self, column: &str) -> Result<Option<&str>, StoreError> {
        match self.cell(column)? {
            Value::Null => Ok(None),
            Value::Text(text) => Ok(Some(text)),
            Value::Int(_) | Value::Bytes(_) | Value::Foreign => {
                Err(self.corrupt(format!("column {column} is no text")))
            }
        }
    }

    pub(crate) fn int(&self, column: &str) -> Result<i64, StoreError> {
        self.opt_int(column)?
            .ok_or_else(|| self.corrupt(format!("column {column} is empty")))
    }

    pub(crate) fn opt_int(&self, column: &str) -> Result<Option<i64>, StoreError> {
        match self.cell(column)? {
            Value::Null => Ok(None),
            Value::Int(number) => Ok(Some(*number)),
            Value::Text(_) | Value::Bytes(_) | Value::Foreign => {
                Err(self.corrupt(format!("column {column} is no number")))
            }
        }
    }

    pub(crate) fn count(&self, column: &str) -> Result<u64, StoreError> {
        u64::try_from(self.int(column)?)
            .map_err(|_| self.corrupt(format!("column {column} is negative")))
    }

    pub(crate) fn time(&self, column: &str) -> Result<Timestamp, StoreError> {
        self.int(column).map(Timestamp::from_ms)
    }

    pub(crate) fn opt_time(&self, column: &str) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.opt_int(column)?.map(Timestamp::from_ms))
    }

    pub(crate) fn string(&self, column: &str) -> Result<String, StoreError> {
        self.text(column).map(str::to_owned)
    }

    pub(crate) fn opt_string(&self, column: &str) -> Result<Option<String>, StoreError> {
        Ok(self.opt_text(column)?.map(str::to_owned))
    }

    /// Yes or no, which is 1 or 0 on both engines.
    pub(crate) fn flag(&self, column: &str) -> Result<bool, StoreError> {
        Ok(self.int(column)? != 0)
    }

    /// An id, a digest, whatever has one text.
    pub(crate) fn parse<T: FromStr>(&self, column: &str) -> Result<T, StoreError> {
        self.parsed(column, |text| text.parse().ok())
    }

    pub(crate) fn opt_parse<T: FromStr>(&self, column: &str) -> Result<Option<T>, StoreError> {
        self.opt_parsed(column, |text| text.parse().ok())
    }

    pub(crate) fn json<T: DeserializeOwned>(&self, column: &str) -> Result<T, StoreError> {
        self.parsed(column, |text| serde_json::from_str(text).ok())
    }

    pub(crate) fn opt_json<T: DeserializeOwned>(
        &self,
        column: &str,
    ) -> Result<Option<T>, StoreError> {
        self.opt_parsed(column, |text| serde_json::from_str(text).ok())
    }

    /// Where a page that ends with this row is continued.
    pub(crate) fn cursor(&self, column: &str) -> Result<String, StoreError> {
        match self.cell(column)? {
            Value::Text(text) => Ok(text.clone().into_owned()),
            Value::Int(number) => Ok(number.to_string()),
            Value::Null | Value::Bytes(_) | Value::Foreign => {
                Err(self.corrupt(format!("column {column} is no key")))
            }
        }
    }

    pub(crate) fn blob(&self, column: &str) -> Result<&[u8], StoreError> {
        match self.cell(column)? {
            Value::Bytes(bytes) => Ok(bytes),
            Value::Null | Value::Int(_) | Value::Text(_) | Value::Foreign => {
                Err(self.corrupt(format!("column {column} holds no bytes")))
            }
        }
    }

    /// What it takes in memory, roughly: its texts and bytes.
    pub(crate) fn bytes(&self) -> usize {
        let bytes = |cell: &Value<'_>| match cell {
            Value::Text(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::Null | Value::Int(_) | Value::Foreign => 0,
        };
        self.cells.iter().map(bytes).sum()
    }

    /// Reads a text column into a validated type, or names the row that cannot exist.
    pub(crate) fn parsed<T>(
        &self,
        column: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, StoreError> {
        self.opt_parsed(column, parse)?
            .ok_or_else(|| self.corrupt(format!("column {column} is empty")))
    }

    fn opt_parsed<T>(
        &self,
        column: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        let Some(text) = self.opt_text(column)? else {
            return Ok(None);
        };
        match parse(text) {
            Some(parsed) => Ok(Some(parsed)),
            None => Err(self.corrupt(format!("column {column} does not hold what it should"))),
        }
    }
}

/// The rows of a list as far as they fit into [`LIST_BYTES_MAX`](void_domain::budgets::LIST_BYTES_MAX).
pub(crate) struct Listing {
    /// At least one, if there is any.
    pub rows: Vec<Row>,
    /// Whether there is at least one more.
    pub is_cut: bool,
}

/// Gathers rows until they are too much.
pub(crate) struct Gathering {
    rows: Vec<Row>,
    bytes: usize,
    bytes_max: usize,
}

impl Gathering {
    pub(crate) const fn up_to(bytes_max: usize) -> Self {
        Self {
            rows: Vec::new(),
            bytes: 0,
            bytes_max,
        }
    }

    /// `false`: it does not fit any more and was left out.
    pub(crate) fn push(&mut self, row: Row) -> bool {
        self.bytes = self.bytes.saturating_add(row.bytes());
        let fits = self.rows.is_empty() || self.bytes <= self.bytes_max;
        if fits {
            self.rows.push(row);
        }
        fits
    }

    pub(crate) fn end(self, is_cut: bool) -> Listing {
        Listing {
            rows: self.rows,
            is_cut,
        }
    }
}

/// One page of a list; `next` is the cursor of the page after it.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub next: Option<String>,
}

/// What a database takes on its disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseBytes {
    pub database: u64,
    /// What is not in the file yet. PostgreSQL has one log for all of a server's databases, which is not
    /// ours to look at.
    pub log: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        let columns = Columns::new(["id", "verb", "count", "blob", "note"].into_iter());
        let cells = vec![
            Value::from("01"),
            Value::from("started"),
            Value::from(-1),
            Value::Foreign,
            Value::Null,
        ];
        Row::new("audit", Arc::new(columns), cells)
    }

    #[test]
    fn a_column_is_read_by_its_name() {
        let row = row();
        assert_eq!(row.text("verb"), Ok("started"));
        assert_eq!(row.int("count"), Ok(-1));
        assert_eq!(row.opt_text("note"), Ok(None));
        assert_eq!(row.parsed("verb", |text| Some(text.len())), Ok(7));
    }

    #[test]
    fn what_a_column_does_not_hold_is_said_with_its_name() {
        let row = row();
        let wrong = |error: StoreError, what: &str| {
            assert_eq!(error, StoreError::corrupt("audit", "01", what));
        };
        wrong(row.text("count").unwrap_err(), "column count is no text");
        wrong(row.text("note").unwrap_err(), "column note is empty");
        wrong(row.int("verb").unwrap_err(), "column verb is no number");
        wrong(row.count("count").unwrap_err(), "column count is negative");
        wrong(row.opt_text("blob").unwrap_err(), "column blob is no text");
        wrong(row.blob("blob").unwrap_err(), "column blob holds no bytes");
        wrong(row.blob("note").unwrap_err(), "column note holds no bytes");
        let parsed = row.parsed("verb", |_| None::<()>).unwrap_err();
        wrong(parsed, "column verb does not hold what it should");
    }

    #[test]
    fn a_column_that_the_result_lacks_is_no_damage_of_the_row() {
        let lacking = row().opt_text("actor").unwrap_err();
        let text = "audit: no one column is called actor".to_owned();
        assert_eq!(lacking, StoreError::Internal(text));
    }
}
