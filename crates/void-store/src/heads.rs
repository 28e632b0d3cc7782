//! Where the record stands, and which of its numbers a listener may go on from.
//!
//! The writer reads this row (on PostgreSQL with a lock) before the first use case of a batch and
//! writes it back before the commit. In between, use cases advance the copy in memory; a use case
//! that is rolled back gets its advances rolled back with it.

use void_domain::digests::Digest;
use void_domain::events::ID_NUMBER_MAX;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, Value, int};

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
/// Nobody else writes until this transaction ends. For PostgreSQL only.
pub(crate) const LOCK: &str = "SELECT audit_seq, audit_hash, told_after, numbered_from, open_proposals, txid_current() AS txid FROM heads WHERE id = 1 FOR UPDATE";
pub(crate) const UPDATE: &str = "UPDATE heads SET audit_seq = $1, audit_hash = $2, told_after = $3, numbered_from = $4, open_proposals = $5 WHERE id = 1";

pub(crate) async fn load(tx: &mut Tx) -> Result<Heads, StoreError> {
    let row = tx.one("heads", COLUMNS, &[]).await?;
    heads(&row.ok_or_else(missing)?)
}

/// What [`LOCK`] answers. Beside the numbers: by which number the server knows the transaction, to ask what became of it.
pub(crate) fn locked(rows: &[Row]) -> Result<(Heads, i64), StoreError> {
    let row = rows.first().ok_or_else(missing)?;
    Ok((heads(row)?, row.int("txid")?))
}

pub(crate) fn missing() -> StoreError {
    StoreError::corrupt("heads", 1, "the row is missing")
}

/// Listeners are never further than the newest entry, and a numbering is one that ids can have: what somebody put in
/// beyond that would lose every listener again and again. A walk names it, and the next write puts it right.
fn heads(row: &Row) -> Result<Heads, StoreError> {
    let audit_seq = row.count("audit_seq")?;
    Ok(Heads {
        audit_seq,
        audit_hash: row.parsed("audit_hash", |text| text.parse().ok())?,
        told_after: row.count("told_after")?.min(audit_seq),
        numbered_from: row.count("numbered_from")?.min(ID_NUMBER_MAX),
        open_proposals: row.count("open_proposals")?,
    })
}

pub(crate) async fn save(tx: &mut Tx, heads: Heads) -> Result<(), StoreError> {
    match tx.execute(UPDATE, &update_values(heads)).await? {
        1 => Ok(()),
        _ => Err(missing()),
    }
}

/// The values of [`UPDATE`].
pub(crate) fn update_values(heads: Heads) -> [Value<'static>; 5] {
    [
        int(heads.audit_seq).into(),
        heads.audit_hash.into(),
        int(heads.told_after).into(),
        int(heads.numbered_from).into(),
        int(heads.open_proposals).into(),
    ]
}

/// How far a record that went back may have been told beyond what is known of it.
const TOLD_UNKNOWN_MAX: u64 = 1_000_000;

/// The record went back, and up to `lost_seq` at least listeners know numbers that now stand for something else. They
/// are told that what they know may be wrong, and go on from here.
///
/// A copy does not know which numberings followed it: what is put back a second time is numbered from what it was the
/// first time. `random` keeps them apart; listeners of any earlier numbering are strangers to this one.
pub fn renumber(tx: &mut Tx, lost_seq: u64, random: u32) -> Result<(), StoreError> {
    tx.change_heads(|heads| {
        heads.told_after = heads.audit_seq;
        let numbers = heads.audit_seq.max(lost_seq);
        heads.numbered_from = numbered_after(heads.numbered_from, numbers, random);
    })
}

/// Where a numbering begins after the one from `before`, in which `numbers` at least were given out.
fn numbered_after(before: u64, numbers: u64, random: u32) -> u64 {
    let after = |known: u64| {
        let from = known.saturating_add(TOLD_UNKNOWN_MAX + u64::from(random));
        (from < ID_NUMBER_MAX).then_some(from)
    };
    // A numbering beyond all ids is somebody's edit, and none that anybody was given.
    after(before.max(numbers))
        .or_else(|| after(numbers))
        .unwrap_or(ID_NUMBER_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_numbering_begins_beyond_what_is_known_and_where_no_other_one_did() {
        for (before, numbers, known) in [(0, 0, 0), (0, 16, 16), (1_000_016, 25, 1_000_016)] {
            let lowest = numbered_after(before, numbers, 0);
            assert_eq!(lowest, known + TOLD_UNKNOWN_MAX);
            for random in [1, 7, u32::MAX] {
                let other = numbered_after(before, numbers, random);
                assert_eq!(other, lowest + u64::from(random));
                assert!(other < ID_NUMBER_MAX);
            }
        }
        // What somebody put in is left behind.
        for edited in [ID_NUMBER_MAX, ID_NUMBER_MAX + 1, u64::MAX] {
            assert_eq!(numbered_after(edited, 16, 5), 16 + TOLD_UNKNOWN_MAX + 5);
        }
        assert_eq!(numbered_after(5, u64::MAX, 5), ID_NUMBER_MAX);
    }
}
