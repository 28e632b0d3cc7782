//! Names of files for what was made in Void: good on Linux, macOS and Windows, and in a link.
//!
//! Two things never get one name, also where a file system does not tell case or normal forms apart. The same
//! things in the same order get the same names.

use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization;

use crate::entries::UNTITLED;
use crate::limits::{EXTENSION_BYTES_MAX, STEM_BYTES_MAX};
use crate::paths::{PathError, VaultPath, folded, is_visible};

/// Names that are devices on Windows, whatever follows their first dot.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Names that are taken in one vault.
#[derive(Debug, Default)]
pub struct FileNames {
    taken: HashSet<String>,
    /// The next number to try behind a name, so that many of one name are not counted through again.
    next: HashMap<String, usize>,
}

impl FileNames {
    /// With the paths of everything that has one already.
    pub fn new<'a>(paths: impl IntoIterator<Item = &'a VaultPath>) -> Self {
        let mut names = Self::default();
        for path in paths {
            names.take(path);
        }
        names
    }

    /// A file for a note of this title.
    pub fn note(
        &mut self,
        folder: Option<&VaultPath>,
        title: &str,
    ) -> Result<VaultPath, PathError> {
        self.choose(folder, &safe_name(title), ".md")
    }

    /// A file for an attachment of this name, which keeps its extension.
    pub fn attachment(
        &mut self,
        folder: Option<&VaultPath>,
        name: &str,
    ) -> Result<VaultPath, PathError> {
        let is_extension = |extension: &str| {
            !extension.is_empty()
                && extension.len() <= EXTENSION_BYTES_MAX
                && extension.bytes().all(|b| b.is_ascii_alphanumeric())
        };
        match name.trim().rsplit_once('.') {
            Some((stem, extension)) if is_extension(extension) => {
                self.choose(folder, &safe_name(stem), &format!(".{extension}"))
            }
            Some(_) | None => self.choose(folder, &safe_name(name), ""),
        }
    }

    /// This very path, if nothing has it.
    pub fn at(&mut self, path: VaultPath) -> Option<VaultPath> {
        if self.taken.contains(&path.folded()) {
            return None;
        }
        self.take(&path);
        Some(path)
    }

    /// A folder that everything of this title shares.
    pub fn shared_folder(title: &str) -> Result<VaultPath, PathError> {
        VaultPath::parse(&safe_name(title))
    }

    /// A folder of its own for what has this title.
    pub fn folder(
        &mut self,
        parent: Option<&VaultPath>,
        title: &str,
    ) -> Result<VaultPath, PathError> {
        self.choose(parent, &safe_name(title), "")
    }

    fn choose(
        &mut self,
        folder: Option<&VaultPath>,
        stem: &str,
        extension: &str,
    ) -> Result<VaultPath, PathError> {
        let folder = folder.map(VaultPath::as_str);
        let first = VaultPath::in_folder(folder, &format!("{stem}{extension}"))?;
        let counted = first.folded();
        let mut path = first;
        let mut number = self.next.get(&counted).copied().unwrap_or(2);
        // Ends, because each round looks at another of finitely many names that are taken.
        while self.taken.contains(&path.folded()) {
            path = VaultPath::in_folder(folder, &format!("{stem} {number}{extension}"))?;
            number += 1;
        }
        self.next.insert(counted, number);
        self.take(&path);
        Ok(path)
    }

    /// The path and the folders that lead to it.
    fn take(&mut self, path: &VaultPath) {
        let path = path.folded();
        let ends = path.match_indices('/').map(|(at, _)| at);
        for end in ends {
            if let Some(folder) = path.get(..end) {
                self.taken.insert(folder.to_owned());
            }
        }
        self.taken.insert(path);
    }
}

/// The words as a name without an extension.
fn safe_name(words: &str) -> String {
    let mut name = String::new();
    for character in words.nfc() {
        match character {
            // Some file system, or a link, reads these as something else.
            '<' | '>' | ':' | '"' | '/' | '\\' | '|' | '?' | '*' | '#' | '^' | '[' | ']' => {
                name.push('-');
            }
            blank if blank.is_whitespace() && name.ends_with(' ') => {}
            blank if blank.is_whitespace() => name.push(' '),
            visible if is_visible(visible) => name.push(visible),
            _ => {}
        }
    }
    let begin = name.trim_start_matches(['.', '-', ' ', '~']);
    let mut end = STEM_BYTES_MAX.min(begin.len());
    while !begin.is_char_boundary(end) {
        end -= 1;
    }
    let cut = begin.get(..end).unwrap_or("");
    let name = cut.trim_end_matches(['.', '-', ' ']);
    if name.is_empty() {
        return UNTITLED.to_owned();
    }
    if is_device(name) {
        return format!("_{name}");
    }
    name.to_owned()
}

fn is_device(name: &str) -> bool {
    let stem = folded(name.split('.').next().unwrap_or("").trim());
    let has_port = |kind: &str| {
        let port = stem.strip_prefix(kind);
        port.is_some_and(|port| {
            let mut digits = port.chars();
            let digit = digits.next();
            let is_digit =
                digit.is_some_and(|c| c.is_ascii_digit() || matches!(c, '¹' | '²' | '³'));
            is_digit && digits.next().is_none()
        })
    };
    DEVICES.contains(&stem.as_str()) || has_port("com") || has_port("lpt")
}

#[cfg(test)]
mod tests;
