//! Which file a link means: found by its path, then by the end of its path, then by title or alias.
//!
//! A name that two files have means neither: the link stays text, and whoever imports says so. Names are compared
//! as they are written first, and only then as a file system without case would. A look-up takes the logarithm of
//! the vault's size, however many files share a name.

use std::collections::HashMap;
use std::fmt;

use unicode_normalization::UnicodeNormalization;

use crate::limits::CANDIDATES_MAX;
use crate::links::{Link, Links};
use crate::paths::{VaultPath, folded};

/// A file that can be linked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkableFile {
    pub path: VaultPath,
    /// Whether it is found without its extension.
    pub is_note: bool,
    /// A note's title and aliases.
    pub names: Vec<String>,
}

/// What a link leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkTarget {
    File(VaultPath),
    /// A heading of the note itself.
    SameNote,
    /// No file has that name.
    Missing,
    /// The path leads out of the vault.
    Outside,
    Ambiguous {
        /// At most `CANDIDATES_MAX` of them.
        candidates: Vec<VaultPath>,
        count: usize,
    },
}

/// As a report says it behind the link.
impl fmt::Display for LinkTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{path}"),
            Self::SameNote => f.write_str("this note"),
            Self::Missing => f.write_str("no file has this name"),
            Self::Outside => f.write_str("the path leads out of the vault"),
            Self::Ambiguous { candidates, count } => {
                let shown: Vec<String> = candidates.iter().map(ToString::to_string).collect();
                write!(f, "{count} files have this name: {}", shown.join(", "))?;
                if *count > shown.len() {
                    f.write_str(", …")?;
                }
                Ok(())
            }
        }
    }
}

/// The links of one note with what they lead to. Those that lead to no one file stay text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedLinks {
    pub links: Vec<(Link, LinkTarget)>,
    /// There are more than are read.
    pub are_cut: bool,
}

/// The files of a vault by everything that names them.
#[derive(Debug)]
pub struct LinkIndex {
    files: Vec<LinkableFile>,
    written: PathTable,
    folded: PathTable,
    /// By folded title or alias.
    names: HashMap<String, Vec<usize>>,
}

impl LinkIndex {
    pub fn new(files: impl IntoIterator<Item = LinkableFile>) -> Self {
        let mut files: Vec<LinkableFile> = files.into_iter().collect();
        files.sort_by(|left, right| left.path.cmp(&right.path));
        let mut names: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, file) in files.iter().enumerate() {
            for name in &file.names {
                let of_name = names.entry(folded(name.trim())).or_default();
                if of_name.last() != Some(&at) {
                    of_name.push(at);
                }
            }
        }
        Self {
            written: PathTable::new(&files, normalized),
            folded: PathTable::new(&files, folded),
            files,
            names,
        }
    }

    /// What the links of this note lead to.
    pub fn resolve_all(&self, from: &VaultPath, text: &str) -> ResolvedLinks {
        let Links { found, are_cut } = Links::of(text);
        let links = found.into_iter().map(|link| {
            let target = self.resolve(from, &link);
            (link, target)
        });
        ResolvedLinks {
            links: links.collect(),
            are_cut,
        }
    }

    /// What a link in this note leads to.
    pub fn resolve(&self, from: &VaultPath, link: &Link) -> LinkTarget {
        let target = link.target.trim();
        if target.is_empty() {
            return LinkTarget::SameNote;
        }
        let target = target.strip_suffix('/').unwrap_or(target);
        if let Some(from_root) = target.strip_prefix('/') {
            return self.at_path(None, from_root);
        }
        let starts = |prefix: &str| target.starts_with(prefix);
        if starts("./") || starts("../") {
            return self.at_path(from.folder(), target);
        }
        if link.form.is_relative() {
            let near = self.at_path(from.folder(), target);
            if near != LinkTarget::Missing {
                return near;
            }
        }
        self.by_path(target)
            .or_else(|| self.by_path_end(target))
            .or_else(|| self.by_name(target))
            .unwrap_or(LinkTarget::Missing)
    }

    /// The file at exactly this path from a folder.
    fn at_path(&self, folder: Option<&str>, target: &str) -> LinkTarget {
        let mut names: Vec<&str> = folder
            .into_iter()
            .flat_map(|path| path.split('/'))
            .collect();
        for name in target.split('/') {
            match name {
                "." => {}
                ".." => {
                    if names.pop().is_none() {
                        return LinkTarget::Outside;
                    }
                }
                name => names.push(name),
            }
        }
        self.by_path(&names.join("/"))
            .unwrap_or(LinkTarget::Missing)
    }

    fn by_path(&self, target: &str) -> Option<LinkTarget> {
        let tables = [
            (&self.written, normalized(target)),
            (&self.folded, folded(target)),
        ];
        tables.into_iter().find_map(|(table, target)| {
            let key = key(&target);
            self.one_of(table.full.exactly(&key))
                .or_else(|| self.one_of(table.stems.exactly(&key)))
        })
    }

    fn by_path_end(&self, target: &str) -> Option<LinkTarget> {
        let tables = [
            (&self.written, normalized(target)),
            (&self.folded, folded(target)),
        ];
        tables.into_iter().find_map(|(table, target)| {
            let key = key(&target);
            self.one_of(table.full.ending(&key))
                .or_else(|| self.one_of(table.stems.ending(&key)))
        })
    }

    fn by_name(&self, target: &str) -> Option<LinkTarget> {
        let found = self.names.get(&folded(target))?;
        self.target(found.iter().copied(), found.len())
    }

    fn one_of(&self, found: &[(String, usize)]) -> Option<LinkTarget> {
        self.target(found.iter().map(|(_, at)| *at), found.len())
    }

    fn target(&self, found: impl Iterator<Item = usize>, count: usize) -> Option<LinkTarget> {
        let paths = found.filter_map(|at| Some(self.files.get(at)?.path.clone()));
        let mut candidates: Vec<VaultPath> = paths.take(CANDIDATES_MAX).collect();
        match count {
            0 => None,
            1 => candidates.pop().map(LinkTarget::File),
            _ => Some(LinkTarget::Ambiguous { candidates, count }),
        }
    }
}

/// Two spellings of one name as bytes are one name to whoever types it.
fn normalized(text: &str) -> String {
    text.nfc().collect()
}

#[derive(Debug)]
struct PathTable {
    /// With the extension.
    full: SortedKeys,
    /// Notes without it.
    stems: SortedKeys,
}

impl PathTable {
    fn new(files: &[LinkableFile], spell: impl Fn(&str) -> String) -> Self {
        let mut full = Vec::with_capacity(files.len());
        let mut stems = Vec::new();
        for (at, file) in files.iter().enumerate() {
            full.push((key(&spell(file.path.as_str())), at));
            if let Some(stem) = file.path.without_extension().filter(|_| file.is_note) {
                stems.push((key(&spell(stem)), at));
            }
        }
        Self {
            full: SortedKeys::new(full),
            stems: SortedKeys::new(stems),
        }
    }
}

/// The names of a path from the last to the first, so that paths with the same end stand together.
fn key(path: &str) -> String {
    let mut key = String::with_capacity(path.len() + 1);
    for name in path.rsplit('/') {
        key.push_str(name);
        key.push('/');
    }
    key
}

#[derive(Debug)]
struct SortedKeys(Vec<(String, usize)>);

impl SortedKeys {
    fn new(mut keys: Vec<(String, usize)>) -> Self {
        keys.sort();
        Self(keys)
    }

    fn exactly(&self, key: &str) -> &[(String, usize)] {
        self.range(key, |found| found == key)
    }

    fn ending(&self, key: &str) -> &[(String, usize)] {
        self.range(key, |found| found.starts_with(key))
    }

    /// The keys from this one on that fit, which stand together.
    fn range(&self, key: &str, fits: impl Fn(&str) -> bool) -> &[(String, usize)] {
        let begin = self.0.partition_point(|(found, _)| found.as_str() < key);
        let from = self.0.get(begin..).unwrap_or(&[]);
        let length = from.partition_point(|(found, _)| fits(found));
        from.get(..length).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests;
