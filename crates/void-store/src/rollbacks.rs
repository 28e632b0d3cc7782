//! A database that goes back under a running server: an older copy or dump was put in its place.
//!
//! Each process remembers how far it has seen the record. The writer compares before the first use
//! case of every batch: a lower head, or another hash at a number that it knows, refuses the whole
//! batch, so that nothing of the older state is decided (I38). It goes on only after a repair
//! ([`crate::Store::repair`]) has said on the record what happened and voided what waited, or when the record
//! that it knows is there again.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::watch;
use void_domain::digests::Digest;

use crate::errors::StoreError;
use crate::facts;
use crate::heads::Heads;
use crate::tx::Tx;

/// The record as this process knows it, and the record that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rollback {
    pub seen_seq: u64,
    pub seen_hash: Digest,
    pub found_seq: u64,
    pub found_hash: Digest,
}

/// How far this process has seen the record. All clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct HighWater {
    seen: Arc<watch::Sender<Heads>>,
    /// What was noticed and is neither repaired nor undone yet.
    noticed: Arc<watch::Sender<Option<Rollback>>>,
    file: Option<OpenedFile>,
}

/// A SQLite file as it was when it was opened: under another number it is another file.
#[derive(Debug, Clone)]
struct OpenedFile {
    path: PathBuf,
    device_and_inode: (u64, u64),
}

impl HighWater {
    pub(crate) fn new(seen: Heads) -> Self {
        Self {
            seen: Arc::new(watch::Sender::new(seen)),
            noticed: Arc::new(watch::Sender::new(None)),
            file: None,
        }
    }

    /// Notices as well when the file is replaced by another one.
    pub(crate) fn of_file(seen: Heads, path: PathBuf) -> Self {
        let file = device_and_inode(&path).map(|device_and_inode| OpenedFile {
            path,
            device_and_inode,
        });
        Self {
            file,
            ..Self::new(seen)
        }
    }

    pub(crate) fn seen(&self) -> Heads {
        *self.seen.borrow()
    }

    pub(crate) fn noticed(&self) -> watch::Receiver<Option<Rollback>> {
        self.noticed.subscribe()
    }

    /// Whether nobody else writes: one process has a file.
    pub(crate) const fn is_alone(&self) -> bool {
        self.file.is_some()
    }

    /// Whether the path names another file than the one that is open.
    pub(crate) fn is_file_replaced(&self) -> bool {
        self.file
            .as_ref()
            .is_some_and(|file| device_and_inode(&file.path) != Some(file.device_and_inode))
    }

    /// Whether the database may be another one than was read before.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.noticed.borrow().is_some() || self.is_file_replaced()
    }

    /// Compares what a batch begins with; the rollback, if there was one.
    pub(crate) async fn check(
        &self,
        tx: &mut Tx,
        found: Heads,
    ) -> Result<Option<Rollback>, StoreError> {
        if self.is_file_replaced() {
            return Err(StoreError::Replaced);
        }
        let rollback = compare(tx, self.seen(), found, self.is_alone()).await?;
        self.noticed.send_if_modified(|known| {
            let changes = known.is_some() != rollback.is_some();
            *known = rollback;
            changes
        });
        Ok(rollback)
    }

    /// A batch was committed with these heads.
    pub(crate) fn committed(&self, heads: Heads) {
        self.seen.send_replace(heads);
    }

    /// Others have committed up to here; unless something was committed or repaired meanwhile.
    pub(crate) fn read(&self, before: Heads, found: Heads) {
        self.seen.send_if_modified(|seen| {
            let newer = *seen == before && found.audit_seq > seen.audit_seq;
            if newer {
                *seen = found;
            }
            newer
        });
    }

    /// So was the repair: what it found and wrote is the record from here on.
    pub(crate) fn repaired(&self, heads: Heads) {
        self.seen.send_replace(heads);
        self.noticed.send_replace(None);
    }
}

/// `seen` must have been taken before `found` was read. Who writes alone has written whatever is there.
pub(crate) async fn compare(
    tx: &mut Tx,
    seen: Heads,
    found: Heads,
    is_alone: bool,
) -> Result<Option<Rollback>, StoreError> {
    let at_seen = if found.audit_seq == seen.audit_seq {
        Some(found.audit_hash)
    } else if is_alone {
        None
    } else if found.audit_seq > seen.audit_seq && seen.audit_seq > 0 {
        // Another instance went on from there, or somebody put another history in place.
        facts::find(tx, seen.audit_seq)
            .await?
            .map(|entry| entry.hash)
    } else if seen.audit_seq == 0 {
        Some(seen.audit_hash)
    } else {
        None
    };
    let same = at_seen == Some(seen.audit_hash);
    Ok((!same).then_some(Rollback {
        seen_seq: seen.audit_seq,
        seen_hash: seen.audit_hash,
        found_seq: found.audit_seq,
        found_hash: found.audit_hash,
    }))
}

fn device_and_inode(path: &std::path::Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let found = std::fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}
