//! Where the record stands, and which of its numbers a listener may go on from.
//!
//! The writer reads this row (on PostgreSQL with a lock) before the first use case of a batch and
//! writes it back before the commit. In between, use cases advance the copy in memory; a use case
//! that is rolled back gets its advances rolled back with it.

use void_domain::digests::Digest;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, int, values};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heads {
    pub audit_seq: u64,
    pub audit_hash: Digest,
    /// Listeners are told of the entries after this one.
    pub told_after: u64,
    /// A number below it may be one of an earlier numbering: see [`void_domain::events::EventId`].
    pub numbered_from: u64,
    /// Proposals that wait for a decision.
    pub open_proposals: u64,
}

/// The newest entry that is known to be committed. A record that went back and was repaired is newer than the one that it
/// was, whatever its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Newest {
    pub numbered_from: u64,
    pub seq: u64,
}

impl Heads {
    pub(crate) const fn newest(&self) -> Newest {
        Newest {
            numbered_from: self.numbered_from,
            seq: self.audit_seq,
        }
    }
}

const COLUMNS: &str = "SELECT audit_seq, audit_hash, told_after, numbered_from, open_proposals FROM heads WHERE id = 1";
const COLUMNS_LOCKED: &str = "SELECT audit_seq, audit_hash, told_after, numbered_from, open_proposals, txid_current() AS txid FROM heads WHERE id = 1 FOR UPDATE";
const UPDATE: &str = "UPDATE heads SET audit_seq = $1, audit_hash = $2, told_after = $3, numbered_from = $4, open_proposals = $5 WHERE id = 1";

pub(crate) async fn load(tx: &mut Tx) -> Result<Heads, StoreError> {
    heads(&read(tx, COLUMNS).await?)
}

/// Nobody else writes until this transaction ends. Beside the numbers: by which number the server
/// knows the transaction, to ask what became of it. For PostgreSQL only.
pub(crate) async fn load_locked(tx: &mut Tx) -> Result<(Heads, i64), StoreError> {
    let row = read(tx, COLUMNS_LOCKED).await?;
    Ok((heads(&row)?, row.int("txid")?))
}

async fn read(tx: &mut Tx, sql: &'static str) -> Result<Row, StoreError> {
    tx.one("heads", sql, &[])
        .await?
        .ok_or_else(|| StoreError::corrupt("heads", 1, "the row is missing"))
}

fn heads(row: &Row) -> Result<Heads, StoreError> {
    Ok(Heads {
        audit_seq: row.count("audit_seq")?,
        audit_hash: row.parsed("audit_hash", |text| text.parse().ok())?,
        told_after: row.count("told_after")?,
        numbered_from: row.count("numbered_from")?,
        open_proposals: row.count("open_proposals")?,
    })
}

pub(crate) async fn save(tx: &mut Tx, heads: Heads) -> Result<(), StoreError> {
    let changed = tx
        .execute(
            UPDATE,
            values![
                int(heads.audit_seq),
                heads.audit_hash,
                int(heads.told_after),
                int(heads.numbered_from),
                int(heads.open_proposals)
            ],
        )
        .await?;
    if changed == 1 {
        Ok(())
    } else {
        Err(StoreError::corrupt("heads", 1, "the row is missing"))
    }
}

/// How far a record that went back may have been told beyond what is known of it.
const TOLD_UNKNOWN_MAX: u64 = 1_000_000;

/// The record went back, and up to `lost_seq` at least listeners know numbers that now stand for something else. They
/// are told that what they know may be wrong, and go on from here.
pub fn renumber(tx: &mut Tx, lost_seq: u64) -> Result<(), StoreError> {
    let heads = tx.heads()?;
    heads.told_after = heads.audit_seq;
    let known = heads.numbered_from.max(heads.audit_seq).max(lost_seq);
    heads.numbered_from = known.saturating_add(TOLD_UNKNOWN_MAX);
    Ok(())
}
