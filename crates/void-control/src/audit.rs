//! Reading the record.

use void_domain::audit::AuditEntry;
use void_domain::digests::Digest;
use void_store::{Page, StoreError, audit};

use crate::control::Control;

pub async fn list(
    control: &Control,
    subject: Option<String>,
    cursor: Option<u64>,
    limit: u32,
) -> Result<Page<AuditEntry>, StoreError> {
    control
        .store
        .read(move |tx| {
            Box::pin(async move { audit::list(tx, subject.as_deref(), cursor, limit).await })
        })
        .await
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
