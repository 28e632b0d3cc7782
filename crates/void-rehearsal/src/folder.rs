//! Where a lab keeps its files, and the lock that says it lives.
//!
//! The process that made a lab holds `alive` in its folder locked. The kernel lets go of that lock when
//! the process ends, however it ends: services wait for that moment and end too, and the next
//! [`sweep`] knows that the folder is nobody's any more.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::services;

pub(crate) const ALIVE: &str = "alive";
const PREFIX: &str = "lab-";
/// Held while a folder is made or removed, so that a half-made one is not taken for a stale one.
const BASE_LOCK: &str = ".lock";
const NAMES_TRIED_MAX: u32 = 100;
/// How often a base that goes away while its turn is waited for is made anew.
const TURNS_MAX: u32 = 100;
const REMOVALS_MAX: u32 = 3;

/// A lab's private folder. Dropping it ends the lab's services and removes it, and the base with the last one.
#[derive(Debug)]
pub struct LabFolder {
    path: PathBuf,
    _alive: File,
}

impl LabFolder {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for LabFolder {
    fn drop(&mut self) {
        let base = self.path.parent();
        let turn = base.map(turn);
        services::stop_all(&self.path);
        // A restart that was under way may still add a file. What cannot be removed now is swept later:
        // its lock will be free.
        let _ = (0..REMOVALS_MAX).any(|_| fs::remove_dir_all(&self.path).is_ok());
        if let (Some(base), Some(Ok(_turn))) = (base, &turn) {
            leave(base);
        }
    }
}

/// Makes a new folder below `base`, readable for its owner only, and holds its lock.
pub fn create(base: &Path) -> io::Result<LabFolder> {
    // Services have another working directory.
    let base = std::path::absolute(base)?;
    let _turn = enter(&base)?;
    let path = new_folder(&base)?;
    let alive = private_file().create_new(true).open(path.join(ALIVE))?;
    alive.lock()?;
    Ok(LabFolder {
        path,
        _alive: alive,
    })
}

/// Removes the folders of labs that are no more; says how many those were. One that cannot be read or
/// removed, such as another user's, stays and keeps nobody from making a lab.
pub fn sweep(base: &Path) -> io::Result<usize> {
    if !base.is_dir() {
        return Ok(0);
    }
    let _turn = match must_be_private(base).and_then(|()| turn(base)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        turn => turn?,
    };
    let mut removed = 0;
    for entry in fs::read_dir(base)?.flatten() {
        let is_lab = entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.starts_with(PREFIX));
        // A link's own type, not that of what it points to.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_lab && is_folder && is_stale(&entry.path()).unwrap_or(false) {
            services::stop_all(&entry.path());
            removed += usize::from(fs::remove_dir_all(entry.path()).is_ok());
        }
    }
    Ok(removed)
}

fn is_stale(folder: &Path) -> io::Result<bool> {
    let alive = match File::open(folder.join(ALIVE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        opened => opened?,
    };
    match alive.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn new_folder(base: &Path) -> io::Result<PathBuf> {
    for number in 1..=NAMES_TRIED_MAX {
        let path = base.join(format!("{PREFIX}{number}"));
        match private().create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| path),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Makes the base, if it is not there, and takes the turn in it.
fn enter(base: &Path) -> io::Result<File> {
    for _ in 0..TURNS_MAX {
        match private().recursive(true).create(base) {
            // It was there, and gone before the library looked at what it was.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
        match must_be_private(base).and_then(|()| turn(base)) {
            // The last lab of before took it away with itself.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            turn => return turn,
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

fn turn(base: &Path) -> io::Result<File> {
    let path = base.join(BASE_LOCK);
    for _ in 0..TURNS_MAX {
        let lock = private_file().create(true).truncate(false).open(&path)?;
        lock.lock()?;
        // A lock on a file that was removed meanwhile keeps nobody out.
        let (held, there) = (lock.metadata()?, fs::symlink_metadata(&path));
        if there.is_ok_and(|there| (there.dev(), there.ino()) == (held.dev(), held.ino())) {
            return Ok(lock);
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// Takes the base away where no other lab is left in it. Only whoever has the turn may.
fn leave(base: &Path) {
    let is_other = |entry: io::Result<fs::DirEntry>| {
        entry.map_or(true, |entry| entry.file_name() != BASE_LOCK)
    };
    let is_used = fs::read_dir(base).map_or(true, |mut entries| entries.any(is_other));
    if !is_used {
        let _ = fs::remove_file(base.join(BASE_LOCK));
        // Not empty after all: somebody came and begins anew.
        let _ = fs::remove_dir(base);
    }
}

/// Somebody else may have made a folder of that name first, in a place where everybody can: what is
/// in a lab is executed.
fn must_be_private(base: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(base)?;
    let ours = found.is_dir()
        && found.uid() == rustix::process::getuid().as_raw()
        && found.mode() & 0o022 == 0;
    if ours {
        return Ok(());
    }
    let message = format!("{} is not a private folder of this account", base.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

fn private() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options
}
