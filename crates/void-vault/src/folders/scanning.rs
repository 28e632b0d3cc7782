//! Everything in a folder, looked at once: each file's hash and kind, and what was left out.

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Dir, FileType};
use rustix::io::Errno;

use super::{FolderError, VaultFolder, failed, read_file};
use crate::entries::{EntryFault, EntryKind, VaultEntry};
use crate::front_matter::FrontMatter;
use crate::hashes::ContentHash;
use crate::limits::{ENTRIES_MAX, TITLE_CHARS_MAX};
use crate::link_index::LinkableFile;
use crate::links::Links;
use crate::paths::{PathError, VaultPath, shown};
use crate::plans::{FolderFile, FolderState};

/// A file of the folder, without what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScannedFile {
    pub path: VaultPath,
    pub kind: EntryKind,
    pub hash: ContentHash,
    pub bytes: usize,
    /// A note's title and aliases.
    pub names: Vec<String>,
    pub faults: Vec<EntryFault>,
}

/// Why something in the folder was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SkipReason {
    #[error("its name is no UTF-8")]
    NameNotUtf8,
    #[error("{0}")]
    Path(PathError),
    #[error("it is a symbolic link")]
    SymbolicLink,
    #[error("it is neither a file nor a folder")]
    NotAFile,
    #[error("it is too large for an attachment")]
    TooLarge,
    #[error("it cannot be read: {0}")]
    Unreadable(std::io::ErrorKind),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedName {
    /// From the vault's folder; what is no UTF-8 is replaced.
    pub path: String,
    pub reason: SkipReason,
}

impl std::fmt::Display for SkippedName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", shown(&self.path), self.reason)
    }
}

/// What was found, in the order of paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scanned {
    pub files: Vec<ScannedFile>,
    pub skipped: Vec<SkippedName>,
    /// Names that begin with a dot: settings of other programs, their bins and histories.
    pub hidden: usize,
    /// Files that are one file where case or normal forms are not told apart.
    pub twins: Vec<(VaultPath, VaultPath)>,
}

impl Scanned {
    pub fn state(&self) -> FolderState {
        let file = |file: &ScannedFile| FolderFile {
            path: file.path.clone(),
            kind: file.kind,
            hash: file.hash,
        };
        FolderState {
            files: self.files.iter().map(file).collect(),
            unread: self.skipped.iter().map(|name| name.path.clone()).collect(),
        }
    }

    pub fn linkable(&self) -> impl Iterator<Item = LinkableFile> {
        self.files.iter().map(|file| LinkableFile {
            path: file.path.clone(),
            is_note: file.kind != EntryKind::Attachment,
            names: file.names.clone(),
        })
    }
}

/// How far a scan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScanProgress {
    pub files: usize,
    pub files_in_all: usize,
    pub bytes: u64,
}

impl VaultFolder {
    /// Looks at every file, of `ENTRIES_MAX` files and folders at most. `goes_on` is asked after each and may end
    /// the scan.
    pub fn scan(
        &self,
        goes_on: &mut dyn FnMut(ScanProgress) -> bool,
    ) -> Result<Scanned, FolderError> {
        self.scan_at_most(ENTRIES_MAX, goes_on)
    }

    /// Looks at every file of a folder that holds at most so many files and folders.
    pub fn scan_at_most(
        &self,
        entries_max: usize,
        goes_on: &mut dyn FnMut(ScanProgress) -> bool,
    ) -> Result<Scanned, FolderError> {
        let mut scan = Scan {
            entries_left: entries_max,
            ..Scan::default()
        };
        let mut folders: VecDeque<Option<String>> = VecDeque::from([None]);
        let mut files = Vec::new();
        while let Some(folder) = folders.pop_front() {
            let found = scan.list(self, folder.as_deref())?;
            folders.extend(found.folders.into_iter().map(Some));
            files.extend(found.files);
        }
        files.sort();
        scan.progress.files_in_all = files.len();
        for path in files {
            scan.file(self, path)?;
            if !goes_on(scan.progress) {
                return Err(FolderError::Stopped);
            }
        }
        let mut scanned = scan.scanned;
        scanned
            .skipped
            .sort_by(|one, other| one.path.cmp(&other.path));
        scanned.twins = twins(&scanned.files);
        Ok(scanned)
    }
}

/// Files that a file system without case would take for the same, each with the first of them.
fn twins(files: &[ScannedFile]) -> Vec<(VaultPath, VaultPath)> {
    let mut first: BTreeMap<String, &VaultPath> = BTreeMap::new();
    let mut twins = Vec::new();
    for file in files {
        match first.get(&file.path.folded()) {
            Some(other) => twins.push(((*other).clone(), file.path.clone())),
            None => {
                first.insert(file.path.folded(), &file.path);
            }
        }
    }
    twins
}

#[derive(Default)]
struct Listed {
    folders: Vec<String>,
    files: Vec<VaultPath>,
}

#[derive(Default)]
struct Scan {
    scanned: Scanned,
    entries_left: usize,
    progress: ScanProgress,
}

impl Scan {
    fn skip(&mut self, path: String, reason: SkipReason) {
        self.scanned.skipped.push(SkippedName { path, reason });
    }

    fn list(&mut self, root: &VaultFolder, folder: Option<&str>) -> Result<Listed, FolderError> {
        let mut listed = Listed::default();
        let opened = root.open_folder(folder).and_then(|opened| {
            let names = Dir::read_from(&opened)?;
            Ok((opened, names))
        });
        let (opened, names) = match (opened, folder) {
            (Ok(opened), _) => opened,
            // A folder that went away or may not be read is said; without the first there is nothing to say.
            (Err(error), Some(folder)) => {
                let kind = std::io::Error::from(error).kind();
                self.skip(folder.to_owned(), SkipReason::Unreadable(kind));
                return Ok(listed);
            }
            (Err(error), None) => return Err(FolderError::Root(error.into())),
        };
        for entry in names {
            let entry = match (entry, folder) {
                (Ok(entry), _) => entry,
                (Err(error), Some(folder)) => {
                    let kind = std::io::Error::from(error).kind();
                    self.skip(folder.to_owned(), SkipReason::Unreadable(kind));
                    return Ok(listed);
                }
                (Err(error), None) => return Err(FolderError::Root(error.into())),
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let left = self.entries_left.checked_sub(1);
            self.entries_left = left.ok_or(FolderError::TooManyEntries)?;
            if name.to_bytes().starts_with(b".") {
                self.scanned.hidden += 1;
                continue;
            }
            let kind = rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW);
            let kind = kind.map(|stat| FileType::from_raw_mode(stat.st_mode));
            self.sort_in(&mut listed, folder, name, kind);
        }
        Ok(listed)
    }

    fn sort_in(
        &mut self,
        listed: &mut Listed,
        folder: Option<&str>,
        name: &std::ffi::CStr,
        kind: Result<FileType, Errno>,
    ) {
        let shown_name = name.to_string_lossy();
        let shown_path = match folder {
            Some(folder) => format!("{folder}/{shown_name}"),
            None => shown_name.into_owned(),
        };
        let Ok(name) = name.to_str() else {
            return self.skip(shown_path, SkipReason::NameNotUtf8);
        };
        let path = match VaultPath::in_folder(folder, name) {
            Ok(path) => path,
            Err(why) => return self.skip(shown_path, SkipReason::Path(why)),
        };
        match kind {
            Ok(FileType::RegularFile) => listed.files.push(path),
            Ok(FileType::Directory) => listed.folders.push(shown_path),
            Ok(FileType::Symlink) => self.skip(shown_path, SkipReason::SymbolicLink),
            Ok(_) => self.skip(shown_path, SkipReason::NotAFile),
            Err(error) => {
                let kind = std::io::Error::from(error).kind();
                self.skip(shown_path, SkipReason::Unreadable(kind));
            }
        }
    }

    fn file(&mut self, root: &VaultFolder, path: VaultPath) -> Result<(), FolderError> {
        self.progress.files += 1;
        let opened = root.parent(&path).map_err(|error| failed(&path, error));
        let bytes = match opened.and_then(|folder| read_file(folder.as_fd(), &path)) {
            Ok(bytes) => bytes,
            Err(error) => {
                let reason = match error {
                    FolderError::TooLarge(_) => SkipReason::TooLarge,
                    FolderError::NotAFile(_) => SkipReason::NotAFile,
                    FolderError::Io { source, .. } | FolderError::Root(source) => {
                        SkipReason::Unreadable(source.kind())
                    }
                    other @ (FolderError::Changed(_)
                    | FolderError::TooManyEntries
                    | FolderError::Stopped) => return Err(other),
                };
                self.skip(path.as_str().to_owned(), reason);
                return Ok(());
            }
        };
        self.progress.bytes += bytes.len() as u64;
        self.scanned.files.push(scanned(path, &bytes));
        Ok(())
    }
}

fn scanned(path: VaultPath, bytes: &[u8]) -> ScannedFile {
    let entry = VaultEntry::read(&path, bytes);
    let kind = entry.kind();
    let (names, faults) = match entry {
        VaultEntry::Note(note) => {
            let names = names(&note.title, &note.fields);
            let mut faults = note.faults;
            if Links::of(&note.file.body).are_cut {
                faults.push(EntryFault::TooManyLinks);
            }
            (names, faults)
        }
        VaultEntry::Attachment(fault) => (Vec::new(), fault.into_iter().collect()),
    };
    ScannedFile {
        kind,
        hash: ContentHash::of(bytes),
        bytes: bytes.len(),
        path,
        names,
        faults,
    }
}

/// What else a note is called; nothing longer than a title can be.
fn names(title: &str, fields: &FrontMatter) -> Vec<String> {
    let aliases = fields.aliases().iter().map(String::as_str);
    let all = [title].into_iter().chain(aliases);
    let fitting = all.filter(|name| name.chars().count() <= TITLE_CHARS_MAX);
    fitting.map(str::to_owned).collect()
}
