//! All file-system work of the bridge, on open directory handles: nothing follows a link, nothing is
//! written by path, so nothing outside the folder can be reached, whoever swaps names underneath.
//!
//! Void's own files are written in `.void/`, synced, and renamed into place. A file that moves is taken
//! first (an atomic rename into `.void/`), so it is never in two places by Void's hand, and a foreign
//! hand that is faster simply wins.

use std::ffi::CString;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use void_domain::bridge::{FILE_BYTES_MAX, InstanceId, StatusFolder};
use void_domain::{fail_point, text};

/// Names of one directory that are looked at; what is beyond waits until there is room.
pub(super) const NAMES_MAX: usize = 10_000;
const HOLD: &str = ".void";
const INVALID: &str = "invalid";
/// How many files of the same name `invalid/` keeps.
const SAME_NAME_MAX: u32 = 1_000;
const FILE_MODE: u32 = 0o640;
const DIRECTORY_MODE: u32 = 0o770;
const HOLD_MODE: u32 = 0o700;
const WRITABLE_BY_ALL: u32 = 0o002;

pub(super) struct Folder {
    root: OwnedFd,
    places: Vec<OwnedFd>,
    invalid: OwnedFd,
    hold: OwnedFd,
    /// Held for as long as this folder is ours; a mere look has none.
    _lock: Option<OwnedFd>,
}

/// What a name is bound to, without having opened it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileStamp {
    device: u64,
    inode: u64,
    bytes: i64,
    changed: (i64, u64),
    modified: (i64, u64),
    links: u64,
    mode: u32,
}

impl FileStamp {
    fn of(stat: &Stat) -> Self {
        // The widths of these fields differ between machines.
        #[allow(
            clippy::unnecessary_cast,
            clippy::allow_attributes,
            reason = "widths differ"
        )]
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            bytes: stat.st_size as i64,
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as u64),
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as u64),
            links: stat.st_nlink as u64,
            mode: stat.st_mode as u32,
        }
    }

    fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    /// Why this can never be read, if so.
    fn unfit(&self) -> Option<String> {
        let kind = FileType::from_raw_mode(self.mode);
        let why = match kind {
            FileType::RegularFile if self.links > 1 => "it has a second name (a hard link)",
            FileType::RegularFile if self.mode & WRITABLE_BY_ALL != 0 => {
                "everybody on this machine may write to it"
            }
            FileType::RegularFile if self.bytes > FILE_BYTES_MAX as i64 => {
                return Some(format!("it is larger than {FILE_BYTES_MAX} bytes"));
            }
            FileType::RegularFile => return None,
            FileType::Symlink => "it is a symbolic link",
            FileType::Directory => "it is a directory",
            FileType::Fifo => "it is a pipe",
            FileType::Socket => "it is a socket",
            _ => "it is not a file",
        };
        Some(why.to_owned())
    }
}

/// What reading gave.
#[derive(Debug)]
pub(super) enum FileContent {
    Bytes(Vec<u8>),
    /// Not a file that may be read.
    Unfit(String),
    Gone,
}

/// How a move ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    Done,
    /// It was no longer there, or another file stood in its way: look again.
    Lost,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub raw: CString,
}

impl Name {
    pub(super) fn instance(&self) -> Option<InstanceId> {
        InstanceId::from_file_name(self.raw.to_str().ok()?)
    }

    pub(super) fn of(instance: &InstanceId) -> Self {
        Self {
            // An instance id holds no NUL.
            raw: CString::new(instance.file_name()).unwrap_or_default(),
        }
    }

    /// Something that is being written by somebody, and will get its name later.
    pub(super) fn is_temporary(&self) -> bool {
        let bytes = self.raw.as_bytes();
        bytes.starts_with(b".")
            || [&b"~"[..], b".tmp", b".part", b".swp"]
                .iter()
                .any(|end| bytes.ends_with(end))
    }

    pub(super) fn shown(&self) -> String {
        let lossy = self.raw.to_string_lossy();
        text::escaped(text::cut(&lossy, 200))
    }
}

impl Folder {
    /// Opens, and where they are missing makes, the directories. Refuses a folder that others could
    /// have prepared.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let folder = Self::open_to_look(path)?;
        let lock = lock(folder.hold.as_fd()).map_err(|error| match error {
            Errno::WOULDBLOCK => format!("{}: another Void uses this folder", path.display()),
            error => format!("{}: {}", path.display(), io::Error::from(error)),
        })?;
        Ok(Self {
            _lock: Some(lock),
            ..folder
        })
    }

    /// For counting only.
    pub(super) fn open_to_look(path: &Path) -> Result<Self, String> {
        let said = |error: Errno| format!("{}: {}", path.display(), io::Error::from(error));
        match rustix::fs::mkdir(path, Mode::from_raw_mode(DIRECTORY_MODE)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(said(error)),
        }
        let root = open_directory(CWD, path).map_err(said)?;
        check_root(&root).map_err(|why| format!("{}: {why}", path.display()))?;
        let inner = |name: &str, mode: u32| {
            let opened = make_directory(root.as_fd(), name, mode);
            opened.map_err(|why| format!("{}: {why}", path.join(name).display()))
        };
        let places = StatusFolder::ALL
            .iter()
            .map(|place| inner(place.as_str(), DIRECTORY_MODE))
            .collect::<Result<_, _>>()?;
        let invalid = inner(INVALID, DIRECTORY_MODE)?;
        let hold = inner(HOLD, HOLD_MODE)?;
        Ok(Self {
            root,
            places,
            invalid,
            hold,
            _lock: None,
        })
    }

    /// Whether the path still leads to the folder that is open, and it is still safe.
    pub(super) fn is_still(&self, path: &Path) -> bool {
        let (Ok(there), Ok(here)) = (rustix::fs::stat(path), rustix::fs::fstat(&self.root)) else {
            return false;
        };
        let open = StatusFolder::ALL.iter().all(|place| {
            let (Ok(there), Ok(here)) = (
                rustix::fs::statat(&self.root, place.as_str(), AtFlags::SYMLINK_NOFOLLOW),
                rustix::fs::fstat(self.at(*place)),
            ) else {
                return false;
            };
            FileStamp::of(&there).is_same_file(&FileStamp::of(&here))
                && FileStamp::of(&here).mode & WRITABLE_BY_ALL == 0
        });
        open && FileStamp::of(&there).is_same_file(&FileStamp::of(&here))
            && check_root(&self.root).is_ok()
    }

    fn at(&self, place: StatusFolder) -> BorrowedFd<'_> {
        let index = StatusFolder::ALL.iter().position(|one| *one == place);
        index
            .and_then(|index| self.places.get(index))
            .map_or(self.hold.as_fd(), AsFdExt::as_borrowed)
    }

    /// Paths by which the kernel can watch exactly the directories that are open.
    pub(super) fn watchable(&self) -> Vec<String> {
        let watched = StatusFolder::ALL.map(|place| self.at(place).as_raw_fd());
        watched
            .iter()
            .map(|fd| format!("/proc/self/fd/{fd}"))
            .collect()
    }

    pub(super) fn names(&self, place: StatusFolder) -> io::Result<Vec<Name>> {
        names(self.at(place))
    }

    pub(super) fn invalid_names(&self) -> io::Result<Vec<Name>> {
        names(self.invalid.as_fd())
    }

    /// What Void was holding when it was stopped.
    pub(super) fn held_names(&self) -> io::Result<Vec<Name>> {
        names(self.hold.as_fd())
    }

    pub(super) fn look(&self, place: StatusFolder, name: &Name) -> io::Result<Option<FileStamp>> {
        look(self.at(place), &name.raw)
    }

    /// Every place where the name is, in the order in which files move: a moving file may be seen twice,
    /// and is never missed. What is seen twice is looked at again.
    pub(super) fn locate(&self, name: &Name) -> io::Result<Vec<(StatusFolder, FileStamp)>> {
        let mut found = Vec::new();
        for _ in 0..3 {
            found.clear();
            for place in StatusFolder::ALL {
                if let Some(seen) = self.look(place, name)? {
                    found.push((place, seen));
                }
            }
            if found.len() < 2 {
                break;
            }
        }
        Ok(found)
    }

    pub(super) fn read(&self, place: StatusFolder, name: &Name) -> io::Result<FileContent> {
        read(self.at(place), &name.raw)
    }

    pub(super) fn read_invalid(&self, name: &Name) -> io::Result<FileContent> {
        read(self.invalid.as_fd(), &name.raw)
    }

    pub(super) fn read_held(&self, name: &Name) -> io::Result<FileContent> {
        read(self.hold.as_fd(), &name.raw)
    }

    /// Puts new content in place of the file that was seen at `from`, or where there was none.
    pub(super) fn put(
        &self,
        from: Option<(StatusFolder, FileStamp)>,
        to: StatusFolder,
        name: &Name,
        content: &[u8],
    ) -> io::Result<Moved> {
        let staged = held(b"new-", name);
        self.stage(&staged, content)?;
        let taken = held(b"old-", name);
        if let Some((place, seen)) = from
            && !self.take(place, name, &taken, &seen)?
        {
            self.drop_held(&staged)?;
            return Ok(Moved::Lost);
        }
        fail_point!("bridge.place.before");
        let placed = self.rename_new(self.hold.as_fd(), &staged, self.at(to), &name.raw);
        fail_point!("bridge.place.after");
        match placed {
            Ok(()) => {}
            Err(Errno::EXIST) => {
                self.drop_held(&staged)?;
                self.drop_held(&taken)?;
                return Ok(Moved::Lost);
            }
            Err(error) => return Err(error.into()),
        }
        if from.is_some() {
            fail_point!("bridge.drop.before");
            self.drop_held(&taken)?;
            fail_point!("bridge.drop.after");
        }
        Ok(Moved::Done)
    }

    /// Replaces a file where it is, without a moment in which it is not there.
    pub(super) fn replace(
        &self,
        place: StatusFolder,
        name: &Name,
        content: &[u8],
    ) -> io::Result<()> {
        let staged = held(b"new-", name);
        self.stage(&staged, content)?;
        rustix::fs::renameat(&self.hold, &staged, self.at(place), &name.raw)?;
        rustix::fs::fsync(self.at(place))?;
        Ok(())
    }

    /// Holds an offer ready: written and synced, and not public yet.
    pub(super) fn hold_offer(&self, name: &Name, content: &[u8]) -> io::Result<()> {
        self.stage(&held(b"offer-", name), content)
    }

    pub(super) fn has_offer(&self, name: &Name) -> io::Result<bool> {
        Ok(look(self.hold.as_fd(), &held(b"offer-", name))?.is_some())
    }

    pub(super) fn drop_offer(&self, name: &Name) -> io::Result<()> {
        self.drop_held(&held(b"offer-", name))
    }

    /// Makes the held offer public: from now on a foreign executor may take it.
    pub(super) fn publish_offer(&self, name: &Name) -> io::Result<Moved> {
        fail_point!("bridge.publish.before");
        let to = self.at(StatusFolder::Approved);
        let placed = self.rename_new(self.hold.as_fd(), &held(b"offer-", name), to, &name.raw);
        fail_point!("bridge.publish.after");
        match placed {
            Ok(()) => Ok(Moved::Done),
            Err(Errno::EXIST | Errno::NOENT) => Ok(Moved::Lost),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes an offer back, unless an executor was faster.
    pub(super) fn withdraw_offer(&self, name: &Name) -> io::Result<Moved> {
        fail_point!("bridge.withdraw.before");
        let from = self.at(StatusFolder::Approved);
        let taken = rustix::fs::renameat(from, &name.raw, &self.hold, held(b"offer-", name));
        let taken = taken.and_then(|()| self.sync_both(from, self.hold.as_fd()));
        fail_point!("bridge.withdraw.after");
        match taken {
            Ok(()) => Ok(Moved::Done),
            Err(Errno::NOENT) => Ok(Moved::Lost),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes a public file away before its offer is made.
    pub(super) fn take_away(
        &self,
        place: StatusFolder,
        name: &Name,
        seen: &FileStamp,
    ) -> io::Result<Moved> {
        let taken = held(b"old-", name);
        if !self.take(place, name, &taken, seen)? {
            return Ok(Moved::Lost);
        }
        self.drop_held(&taken)?;
        Ok(Moved::Done)
    }

    /// Moves what cannot be believed into `invalid/`, with the reason beside it.
    pub(super) fn set_aside(
        &self,
        place: StatusFolder,
        name: &Name,
        why: &str,
    ) -> io::Result<Moved> {
        self.aside(self.at(place), &name.raw, name, why)
    }

    pub(super) fn set_held_aside(&self, held: &Name, name: &Name, why: &str) -> io::Result<Moved> {
        self.aside(self.hold.as_fd(), &held.raw, name, why)
    }

    fn aside(
        &self,
        from: BorrowedFd<'_>,
        raw: &CString,
        name: &Name,
        why: &str,
    ) -> io::Result<Moved> {
        for attempt in 0..SAME_NAME_MAX {
            let kept = aside_name(name, attempt);
            if look(self.invalid.as_fd(), &kept)?.is_some() {
                continue;
            }
            fail_point!("bridge.aside.before");
            let reason = format!("{}\n{why}\n", name.shown());
            let note = [kept.as_bytes(), b".reason.txt"].concat();
            let staged = CString::new("reason")?;
            self.stage(&staged, reason.as_bytes())?;
            let note = CString::new(note)?;
            rustix::fs::renameat(&self.hold, &staged, &self.invalid, &note)?;
            let moved = self.rename_new(from, raw, self.invalid.as_fd(), &kept);
            fail_point!("bridge.aside.after");
            return match moved {
                Ok(()) => Ok(Moved::Done),
                Err(Errno::EXIST) => continue,
                Err(Errno::NOENT) => {
                    let _ = rustix::fs::unlinkat(&self.invalid, &note, AtFlags::empty());
                    Ok(Moved::Lost)
                }
                Err(error) => Err(error.into()),
            };
        }
        Err(io::Error::other(
            "invalid/ holds too many files of this name",
        ))
    }

    /// Where the stream of events was when its last file was in place.
    pub(super) fn cursor(&self) -> Option<u64> {
        match read(self.hold.as_fd(), c"cursor") {
            Ok(FileContent::Bytes(bytes)) => String::from_utf8(bytes).ok()?.trim().parse().ok(),
            _ => None,
        }
    }

    pub(super) fn save_cursor(&self, seq: u64) -> io::Result<()> {
        let staged = CString::new("cursor-new")?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW;
        let file = open_file(self.hold.as_fd(), &staged, flags)?;
        std::fs::File::from(file).write_all(seq.to_string().as_bytes())?;
        rustix::fs::renameat(&self.hold, &staged, &self.hold, c"cursor")?;
        Ok(())
    }

    fn stage(&self, staged: &CString, content: &[u8]) -> io::Result<()> {
        fail_point!("bridge.stage.before");
        self.drop_held(staged)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mut file = std::fs::File::from(open_file(self.hold.as_fd(), staged, flags)?);
        let written = file.write_all(content).and_then(|()| file.sync_all());
        if written.is_err() {
            // A full disk: half a file is of no use, and would only take room.
            self.drop_held(staged)?;
        }
        fail_point!("bridge.stage.after");
        written
    }

    /// `false`: it was gone. Another file that was put under this name meanwhile is set aside.
    fn take(
        &self,
        place: StatusFolder,
        name: &Name,
        taken: &CString,
        seen: &FileStamp,
    ) -> io::Result<bool> {
        fail_point!("bridge.take.before");
        match rustix::fs::renameat(self.at(place), &name.raw, &self.hold, taken) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        self.sync_both(self.at(place), self.hold.as_fd())?;
        fail_point!("bridge.take.after");
        let same = look(self.hold.as_fd(), taken)?
            .is_some_and(|got| got.is_same_file(seen) && got.modified == seen.modified);
        if !same {
            let why = "it was replaced or edited while Void moved it";
            self.aside(self.hold.as_fd(), taken, name, why)?;
        }
        Ok(true)
    }

    fn rename_new(
        &self,
        from: BorrowedFd<'_>,
        old: &CString,
        to: BorrowedFd<'_>,
        new: &CString,
    ) -> Result<(), Errno> {
        rustix::fs::renameat_with(from, old, to, new, RenameFlags::NOREPLACE)?;
        self.sync_both(from, to)
    }

    fn sync_both(&self, one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> Result<(), Errno> {
        rustix::fs::fsync(other)?;
        rustix::fs::fsync(one)
    }

    fn drop_held(&self, name: &CString) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.hold, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn drop_held_name(&self, name: &Name) -> io::Result<()> {
        self.drop_held(&name.raw)
    }
}

trait AsFdExt {
    fn as_borrowed(&self) -> BorrowedFd<'_>;
}

impl AsFdExt for OwnedFd {
    fn as_borrowed(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }
}

fn held(prefix: &[u8], name: &Name) -> CString {
    CString::new([prefix, name.raw.as_bytes()].concat()).unwrap_or_default()
}

/// `x.json`, then `x.json.1`, and so on; a name that could trouble a reader gets a plain one.
fn aside_name(name: &Name, attempt: u32) -> CString {
    let plain = name
        .raw
        .to_str()
        .ok()
        .filter(|text| text.len() <= 200 && !text.starts_with(['.', '-']))
        .filter(|text| text.bytes().all(|b| b.is_ascii_graphic()))
        .unwrap_or("unnamed");
    let kept = match attempt {
        0 => plain.to_owned(),
        attempt => format!("{plain}.{attempt}"),
    };
    CString::new(kept).unwrap_or_default()
}

fn open_directory(at: BorrowedFd<'_>, path: impl rustix::path::Arg) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(at, path, flags, Mode::empty())
}

fn open_file(at: BorrowedFd<'_>, name: &CString, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mode = Mode::from_raw_mode(FILE_MODE);
    rustix::fs::openat(at, name, flags | OFlags::CLOEXEC, mode)
}

fn make_directory(root: BorrowedFd<'_>, name: &str, mode: u32) -> Result<OwnedFd, String> {
    let said = |error: Errno| match error {
        Errno::LOOP | Errno::NOTDIR => "it is not a directory, or a symbolic link".to_owned(),
        error => io::Error::from(error).to_string(),
    };
    match rustix::fs::mkdirat(root, name, Mode::from_raw_mode(mode)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(said(error)),
    }
    let opened = open_directory(root, name).map_err(said)?;
    let seen = FileStamp::of(&rustix::fs::fstat(&opened).map_err(said)?);
    if seen.mode & WRITABLE_BY_ALL != 0 {
        return Err("everybody on this machine may write to it; chmod o-w".to_owned());
    }
    Ok(opened)
}

fn check_root(root: &OwnedFd) -> Result<(), String> {
    let stat = rustix::fs::fstat(root).map_err(|error| io::Error::from(error).to_string())?;
    let us = rustix::process::geteuid().as_raw();
    if stat.st_uid != us && stat.st_uid != 0 {
        return Err("it belongs to another account; chown it to the one that runs void".to_owned());
    }
    if FileStamp::of(&stat).mode & WRITABLE_BY_ALL != 0 {
        return Err("everybody on this machine may write to it; chmod o-w".to_owned());
    }
    Ok(())
}

fn lock(hold: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW;
    let lock = open_file(hold, &CString::from(c"lock"), flags)?;
    rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
    Ok(lock)
}

fn names(directory: BorrowedFd<'_>) -> io::Result<Vec<Name>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let raw = entry.file_name().to_owned();
        if raw.as_bytes() == b"." || raw.as_bytes() == b".." {
            continue;
        }
        if found.len() >= NAMES_MAX {
            break;
        }
        found.push(Name { raw });
    }
    Ok(found)
}

fn look(directory: BorrowedFd<'_>, name: &std::ffi::CStr) -> io::Result<Option<FileStamp>> {
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(FileStamp::of(&stat))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Looks at what the name is before opening it, and at what was opened after.
fn read(directory: BorrowedFd<'_>, name: &std::ffi::CStr) -> io::Result<FileContent> {
    let Some(seen) = look(directory, name)? else {
        return Ok(FileContent::Gone);
    };
    if let Some(why) = seen.unfit() {
        return Ok(FileContent::Unfit(why));
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = match rustix::fs::openat(directory, name, flags | OFlags::CLOEXEC, Mode::empty()) {
        Ok(opened) => opened,
        Err(Errno::NOENT) => return Ok(FileContent::Gone),
        Err(Errno::LOOP) => return Ok(FileContent::Unfit("it is a symbolic link".to_owned())),
        Err(Errno::ACCESS) => return Ok(FileContent::Unfit("Void may not read it".to_owned())),
        Err(error) => return Err(error.into()),
    };
    if let Some(why) = FileStamp::of(&rustix::fs::fstat(&opened)?).unfit() {
        return Ok(FileContent::Unfit(why));
    }
    let mut bytes = Vec::new();
    let limit = FILE_BYTES_MAX as u64 + 1;
    std::fs::File::from(opened)
        .take(limit)
        .read_to_end(&mut bytes)?;
    if bytes.len() > FILE_BYTES_MAX {
        return Ok(FileContent::Unfit(format!(
            "it is larger than {FILE_BYTES_MAX} bytes"
        )));
    }
    Ok(FileContent::Bytes(bytes))
}
