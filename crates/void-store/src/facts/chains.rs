//! Walking the record: every entry follows the one before it and is what was written, and the lines of an export.
//!
//! Rows are read where they lie and hashed as they are spelled: a long record is walked at every backup and whenever
//! somebody asks, and nothing of it is kept.

use void_domain::budgets::LIST_BYTES_MAX;
use void_domain::digests::Digest;
use void_domain::facts::FactView;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Value, int, values};

const ENTRIES_AFTER: &str = concat!(
    "SELECT seq, at, request_id, actor, verb, subject, detail, catalogue, prev, hash FROM facts WHERE seq > $1 AND",
    up_to_head!(),
    "ORDER BY seq LIMIT $2"
);

/// Where a walk stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    pub seq: u64,
    pub hash: Digest,
}

impl Link {
    /// Before the first entry.
    pub const START: Self = Self {
        seq: 0,
        hash: Digest::ZERO,
    };
}

/// What a piece of a walk found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The last entry that is as it was written.
    pub at: Link,
    /// The first row that is not, and what is wrong with it.
    pub broken: Option<(u64, &'static str)>,
    /// Rows that were looked at; none: there are no more.
    pub rows: u64,
}

/// Where a walk ends before the head.
pub const MISSING: &str = "it is missing";
const UNREADABLE: &str = "it cannot be read as an entry";

enum Stop {
    Broken(u64, &'static str),
    Store(StoreError),
    /// Beyond what was asked for.
    End,
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Checks up to so many entries after `from`, none beyond number `last`.
pub async fn walk(tx: &mut Tx, from: Link, last: u64, limit: u32) -> Result<Piece, StoreError> {
    let (mut at, mut rows, mut room) = (from, 0, String::new());
    let see = |row: &[Value<'_>]| {
        rows += 1;
        let (number, entry) = read(row)?;
        let expected = at.seq + 1;
        if number > last {
            return Err(Stop::End);
        }
        if number != expected {
            return Err(Stop::Broken(expected, MISSING));
        }
        let broken = |why| Err(Stop::Broken(number, why));
        let Some(entry) = entry else {
            return broken(UNREADABLE);
        };
        if entry.prev != at.hash {
            return broken("it does not follow the entry before it");
        }
        if entry.computed_hash(&mut room) != entry.hash {
            return broken("it is not what was written");
        }
        at = Link {
            seq: number,
            hash: entry.hash,
        };
        Ok(())
    };
    let values = values![int(from.seq), i64::from(limit)];
    let broken = match tx.each("facts", ENTRIES_AFTER, values, see).await {
        Ok(()) | Err(Stop::End) => None,
        Err(Stop::Broken(seq, why)) => Some((seq, why)),
        Err(Stop::Store(error)) => return Err(error),
    };
    Ok(Piece { at, broken, rows })
}

/// The lines of an export with up to so many entries after `after`, as far as they fit into the bound of a list, and
/// the number of the last of them; `None` at the end. A row that is no entry is an error.
pub async fn export(
    tx: &mut Tx,
    after: u64,
    limit: u32,
) -> Result<Option<(String, u64)>, StoreError> {
    let (mut lines, mut last) = (String::new(), None);
    let see = |row: &[Value<'_>]| {
        let (number, entry) = read(row)?;
        if lines.len() >= LIST_BYTES_MAX {
            return Err(Stop::End);
        }
        let Some(entry) = entry else {
            return Err(Stop::Broken(number, UNREADABLE));
        };
        entry.write_line(&mut lines);
        lines.push('\n');
        last = Some(number);
        Ok(())
    };
    let values = values![int(after), i64::from(limit)];
    match tx.each("facts", ENTRIES_AFTER, values, see).await {
        Ok(()) | Err(Stop::End) => Ok(last.map(|last| (lines, last))),
        Err(Stop::Broken(seq, why)) => Err(StoreError::corrupt("facts", seq, why)),
        Err(Stop::Store(error)) => Err(error),
    }
}

/// The number of a row, and the row as an entry if it is one.
fn read<'a>(row: &'a [Value<'_>]) -> Result<(u64, Option<FactView<'a>>), StoreError> {
    let [Value::Int(seq), rest @ ..] = row else {
        return Err(StoreError::corrupt("facts", "?", "column seq is no number"));
    };
    let seq = u64::try_from(*seq)
        .map_err(|_| StoreError::corrupt("facts", seq, "column seq is negative"))?;
    Ok((seq, entry(seq, rest)))
}

fn entry<'a>(seq: u64, row: &'a [Value<'_>]) -> Option<FactView<'a>> {
    let [
        at,
        request_id,
        actor,
        verb,
        subject,
        detail,
        catalogue,
        prev,
        hash,
    ] = row
    else {
        return None;
    };
    Some(FactView {
        seq,
        at: match at {
            Value::Int(at) => Timestamp::from_ms(*at),
            Value::Null | Value::Text(_) | Value::Bytes(_) | Value::Foreign => return None,
        },
        request_id: optional(request_id)?,
        actor: optional(actor)??,
        verb: optional(verb)??,
        subject: optional(subject)?,
        detail: optional(detail)??,
        catalogue: optional(catalogue)?,
        prev: optional(prev)??.parse().ok()?,
        hash: optional(hash)??.parse().ok()?,
    })
}

/// `None`: it is no text.
fn optional<'a>(cell: &'a Value<'_>) -> Option<Option<&'a str>> {
    match cell {
        Value::Null => Some(None),
        Value::Text(text) => Some(Some(text)),
        Value::Int(_) | Value::Bytes(_) | Value::Foreign => None,
    }
}
