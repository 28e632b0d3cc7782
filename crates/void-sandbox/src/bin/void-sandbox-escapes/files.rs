//! Files that are not the agent's.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, renameat, unlinkat};
use void_sandbox::{Confined, FolderAccess};

use crate::{Targets, Try, call};

pub(super) fn that_look(targets: &Targets) -> Vec<Try> {
    let (data, state) = (&targets.data, &targets.state);
    let read = |path: &Path| fs::read(path).map(drop);
    let list = |path: &Path| fs::read_dir(path).map(drop);
    let stranger = |file: &str| format!("/proc/{}/{file}", targets.process);
    vec![
        ("read the database", read(&data.join("void.db"))),
        ("read the owner's token", read(&data.join("owner.token"))),
        (
            "read a sibling's state",
            read(&data.join("agents/sibling/state/secret")),
        ),
        ("list the agents", list(&data.join("agents"))),
        ("list the data folder", list(data)),
        ("list the topology", list(&data.join("meta"))),
        ("list the root folder", list(Path::new("/"))),
        ("read the accounts", read(Path::new("/etc/passwd"))),
        ("read its memory map", read(Path::new("/proc/self/maps"))),
        ("list the processes", list(Path::new("/proc"))),
        (
            "read another's environment",
            read(Path::new(&stranger("environ"))),
        ),
        (
            "read another's command line",
            read(Path::new(&stranger("cmdline"))),
        ),
        (
            "open another's memory",
            File::open(stranger("mem")).map(drop),
        ),
        ("read through a link", read(&state.join("to-database"))),
        (
            "read through a linked folder",
            read(&state.join("to-data/void.db")),
        ),
        ("read by steps back", read(&state.join("../../../void.db"))),
        (
            "read by the root of its process",
            read(
                &Path::new("/proc/self/root")
                    .join(below_root(data))
                    .join("void.db"),
            ),
        ),
        (
            "read what is swapped under its name",
            race(&state.join("to-data"), &state.join("swapped")),
        ),
        (
            "read by a handle of its path",
            by_handle(&data.join("void.db")),
        ),
        (
            "read by a handle of a folder",
            below_handle(data, "void.db"),
        ),
        (
            "read an inherited descriptor",
            inherited(targets.descriptor),
        ),
    ]
}

pub(super) fn that_change(targets: &Targets) -> Vec<Try> {
    let (data, state, applied) = (&targets.data, &targets.state, &targets.applied);
    let database = data.join("void.db");
    let _ = fs::write(state.join("own"), "own");
    vec![
        ("read the passwords", fs::read("/etc/shadow").map(drop)),
        ("write the database", append(&database)),
        ("remove the database", fs::remove_file(&database)),
        ("write beside it", fs::write(data.join("new"), "x")),
        (
            "write beside its own folder",
            fs::write(state.join("../new"), "x"),
        ),
        ("write through a link", fs::write(state.join("to-new"), "x")),
        ("write far away", fs::write(&targets.outside, "x")),
        (
            "write what it may read",
            append(&applied.join("agent.toml")),
        ),
        (
            "add to what it may read",
            fs::write(applied.join("new"), "x"),
        ),
        (
            "remove what it may read",
            fs::remove_file(applied.join("agent.toml")),
        ),
        ("empty what it may read", empty(&applied.join("agent.toml"))),
        (
            "empty it by its name",
            truncate(&applied.join("agent.toml")),
        ),
        (
            "move a file out",
            fs::rename(state.join("own"), data.join("own")),
        ),
        ("move a file in", fs::rename(&database, state.join("moved"))),
        (
            "link a file in",
            fs::hard_link(&database, state.join("linked")),
        ),
        (
            "link its own file",
            fs::hard_link(state.join("own"), state.join("own-too")),
        ),
        ("make a link", symlink(&database, state.join("link"))),
        ("make a pipe", node(state, libc::S_IFIFO)),
        ("make a device", node(state, libc::S_IFBLK)),
        (
            "make a socket",
            UnixListener::bind(state.join("socket")).map(drop),
        ),
        ("change a mode", mode(&database, 0o666)),
        (
            "change its own file's mode",
            mode(&state.join("own"), 0o4777),
        ),
        (
            "change an owner",
            std::os::unix::fs::chown(&database, Some(1), None),
        ),
        ("change times", times(&database)),
        ("open to do neither", opened(&database, libc::O_ACCMODE)),
        ("hold up a writer", lease(&applied.join("agent.toml"))),
        ("set an attribute", call(libc::SYS_setxattr, [0; 5])),
        ("open by handle", call(libc::SYS_open_by_handle_at, [0; 5])),
        ("watch a folder", call(libc::SYS_inotify_init1, [0; 5])),
        ("open in a new way", call(libc::SYS_openat2, [0; 5])),
    ]
}

pub(super) fn that_are_allowed(confined: &Confined) -> Vec<Try> {
    let mut tries = vec![("work in its working folder", work(&CWD))];
    for folder in &confined.folders {
        tries.push(match folder.access {
            FolderAccess::ReadWrite => ("work in its folder", work(&folder.handle)),
            FolderAccess::ReadOnly => {
                let flags = OFlags::RDONLY | OFlags::CLOEXEC;
                let opened = openat(&folder.handle, "agent.toml", flags, Mode::empty());
                (
                    "read what was applied",
                    opened.map(drop).map_err(io::Error::from),
                )
            }
        });
    }
    if let [own, below, ..] = confined.folders.as_slice() {
        let moved = fs::write("moved", "x").and_then(|()| {
            renameat(&own.handle, "moved", &below.handle, "moved").map_err(io::Error::from)
        });
        tries.push(("move between its folders", moved));
    }
    tries
}

/// Makes, writes, moves, reads and removes.
fn work(folder: &impl AsFd) -> io::Result<()> {
    let mode = Mode::from_raw_mode(0o770);
    mkdirat(folder, "notes", mode)?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mut file = File::from(openat(
        folder,
        "notes/a",
        flags,
        Mode::from_raw_mode(0o660),
    )?);
    file.write_all(b"words")?;
    file.set_len(1)?;
    renameat(folder, "notes/a", folder, "b")?;
    unlinkat(folder, "notes", AtFlags::REMOVEDIR)?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let mut text = String::new();
    File::from(openat(folder, "b", flags, Mode::empty())?).read_to_string(&mut text)?;
    openat(folder, ".", flags | OFlags::DIRECTORY, Mode::empty())?;
    unlinkat(folder, "b", AtFlags::empty())?;
    match text.as_str() {
        "w" => Ok(()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn below_root(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

/// Changes what a name means while it is looked at, again and again.
fn race(link: &Path, name: &Path) -> io::Result<()> {
    let mut ended = Err(io::ErrorKind::NotFound.into());
    for _ in 0..200 {
        fs::rename(link, name)?;
        let read = fs::read(name.join("void.db")).map(drop);
        let listed = fs::read_dir(name).map(drop);
        fs::rename(name, link)?;
        ended = read.or(listed);
        if ended.is_ok() {
            break;
        }
    }
    ended
}

fn inherited(descriptor: i32) -> io::Result<()> {
    let descriptor = usize::try_from(descriptor).unwrap_or(usize::MAX);
    let mut byte = [0_u8; 1];
    let read = call(
        libc::SYS_read,
        [descriptor, byte.as_mut_ptr() as usize, 1, 0, 0],
    );
    read.map_err(|why| match why.raw_os_error() {
        // There is none any more.
        Some(libc::EBADF) => io::Error::from_raw_os_error(libc::EPERM),
        Some(_) | None => why,
    })
}

/// A handle that names a file without opening it is nobody's right to open it.
fn by_handle(path: &Path) -> io::Result<()> {
    let handle = opened_as(path, OFlags::PATH)?;
    let number = handle.as_raw_fd();
    File::open(format!("/proc/self/fd/{number}"))?.read_exact(&mut [0])
}

fn below_handle(folder: &Path, name: &str) -> io::Result<()> {
    let handle = opened_as(folder, OFlags::PATH | OFlags::DIRECTORY)?;
    let opened = openat(
        &handle,
        name,
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    );
    opened.map(drop).map_err(io::Error::from)
}

fn opened_as(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    openat(CWD, path, flags | OFlags::CLOEXEC, Mode::empty()).map_err(io::Error::from)
}

fn opened(path: &Path, mode: libc::c_int) -> io::Result<()> {
    let path = format!("{}\0", path.display());
    let mode = usize::try_from(mode).unwrap_or(0);
    let here = usize::MAX - 99;
    call(libc::SYS_openat, [here, path.as_ptr() as usize, mode, 0, 0])
}

fn lease(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    let handle = usize::try_from(file.as_raw_fd()).unwrap_or(0);
    let command = usize::try_from(libc::F_SETLEASE).unwrap_or(0);
    call(libc::SYS_fcntl, [handle, command, 0, 0, 0])
}

fn append(path: &Path) -> io::Result<()> {
    OpenOptions::new().append(true).open(path).map(drop)
}

fn empty(path: &Path) -> io::Result<()> {
    OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_TRUNC)
        .open(path)
        .map(drop)
}

fn truncate(path: &Path) -> io::Result<()> {
    let Some(path) = path.to_str() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let path = format!("{path}\0");
    call(libc::SYS_truncate, [path.as_ptr() as usize, 0, 0, 0, 0])
}

fn mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

fn times(path: &Path) -> io::Result<()> {
    let path = format!("{}\0", path.display());
    let now = [0_i64, 0, 0, 0];
    let folder = usize::MAX - 99;
    call(
        libc::SYS_utimensat,
        [folder, path.as_ptr() as usize, now.as_ptr() as usize, 0, 0],
    )
}

fn node(state: &Path, kind: libc::mode_t) -> io::Result<()> {
    let folder = File::open(state)?;
    let name = b"node\0";
    let handle = usize::try_from(folder.as_raw_fd()).unwrap_or(0);
    let mode = usize::try_from(kind | 0o600).unwrap_or(0);
    call(
        libc::SYS_mknodat,
        [handle, name.as_ptr() as usize, mode, 0, 0],
    )
}
