//! Where the chain and the event numbers stand.
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
    pub event_seq: u64,
    /// Proposals that wait for a decision.
    pub open_proposals: u64,
}

const COLUMNS: &str =
    "SELECT audit_seq, audit_hash, event_seq, open_proposals FROM heads WHERE id = 1";
const COLUMNS_LOCKED: &str = "SELECT audit_seq, audit_hash, event_seq, open_proposals, txid_current() FROM heads WHERE id = 1 FOR UPDATE";
const UPDATE: &str = "UPDATE heads SET audit_seq = $1, audit_hash = $2, event_seq = $3, open_proposals = $4 WHERE id = 1";

pub(crate) async fn load(tx: &mut Tx) -> Result<Heads, StoreError> {
    heads(&read(tx, COLUMNS).await?)
}

/// Nobody else writes until this transaction ends. Beside the numbers: by which number the server
/// knows the transaction, to ask what became of it. For PostgreSQL only.
pub(crate) async fn load_locked(tx: &mut Tx) -> Result<(Heads, i64), StoreError> {
    let row = read(tx, COLUMNS_LOCKED).await?;
    Ok((heads(&row)?, row.int(4)?))
}

async fn read(tx: &mut Tx, sql: &'static str) -> Result<Row, StoreError> {
    tx.one("heads", sql, &[])
        .await?
        .ok_or_else(|| StoreError::corrupt("heads", 1, "the row is missing"))
}

fn heads(row: &Row) -> Result<Heads, StoreError> {
    Ok(Heads {
        audit_seq: row.count(0)?,
        audit_hash: row.parsed(1, |text| text.parse().ok())?,
        event_seq: row.count(2)?,
        open_proposals: row.count(3)?,
    })
}

pub(crate) async fn save(tx: &mut Tx, heads: Heads) -> Result<(), StoreError> {
    let changed = tx
        .execute(
            UPDATE,
            values![
                int(heads.audit_seq),
                heads.audit_hash,
                int(heads.event_seq),
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
