//! Copies of the database and of the folders of agents: on demand, and one a day by itself.

mod folders;

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use void_domain::actors::{Actor, Surface};
use void_domain::digests::Digest;
use void_domain::time::Timestamp;
use void_store::backups::Checked;
use void_store::{SqliteConfig, Store, StoreError, backups, facts as table, installation};

pub use self::folders::restore as restore_folders;
use crate::agent_processes::AgentProcesses;
use crate::clock::{Clock, is_ahead};
use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::outbox::Outbox;
use crate::quarantine::{self, ShutDown};
use crate::{random, witness};

/// Of each kind: copies made by hand do not push daily ones out.
const KEPT: usize = 14;
const DAILY: Duration = Duration::from_secs(24 * 60 * 60);
const PREFIX: &str = "void-";
const SUFFIX: &str = ".db";
const MANUAL: &str = "manual-";

/// Why a copy was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyKind {
    Daily,
    Manual,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    pub path: PathBuf,
    pub kind: CopyKind,
    pub made_at: Timestamp,
    pub bytes: u64,
}

#[derive(Debug, Clone)]
pub struct Made {
    pub copy: Copy,
    pub audit_seq: u64,
    pub audit_hash: Digest,
}

/// Whether the owner wants no copies at all.
pub fn are_switched_off(control: &Control) -> bool {
    control.safekeeping.backups_folder.is_none()
}

/// Makes a checked copy because somebody wants one now.
pub async fn create(control: &Control, ctx: &Ctx) -> Result<Made, StoreError> {
    make(control, ctx, CopyKind::Manual).await
}

/// Makes a checked copy and drops the oldest of its kind beyond those that are kept.
async fn make(control: &Control, ctx: &Ctx, kind: CopyKind) -> Result<Made, StoreError> {
    let Some(folder) = control.safekeeping.backups_folder.clone() else {
        return Err(StoreError::Unavailable(
            "backups are switched off".to_owned(),
        ));
    };
    if !control.store.is_sqlite() {
        return Err(StoreError::Unavailable(
            "this Void uses PostgreSQL; back it up with pg_dump".to_owned(),
        ));
    }
    private_folder(&folder)?;
    let _turn = control.safekeeping.backups_turn.lock().await;
    let at = control.clock.now();
    let (path, named_at) = free_name(&folder, kind, at);
    let Checked {
        audit_seq,
        audit_hash,
    } = backups::create(&control.store, &path).await?;
    copy_folders(control, &path).await?;
    let context = control.context(ctx);
    let detail = json!({"file": file_name(kind, named_at), "audit_seq": audit_seq, "audit_hash": audit_hash});
    control
        .store
        .write(move |tx| {
            Box::pin(
                async move { facts::audit(tx, &context, at, "backup.created", None, detail).await },
            )
        })
        .await?;
    for copy in list_in(&folder) {
        // Copies of earlier versions were as open as the umask let them be.
        let _ = fs::set_permissions(&copy.path, fs::Permissions::from_mode(0o600));
    }
    let of_this_kind = list_in(&folder)
        .into_iter()
        .filter(|copy| copy.kind == kind);
    for old in of_this_kind.skip(KEPT) {
        let _ = folders::remove_beside(&old.path);
        let _ = fs::remove_file(old.path);
    }
    let bytes = fs::metadata(&path).map(|file| file.len()).unwrap_or(0);
    Ok(Made {
        copy: Copy {
            path,
            kind,
            made_at: named_at,
            bytes,
        },
        audit_seq,
        audit_hash,
    })
}

/// The tree does not change meanwhile. A database without its folders is no whole copy, and goes again.
async fn copy_folders(control: &Control, copy: &Path) -> Result<(), StoreError> {
    let Some(processes) = AgentProcesses::of(control) else {
        return Ok(());
    };
    let _tree = control.in_force.tree.folder.lock().await;
    let (data, of) = (processes.data().to_owned(), copy.to_owned());
    let copying = tokio::task::spawn_blocking(move || folders::copy(&data, &of)).await;
    let copied = copying
        .map_err(std::io::Error::other)
        .and_then(|copied| copied);
    copied.map_err(|error| {
        let _ = fs::remove_file(copy);
        StoreError::ReadOnly(format!("the folders of agents were not copied: {error}"))
    })
}

/// The copies, newest first.
pub fn list(control: &Control) -> Vec<Copy> {
    control
        .safekeeping
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
            let (kind, made_at) = parse_file_name(entry.file_name().to_str()?)?;
            let bytes = entry.metadata().ok()?.len();
            Some(Copy {
                path: entry.path(),
                kind,
                made_at,
                bytes,
            })
        })
        .collect();
    copies.sort_by_key(|copy| std::cmp::Reverse(copy.made_at));
    copies
}

/// `void-2026-11-15T20-55-00.123Z.db`, `void-manual-…` if somebody asked for it: sorts by time, and has no
/// character that a shell minds.
fn file_name(kind: CopyKind, at: Timestamp) -> String {
    let kind = match kind {
        CopyKind::Daily => "",
        CopyKind::Manual => MANUAL,
    };
    format!("{PREFIX}{kind}{}{SUFFIX}", at.to_string().replace(':', "-"))
}

/// The folder of the copies, which nobody else may look into. One that is open to others is closed if
/// nothing but copies is in it; otherwise it is somebody else's folder, and no place for them.
fn private_folder(folder: &Path) -> Result<(), StoreError> {
    let problem =
        |error: std::io::Error| StoreError::ReadOnly(format!("{}: {error}", folder.display()));
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(problem)?;
    let is_open = |folder: &Path| -> std::io::Result<bool> {
        Ok(fs::metadata(folder)?.permissions().mode() & 0o077 != 0)
    };
    if !is_open(folder).map_err(problem)? {
        return Ok(());
    }
    let is_ours = |entry: fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        let is_copy = name.ends_with(SUFFIX) || name.ends_with(".partial");
        name.starts_with(PREFIX) && (is_copy || folders::is_ours(name))
    };
    let only_copies = fs::read_dir(folder)
        .map_err(problem)?
        .all(|entry| entry.is_ok_and(is_ours));
    if only_copies {
        let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    }
    if is_open(folder).map_err(problem)? {
        return Err(StoreError::ReadOnly(format!(
            "{} is open to others, and copies of the database are not for them: chmod 700 it, or name a \
             folder of their own as backups folder",
            folder.display()
        )));
    }
    Ok(())
}

/// A copy never takes the place of another one, also when both are of one millisecond.
fn free_name(folder: &Path, kind: CopyKind, mut at: Timestamp) -> (PathBuf, Timestamp) {
    loop {
        let path = folder.join(file_name(kind, at));
        if !path.exists() {
            return (path, at);
        }
        at = at.plus(Duration::from_millis(1));
    }
}

fn parse_file_name(name: &str) -> Option<(CopyKind, Timestamp)> {
    let stamp = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let (kind, stamp) = match stamp.strip_prefix(MANUAL) {
        Some(stamp) => (CopyKind::Manual, stamp),
        None => (CopyKind::Daily, stamp),
    };
    let (day, time) = stamp.split_once('T')?;
    let at = Timestamp::parse_rfc3339(&format!("{day}T{}", time.replace('-', ":")))?;
    Some((kind, at))
}

/// Makes today's copy if there is none.
pub(crate) async fn daily(control: &Control) {
    let Some(folder) = control
        .safekeeping
        .backups_folder
        .as_deref()
        .filter(|_| control.store.is_sqlite())
    else {
        return;
    };
    let now = control.clock.now();
    let newest = list_in(folder)
        .into_iter()
        .find(|copy| copy.kind == CopyKind::Daily)
        .map(|copy| copy.made_at);
    if newest.is_some_and(|made_at| !is_ahead(made_at, now) && now.since(made_at) < DAILY) {
        return;
    }
    let made = match control.system_ctx() {
        Ok(ctx) => make(control, &ctx, CopyKind::Daily).await,
        Err(error) => Err(error),
    };
    if let Err(error) = made {
        tracing::error!(%error, "the daily backup failed; it is tried again");
    }
}

/// Puts a copy in place of the database of a Void that is not running. Nothing that waited in the
/// copy comes back to life: the epoch is raised, what was open in it is cancelled or unknown, its
/// sessions are over and its credentials in quarantine.
pub async fn restore(
    copy: &Path,
    database: &Path,
    witness_file: &Path,
    clock: &Clock,
) -> Result<Restored, StoreError> {
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
    let context = AuditContext {
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
    let shut_down = store
        .write(move |tx| {
            Box::pin(async move {
                let detail = json!({"file": file, "audit_seq": checked.audit_seq});
                installation::raise_epoch(tx).await?;
                facts::audit(tx, &context, at, "backup.restored", None, detail).await?;
                quarantine::shut_down(tx, &context, at, quarantine::RESTORED, 0).await
            })
        })
        .await?;
    let head = store.read(|tx| Box::pin(table::head(tx))).await?;
    let epoch = store.read(|tx| Box::pin(installation::epoch(tx))).await?;
    if let Err(error) = witness::renew(witness_file, head, epoch) {
        tracing::warn!(%error, "the note beside the database could not be renewed; the next start does the same again");
    }
    Ok(Restored {
        audit_seq: checked.audit_seq,
        shut_down,
        replaced: replaced.exists().then_some(replaced),
    })
}

#[derive(Debug, Clone)]
pub struct Restored {
    pub audit_seq: u64,
    /// What became of what was open and live in the copy.
    pub shut_down: ShutDown,
    /// Where the database that was replaced went.
    pub replaced: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_read_back() {
        let at = Timestamp::from_ms(1_800_000_000_123);
        assert_eq!(
            file_name(CopyKind::Daily, at),
            "void-2027-01-15T08-00-00.123Z.db"
        );
        for kind in [CopyKind::Daily, CopyKind::Manual] {
            assert_eq!(parse_file_name(&file_name(kind, at)), Some((kind, at)));
        }
        for other in [
            "void.db",
            "void-.db",
            "void-2027.db",
            "void-manual-.db",
            "void-other-2027-01-15T08-00-00.123Z.db",
            "notes.txt",
            "void-2027-01-15T08-00-00.123Z.partial",
        ] {
            assert_eq!(parse_file_name(other), None, "{other}");
        }
    }
}
