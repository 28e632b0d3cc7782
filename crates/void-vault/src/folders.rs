//! A vault's folder on disk: walked, read and written without ever following a link or leaving it.
//!
//! Every name on the way is opened by itself from its parent's handle, so that nobody can swap a folder for a link
//! in between. Only regular files are read, in bounded size and number; what is skipped is said. A file is
//! written beside its name and moved there whole.

mod scanning;
mod writing;

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::hashes::ContentHash;
use crate::limits::ATTACHMENT_BYTES_MAX;
use crate::paths::VaultPath;

pub use scanning::{ScanProgress, Scanned, ScannedFile, SkipReason, SkippedName};

#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("the folder cannot be opened: {0}")]
    Root(#[source] io::Error),
    #[error("{path}: {source}")]
    Io { path: VaultPath, source: io::Error },
    #[error("{0} is no regular file")]
    NotAFile(VaultPath),
    #[error("{0} has more than {ATTACHMENT_BYTES_MAX} bytes")]
    TooLarge(VaultPath),
    #[error("{0} is not what it was when the plan was made")]
    Changed(VaultPath),
    #[error("the folder holds too many files and folders; nothing was read")]
    TooManyEntries,
    #[error("stopped")]
    Stopped,
}

/// An open folder. It stays the same one if somebody moves or replaces it.
#[derive(Debug)]
pub struct VaultFolder {
    root: OwnedFd,
}

impl VaultFolder {
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(path, flags, Mode::empty());
        let root = root.map_err(|error| FolderError::Root(error.into()))?;
        Ok(Self { root })
    }

    /// The bytes of one file.
    pub fn read(&self, path: &VaultPath) -> Result<Vec<u8>, FolderError> {
        let folder = self.parent(path).map_err(|error| failed(path, error))?;
        read_file(folder.as_fd(), path)
    }

    /// The bytes of one file, if they are those of the plan.
    pub fn read_planned(
        &self,
        path: &VaultPath,
        hash: ContentHash,
    ) -> Result<Vec<u8>, FolderError> {
        let bytes = self.read(path)?;
        if ContentHash::of(&bytes) == hash {
            Ok(bytes)
        } else {
            Err(FolderError::Changed(path.clone()))
        }
    }

    /// The folder that a file is in.
    fn parent(&self, path: &VaultPath) -> Result<OwnedFd, Errno> {
        self.open_folder(path.folder())
    }

    /// A folder below this one, `None` being this one.
    fn open_folder(&self, path: Option<&str>) -> Result<OwnedFd, Errno> {
        let mut folder = open_folder_at(self.root.as_fd(), ".")?;
        for name in path.into_iter().flat_map(|path| path.split('/')) {
            folder = open_folder_at(folder.as_fd(), name)?;
        }
        Ok(folder)
    }
}

fn open_folder_at(at: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(at, name, flags, Mode::empty())
}

fn failed(path: &VaultPath, error: impl Into<io::Error>) -> FolderError {
    FolderError::Io {
        path: path.clone(),
        source: error.into(),
    }
}

/// Looks at what was opened, not at what its name was a moment ago; opening never waits for a writer.
fn read_file(folder: BorrowedFd<'_>, path: &VaultPath) -> Result<Vec<u8>, FolderError> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = match rustix::fs::openat(folder, path.name(), flags, Mode::empty()) {
        Ok(opened) => opened,
        Err(Errno::LOOP | Errno::NXIO) => return Err(FolderError::NotAFile(path.clone())),
        Err(error) => return Err(failed(path, error)),
    };
    let stat = rustix::fs::fstat(&opened).map_err(|error| failed(path, error))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(FolderError::NotAFile(path.clone()));
    }
    let size = usize::try_from(stat.st_size).unwrap_or(usize::MAX);
    if size > ATTACHMENT_BYTES_MAX {
        return Err(FolderError::TooLarge(path.clone()));
    }
    // It may grow while it is read.
    let mut bytes = Vec::with_capacity(size);
    let read = File::from(opened)
        .take(ATTACHMENT_BYTES_MAX as u64 + 1)
        .read_to_end(&mut bytes);
    read.map_err(|error| failed(path, error))?;
    if bytes.len() > ATTACHMENT_BYTES_MAX {
        return Err(FolderError::TooLarge(path.clone()));
    }
    Ok(bytes)
}
