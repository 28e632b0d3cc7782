//! The folders that go with a copy of the database: `meta`, `agents` and `applied`, beside the copy under its name. The
//! tree is copied while nobody changes it; what agents write meanwhile is as it is at that moment.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use void_domain::time::Timestamp;

/// What is taken along.
const FOLDERS: [&str; 3] = ["meta", "agents", "applied"];
const SUFFIX: &str = "folders";
/// Files and folders together: agents that write more than this are not copied, and the log says so.
const ENTRIES_MAX: usize = 200_000;

/// Where the folders of a copy lie.
pub(super) fn beside(copy: &Path) -> PathBuf {
    copy.with_extension(SUFFIX)
}

/// Whether a name in the folder of the copies is one of ours.
pub(super) fn is_ours(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == SUFFIX)
}

/// Copies them beside a copy of the database, all or nothing.
pub(super) fn copy(data: &Path, copy: &Path) -> io::Result<()> {
    let whole = beside(copy);
    let partial = whole.with_extension("folders-partial");
    remove(&partial)?;
    make(&partial, None)?;
    let mut left = ENTRIES_MAX;
    let copied = FOLDERS.into_iter().try_for_each(|name| {
        let from = data.join(name);
        match fs::symlink_metadata(&from) {
            Ok(there) if there.is_dir() => copy_folder(&from, &partial.join(name), &mut left),
            _ => Ok(()),
        }
    });
    match copied {
        Ok(()) => fs::rename(&partial, &whole),
        Err(error) => {
            remove(&partial)?;
            Err(error)
        }
    }
}

/// Goes with its copy.
pub(super) fn remove_beside(copy: &Path) -> io::Result<()> {
    remove(&beside(copy))
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Puts the folders of a copy in place of those of a Void that is not running, and keeps these beside them. `None`: the
/// copy has none, and nothing was changed.
pub fn restore(copy: &Path, data: &Path, at: Timestamp) -> io::Result<Option<Vec<PathBuf>>> {
    let from = beside(copy);
    if !fs::symlink_metadata(&from).is_ok_and(|there| there.is_dir()) {
        return Ok(None);
    }
    let mut replaced = Vec::new();
    for name in FOLDERS {
        let (kept, now) = (from.join(name), data.join(name));
        let (new, old) = (
            data.join(format!("{name}.restoring")),
            data.join(format!("{name}.replaced-{}", at.as_ms())),
        );
        remove(&new)?;
        let is_kept = fs::symlink_metadata(&kept).is_ok_and(|there| there.is_dir());
        if is_kept {
            let mut left = usize::MAX;
            copy_folder(&kept, &new, &mut left)?;
        }
        if fs::symlink_metadata(&now).is_ok() {
            fs::rename(&now, &old)?;
            replaced.push(old);
        }
        if is_kept {
            fs::rename(&new, &now)?;
        }
    }
    Ok(Some(replaced))
}

/// Folders and files; links, sockets and the like lead elsewhere and stay behind.
fn copy_folder(from: &Path, to: &Path, left: &mut usize) -> io::Result<()> {
    make(to, Some(&fs::symlink_metadata(from)?))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        *left = left
            .checked_sub(1)
            .ok_or_else(|| io::Error::other(format!("there are more than {ENTRIES_MAX} files")))?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_folder(&from, &to, left)?;
        } else if kind.is_file() {
            match fs::copy(&from, &to) {
                // An agent took it away meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                copied => copied?,
            };
            own(&to, &fs::symlink_metadata(&from)?)?;
        }
    }
    Ok(())
}

fn make(folder: &Path, like: Option<&Metadata>) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)?;
    match like {
        Some(like) => own(folder, like),
        None => Ok(()),
    }
}

/// The same owner and rights; an agent's files stay that agent's.
fn own(path: &Path, like: &Metadata) -> io::Result<()> {
    let now = fs::symlink_metadata(path)?;
    if (now.uid(), now.gid()) != (like.uid(), like.gid()) {
        chown(path, Some(like.uid()), Some(like.gid()))?;
    }
    // After the change of owner, which takes the group's bit away.
    fs::set_permissions(path, fs::Permissions::from_mode(like.mode() & 0o7777))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn folders_come_back_as_they_were_and_what_was_there_is_kept() {
        let (data, kept) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |path: &str| data.path().join(path);
        let read = |path: &str| fs::read_to_string(at(path)).ok();
        write(&at("meta/topology.json"), "old");
        write(&at("agents/alice/state/notes"), "old");
        fs::set_permissions(at("agents/alice/state"), fs::Permissions::from_mode(0o2770)).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", at("agents/alice/state/link")).unwrap();
        let file = kept.path().join("void-2027-01-15T08-00-00.123Z.db");
        copy(data.path(), &file).unwrap();
        let stamp = Timestamp::from_ms(5);
        write(&at("meta/topology.json"), "new");
        write(&at("agents/bob/state/notes"), "new");
        write(&at("applied/bob/agent.toml"), "new");
        let replaced = restore(&file, data.path(), stamp).unwrap().unwrap();
        assert_eq!(replaced.len(), 3);
        assert_eq!(read("meta/topology.json").as_deref(), Some("old"));
        assert_eq!(read("agents/alice/state/notes").as_deref(), Some("old"));
        assert_eq!(read("agents/bob/state/notes"), None);
        assert_eq!(read("applied/bob/agent.toml"), None);
        assert_eq!(
            read("agents.replaced-5/bob/state/notes").as_deref(),
            Some("new")
        );
        assert!(fs::symlink_metadata(at("agents/alice/state/link")).is_err());
        let mode = fs::metadata(at("agents/alice/state")).unwrap().mode();
        assert_eq!(mode & 0o7777, 0o2770);
        // A copy of an earlier version has none, and takes nothing away.
        let bare = kept.path().join("void-2026-01-15T08-00-00.123Z.db");
        assert_eq!(restore(&bare, data.path(), stamp).unwrap(), None);
        assert_eq!(read("meta/topology.json").as_deref(), Some("old"));
        remove_beside(&file).unwrap();
        assert!(!beside(&file).exists());
    }
}
