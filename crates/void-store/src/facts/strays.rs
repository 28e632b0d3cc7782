//! Rows in the table `facts` beyond the stored head. Void never writes one: the head moves in the same
//! transaction. Somebody with access to the database put it there, or moved the head back.
//!
//! They are moved whole into `audit_strays`, never deleted, and an entry of the record says so.

use serde_json::{Value, json};
use void_domain::facts::{Fact, NewFact};
use void_domain::time::Timestamp;

use super::{insert, sealed};
use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{int, values};

/// How many are moved in one go; the rest follows when an entry needs its place.
pub const SET_ASIDE_AT_ONCE_MAX: u32 = 10_000;
pub const VERB: &str = "audit.strays_set_aside";

const FOUND: &str = "SELECT count(*) AS found_rows, min(seq) AS first, max(seq) AS last FROM (SELECT seq FROM facts WHERE seq > $1 ORDER BY seq LIMIT $2) AS found";
/// Whatever a row holds fits there, however often its number was set aside before: one that cannot be kept would stop
/// the record.
const KEEP: &str = "INSERT INTO audit_strays (set_aside_at, noted_by, seq, at, request_id, actor, verb, subject, detail, catalogue, prev, hash) \
     SELECT CAST($4 AS BIGINT), CAST($1 AS BIGINT), seq, COALESCE(CAST(at AS BIGINT), 0), CAST(request_id AS TEXT), COALESCE(CAST(actor AS TEXT), ''), \
     COALESCE(CAST(verb AS TEXT), ''), CAST(subject AS TEXT), COALESCE(CAST(detail AS TEXT), ''), CAST(catalogue AS TEXT), \
     COALESCE(CAST(prev AS TEXT), ''), COALESCE(CAST(hash AS TEXT), '') FROM facts WHERE seq > $2 AND seq <= $3";
const REMOVE: &str = "DELETE FROM facts WHERE seq > $1 AND seq <= $2";

/// Rows beyond the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strays {
    pub rows: u64,
    pub first: u64,
    pub last: u64,
}

/// What stands beyond the stored head now, counted up to [`SET_ASIDE_AT_ONCE_MAX`].
pub async fn find(tx: &mut Tx) -> Result<Option<Strays>, StoreError> {
    let head = crate::heads::load(tx).await?.audit_seq;
    beyond(tx, head).await
}

/// Whether a row stands before the first entry, where the schema allows none.
pub async fn is_any_before_first(tx: &mut Tx) -> Result<bool, StoreError> {
    let sql = "SELECT seq FROM facts WHERE seq < 1 LIMIT 1";
    Ok(tx.one("facts", sql, &[]).await?.is_some())
}

/// How many rows were ever set aside.
pub async fn count_set_aside(tx: &mut Tx) -> Result<u64, StoreError> {
    let sql = "SELECT count(*) AS kept FROM audit_strays";
    let row = tx.one("audit_strays", sql, &[]).await?;
    row.map_or(Ok(0), |row| row.count("kept"))
}

/// Moves what stands beyond the head of this batch out of the way and records that.
pub async fn set_aside(tx: &mut Tx, at: Timestamp) -> Result<Option<Fact>, StoreError> {
    let head = tx.heads()?.audit_seq;
    let Some(strays) = beyond(tx, head).await? else {
        return Ok(None);
    };
    let Strays { rows, first, last } = strays;
    tracing::error!(
        rows,
        first,
        last,
        "the record had rows beyond its head that Void did not write; they are kept in audit_strays"
    );
    let kept = values![int(head + 1), int(head), int(last), at];
    tx.execute(KEEP, kept).await?;
    tx.execute(REMOVE, values![int(head), int(last)]).await?;
    let draft = NewFact {
        request_id: None,
        actor: "system".to_owned(),
        verb: VERB,
        subject: None,
        detail: json!({"rows": rows, "first": number(first), "last": number(last)}),
        catalogue: None,
        audience: None,
    };
    let notice = sealed(tx, at, draft)?;
    Ok(insert(tx, &notice).await?.then_some(notice))
}

/// A number as an entry can carry it: past the largest whole number of JSON, which no entry of Void's ever
/// has, it is text. Whoever chose it must not stop the record with it.
fn number(seq: u64) -> Value {
    const WHOLE_MAX: u64 = (1 << 53) - 1;
    if seq <= WHOLE_MAX {
        json!(seq)
    } else {
        json!(seq.to_string())
    }
}

async fn beyond(tx: &mut Tx, head: u64) -> Result<Option<Strays>, StoreError> {
    let limit = i64::from(SET_ASIDE_AT_ONCE_MAX);
    let found = tx.one("facts", FOUND, values![int(head), limit]).await?;
    match found {
        Some(row) if row.count("found_rows")? > 0 => Ok(Some(Strays {
            rows: row.count("found_rows")?,
            first: row.count("first")?,
            last: row.count("last")?,
        })),
        _ => Ok(None),
    }
}
