//! What an import would do: first each file by its path, then renames, then what is left.

use std::collections::BTreeMap;

use super::renames::{self, Pair};
use super::{
    ConflictReason, CreateStep, FolderFile, FolderState, GoneStep, ImportConflict, ImportPlan,
    PlanError, RenameStep, StoredEntry, StoredState, UnchangedStep, UnreadPaths, UpdateStep,
};
use crate::hashes::ContentHash;
use crate::paths::VaultPath;

/// An entry that Void has, with what an export would write.
#[derive(Clone, Copy)]
pub(super) struct PresentEntry<'a, K> {
    pub(super) entry: &'a StoredEntry<K>,
    pub(super) current: ContentHash,
}

impl<K> PresentEntry<'_, K> {
    fn is_edited(&self) -> bool {
        self.entry.base != Some(self.current)
    }
}

pub(super) type ByPath<'a, T> = BTreeMap<&'a VaultPath, T>;

/// The files of the folder by their paths.
pub(super) fn found_by_path(folder: &FolderState) -> Result<ByPath<'_, &FolderFile>, PlanError> {
    let mut found = BTreeMap::new();
    for file in &folder.files {
        if found.insert(&file.path, file).is_some() {
            return Err(PlanError::FoundTwice(file.path.clone()));
        }
    }
    Ok(found)
}

/// What Void has by its path; what was deleted there stands aside.
pub(super) fn present_by_path<K>(
    stored: &[StoredEntry<K>],
) -> Result<ByPath<'_, PresentEntry<'_, K>>, PlanError> {
    let mut present = BTreeMap::new();
    for entry in stored {
        let StoredState::Present { current } = entry.state else {
            continue;
        };
        let held = PresentEntry { entry, current };
        if present.insert(&entry.path, held).is_some() {
            return Err(PlanError::StoredTwice(entry.path.clone()));
        }
    }
    Ok(present)
}

/// What has to be done so that Void has what the folder has. Nothing is lost by doing it: what changed on both
/// sides is a conflict and stays as it is on both.
pub fn plan_import<K: Clone>(
    stored: &[StoredEntry<K>],
    folder: &FolderState,
) -> Result<ImportPlan<K>, PlanError> {
    let mut found = found_by_path(folder)?;
    let mut missing = Vec::new();
    let mut plan = ImportPlan {
        create: Vec::new(),
        update: Vec::new(),
        rename: Vec::new(),
        unchanged: Vec::new(),
        gone: Vec::new(),
        conflicts: Vec::new(),
    };
    for (path, held) in present_by_path(stored)? {
        match found.remove(path) {
            Some(file) => judge(&mut plan, held, file),
            None => missing.push(held),
        }
    }
    deleted(&mut plan, stored, &mut found);
    // What is there and cannot be read was not renamed.
    let unread = UnreadPaths::of(folder);
    let (kept, missing) = missing
        .into_iter()
        .partition(|held| unread.has(&held.entry.path));
    let (pairs, missing) = renames::find(missing, &mut found);
    for Pair { held, file } in pairs {
        plan.rename.push(RenameStep {
            key: held.entry.key.clone(),
            from: held.entry.path.clone(),
            to: file.path.clone(),
        });
        judge(&mut plan, held, file);
    }
    leave(&mut plan, missing, kept);
    let created = found.into_values().cloned();
    plan.create.extend(created.map(|file| CreateStep { file }));
    sort(&mut plan);
    Ok(plan)
}

/// A stored entry and its file.
fn judge<K: Clone>(plan: &mut ImportPlan<K>, held: PresentEntry<'_, K>, file: &FolderFile) {
    let PresentEntry { entry, current } = held;
    let (key, path) = (entry.key.clone(), file.path.clone());
    if file.hash == current || entry.base == Some(file.hash) {
        let is_news = file.hash == current && entry.base != Some(current);
        let new_base = is_news.then_some(current);
        plan.unchanged.push(UnchangedStep {
            key,
            path,
            new_base,
        });
        return;
    }
    let Some(base) = entry.base else {
        let reason = ConflictReason::BothCreated;
        plan.conflicts.push(ImportConflict { key, path, reason });
        return;
    };
    if held.is_edited() {
        let reason = ConflictReason::BothChanged;
        plan.conflicts.push(ImportConflict { key, path, reason });
    } else if entry.kind == file.kind {
        let (from, to) = (base, file.hash);
        plan.update.push(UpdateStep {
            key,
            path,
            from,
            to,
        });
    } else {
        // A page that says now that it is a task is another thing.
        plan.gone.push(GoneStep { key, path });
        let file = file.clone();
        plan.create.push(CreateStep { file });
    }
}

/// Files of what was deleted in Void: as they were they stay deleted, otherwise somebody has to say.
fn deleted<K: Clone>(
    plan: &mut ImportPlan<K>,
    stored: &[StoredEntry<K>],
    found: &mut ByPath<'_, &FolderFile>,
) {
    let mut by_path: ByPath<'_, Vec<&StoredEntry<K>>> = BTreeMap::new();
    for entry in stored
        .iter()
        .filter(|entry| entry.state == StoredState::Deleted)
    {
        by_path.entry(&entry.path).or_default().push(entry);
    }
    for (path, entries) in by_path {
        let Some(file) = found.remove(path) else {
            continue;
        };
        let same = entries.iter().find(|entry| entry.base == Some(file.hash));
        let (key, path) = match same.or(entries.last()) {
            Some(entry) => (entry.key.clone(), path.clone()),
            None => continue,
        };
        if same.is_some() {
            let new_base = None;
            plan.unchanged.push(UnchangedStep {
                key,
                path,
                new_base,
            });
        } else {
            let reason = ConflictReason::DeletedInVoid;
            plan.conflicts.push(ImportConflict { key, path, reason });
        }
    }
}

/// What has no file: gone where the folder had it and Void did not touch it since.
fn leave<K: Clone>(
    plan: &mut ImportPlan<K>,
    missing: Vec<PresentEntry<'_, K>>,
    kept: Vec<PresentEntry<'_, K>>,
) {
    let conflict = |held: &PresentEntry<'_, K>, reason| ImportConflict {
        key: held.entry.key.clone(),
        path: held.entry.path.clone(),
        reason,
    };
    for held in &kept {
        plan.conflicts.push(conflict(held, ConflictReason::Unread));
    }
    for held in &missing {
        if held.entry.base.is_none() {
            // Void made it, and no folder ever had it: nothing to say.
            continue;
        }
        if held.is_edited() {
            plan.conflicts
                .push(conflict(held, ConflictReason::GoneFromFolder));
            continue;
        }
        plan.gone.push(GoneStep {
            key: held.entry.key.clone(),
            path: held.entry.path.clone(),
        });
    }
}

fn sort<K>(plan: &mut ImportPlan<K>) {
    plan.create
        .sort_by(|one, other| one.file.path.cmp(&other.file.path));
    plan.update.sort_by(|one, other| one.path.cmp(&other.path));
    plan.rename.sort_by(|one, other| one.to.cmp(&other.to));
    plan.unchanged
        .sort_by(|one, other| one.path.cmp(&other.path));
    plan.gone.sort_by(|one, other| one.path.cmp(&other.path));
    plan.conflicts
        .sort_by(|one, other| one.path.cmp(&other.path));
}
