//! What a commit of a config repository may hold: a few regular text files with plain names, `agent.toml` among them. No
//! links, no repositories in it, nothing that can be executed, nothing that a card could not show.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::diffs::{self, TooDifferent};
use crate::digests::Digest;
use crate::limits::CHANGE_PATCH_BYTES_MAX;

/// The file that every commit has.
pub const CONFIG_FILE: &str = "agent.toml";
pub const FILES_MAX: usize = 64;
pub const FILE_BYTES_MAX: usize = 64 * 1024;
/// All files of one commit.
pub const FILES_BYTES_MAX: usize = 256 * 1024;
pub const PATH_BYTES_MAX: usize = 200;
const PATH_PARTS_MAX: usize = 8;

/// The whole id of a commit: hexadecimal, 40 digits or 64, small letters. Nothing else names one: no branch, no
/// abbreviation, nothing that git could take for an option.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a commit is named by its whole id: 40 or 64 hexadecimal digits in small letters")]
pub struct InvalidCommitId;

impl CommitId {
    pub fn parse(text: &str) -> Result<Self, InvalidCommitId> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let fits = matches!(text.len(), 40 | 64) && text.bytes().all(is_hex);
        // All zeros is how git says that there is none.
        match fits && text.bytes().any(|byte| byte != b'0') {
            true => Ok(Self(text.to_owned())),
            false => Err(InvalidCommitId),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// For sentences; the whole id stands elsewhere.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for CommitId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for CommitId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

/// Why a commit is not one of a config.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidConfigFile {
    #[error("there are more than {FILES_MAX} files")]
    TooMany,
    #[error(
        "its files are longer than {FILES_BYTES_MAX} bytes together, or one than {FILE_BYTES_MAX}"
    )]
    TooLarge,
    #[error(
        "the name of a file is not plain: {0}; up to {PATH_PARTS_MAX} parts of letters, digits and -_. that begin with a letter or digit"
    )]
    Path(String),
    #[error("{0} is no regular file that nobody can execute")]
    NotRegular(String),
    #[error("{0} is no text")]
    NotText(String),
    #[error("it has no {CONFIG_FILE}")]
    NoConfig,
    #[error("two names differ by capital letters alone: {0}")]
    Alike(String),
}

/// The files of a commit. A value of this type is within the bounds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConfigFiles(BTreeMap<String, String>);

impl ConfigFiles {
    /// Nothing yet: what somebody new is compared with.
    pub fn none() -> Self {
        Self::default()
    }

    /// The config alone.
    pub fn of_config(text: &str) -> Result<Self, InvalidConfigFile> {
        Self::of([(CONFIG_FILE.to_owned(), text.as_bytes().to_vec())])
    }

    pub fn of(
        files: impl IntoIterator<Item = (String, Vec<u8>)>,
    ) -> Result<Self, InvalidConfigFile> {
        let (mut all, mut bytes) = (BTreeMap::new(), 0_usize);
        for (path, content) in files {
            Self::check_path(&path)?;
            bytes = bytes.saturating_add(content.len());
            if content.len() > FILE_BYTES_MAX || bytes > FILES_BYTES_MAX {
                return Err(InvalidConfigFile::TooLarge);
            }
            let text = String::from_utf8(content).ok();
            let text = text.filter(|text| !text.contains('\0'));
            let text = text.ok_or_else(|| InvalidConfigFile::NotText(path.clone()))?;
            all.insert(path, text);
            if all.len() > FILES_MAX {
                return Err(InvalidConfigFile::TooMany);
            }
        }
        if !all.contains_key(CONFIG_FILE) {
            return Err(InvalidConfigFile::NoConfig);
        }
        let mut small = BTreeMap::new();
        for path in all.keys() {
            if let Some(other) = small.insert(path.to_ascii_lowercase(), path) {
                return Err(InvalidConfigFile::Alike(other.clone()));
            }
        }
        Ok(Self(all))
    }

    /// The same files with another config.
    pub fn with_config(self, text: &str) -> Result<Self, InvalidConfigFile> {
        let others = self.0.into_iter().filter(|(path, _)| path != CONFIG_FILE);
        let others = others.map(|(path, text)| (path, text.into_bytes()));
        let config = (CONFIG_FILE.to_owned(), text.as_bytes().to_vec());
        Self::of(others.chain([config]))
    }

    /// Whether a file may be called so. What begins with a dot or a dash means something to programs.
    pub fn check_path(path: &str) -> Result<(), InvalidConfigFile> {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        let is_part = |part: &str| {
            part.starts_with(|first: char| first.is_ascii_alphanumeric())
                && part.chars().all(is_plain)
        };
        let parts: Vec<&str> = path.split('/').collect();
        let fits = path.len() <= PATH_BYTES_MAX && parts.len() <= PATH_PARTS_MAX;
        match fits && parts.into_iter().all(is_part) {
            true => Ok(()),
            false => {
                let told = crate::text::cut(path, PATH_BYTES_MAX);
                Err(InvalidConfigFile::Path(crate::text::value_in_quotes(told)))
            }
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.0.iter();
        files.map(|(path, text)| (path.as_str(), text.as_str()))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text of `agent.toml`.
    pub fn config(&self) -> &str {
        self.0.get(CONFIG_FILE).map_or("", String::as_str)
    }

    /// Of all names and all contents; no two sets of files have the same.
    pub fn digest(&self) -> Digest {
        let lengths: Vec<(Vec<u8>, &str)> = self
            .iter()
            .flat_map(|(path, text)| [path, text])
            .map(|part| (part.len().to_be_bytes().to_vec(), part))
            .collect();
        let parts: Vec<&[u8]> = lengths
            .iter()
            .flat_map(|(length, part)| [length.as_slice(), part.as_bytes()])
            .collect();
        Digest::of_parts(&parts)
    }

    /// The difference of all files, one after the other, each under a line of ours. A line of a file begins with a blank,
    /// a plus or a minus, so that none of them can be taken for such a line. `None`: it is too much to be shown.
    pub fn diff_to(&self, new: &Self) -> Result<Option<FilesDiff>, TooDifferent> {
        let mut diff = FilesDiff::default();
        let paths: std::collections::BTreeSet<&String> =
            self.0.keys().chain(new.0.keys()).collect();
        for path in paths {
            let (old, new) = (self.0.get(path), new.0.get(path));
            let what = match (old, new) {
                (None, _) => "new file",
                (_, None) => "file gone",
                (Some(old), Some(new)) if old == new => continue,
                (Some(_), Some(_)) => "file",
            };
            let text = |side: Option<&String>| side.map_or("", String::as_str).to_owned();
            let hunks = diffs::unified_exact(&text(old), &text(new))?;
            let signed = |sign: char| hunks.lines().filter(|line| line.starts_with(sign)).count();
            diff.files += 1;
            diff.added += signed('+');
            diff.removed += signed('-');
            diff.text.push_str(&format!("{what} {path}\n{hunks}"));
            if diff.text.len() > CHANGE_PATCH_BYTES_MAX {
                return Ok(None);
            }
        }
        Ok(Some(diff))
    }
}

/// What differs between the files of two commits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilesDiff {
    pub text: String,
    pub files: usize,
    pub added: usize,
    pub removed: usize,
}
