//! Copies of the database: on demand, and one a day by itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use void_domain::actors::{Actor, Surface};
use void_domain::digests::Digest;
use void_domain::proposals::Cancellation;
use void_domain::time::Timestamp;
use void_store::backups::Checked;
use void_store::{SqliteConfig, Store, StoreError, backups};

use crate::clock::Clock;
use crate::context::Ctx;
use crate::control::Control;
use crate::notifications::outbox::Outbox;
use crate::proposals::void_open;
use crate::random;
use crate::records::{self, Scribe};

const KEPT: usize = 14;
const DAILY: Duration = Duration::from_secs(24 * 60 * 60);
const PREFIX: &str = "void-";
const SUFFIX: &str = ".db";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    pub path: PathBuf,
    pub made_at: Timestamp,
    pub bytes: u64,
}

#[derive(Debug, Clone)]
pub struct Made {
    pub copy: Copy,
    pub audit_seq: u64,
    pub audit_hash: Digest,
}

/// Makes a checked copy and drops the oldest beyond those that are kept.
pub async fn create(control: &Control, ctx: &Ctx) -> Result<Made, StoreError> {
    let Some(folder) = control.backups_folder.clone() else {
        return Err(StoreError::Unavailable(
            "backups are switched off".to_owned(),
        ));
    };
    if !control.store.is_sqlite() {
        return Err(StoreError::Unavailable(
            "this Void uses PostgreSQL; back it up with pg_dump".to_owned(),
        ));
    }
    fs::create_dir_all(&folder)
        .map_err(|error| StoreError::ReadOnly(format!("{}: {error}", folder.display())))?;
    let _turn = control.backups_turn.lock().await;
    let at = control.clock.now();
    let (path, named_at) = free_name(&folder, at);
    let Checked {
        audit_seq,
        audit_hash,
    } = backups::create(&control.store, &path).await?;
    let scribe = control.scribe(ctx);
    let detail =
        json!({"file": file_name(named_at), "audit_seq": audit_seq, "audit_hash": audit_hash});
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                records::audit(tx, &scribe, at, "backup.created", None, detail).await
            })
        })
        .await?;
    for old in list_in(&folder).into_iter().skip(KEPT) {
        let _ = fs::remove_file(old.path);
    }
    let bytes = fs::metadata(&path).map(|file| file.len()).unwrap_or(0);
    Ok(Made {
        copy: Copy {
            path,
            made_at: named_at,
            bytes,
        },
        audit_seq,
        audit_hash,
    })
}

/// The copies, newest first.
pub fn list(control: &Control) -> Vec<Copy> {
    control
        .backups_folder
        .as_deref()
        .map(list_in)
        .unwrap_or_default()
}

/// The copies in a folder, newest first.
pub fn list_in(folder: &Path) -> Vec<Copy> {
    let mut copies: Vec<Copy> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let made_at = parse_file_name(entry.file_name().to_str()?)?;
            let bytes = entry.metadata().ok()?.len();
            Some(Copy {
                path: entry.path(),
                made_at,
                bytes,
            })
        })
        .collect();
    copies.sort_by_key(|copy| std::cmp::Reverse(copy.made_at));
    copies
}

/// `void-2026-11-15T20-55-00.123Z.db`: sorts by time, and has no character that a shell minds.
fn file_name(at: Timestamp) -> String {
    format!("{PREFIX}{}{SUFFIX}", at.to_string().replace(':', "-"))
}

/// A copy never takes the place of another one, also when both are of one millisecond.
fn free_name(folder: &Path, mut at: Timestamp) -> (PathBuf, Timestamp) {
    loop {
        let path = folder.join(file_name(at));
        if !path.exists() {
            return (path, at);
        }
        at = at.plus(Duration::from_millis(1));
    }
}

fn parse_file_name(name: &str) -> Option<Timestamp> {
    let stamp = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let (day, time) = stamp.split_once('T')?;
    Timestamp::parse_rfc3339(&format!("{day}T{}", time.replace('-', ":")))
}

/// Makes today's copy if there is none.
pub(crate) async fn daily(control: &Control) {
    let Some(folder) = control
        .backups_folder
        .as_deref()
        .filter(|_| control.store.is_sqlite())
    else {
        return;
    };
    let now = control.clock.now();
    let newest = list_in(folder).first().map(|copy| copy.made_at);
    if newest.is_some_and(|made_at| now.since(made_at) < DAILY) {
        return;
    }
    let made = match control.system_ctx() {
        Ok(ctx) => create(control, &ctx).await,
        Err(error) => Err(error),
    };
    if let Err(error) = made {
        tracing::error!(%error, "the daily backup failed; it is tried again");
    }
}

/// Puts a copy in place of the database of a Void that is not running. Nothing that waited in the
/// copy comes back to life: the epoch is raised, and what was open in it is cancelled or unknown.
pub async fn restore(copy: &Path, database: &Path, clock: &Clock) -> Result<Restored, StoreError> {
    let replaced = database.with_extension(format!("replaced-{}.db", clock.now().as_ms()));
    let checked = {
        let (copy, database, replaced) = (copy.to_owned(), database.to_owned(), replaced.clone());
        let task =
            tokio::task::spawn_blocking(move || backups::restore(&copy, &database, &replaced));
        task.await
            .map_err(|error| StoreError::Internal(error.to_string()))??
    };
    let store = Store::open_sqlite(SqliteConfig::new(database)).await?;
    let at = clock.now();
    let actor = Actor::Owner {
        surface: Surface::Cli,
    };
    let scribe = Scribe {
        actor: actor.to_string(),
        request_id: random::request_id(at)?,
        catalogue: None,
        // Messages about what an older copy knew are not sent from here.
        outbox: Outbox::default(),
    };
    let file = copy
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let voided = store
        .write(move |tx| {
            Box::pin(async move {
                let detail = json!({"file": file, "audit_seq": checked.audit_seq});
                records::audit(tx, &scribe, at, "backup.restored", None, detail).await?;
                void_open(tx, &scribe, at, Cancellation::Restored).await
            })
        })
        .await?;
    Ok(Restored {
        audit_seq: checked.audit_seq,
        voided,
        replaced: replaced.exists().then_some(replaced),
    })
}

#[derive(Debug, Clone)]
pub struct Restored {
    pub audit_seq: u64,
    /// How many open proposals of the copy were voided.
    pub voided: u64,
    /// Where the database that was replaced went.
    pub replaced: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_read_back() {
        let at = Timestamp::from_ms(1_800_000_000_123);
        assert_eq!(file_name(at), "void-2027-01-15T08-00-00.123Z.db");
        assert_eq!(parse_file_name(&file_name(at)), Some(at));
        for other in [
            "void.db",
            "void-.db",
            "void-2027.db",
            "notes.txt",
            "void-2027-01-15T08-00-00.123Z.partial",
        ] {
            assert_eq!(parse_file_name(other), None, "{other}");
        }
    }
}
