//! A note outside the database of how far the record had come.
//!
//! Written after the fact, so it is never ahead of the database. If the database is behind it at a
//! start, an older copy was put in place by hand: what waited in that copy is void, as after any
//! restore, and the record says so.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::json;
use void_domain::digests::Digest;
use void_domain::proposals::Cancellation;
use void_store::{StoreError, audit};

use crate::control::Control;
use crate::proposals::void_open;
use crate::records;

#[derive(Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct Witness {
    audit_seq: u64,
    audit_hash: Digest,
}

/// Compares the note with the database and raises the epoch if they disagree.
pub(crate) async fn compare(control: &Control) -> Result<(), StoreError> {
    if let Some(newest) = newest_entry(control).await? {
        control.clock.not_before(newest.at);
    }
    let Some(path) = &control.witness_file else {
        return Ok(());
    };
    let noted: Witness = match fs::read(path) {
        Err(_) => return Ok(()),
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(noted) => noted,
            // Half-written by a crash: it says nothing.
            Err(_) => return Ok(()),
        },
    };
    let seq = noted.audit_seq;
    let found = control
        .store
        .read(move |tx| Box::pin(audit::find(tx, seq)))
        .await?;
    if seq == 0 || found.is_some_and(|entry| entry.hash == noted.audit_hash) {
        return Ok(());
    }
    tracing::warn!(
        noted = seq,
        "the database is older than the note beside it: what waited in it is void"
    );
    let (scribe, at) = (control.scribe(&control.system_ctx()?), control.clock.now());
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let detail = json!({"noted_seq": noted.audit_seq, "noted_hash": noted.audit_hash});
                records::audit(tx, &scribe, at, "store.rolled_back", None, detail).await?;
                void_open(tx, &scribe, at, Cancellation::Restored).await
            })
        })
        .await?;
    Ok(())
}

async fn newest_entry(
    control: &Control,
) -> Result<Option<void_domain::audit::AuditEntry>, StoreError> {
    let read = control.store.read(|tx| {
        Box::pin(async move {
            let (seq, _) = audit::head(tx).await?;
            audit::find(tx, seq).await
        })
    });
    read.await
}

/// Notes the newest audit head, whole or not at all.
pub(crate) async fn note(control: &Control) {
    let Some(path) = control.witness_file.clone() else {
        return;
    };
    let head = control.store.read(|tx| Box::pin(audit::head(tx))).await;
    let Ok((audit_seq, audit_hash)) = head else {
        return;
    };
    let written = tokio::task::spawn_blocking(move || {
        write(
            &path,
            &Witness {
                audit_seq,
                audit_hash,
            },
        )
    })
    .await;
    if let Ok(Err(error)) = written {
        tracing::warn!(%error, "the audit head could not be noted beside the database");
    }
}

fn write(path: &Path, witness: &Witness) -> std::io::Result<()> {
    let partial = path.with_extension("partial");
    let mut file = fs::File::create(&partial)?;
    file.write_all(serde_json::to_string(witness)?.as_bytes())?;
    fs::rename(&partial, path)
}
