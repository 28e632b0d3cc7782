//! Files that may be believed: who owns them, who else could have written them, and that they are files at all.
//!
//! Everything is checked on the open descriptor, never on a name that could be swapped in between; no final symbolic
//! link is followed and no FIFO can make an open hang.

use std::fmt::Write as _;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::sys;

const WRITABLE_BY_OTHERS: u32 = 0o022;
const ACCESSIBLE_TO_OTHERS: u32 = 0o077;
const STICKY: u32 = 0o1000;
const ROOT: u32 = 0;

/// Whose list is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    Root,
    /// Also the calling user's, for a machine whose owner runs Void as an ordinary user.
    RootOrCaller,
}

impl Trust {
    fn owner(self, uid: u32) -> bool {
        match self {
            Self::Root => uid == ROOT,
            Self::RootOrCaller => uid == ROOT || uid == sys::effective_uid(),
        }
    }

    fn directory(self, metadata: &Metadata) -> bool {
        let mode = metadata.mode();
        let others_cannot_swap =
            mode & WRITABLE_BY_OTHERS == 0 || (self == Self::RootOrCaller && mode & STICKY != 0);
        metadata.is_dir() && self.owner(metadata.uid()) && others_cannot_swap
    }
}

/// Reads a file that only trusted users could have written, through directories that only they can change.
pub(crate) fn read_trusted(path: &Path, trust: Trust, bytes_max: u64) -> io::Result<Vec<u8>> {
    let parent = path.parent().filter(|_| path.is_absolute());
    let parent = parent.ok_or_else(|| untrusted("not an absolute path"))?;
    if parent.canonicalize()? != parent {
        return Err(untrusted("reached through a symbolic link or .."));
    }
    for directory in parent.ancestors() {
        if !trust.directory(&fs::symlink_metadata(directory)?) {
            let text = format!("{} could be changed by others", directory.display());
            return Err(untrusted(&text));
        }
    }
    let file = open(OpenOptions::new().read(true), path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(untrusted("not a regular file"));
    }
    if !trust.owner(metadata.uid()) {
        return Err(untrusted("not owned by root"));
    }
    if metadata.mode() & WRITABLE_BY_OTHERS != 0 {
        return Err(untrusted("can be written by its group or by others"));
    }
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// The state directory: ours or root's, and nobody else's to write.
pub(crate) fn check_state_dir(path: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(path)?;
    let ours = metadata.is_dir()
        && Trust::RootOrCaller.owner(metadata.uid())
        && metadata.mode() & WRITABLE_BY_OTHERS == 0;
    let text = "not a directory that only its owner can write";
    ours.then_some(()).ok_or_else(|| untrusted(text))
}

/// What is at a name, without following it anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Missing,
    File,
    Folder,
    Other,
}

pub(crate) fn kind(path: &Path) -> io::Result<Kind> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(Kind::File),
        Ok(metadata) if metadata.is_dir() => Ok(Kind::Folder),
        Ok(_) => Ok(Kind::Other),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Kind::Missing),
        Err(error) => Err(error),
    }
}

/// A folder inside of it: ours, mode 0700.
pub(crate) fn check_private_dir(path: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(path)?;
    let private = metadata.is_dir()
        && Trust::RootOrCaller.owner(metadata.uid())
        && metadata.mode() & ACCESSIBLE_TO_OTHERS == 0;
    let text = "not a folder that only its owner can reach";
    private.then_some(()).ok_or_else(|| untrusted(text))
}

/// Makes the name of a new file last.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    File::open(path.parent().unwrap_or(path))?.sync_all()
}

/// Opens a file of the state directory: ours, regular, mode 0600.
pub(crate) fn open_private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = open(options.mode(0o600), path)?;
    let metadata = file.metadata()?;
    let private = metadata.is_file()
        && Trust::RootOrCaller.owner(metadata.uid())
        && metadata.mode() & ACCESSIBLE_TO_OTHERS == 0;
    let text = "not a file that only its owner can reach";
    private.then_some(file).ok_or_else(|| untrusted(text))
}

/// Whether an open file still is what its name stands for; its lock is nobody's otherwise.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let (held, named) = (file.metadata()?, fs::symlink_metadata(path));
    match named {
        Ok(named) => Ok((held.dev(), held.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

pub(crate) fn untrusted(text: &str) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, text)
}

pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut hex, byte| {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
}
