//! The statements of lists: which rows, in which order, from where on and how many.
//!
//! They are composed of constants alone (`&'static str`), so no text of a user ever becomes SQL; what a user
//! says is bound as a value, whose number the builder gives it. A list has one text for each combination of
//! its filters. Each is made once and kept, so the engines find the statement that they prepared for it.

use std::collections::HashSet;
use std::sync::{LazyLock, PoisonError, RwLock};

use void_domain::budgets::LIST_BYTES_MAX;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Listing, Page, Row, Value};

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::plan;

/// Which rows.
#[derive(Debug, Clone)]
pub(crate) struct Select<'a> {
    table: &'static str,
    head: &'static str,
    conditions: Vec<Condition<'a>>,
}

#[derive(Debug, Clone)]
enum Condition<'a> {
    Fixed(&'static str),
    /// Every `?` stands for the value.
    With(&'static str, Value<'a>),
    /// Every `?` stands for one of the two values: the condition holds with one or the other.
    WithEither(&'static str, [Value<'a>; 2]),
    /// On this side of the value.
    Beside(&'static str, Direction, Value<'a>),
}

/// Which way a page goes on.
#[derive(Debug, Clone, Copy)]
enum Direction {
    Down,
    Up,
}

impl<'a> Select<'a> {
    /// `head` is what stands before the conditions: `SELECT … FROM …`. `table` names the rows in errors.
    pub(crate) const fn new(table: &'static str, head: &'static str) -> Self {
        Self {
            table,
            head,
            conditions: Vec::new(),
        }
    }

    pub(crate) fn only(mut self, condition: &'static str) -> Self {
        self.conditions.push(Condition::Fixed(condition));
        self
    }

    /// Every `?` of the condition stands for the value: `"seq > ?"`.
    pub(crate) fn only_with(
        mut self,
        condition: &'static str,
        value: impl Into<Value<'a>>,
    ) -> Self {
        let value = value.into();
        self.conditions.push(Condition::With(condition, value));
        self
    }

    /// The condition holds with one value or with the other.
    pub(crate) fn only_with_either(
        mut self,
        condition: &'static str,
        values: [impl Into<Value<'a>>; 2],
    ) -> Self {
        let values = values.map(Into::into);
        self.conditions
            .push(Condition::WithEither(condition, values));
        self
    }

    /// A filter: without a value everything passes.
    pub(crate) fn only_with_some(
        self,
        condition: &'static str,
        value: Option<impl Into<Value<'a>>>,
    ) -> Self {
        match value {
            Some(value) => self.only_with(condition, value),
            None => self,
        }
    }

    pub(crate) const fn order_by(self, order: &'static str) -> Ordered<'a> {
        Ordered {
            select: self,
            order,
        }
    }

    /// In pages, down from `before`. `key` is a unique column of the result.
    pub(crate) fn newest_first(
        self,
        key: &'static str,
        before: Option<impl Into<Value<'a>>>,
    ) -> Paged<'a> {
        self.paged(key, Direction::Down, before.map(Into::into))
    }

    /// In pages, up from `after`.
    pub(crate) fn oldest_first(
        self,
        key: &'static str,
        after: Option<impl Into<Value<'a>>>,
    ) -> Paged<'a> {
        self.paged(key, Direction::Up, after.map(Into::into))
    }

    fn paged(
        mut self,
        key: &'static str,
        direction: Direction,
        cursor: Option<Value<'a>>,
    ) -> Paged<'a> {
        if let Some(cursor) = cursor {
            let beside = Condition::Beside(key, direction, cursor);
            self.conditions.push(beside);
        }
        Paged {
            select: self,
            key,
            direction,
        }
    }

    /// The text, and the values of `$1`, `$2`… in their order.
    fn statement(
        self,
        order: &[&'static str],
        limit: i64,
    ) -> Result<(&'static str, Vec<Value<'a>>), StoreError> {
        let mut sql = self.head.to_owned();
        let mut values = Vec::with_capacity(self.conditions.len() + 1);
        let mut before = " WHERE (";
        for condition in self.conditions {
            sql.push_str(before);
            before = " AND (";
            let number = values.len() + 1;
            match condition {
                Condition::Fixed(text) if text.contains(['?', '$']) => return Err(unfit(text)),
                Condition::Fixed(text) => sql.push_str(text),
                Condition::With(text, _) | Condition::WithEither(text, _)
                    if text.contains('$') || !text.contains('?') =>
                {
                    return Err(unfit(text));
                }
                Condition::With(text, value) => {
                    sql.push_str(&text.replace('?', &format!("${number}")));
                    values.push(value);
                }
                Condition::WithEither(text, either) => {
                    let one_of = [number, number + 1];
                    let one_of = one_of.map(|number| text.replace('?', &format!("${number}")));
                    sql.push_str(&format!("({})", one_of.join(") OR (")));
                    values.extend(either);
                }
                Condition::Beside(key, direction, value) => {
                    let operator = match direction {
                        Direction::Down => "<",
                        Direction::Up => ">",
                    };
                    sql.push_str(&format!("{key} {operator} ${number}"));
                    values.push(value);
                }
            }
            sql.push(')');
        }
        sql.push_str(" ORDER BY ");
        sql.extend(order.iter().copied());
        values.push(Value::from(limit));
        sql.push_str(&format!(" LIMIT ${}", values.len()));
        Ok((interned(sql), values))
    }
}

fn unfit(condition: &str) -> StoreError {
    StoreError::Internal(format!("a condition without its one value: {condition}"))
}

/// The same text once more is the same constant. Their number is that of the combinations in the code.
fn interned(sql: String) -> &'static str {
    static TEXTS: LazyLock<RwLock<HashSet<&'static str>>> = LazyLock::new(RwLock::default);
    let texts = TEXTS.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(sql.as_str()) {
        return known;
    }
    drop(texts);
    let mut texts = TEXTS.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(sql.as_str()) {
        return known;
    }
    let kept: &'static str = sql.leak();
    texts.insert(kept);
    kept
}

/// Which rows, in which order.
#[derive(Debug, Clone)]
pub(crate) struct Ordered<'a> {
    select: Select<'a>,
    order: &'static str,
}

impl Ordered<'_> {
    /// The first `limit` of them, but for those that `read` leaves out.
    pub(crate) async fn all<T>(
        self,
        tx: &mut Tx,
        limit: impl Into<i64>,
        read: impl Fn(&Row) -> Result<Option<T>, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.up_to(tx, limit.into(), usize::MAX, read).await
    }

    /// The same, as far as they fit into the bound of a list in bytes.
    pub(crate) async fn fitting<T>(
        self,
        tx: &mut Tx,
        limit: impl Into<i64>,
        read: impl Fn(&Row) -> Result<Option<T>, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.up_to(tx, limit.into(), LIST_BYTES_MAX, read).await
    }

    async fn up_to<T>(
        self,
        tx: &mut Tx,
        limit: i64,
        bytes_max: usize,
        read: impl Fn(&Row) -> Result<Option<T>, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let table = self.select.table;
        let (sql, values) = self.select.statement(&[self.order], limit)?;
        let listing = tx.list_up_to(table, sql, &values, bytes_max).await?;
        read_all(&listing.rows, read)
    }
}

/// Which rows, page by page.
#[derive(Debug, Clone)]
pub(crate) struct Paged<'a> {
    select: Select<'a>,
    key: &'static str,
    direction: Direction,
}

impl<'a> Paged<'a> {
    fn statement(self, limit: i64) -> Result<(&'static str, Vec<Value<'a>>), StoreError> {
        let direction = match self.direction {
            Direction::Down => " DESC",
            Direction::Up => "",
        };
        self.select.statement(&[self.key, direction], limit)
    }

    /// The cursor is the key of the last row, whether `read` leaves that out or not: a page never ends early.
    pub(crate) async fn page<T>(
        self,
        tx: &mut Tx,
        limit: u32,
        read: impl Fn(&Row) -> Result<Option<T>, StoreError>,
    ) -> Result<Page<T>, StoreError> {
        let (table, key) = (self.select.table, self.key);
        // The surplus row says that there is more.
        let (sql, values) = self.statement(i64::from(limit) + 1)?;
        let Listing { mut rows, is_cut } = tx.list(table, sql, &values).await?;
        let is_more = is_cut || rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next = match rows.last() {
            Some(last) if is_more => Some(last.cursor(key)?),
            Some(_) | None => None,
        };
        Ok(Page {
            items: read_all(&rows, read)?,
            next,
        })
    }
}

fn read_all<T>(
    rows: &[Row],
    read: impl Fn(&Row) -> Result<Option<T>, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut items = Vec::with_capacity(rows.len());
    for row in rows {
        items.extend(read(row)?);
    }
    Ok(items)
}
