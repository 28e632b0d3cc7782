//! The process's own tools: files of its sandbox. Every path is walked from the handle of a folder that the plan names,
//! name by name and through no link, so that it ends where it says whoever changes what on the way. The kernel holds the
//! same from outside (ADR 38); what is refused here is refused with a word.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, fstat, fsync, mkdirat, openat, renameat, unlinkat,
};
use rustix::io::Errno;
use void_sandbox::{FolderAccess, OpenFolder};

use super::messages::{FileEntry, FileFailure, FileKind, FileOrder, FileOutcome, FileWish};

/// A file that an agent edits.
const FILE_BYTES_MAX: u64 = 256 * 1024;
const ENTRIES_MAX: usize = 200;
const NAME_BYTES_MAX: usize = 255;
/// What is written before it takes its name.
const UNFINISHED: &str = ".unfinished";

/// The folders of agents that this process reaches.
pub(super) struct Files<'a>(Vec<(&'a str, &'a OwnedFd)>);

impl<'a> Files<'a> {
    /// `agents/NAME/state`, wherever that is mounted.
    pub(super) fn of(folders: &'a [OpenFolder]) -> Self {
        let writable = folders
            .iter()
            .filter(|folder| folder.access == FolderAccess::ReadWrite);
        Self(
            writable
                .filter_map(|folder| Some((owner(&folder.path)?, &folder.handle)))
                .collect(),
        )
    }

    pub(super) fn answer(&self, order: FileOrder) -> FileOutcome {
        self.carry_out(order)
            .unwrap_or_else(|why| FileOutcome::Failed { why })
    }

    fn carry_out(&self, order: FileOrder) -> Result<FileOutcome, FileFailure> {
        let found = self.0.iter().find(|(agent, _)| *agent == order.agent);
        let (_, root) = found.ok_or(FileFailure::NotFound)?;
        let path: Vec<&str> = order.path.iter().map(String::as_str).collect();
        if !path.iter().all(|name| is_name(name)) {
            return Err(FileFailure::Refused);
        }
        match order.wish {
            FileWish::List => list(root.as_fd(), &path),
            FileWish::Read { from, bytes_max } => read(root.as_fd(), &path, from, bytes_max),
            FileWish::Write { text } => write(root.as_fd(), &path, &text),
            FileWish::Edit { find, replace } => edit(root.as_fd(), &path, &find, &replace),
        }
    }
}

fn owner(path: &Path) -> Option<&str> {
    let is_state = path.file_name()? == "state";
    let name = path.parent()?.file_name()?.to_str()?;
    is_state.then_some(name)
}

fn is_name(name: &str) -> bool {
    let leads_down = !name.is_empty() && name != "." && name != "..";
    leads_down && name.len() <= NAME_BYTES_MAX && !name.contains(['/', '\0'])
}

fn list(root: BorrowedFd<'_>, path: &[&str]) -> Result<FileOutcome, FileFailure> {
    let folder = walk(root, path, false)?;
    let mut entries = Vec::new();
    let mut more = false;
    for entry in Dir::read_from(&folder).map_err(failure)? {
        let entry = entry.map_err(failure)?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." || name == UNFINISHED.as_bytes() {
            continue;
        }
        if entries.len() == ENTRIES_MAX {
            more = true;
            break;
        }
        let Ok(stat) = rustix::fs::statat(&folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
        else {
            continue;
        };
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => FileKind::File,
            FileType::Directory => FileKind::Folder,
            _ => FileKind::Other,
        };
        // A name that is no text cannot be asked for either.
        let Ok(name) = std::str::from_utf8(name) else {
            more = true;
            continue;
        };
        entries.push(FileEntry {
            name: name.to_owned(),
            kind,
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
        });
    }
    entries.sort();
    Ok(FileOutcome::Listed { entries, more })
}

fn read(
    root: BorrowedFd<'_>,
    path: &[&str],
    from: u64,
    bytes_max: usize,
) -> Result<FileOutcome, FileFailure> {
    let (folder, name) = place(root, path, false)?;
    let (mut file, bytes) = open(folder.as_fd(), name)?;
    file.seek(SeekFrom::Start(from))
        .map_err(|_| FileFailure::TooLarge)?;
    let mut piece = Vec::new();
    let most = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    file.take(most)
        .read_to_end(&mut piece)
        .map_err(|_| FileFailure::Refused)?;
    // A letter that is cut at the end is read next time.
    let text = match String::from_utf8(piece) {
        Ok(text) => text,
        Err(torn) => {
            let whole = torn.utf8_error().valid_up_to();
            let is_cut = torn.utf8_error().error_len().is_none() && whole > 0;
            let mut piece = torn.into_bytes();
            piece.truncate(whole);
            let text = String::from_utf8(piece).unwrap_or_default();
            is_cut.then_some(text).ok_or(FileFailure::NotText)?
        }
    };
    Ok(FileOutcome::Read { text, bytes })
}

fn edit(
    root: BorrowedFd<'_>,
    path: &[&str],
    find: &str,
    replace: &str,
) -> Result<FileOutcome, FileFailure> {
    let (folder, name) = place(root, path, false)?;
    let (file, bytes) = open(folder.as_fd(), name)?;
    if bytes > FILE_BYTES_MAX {
        return Err(FileFailure::TooLarge);
    }
    let mut text = Vec::new();
    file.take(FILE_BYTES_MAX)
        .read_to_end(&mut text)
        .map_err(|_| FileFailure::Refused)?;
    let text = String::from_utf8(text).map_err(|_| FileFailure::NotText)?;
    let mut found = text.match_indices(find);
    let (Some(_), None) = (found.next(), found.next()) else {
        return Err(FileFailure::NotOnce);
    };
    put(folder.as_fd(), name, &text.replacen(find, replace, 1))
}

fn write(root: BorrowedFd<'_>, path: &[&str], text: &str) -> Result<FileOutcome, FileFailure> {
    let (folder, name) = place(root, path, true)?;
    put(folder.as_fd(), name, text)
}

/// All of it or nothing takes the name; what had the name and is no file keeps it.
fn put(folder: BorrowedFd<'_>, name: &str, text: &str) -> Result<FileOutcome, FileFailure> {
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    if bytes > FILE_BYTES_MAX {
        return Err(FileFailure::TooLarge);
    }
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile => {
            return Err(FileFailure::NotAFile);
        }
        Ok(_) | Err(Errno::NOENT) => {}
        Err(error) => return Err(failure(error)),
    }
    // What a killed process left.
    let _ = unlinkat(folder, UNFINISHED, AtFlags::empty());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP;
    let file = openat(folder, UNFINISHED, flags, mode).map_err(failure)?;
    let mut file = std::fs::File::from(file);
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_all());
    let renamed = match written {
        Ok(()) => renameat(folder, UNFINISHED, folder, name).map_err(failure),
        Err(_) => Err(FileFailure::Refused),
    };
    if renamed.is_err() {
        let _ = unlinkat(folder, UNFINISHED, AtFlags::empty());
    }
    renamed?;
    fsync(folder).map_err(failure)?;
    Ok(FileOutcome::Written { bytes })
}

/// The folder that a file is in, and its name there.
fn place<'a>(
    root: BorrowedFd<'_>,
    path: &[&'a str],
    makes: bool,
) -> Result<(OwnedFd, &'a str), FileFailure> {
    let (name, folders) = path.split_last().ok_or(FileFailure::NotAFile)?;
    Ok((walk(root, folders, makes)?, *name))
}

fn walk(root: BorrowedFd<'_>, path: &[&str], makes: bool) -> Result<OwnedFd, FileFailure> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = openat(root, ".", flags, Mode::empty()).map_err(failure)?;
    for name in path {
        let mut next = openat(&folder, *name, flags, Mode::empty());
        if makes && matches!(next, Err(Errno::NOENT)) {
            let mode = Mode::RWXU | Mode::RWXG;
            match mkdirat(&folder, *name, mode) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(failure(error)),
            }
            next = openat(&folder, *name, flags, Mode::empty());
        }
        folder = next.map_err(failure)?;
    }
    Ok(folder)
}

/// A regular file and its length; nothing that would keep whoever opens it waiting.
fn open(folder: BorrowedFd<'_>, name: &str) -> Result<(std::fs::File, u64), FileFailure> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(folder, name, flags, Mode::empty()).map_err(|error| match error {
        Errno::LOOP => FileFailure::NotAFile,
        error => failure(error),
    })?;
    let stat = fstat(&file).map_err(failure)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let bytes = u64::try_from(stat.st_size).unwrap_or(0);
            Ok((std::fs::File::from(file), bytes))
        }
        _ => Err(FileFailure::NotAFile),
    }
}

fn failure(error: Errno) -> FileFailure {
    match error {
        Errno::NOENT => FileFailure::NotFound,
        Errno::NOTDIR | Errno::LOOP => FileFailure::NotAFolder,
        Errno::NAMETOOLONG | Errno::FBIG | Errno::NOSPC | Errno::DQUOT => FileFailure::TooLarge,
        _ => FileFailure::Refused,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn order(agent: &str, path: &str, wish: FileWish) -> FileOrder {
        let path = path.split('/').filter(|name| !name.is_empty());
        FileOrder {
            agent: agent.to_owned(),
            path: path.map(str::to_owned).collect(),
            wish,
        }
    }

    fn opened(path: &Path, access: FolderAccess) -> OpenFolder {
        fs::create_dir_all(path).unwrap();
        OpenFolder {
            path: path.to_owned(),
            access,
            handle: fs::File::open(path).unwrap().into(),
        }
    }

    fn write(text: &str) -> FileWish {
        FileWish::Write {
            text: text.to_owned(),
        }
    }

    const fn read(from: u64, bytes_max: usize) -> FileWish {
        FileWish::Read { from, bytes_max }
    }

    fn failed(why: FileFailure) -> FileOutcome {
        FileOutcome::Failed { why }
    }

    #[test]
    fn files_are_written_read_and_edited_in_the_folders_of_the_plan() {
        let data = tempfile::tempdir().unwrap();
        let state = |name: &str| data.path().join("agents").join(name).join("state");
        let folders = [
            opened(&state("alice"), FolderAccess::ReadWrite),
            opened(&state("bob"), FolderAccess::ReadWrite),
            opened(&data.path().join("applied/alice"), FolderAccess::ReadOnly),
        ];
        let files = Files::of(&folders);
        let answer = |agent, path, wish| files.answer(order(agent, path, wish));
        for agent in ["alice", "bob"] {
            let written = answer(agent, "notes/today.md", write("né"));
            assert_eq!(written, FileOutcome::Written { bytes: 3 });
        }
        // A letter is not cut in two.
        let text = |text: &str, bytes| FileOutcome::Read {
            text: text.to_owned(),
            bytes,
        };
        assert_eq!(answer("bob", "notes/today.md", read(0, 2)), text("n", 3));
        assert_eq!(answer("bob", "notes/today.md", read(1, 9)), text("é", 3));
        assert_eq!(answer("bob", "notes/today.md", read(9, 9)), text("", 3));
        let change = |find: &str, replace: &str| FileWish::Edit {
            find: find.to_owned(),
            replace: replace.to_owned(),
        };
        assert_eq!(
            answer("bob", "notes/today.md", change("é", "ee")),
            FileOutcome::Written { bytes: 3 }
        );
        for find in ["e", "x"] {
            let refused = answer("bob", "notes/today.md", change(find, "y"));
            assert_eq!(refused, failed(FileFailure::NotOnce), "{find}");
        }
        assert_eq!(
            fs::read_to_string(state("bob").join("notes/today.md")).unwrap(),
            "nee"
        );
        assert_eq!(
            fs::read_to_string(state("alice").join("notes/today.md")).unwrap(),
            "né"
        );
        let entry = |name: &str, kind, bytes| FileEntry {
            name: name.to_owned(),
            kind,
            bytes,
        };
        let FileOutcome::Listed { entries, more } = answer("alice", "notes", FileWish::List) else {
            panic!("no list");
        };
        assert_eq!(
            (entries, more),
            (vec![entry("today.md", FileKind::File, 3)], false)
        );
        for agent in ["carol", "root", "", "applied"] {
            assert_eq!(
                answer(agent, "x", read(0, 9)),
                failed(FileFailure::NotFound),
                "{agent}"
            );
        }
    }

    #[test]
    fn no_path_leads_out_of_its_folder() {
        let data = tempfile::tempdir().unwrap();
        let state = data.path().join("agents/alice/state");
        let folders = [opened(&state, FolderAccess::ReadWrite)];
        let files = Files::of(&folders);
        fs::write(data.path().join("secret"), "secret").unwrap();
        symlink(data.path(), state.join("out")).unwrap();
        symlink(data.path().join("secret"), state.join("link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, state.join("fifo"), Mode::RWXU).unwrap();
        let answer = |path: &str, wish| files.answer(order("alice", path, wish));
        for (path, why) in [
            ("out/secret", FileFailure::NotAFolder),
            ("link", FileFailure::NotAFile),
            ("fifo", FileFailure::NotAFile),
            ("../../../secret", FileFailure::Refused),
            ("nothing", FileFailure::NotFound),
        ] {
            assert_eq!(answer(path, read(0, 99)), failed(why), "{path}");
        }
        for path in ["out/secret", "link", "fifo", "../secret"] {
            assert!(
                matches!(answer(path, write("x")), FileOutcome::Failed { .. }),
                "{path}"
            );
        }
        assert_eq!(
            fs::read_to_string(data.path().join("secret")).unwrap(),
            "secret"
        );
        assert_eq!(
            answer("out", FileWish::List),
            failed(FileFailure::NotAFolder)
        );
        let names = |path: &str| {
            let raw = FileOrder {
                agent: "alice".to_owned(),
                path: vec![path.to_owned()],
                wish: read(0, 9),
            };
            files.answer(raw)
        };
        for name in ["a/b", "/etc/passwd", ".", "", "a\0b"] {
            assert_eq!(names(name), failed(FileFailure::Refused), "{name:?}");
        }
        fs::write(state.join("bytes"), [0xff, 0xfe]).unwrap();
        assert_eq!(answer("bytes", read(0, 9)), failed(FileFailure::NotText));
        let long = "x".repeat(usize::try_from(FILE_BYTES_MAX).unwrap() + 1);
        assert_eq!(answer("long", write(&long)), failed(FileFailure::TooLarge));
        assert!(!state.join("long").exists() && !state.join(UNFINISHED).exists());
    }
}
