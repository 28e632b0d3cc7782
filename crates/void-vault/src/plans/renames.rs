//! Which missing entry is which new file: by the same bytes, or by a name that differs in case or normal form only.
//!
//! Only what can be one pair alone is a pair. Where several could be meant nothing is guessed: what is missing is
//! gone, and what is new is new.

use std::collections::BTreeMap;

use super::FolderFile;
use super::importing::{ByPath, PresentEntry};
use crate::hashes::ContentHash;

pub(super) struct Pair<'a, K> {
    pub(super) held: PresentEntry<'a, K>,
    pub(super) file: &'a FolderFile,
}

/// Candidates under one key: places in the lists of what is missing and of what is new.
#[derive(Default)]
struct Candidates {
    missing: Vec<usize>,
    new: Vec<usize>,
}

impl Candidates {
    fn only(&self) -> Option<(usize, usize)> {
        match (self.missing.as_slice(), self.new.as_slice()) {
            ([missing], [new]) => Some((*missing, *new)),
            _ => None,
        }
    }
}

/// The pairs, taken out of the new files, and what is missing after them.
pub(super) fn find<'a, K>(
    missing: Vec<PresentEntry<'a, K>>,
    found: &mut ByPath<'a, &'a FolderFile>,
) -> (Vec<Pair<'a, K>>, Vec<PresentEntry<'a, K>>) {
    let mut search = Search {
        missing: missing.into_iter().map(Some).collect(),
        new: found.values().map(|file| Some(*file)).collect(),
        pairs: Vec::new(),
    };
    search.pair(|held, _| hashes(held), |file| vec![file.hash]);
    let name_of = |path: &crate::paths::VaultPath| path.name().to_owned();
    search.pair(
        |held, at| {
            hashes(held)
                .into_iter()
                .map(|hash| (hash, name_of(at)))
                .collect()
        },
        |file| vec![(file.hash, name_of(&file.path))],
    );
    search.pair(|_, at| vec![at.folded()], |file| vec![file.path.folded()]);
    for pair in &search.pairs {
        found.remove(&pair.file.path);
    }
    let missing = search.missing.into_iter().flatten().collect();
    (search.pairs, missing)
}

/// What the bytes of an entry may be in the folder. An empty file says nothing about which one it is.
fn hashes<K>(held: &PresentEntry<'_, K>) -> Vec<ContentHash> {
    let empty = ContentHash::of(b"");
    let mut all: Vec<ContentHash> = held.entry.base.into_iter().chain([held.current]).collect();
    all.dedup();
    all.retain(|hash| *hash != empty);
    all
}

struct Search<'a, K> {
    missing: Vec<Option<PresentEntry<'a, K>>>,
    new: Vec<Option<&'a FolderFile>>,
    pairs: Vec<Pair<'a, K>>,
}

impl<'a, K> Search<'a, K> {
    /// Pairs what alone shares a key, and the kind.
    fn pair<T: Ord>(
        &mut self,
        of_missing: impl Fn(&PresentEntry<'a, K>, &'a crate::paths::VaultPath) -> Vec<T>,
        of_new: impl Fn(&FolderFile) -> Vec<T>,
    ) {
        let mut by_key: BTreeMap<_, Candidates> = BTreeMap::new();
        for (at, held) in self.missing.iter().enumerate() {
            let Some(held) = held else { continue };
            for key in of_missing(held, &held.entry.path) {
                let candidates = by_key.entry((held.entry.kind, key)).or_default();
                candidates.missing.push(at);
            }
        }
        for (at, file) in self.new.iter().enumerate() {
            let Some(file) = file else { continue };
            for key in of_new(file) {
                by_key.entry((file.kind, key)).or_default().new.push(at);
            }
        }
        for (missing, new) in by_key.values().filter_map(Candidates::only) {
            let (Some(held), Some(file)) = (self.missing.get_mut(missing), self.new.get_mut(new))
            else {
                continue;
            };
            // Another key may have paired one of them.
            if held.is_some()
                && file.is_some()
                && let (Some(held), Some(file)) = (held.take(), file.take())
            {
                self.pairs.push(Pair { held, file });
            }
        }
    }
}
