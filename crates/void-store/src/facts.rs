//! The table `facts`: the record. Appended to inside the transaction of what it records, never changed; an entry is the
//! event that its audience hears ([`crate::events`]) and the step of its proposal ([`steps::history`]).
//!
//! The record begins with entry 1 and ends at the stored head. A row outside was not written by Void: it is
//! no entry, no list shows it, and when an entry needs its place it is set aside (see [`strays`]). Whether it is as it
//! was written, [`chains`] tells.

use void_domain::budgets::LIST_BYTES_MAX;
use void_domain::digests::Digest;
use void_domain::events::Audience;
use void_domain::facts::{Fact, NewFact};
use void_domain::ids::RequesterId;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::queries::{Paged, Select};
use crate::tx::{Engine, Tx};
use crate::values::{Page, Row, Value, int, values};

macro_rules! columns {
    () => {
        "seq, at, request_id, actor, verb, subject, detail, catalogue, prev, hash, audience"
    };
}

const INSERT: &str = concat!(
    "INSERT INTO facts (",
    columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (seq) DO NOTHING"
);

macro_rules! up_to_head {
    () => {
        " seq BETWEEN 1 AND (SELECT audit_seq FROM heads WHERE id = 1) "
    };
}

pub mod chains;
pub mod steps;
pub mod strays;
#[cfg(test)]
mod tests;

/// Adds an entry at the head of the chain and moves the head. A foreign row in its place is set
/// aside first, so that nobody who can insert a row can stop the record, and with it the freeze.
///
/// In a flight entries are stored together, when it ends; if one of their places is taken the batch runs again, one
/// by one.
pub async fn append(tx: &mut Tx, at: Timestamp, draft: NewFact) -> Result<Fact, StoreError> {
    if let Engine::Flight(flight) = tx.engine() {
        return flight.append(at, draft);
    }
    let mut entry = sealed(tx, at, draft)?;
    if !insert(tx, &entry).await? {
        strays::set_aside(tx, at).await?;
        let heads = tx.heads()?;
        (entry.seq, entry.prev) = (heads.audit_seq + 1, heads.audit_hash);
        entry.hash = entry.computed_hash();
        if !insert(tx, &entry).await? {
            let what = "the place of the next entry is taken";
            return Err(StoreError::corrupt("facts", entry.seq, what));
        }
    }
    Ok(entry)
}

fn sealed(tx: &mut Tx, at: Timestamp, draft: NewFact) -> Result<Fact, StoreError> {
    let heads = tx.heads()?;
    Fact::seal(draft, heads.audit_seq + 1, at, heads.audit_hash)
        .map_err(|error| StoreError::Internal(error.to_string()))
}

/// Puts the entry into its place and moves the head there; false if the place is taken.
async fn insert(tx: &mut Tx, entry: &Fact) -> Result<bool, StoreError> {
    if tx.execute(INSERT, &row(entry)).await? == 0 {
        return Ok(false);
    }
    tx.change_heads(|heads| {
        heads.audit_seq = entry.seq;
        heads.audit_hash = entry.hash;
    })?;
    Ok(true)
}

/// In the order of [`columns`].
fn row(entry: &Fact) -> Vec<Value<'_>> {
    values![
        int(entry.seq),
        entry.at,
        entry.request_id.as_ref(),
        &entry.actor,
        &entry.verb,
        entry.subject.as_ref(),
        &entry.detail,
        entry.catalogue.as_ref(),
        entry.prev,
        entry.hash,
        entry.audience.map(audience_text),
    ]
    .to_vec()
}

/// Entries for the table as they are: a place that is taken is an error.
pub(crate) const INSERT_SEALED: &str = concat!(
    "INSERT INTO facts (",
    columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
);

/// The values of such a statement for each of them.
pub(crate) fn sealed_rows(entries: &[Fact]) -> Vec<Vec<Value<'_>>> {
    entries.iter().map(row).collect()
}

/// Number and hash of the newest entry; zero and zeros before the first.
pub async fn head(tx: &mut Tx) -> Result<(u64, Digest), StoreError> {
    let heads = crate::heads::load(tx).await?;
    Ok((heads.audit_seq, heads.audit_hash))
}

pub async fn find(tx: &mut Tx, seq: u64) -> Result<Option<Fact>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM facts WHERE seq = $1 AND",
        up_to_head!()
    );
    tx.one("facts", sql, values![int(seq)])
        .await?
        .as_ref()
        .map(entry)
        .transpose()
}

/// Which entries; empty is every.
#[derive(Debug, Clone, Default)]
pub struct FactFilter {
    pub subject: Option<String>,
    /// What the actor begins with.
    pub actor: String,
    /// What the verb begins with.
    pub verb: String,
}

/// Newest first, before the entry `cursor`.
pub async fn list(
    tx: &mut Tx,
    filter: &FactFilter,
    cursor: Option<u64>,
    limit: u32,
) -> Result<Page<Fact>, StoreError> {
    // One bound from above: of two, SQLite would walk from the head to the other one.
    let head = crate::heads::load(tx).await?.audit_seq;
    let before = cursor.map_or(head + 1, |cursor| cursor.min(head + 1));
    // A damaged row is named by a walk; the others are still read.
    listed(filter, before)
        .page(tx, limit, |row| Ok(entry(row).ok()))
        .await
}

/// Entries before this one, without what no filter asks for.
fn listed(filter: &FactFilter, before: u64) -> Paged<'_> {
    const ENTRIES: &str = concat!("SELECT ", columns!(), " FROM facts");
    Select::new("facts", ENTRIES)
        .only("seq >= 1")
        .only_with_some("subject = ?", filter.subject.as_deref())
        .only_with_some("substr(actor, 1, length(?)) = ?", said(&filter.actor))
        .only_with_some("substr(verb, 1, length(?)) = ?", said(&filter.verb))
        .newest_first("seq", Some(int(before)))
}

/// A beginning that something has to have: an empty one is no filter.
fn said(beginning: &str) -> Option<&str> {
    Some(beginning).filter(|text| !text.is_empty())
}

/// Oldest first, after the entry `after`: the order of an export. As many as `limit` and the bound of a list
/// in bytes allow; none only at the end.
pub async fn list_after(tx: &mut Tx, after: u64, limit: u32) -> Result<Vec<Fact>, StoreError> {
    let rows = page_after(tx, after, limit).await?;
    rows.iter().map(entry).collect()
}

async fn page_after(tx: &mut Tx, after: u64, limit: u32) -> Result<Vec<Row>, StoreError> {
    page_up_to(tx, after, limit, LIST_BYTES_MAX).await
}

/// Rows after the entry `after`, oldest first, as far as they fit into this many bytes. One bound from below: of two,
/// SQLite would walk from the first entry to the other one.
pub(crate) async fn page_up_to(
    tx: &mut Tx,
    after: u64,
    limit: u32,
    bytes_max: usize,
) -> Result<Vec<Row>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM facts WHERE seq > $1 AND seq <= (SELECT audit_seq FROM heads WHERE id = 1) ORDER BY seq LIMIT $2"
    );
    let values = values![int(after), i64::from(limit)];
    let listing = tx.list_up_to("facts", sql, values, bytes_max);
    Ok(listing.await?.rows)
}

pub(crate) fn entry(row: &Row) -> Result<Fact, StoreError> {
    Ok(Fact {
        seq: row.count("seq")?,
        at: row.time("at")?,
        request_id: row.opt_string("request_id")?,
        actor: row.string("actor")?,
        verb: row.string("verb")?,
        subject: row.opt_string("subject")?,
        detail: row.string("detail")?,
        catalogue: row.opt_string("catalogue")?,
        prev: row.parsed("prev", |text| text.parse().ok())?,
        hash: row.parsed("hash", |text| text.parse().ok())?,
        audience: row.opt_text("audience")?.and_then(parse_audience),
    })
}

fn audience_text(audience: Audience) -> String {
    match audience {
        Audience::Everyone => "everyone".to_owned(),
        Audience::People => "people".to_owned(),
        Audience::OwnerOnly => "owner".to_owned(),
        Audience::Requester(id) => id.to_string(),
    }
}

/// `None`: whom another version knows. Nobody is told what nobody here understands.
fn parse_audience(text: &str) -> Option<Audience> {
    match text {
        "everyone" => Some(Audience::Everyone),
        "people" => Some(Audience::People),
        "owner" => Some(Audience::OwnerOnly),
        id => id.parse::<RequesterId>().ok().map(Audience::Requester),
    }
}
