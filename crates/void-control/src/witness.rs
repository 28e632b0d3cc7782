//! A note outside the database of how far the record had come.
//!
//! Written after the fact, so it is never ahead of the database, and it never goes back by itself. If
//! the database is behind it at a start, an older copy was put in place by hand: what waited in that
//! copy is void and its credentials are in quarantine, as after any restore, and the record says so.
//! The same if a database that has a record has no note beside it, or one that cannot be read: nobody can
//! say then that it is not an older copy. The first note is written before the first entry, whole or not at
//! all, so neither a first start nor a crash looks like that. On PostgreSQL another instance that is there
//! can say it: it refuses to go on with less than it has seen.
//! Under a running server the same look that writes the note notices it (`rollbacks`).

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use void_domain::digests::Digest;
use void_store::facts::{self as table, FactFilter};
use void_store::{StoreError, installation};

use crate::control::Control;
use crate::parts::witness::Witness;
use crate::private_files::{self, KeptFor};
use crate::{clock_acceptance, clock_notes, facts, instances, quarantine, rollbacks};

/// What a rollback on the record is filed under: it is found by it without reading the record.
pub const ROLLBACK_SUBJECT: &str = "rollback";
/// The entry that says that an older copy of the database is in place.
pub const ROLLED_BACK: &str = "store.rolled_back";

/// Compares the note with the database and raises the epoch if they disagree.
pub(crate) async fn compare(control: &Control) -> Result<(), StoreError> {
    clock_acceptance::compare(control).await?;
    clock_notes::write(control);
    let Some(path) = &control.safekeeping.witness_file else {
        return Ok(());
    };
    let read = control.store.read(|tx| Box::pin(table::head(tx)));
    let (head, head_hash) = read.await?;
    let found = WitnessFound::read(path);
    if let WitnessFound::Noted(noted) = found
        && (is_in_record(control, noted).await? || is_answered(control, noted).await?)
    {
        return Ok(());
    }
    if matches!(found, WitnessFound::Missing | WitnessFound::Unreadable) {
        if head == 0 {
            begin(path).await;
            return Ok(());
        }
        if is_vouched_for(control).await? {
            note(control).await;
            return Ok(());
        }
    }
    let why = found.why();
    tracing::warn!(
        record = head,
        "{why}: what waited in it is void, its credentials are in quarantine and everything is frozen; \
         void quarantine ls"
    );
    let (context, at) = (control.context(&control.system_ctx()?), control.clock.now());
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let epoch = installation::raise_epoch(tx).await?;
                let detail = found.detail(head, head_hash, epoch);
                let subject = Some(ROLLBACK_SUBJECT.to_owned());
                facts::audit(tx, &context, at, ROLLED_BACK, subject, detail).await?;
                quarantine::shut_down(tx, &context, at, why, found.seq()).await
            })
        })
        .await?;
    // At once, so that what the owner confirms now is not asked again after a crash.
    start_again(control).await;
    Ok(())
}

/// How many answers are looked through, from the newest back.
const ANSWERS_MAX: u32 = 100;
const OLDER: &str = "the database is older than the note beside it";
const MISSING: &str =
    "the database has a record and no note (witness.json) beside it, so it may be an older copy";
const UNREADABLE: &str =
    "the note beside the database (witness.json) cannot be read, so it may be an older copy";

/// What is beside the database.
#[derive(Debug, Clone, Copy)]
enum WitnessFound {
    Noted(Witness),
    Missing,
    Unreadable,
}

impl WitnessFound {
    const fn why(self) -> &'static str {
        match self {
            Self::Noted(_) => OLDER,
            Self::Missing => MISSING,
            Self::Unreadable => UNREADABLE,
        }
    }

    /// How far the record had come, as far as that is known.
    const fn seq(self) -> u64 {
        match self {
            Self::Noted(noted) => noted.audit_seq,
            Self::Missing | Self::Unreadable => 0,
        }
    }

    fn detail(self, head: u64, hash: Digest, epoch: u64) -> Value {
        match self {
            Self::Noted(noted) => json!({
                "noted_seq": noted.audit_seq, "noted_hash": noted.audit_hash,
                "found_seq": head, "found_hash": hash, "epoch": epoch,
            }),
            Self::Missing => {
                json!({"note": "missing", "found_seq": head, "found_hash": hash, "epoch": epoch})
            }
            Self::Unreadable => {
                json!({"note": "unreadable", "found_seq": head, "found_hash": hash, "epoch": epoch})
            }
        }
    }

    fn read(path: &Path) -> Self {
        match fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_or(Self::Unreadable, Self::Noted),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::Missing,
            Err(_) => Self::Unreadable,
        }
    }
}

async fn is_in_record(control: &Control, noted: Witness) -> Result<bool, StoreError> {
    let seq = noted.audit_seq;
    let found = control
        .store
        .read(move |tx| Box::pin(table::find(tx, seq)))
        .await?;
    Ok(seq == 0 || found.is_some_and(|entry| entry.hash == noted.audit_hash))
}

/// Whether another instance was there when the database went back from this note or from beyond it, and has
/// answered that. Of an answer from before the note was written nothing follows: it may have gone back again.
async fn is_answered(control: &Control, noted: Witness) -> Result<bool, StoreError> {
    let Some(epoch) = noted.epoch else {
        return Ok(false);
    };
    let filter = FactFilter {
        subject: Some(ROLLBACK_SUBJECT.to_owned()),
        verb: ROLLED_BACK.to_owned(),
        ..FactFilter::default()
    };
    let answers = control
        .store
        .read(move |tx| Box::pin(async move { table::list(tx, &filter, None, ANSWERS_MAX).await }))
        .await?;
    Ok(answers.items.iter().any(|answer| {
        let said: Value = serde_json::from_str(&answer.detail).unwrap_or_default();
        let number = |name: &str| said.get(name).and_then(Value::as_u64);
        number("epoch").is_some_and(|raised| raised > epoch)
            && number("noted_seq").is_some_and(|seq| seq >= noted.audit_seq)
    }))
}

/// Whether another instance is there, which has compared the database with what it knew.
async fn is_vouched_for(control: &Control) -> Result<bool, StoreError> {
    let this = control.clone();
    let others = control
        .store
        .read(move |tx| Box::pin(async move { instances::others(tx, &this).await }));
    Ok(!others.await?.is_empty())
}

/// The note of a record without entries, from which on its absence means something.
async fn begin(path: &Path) {
    let nothing = Witness {
        audit_seq: 0,
        audit_hash: Digest::ZERO,
        epoch: None,
    };
    let path = path.to_owned();
    let written = tokio::task::spawn_blocking(move || write(&path, &nothing)).await;
    if let Ok(Err(error)) = written {
        tracing::warn!(%error, "no note could be written beside the database; without one the next start takes it for an older copy");
    }
}

/// A copy was put in place and shut down on the record, so the next start has nothing to say about it.
pub(crate) fn renew(
    witness_file: &Path,
    (audit_seq, audit_hash): (u64, Digest),
    epoch: u64,
) -> std::io::Result<()> {
    let witness = Witness {
        audit_seq,
        audit_hash,
        epoch: Some(epoch),
    };
    write(witness_file, &witness)
}

/// Looks whether the database went back, and notes the newest audit head, whole or not at all.
pub(crate) async fn note(control: &Control) {
    let (audit_seq, audit_hash) = match control.store.look_back().await {
        Ok(head) => {
            rollbacks::resume_replaced(control).await;
            head
        }
        Err(StoreError::Replaced) => {
            rollbacks::halt_replaced(control);
            return;
        }
        Err(_) => return,
    };
    let Some(path) = control.safekeeping.witness_file.clone() else {
        return;
    };
    let noted = control.safekeeping.witnessed.get();
    if noted.is_some_and(|noted| noted.audit_seq >= audit_seq) {
        // Nothing new; and if it were older, the note would stay.
        return;
    }
    // Read after the head, so that no note claims to be from before an answer that it knows.
    let read = control.store.read(|tx| Box::pin(installation::epoch(tx)));
    let Ok(epoch) = read.await else {
        return;
    };
    let witness = Witness {
        audit_seq,
        audit_hash,
        epoch: Some(epoch),
    };
    match tokio::task::spawn_blocking(move || write(&path, &witness)).await {
        Ok(Ok(())) => control.safekeeping.witnessed.set(Some(witness)),
        Ok(Err(error)) => {
            tracing::warn!(%error, "the audit head could not be noted beside the database");
        }
        Err(_) => {}
    }
}

/// A rollback was answered on the record: the note goes on from there.
pub(crate) async fn start_again(control: &Control) {
    control.safekeeping.witnessed.set(None);
    note(control).await;
}

fn write(path: &Path, witness: &Witness) -> std::io::Result<()> {
    // A note that a power cut takes away would look like an older copy.
    private_files::replace(path, &serde_json::to_vec(witness)?, KeptFor::ForGood)
}
