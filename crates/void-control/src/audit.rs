//! Reading the record.

use void_domain::audit::AuditEntry;
use void_domain::digests::Digest;
use void_store::{Page, StoreError, audit};

use crate::control::Control;

pub use void_store::audit::Filter;

/// Entries that are read and checked at a time.
const VERIFIED_AT_ONCE: u32 = 500;

pub async fn list(
    control: &Control,
    filter: Filter,
    cursor: Option<u64>,
    limit: u32,
) -> Result<Page<AuditEntry>, StoreError> {
    control
        .store
        .read(move |tx| Box::pin(async move { audit::list(tx, &filter, cursor, limit).await }))
        .await
}

/// What a walk over the whole record found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walk {
    /// Entries that are as they were written.
    pub checked: u64,
    pub head: (u64, Digest),
    /// The first entry that is not, and what is wrong with it.
    pub broken: Option<(u64, &'static str)>,
}

/// Recomputes every hash from the first entry to the head. It shows what was changed behind Void's back;
/// whoever can rewrite the whole record and its head is found by a head that was kept elsewhere.
pub async fn verify(control: &Control) -> Result<Walk, StoreError> {
    let head = head(control).await?;
    let (mut seq, mut hash) = (0, Digest::ZERO);
    let broken = |seq, why| {
        Ok(Walk {
            checked: seq - 1,
            head,
            broken: Some((seq, why)),
        })
    };
    while seq < head.0 {
        let entries = after(control, seq, VERIFIED_AT_ONCE).await?;
        if entries.is_empty() {
            return broken(seq + 1, "it is missing");
        }
        for entry in entries {
            if entry.seq > head.0 {
                break;
            }
            if entry.seq != seq + 1 {
                return broken(seq + 1, "it is missing");
            }
            if entry.prev != hash {
                return broken(entry.seq, "it does not follow the entry before it");
            }
            if entry.computed_hash() != entry.hash {
                return broken(entry.seq, "it is not what was written");
            }
            (seq, hash) = (entry.seq, entry.hash);
        }
    }
    if hash != head.1 {
        return broken(seq.max(1), "it is not the entry that the head names");
    }
    Ok(Walk {
        checked: seq,
        head,
        broken: None,
    })
}

pub async fn find(control: &Control, seq: u64) -> Result<Option<AuditEntry>, StoreError> {
    control
        .store
        .read(move |tx| Box::pin(audit::find(tx, seq)))
        .await
}

/// Oldest first, after an entry: one piece of an export.
pub async fn after(control: &Control, seq: u64, limit: u32) -> Result<Vec<AuditEntry>, StoreError> {
    control
        .store
        .read(move |tx| Box::pin(audit::list_after(tx, seq, limit)))
        .await
}

pub async fn head(control: &Control) -> Result<(u64, Digest), StoreError> {
    control.store.read(|tx| Box::pin(audit::head(tx))).await
}
