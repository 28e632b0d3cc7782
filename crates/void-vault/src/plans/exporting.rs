//! What an export would write. A file that changed since Void last saw it is never overwritten, and nothing is
//! ever removed from a folder.

use std::collections::BTreeSet;

use super::importing::{found_by_path, present_by_path};
use super::{FolderState, PlanError, StoredEntry, UnreadPaths};
use crate::hashes::ContentHash;
use crate::paths::VaultPath;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteStep<K> {
    pub key: K,
    pub path: VaultPath,
    /// What the file holds that is replaced; nothing where none is.
    pub replaces: Option<ContentHash>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExportConflict {
    #[error("the file was changed since Void last saw it")]
    ChangedInFolder,
    #[error("a file with another spelling of this name is there")]
    Twin,
    #[error("what is there cannot be read")]
    Unread,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportPlan<K> {
    pub write: Vec<WriteStep<K>>,
    /// What the folder has as Void has it.
    pub unchanged: Vec<VaultPath>,
    pub conflicts: Vec<(VaultPath, ExportConflict)>,
}

/// What has to be written so that the folder has what Void has.
pub fn plan_export<K: Clone>(
    stored: &[StoredEntry<K>],
    folder: &FolderState,
) -> Result<ExportPlan<K>, PlanError> {
    let found = found_by_path(folder)?;
    let unread = UnreadPaths::of(folder);
    let folded: BTreeSet<String> = found.keys().map(|path| path.folded()).collect();
    let mut plan = ExportPlan {
        write: Vec::new(),
        unchanged: Vec::new(),
        conflicts: Vec::new(),
    };
    for (path, held) in present_by_path(stored)? {
        let file = found.get(path);
        let hash = file.map(|file| file.hash);
        if hash == Some(held.current) {
            plan.unchanged.push(path.clone());
            continue;
        }
        let conflict = match hash {
            Some(hash) if held.entry.base == Some(hash) => None,
            Some(_) => Some(ExportConflict::ChangedInFolder),
            None if unread.has(path) => Some(ExportConflict::Unread),
            None if folded.contains(&path.folded()) => Some(ExportConflict::Twin),
            None => None,
        };
        match conflict {
            Some(conflict) => plan.conflicts.push((path.clone(), conflict)),
            None => plan.write.push(WriteStep {
                key: held.entry.key.clone(),
                path: path.clone(),
                replaces: hash,
            }),
        }
    }
    Ok(plan)
}
