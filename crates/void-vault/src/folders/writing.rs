//! One file written whole, where nothing is or where what was planned is.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::{FolderError, VaultFolder, failed, open_folder_at, read_file};
use crate::hashes::ContentHash;
use crate::paths::VaultPath;

/// Less what the process' mask takes away.
const FOLDER_MODE: u32 = 0o777;
const FILE_MODE: u32 = 0o666;

impl VaultFolder {
    /// Writes a file and the folders on its way. `replaces` is what the file has to hold until now; without it there
    /// may be none. A file that fails leaves nothing behind, and another one is never touched.
    pub fn write(
        &self,
        path: &VaultPath,
        bytes: &[u8],
        replaces: Option<ContentHash>,
    ) -> Result<(), FolderError> {
        let folder = self
            .make_parent(path)
            .map_err(|error| failed(path, error))?;
        let part = part_name(path);
        let part = part.as_str();
        let written = write_part(folder.as_fd(), part, bytes, replaces.is_some());
        let moved = written
            .map_err(|error| failed(path, error))
            .and_then(|()| put(folder.as_fd(), part, path, replaces));
        if moved.is_err() {
            // It fails where the part was never made.
            let _ = rustix::fs::unlinkat(folder.as_fd(), part, AtFlags::empty());
        }
        moved
    }

    fn make_parent(&self, path: &VaultPath) -> Result<OwnedFd, Errno> {
        let mut folder = open_folder_at(self.root.as_fd(), ".")?;
        let names = path.folder().into_iter().flat_map(|path| path.split('/'));
        for name in names {
            match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(FOLDER_MODE)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
            folder = open_folder_at(folder.as_fd(), name)?;
        }
        Ok(folder)
    }
}

/// A name that no vault's file has: it is hidden. One left by a crash is replaced the next time.
fn part_name(path: &VaultPath) -> String {
    let hash = ContentHash::of(path.as_str().as_bytes()).to_string();
    format!(".void-export-{hash}")
}

fn write_part(folder: BorrowedFd<'_>, part: &str, bytes: &[u8], is_synced: bool) -> io::Result<()> {
    match rustix::fs::unlinkat(folder, part, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(folder, part, flags, Mode::from_raw_mode(FILE_MODE))?;
    let mut file = File::from(opened);
    file.write_all(bytes)?;
    // Only where something older would be lost with the power; a new file is written again.
    if is_synced {
        file.sync_data()?;
    }
    Ok(())
}

fn put(
    folder: BorrowedFd<'_>,
    part: &str,
    path: &VaultPath,
    replaces: Option<ContentHash>,
) -> Result<(), FolderError> {
    let moved = match replaces {
        Some(hash) => {
            if ContentHash::of(&read_file(folder, path)?) != hash {
                return Err(FolderError::Changed(path.clone()));
            }
            keep_mode(folder, part, path).map_err(|error| failed(path, error))?;
            rustix::fs::renameat(folder, part, folder, path.name())
        }
        None => put_new(folder, part, path.name()),
    };
    match moved {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(FolderError::Changed(path.clone())),
        Err(error) => Err(failed(path, error)),
    }
}

/// Moves the part to a name that nothing has, as well as the file system can.
fn put_new(folder: BorrowedFd<'_>, part: &str, name: &str) -> Result<(), Errno> {
    match rustix::fs::renameat_with(folder, part, folder, name, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => {}
        moved => return moved,
    }
    // A hard link does not replace either.
    match rustix::fs::linkat(folder, part, folder, name, AtFlags::empty()) {
        Ok(()) => return rustix::fs::unlinkat(folder, part, AtFlags::empty()),
        Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK) => {}
        Err(error) => return Err(error),
    }
    // Neither: only what comes between these two steps would be replaced.
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => rustix::fs::renameat(folder, part, folder, name),
        Ok(_) => Err(Errno::EXIST),
        Err(error) => Err(error),
    }
}

/// Who may read the file stays as it was.
fn keep_mode(folder: BorrowedFd<'_>, part: &str, path: &VaultPath) -> Result<(), Errno> {
    let stat = rustix::fs::statat(folder, path.name(), AtFlags::SYMLINK_NOFOLLOW)?;
    let permissions = Mode::from_raw_mode(stat.st_mode) & Mode::from_raw_mode(FILE_MODE | 0o111);
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let part = rustix::fs::openat(folder, part, flags, Mode::empty())?;
    rustix::fs::fchmod(part, permissions)
}
