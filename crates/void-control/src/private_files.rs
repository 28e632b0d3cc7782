//! Small files for this account alone, replaced whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// Whether a power cut may take away what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeptFor {
    /// It is on the disk when this returns, and so is its name.
    ForGood,
    UntilPowerCut,
}

pub(crate) fn replace(path: &Path, content: &[u8], kept: KeptFor) -> io::Result<()> {
    let partial = path.with_extension("partial");
    let mut file = create(&partial)?;
    file.write_all(content)?;
    if kept == KeptFor::ForGood {
        file.sync_all()?;
    }
    fs::rename(&partial, path)?;
    match path.parent() {
        Some(folder) if kept == KeptFor::ForGood => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

fn create(path: &Path) -> io::Result<File> {
    let file = fs::OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(path)?;
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    Ok(file)
}
