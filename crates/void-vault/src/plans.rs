//! What an import or an export would do, decided before anything is done: a pure function over what is stored and
//! what is in the folder. Printed, the plan is the dry run.
//!
//! Every stored file remembers the hash that the folder had when both last agreed (`base`). From that follows who
//! changed what since: one side alone is followed, both sides are a conflict that nobody overwrites. What could
//! not be read is never taken for gone.

mod exporting;
mod importing;
mod printing;
mod renames;

use std::collections::HashSet;

use crate::entries::EntryKind;
use crate::hashes::ContentHash;
use crate::paths::VaultPath;

pub use exporting::{ExportConflict, ExportPlan, WriteStep, plan_export};
pub use importing::plan_import;

/// Something that Void keeps with a place in the vault. `K` is how the caller knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEntry<K> {
    pub key: K,
    pub path: VaultPath,
    pub kind: EntryKind,
    /// What the folder's file held when it was last imported or exported; nothing if it never was.
    pub base: Option<ContentHash>,
    pub state: StoredState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredState {
    Present {
        /// What an export would write now.
        current: ContentHash,
    },
    /// Deleted in Void, which a folder that did not change does not undo.
    Deleted,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderFile {
    pub path: VaultPath,
    pub kind: EntryKind,
    pub hash: ContentHash,
}

/// What was found in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FolderState {
    pub files: Vec<FolderFile>,
    /// Files and folders that are there and were not read.
    pub unread: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateStep {
    pub file: FolderFile,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateStep<K> {
    pub key: K,
    /// Where the file is, after a rename.
    pub path: VaultPath,
    pub from: ContentHash,
    pub to: ContentHash,
}

/// The same file at another path. What it holds is another step, if that changed too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenameStep<K> {
    pub key: K,
    pub from: VaultPath,
    pub to: VaultPath,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnchangedStep<K> {
    pub key: K,
    pub path: VaultPath,
    /// The base to store where both sides came to hold the same without each other.
    pub new_base: Option<ContentHash>,
}

/// Imported before, and no longer in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoneStep<K> {
    pub key: K,
    pub path: VaultPath,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportConflict<K> {
    pub key: K,
    /// Where the file is, or was.
    pub path: VaultPath,
    pub reason: ConflictReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConflictReason {
    #[error("edited in Void and in the folder")]
    BothChanged,
    #[error("made in Void and in the folder")]
    BothCreated,
    #[error("deleted in Void and edited in the folder")]
    DeletedInVoid,
    #[error("edited in Void and gone from the folder")]
    GoneFromFolder,
    #[error("in the folder, and it cannot be read now")]
    Unread,
}

/// What an import would do. Each list is in the order of its paths. Whoever does it lets go first (`gone`), then
/// renames, then creates and updates: so no path is held twice on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportPlan<K> {
    pub create: Vec<CreateStep>,
    pub update: Vec<UpdateStep<K>>,
    pub rename: Vec<RenameStep<K>>,
    pub unchanged: Vec<UnchangedStep<K>>,
    pub gone: Vec<GoneStep<K>>,
    pub conflicts: Vec<ImportConflict<K>>,
}

impl<K> ImportPlan<K> {
    /// Whether nothing would change and nobody has to be asked.
    pub fn is_empty(&self) -> bool {
        self.create.is_empty()
            && self.update.is_empty()
            && self.rename.is_empty()
            && self.gone.is_empty()
            && self.conflicts.is_empty()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error("{0} is stored twice")]
    StoredTwice(VaultPath),
    #[error("{0} is in the folder twice")]
    FoundTwice(VaultPath),
}

/// Paths that are in the folder and were not read.
struct UnreadPaths<'a>(HashSet<&'a str>);

impl<'a> UnreadPaths<'a> {
    fn of(folder: &'a FolderState) -> Self {
        Self(folder.unread.iter().map(String::as_str).collect())
    }

    /// Whether the path, or a folder that leads to it, is one of them.
    fn has(&self, path: &VaultPath) -> bool {
        let path = path.as_str();
        let ends = path.match_indices('/').map(|(at, _)| at);
        let mut ways = ends.filter_map(|end| path.get(..end)).chain([path]);
        ways.any(|way| self.0.contains(way))
    }
}

#[cfg(test)]
mod tests;
