//! Making the journal's folders, and taking over what an earlier version wrote into one file.
//!
//! Everything is made in `journal.new` and synced, and only then becomes `journal`, in one step: at every moment
//! `journal` is the whole old file or the whole new folder, or, where the file system cannot swap the two, absent with
//! the old one at `journal.old`. Whatever interrupts it, it is begun again from the old file. Who does it holds the
//! lock that earlier versions hold while they read and write; one of those finds a folder afterwards and refuses.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::history::{History, OldRun};
use super::records::{Begun, Record, Start, line_of};
use super::{ACTIONS, FOLDERS, Fault, MARKS, ROOT, folder_name, marks, ticket_file, tickets};
use crate::clock::{self, Moment};
use crate::commands::ActionId;
use crate::files::{self, Kind};
use crate::sys;

const NEW: &str = "journal.new";
pub(crate) const OLD: &str = "journal.old";
/// More than an old journal ever held.
const READ_BYTES_MAX: u64 = 128 << 20;
const LOCK_WAIT_MAX: Duration = Duration::from_secs(10);
const LOCK_RETRY: Duration = Duration::from_millis(5);

/// Whether there is an older journal to take over.
pub(crate) fn is_due(state: &Path) -> io::Result<bool> {
    Ok(match files::kind(&state.join(ROOT))? {
        Kind::Folder => false,
        Kind::File => true,
        Kind::Missing => {
            let [old, new] = [OLD, NEW].map(|name| files::kind(&state.join(name)));
            old? == Kind::File || new? == Kind::File
        }
        Kind::Other => return Err(files::untrusted("the journal is no folder")),
    })
}

/// Makes the journal if it is not there: out of an older one, or empty.
pub(crate) fn make(state: &Path) -> Result<(), Fault> {
    let _lock = lock(state)?;
    let (root, old, new) = (state.join(ROOT), state.join(OLD), state.join(NEW));
    // Looked at under the lock: whoever held it before may have done it.
    let source = match files::kind(&root)? {
        Kind::Folder => return Ok(()),
        Kind::File => {
            if files::kind(&new)? == Kind::File {
                // Of an earlier version that was killed while it wrote its journal anew; the whole one is still there.
                fs::remove_file(&new)?;
            }
            Some(&root)
        }
        Kind::Missing => {
            if files::kind(&new)? == Kind::File {
                fs::rename(&new, &old)?;
            }
            (files::kind(&old)? == Kind::File).then_some(&old)
        }
        Kind::Other => return Err(files::untrusted("the journal is no folder").into()),
    };
    let now = clock::now().map_err(|_| io::Error::other("the clock cannot be read"))?;
    let history = match source {
        Some(path) => History::read(open(path)?, &now)?,
        None => History::default(),
    };
    build(&new, history, &now)?;
    if source == Some(&root) {
        replace(&root, &new, &old)?;
    } else {
        fs::rename(&new, &root)?;
    }
    Ok(name_lasts(state, &now)?)
}

/// Syncs the journal's own name, and then says so inside of it.
pub(crate) fn name_lasts(state: &Path, now: &Moment) -> io::Result<()> {
    File::open(state)?.sync_all()?;
    marks::begin_pruning(&state.join(ROOT).join(MARKS), now)
}

fn lock(state: &Path) -> Result<File, Fault> {
    let path = state.join("lock");
    let mut options = OpenOptions::new();
    let lock = match files::open_private(options.read(true), &path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            files::open_private(OpenOptions::new().write(true).create(true), &path)?
        }
        result => result?,
    };
    let give_up = Instant::now() + LOCK_WAIT_MAX;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::Error(error)) => return Err(error.into()),
            Err(TryLockError::WouldBlock) if Instant::now() >= give_up => return Err(Fault::Busy),
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_RETRY),
        }
    }
}

/// The old file, which nobody writes to while the lock is held.
fn open(path: &Path) -> io::Result<impl BufRead> {
    let file = files::open_private(OpenOptions::new().read(true), path)?;
    if file.metadata()?.len() > READ_BYTES_MAX {
        return Err(ErrorKind::FileTooLarge.into());
    }
    Ok(BufReader::new(file.take(READ_BYTES_MAX)))
}

/// The whole journal in a folder that nobody looks into yet, on disk when it returns.
fn build(new: &Path, history: History, now: &Moment) -> io::Result<()> {
    if files::kind(new)? == Kind::Folder {
        // Of somebody who died over it.
        fs::remove_dir_all(new)?;
    }
    let folder = |path: &Path| DirBuilder::new().mode(0o700).create(path);
    folder(new)?;
    let mut folders = vec![new.join(ACTIONS), new.join(MARKS)];
    folders.extend((0..FOLDERS).map(|number| new.join(folder_name(number))));
    for path in &folders {
        folder(path)?;
    }
    let forgotten_ms = history.forgotten_ms();
    marks::take_over(&new.join(MARKS), now, forgotten_ms, history.moments())?;
    let written = write_files(new, history)?;
    for path in written.iter().chain(&folders) {
        File::open(path)?.sync_all()?;
    }
    File::open(new)?.sync_all()
}

/// One file a ticket and one an action, each as soon as what is in it is known: a journal may be larger than what there
/// is of memory. Whoever calls syncs them.
fn write_files(new: &Path, history: History) -> io::Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    let mut write = |path: PathBuf, text: &[u8]| {
        tickets::write_new(&path, text)?;
        written.push(path);
        io::Result::Ok(())
    };
    let mut actions = BTreeMap::<ActionId, Vec<u8>>::new();
    let (runs, stones) = history.into_records();
    for OldRun { start, ending } in runs {
        let (id, at) = (start.id, start.at);
        let begun = Begun {
            at: at.clone(),
            recorded: start.recorded,
        };
        actions
            .entry(id.clone())
            .or_default()
            .extend(line_of(&begun));
        if let Some(ticket) = start.ticket {
            let path = new.join(ticket_file(&ticket.proposal));
            let mut text = line_of(&Record::Start(Start { id, ticket, at }));
            text.extend(
                ending
                    .into_iter()
                    .flat_map(|end| line_of(&Record::End(end))),
            );
            write(path, &text)?;
        }
    }
    for stone in stones {
        let path = new.join(ticket_file(&stone.ticket.proposal));
        write(path, &line_of(&Record::Void(stone)))?;
    }
    for (id, text) in actions {
        write(new.join(ACTIONS).join(id.as_str()), &text)?;
    }
    Ok(written)
}

/// The new folder takes the old file's name, in one step where the file system can swap two.
fn replace(root: &Path, new: &Path, old: &Path) -> io::Result<()> {
    if sys::exchange(new, root).is_ok() {
        return fs::rename(new, old);
    }
    fs::rename(root, old)?;
    fs::rename(new, root)
}
