//! The journal: what was started, how it ended, and what must never start.
//!
//! Append-only JSON lines under a lock. A start is durable before the command runs, so a crash leaves at worst a
//! start without an end, which is answered as `started` and never run again (I1, I13). A last line without its
//! newline was never acknowledged and is cut off; any other line that cannot be read means that history is not
//! known, and then nothing runs.

mod history;
mod records;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::answers::{Ending, Reason, Refusal};
use crate::clock::Moment;
use crate::commands::ActionId;
use crate::files;
use crate::tickets::Ticket;

use history::Damaged;
pub(crate) use history::{History, Seen};
use records::{End, Mark, Record, Start, Tombstone, line_of};

const COMPACT_BYTES_MIN: u64 = 1 << 20;
/// Twice of what a full journal holds, so that runs under way when it filled up can still write their end.
const READ_BYTES_MAX: u64 = 128 << 20;
const LOCK_WAIT_MAX: Duration = Duration::from_secs(10);
const LOCK_RETRY: Duration = Duration::from_millis(5);

/// The journal, locked for as long as this value lives.
pub(crate) struct Journal {
    dir: PathBuf,
    /// None until the first record is written, so that asking leaves no trace.
    file: Option<File>,
    history: History,
    _lock: File,
}

impl Journal {
    /// Locks and reads. Gives up after a while rather than pile up behind a stuck disk.
    pub(crate) fn open(dir: &Path) -> Result<Self, Fault> {
        let lock = lock_file(dir)?;
        let give_up = Instant::now() + LOCK_WAIT_MAX;
        loop {
            match lock.try_lock() {
                Ok(()) => return Self::read(dir, lock),
                Err(TryLockError::Error(error)) => return Err(error.into()),
                Err(TryLockError::WouldBlock) if Instant::now() >= give_up => {
                    return Err(Fault::Busy);
                }
                Err(TryLockError::WouldBlock) => thread::sleep(LOCK_RETRY),
            }
        }
    }

    /// The same, but waits as long as it takes: a command has ended and that has to be written down.
    pub(crate) fn reopen(dir: &Path) -> Result<Self, Fault> {
        let lock = lock_file(dir)?;
        lock.lock()?;
        Self::read(dir, lock)
    }

    fn read(dir: &Path, lock: File) -> Result<Self, Fault> {
        let file = match open_journal(dir, false) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        let mut text = Vec::new();
        if let Some(file) = &file {
            file.take(READ_BYTES_MAX + 1).read_to_end(&mut text)?;
        }
        if text.len() as u64 > READ_BYTES_MAX {
            return Err(io::Error::from(ErrorKind::FileTooLarge).into());
        }
        let history = History::parse(&text)?;
        Ok(Self {
            dir: dir.to_owned(),
            file,
            history,
            _lock: lock,
        })
    }

    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    /// Forgets what is old when that at least halves a large journal, or makes room in a full one. The new file
    /// replaces the old one in one step.
    pub(crate) fn compact(&mut self, now: &Moment) -> Result<(), Fault> {
        if self.history.bytes() <= COMPACT_BYTES_MIN && !self.history.is_full() {
            return Ok(());
        }
        let text = self.history.pruned(now);
        let pruned = History::parse(&text)?;
        let makes_room = self.history.is_full() && !pruned.is_full();
        if pruned.bytes() <= self.history.bytes() / 2 || makes_room {
            self.file = Some(self.replace(&text)?);
            self.history = pruned;
        }
        Ok(())
    }

    fn replace(&self, text: &[u8]) -> io::Result<File> {
        let new = self.dir.join("journal.new");
        let mut file = files::open_private(
            OpenOptions::new().write(true).create(true).truncate(true),
            &new,
        )?;
        file.write_all(text)?;
        file.sync_all()?;
        fs::rename(&new, self.dir.join("journal"))?;
        File::open(&self.dir)?.sync_all()?;
        open_journal(&self.dir, false)
    }

    /// Returns the run's number once the start is on disk; only then may anything be started.
    pub(crate) fn start(
        &mut self,
        id: &ActionId,
        ticket: Option<&Ticket>,
        at: Moment,
        recorded: Option<String>,
    ) -> Result<u64, Fault> {
        let (run, id, ticket) = (self.history.next_run(), id.clone(), ticket.map(Mark::of));
        self.append(&Record::Start(Start {
            run,
            id,
            ticket,
            at,
            recorded,
        }))?;
        Ok(run)
    }

    pub(crate) fn end(&mut self, run: u64, ending: Ending) -> Result<(), Fault> {
        self.append(&Record::End(End { run, ending }))
    }

    pub(crate) fn settle(&mut self, ticket: &Ticket, at: Moment) -> Result<(), Fault> {
        let ticket = Mark::of(ticket);
        self.append(&Record::Void(Tombstone { ticket, at }))
    }

    fn append(&mut self, record: &Record) -> Result<(), Fault> {
        let line = line_of(record);
        let whole_bytes = self.history.bytes();
        self.history.add(&line)?;
        self.write(&line, whole_bytes).map_err(|error| {
            // Nothing will act on this record. Should it stay all the same, it keeps a ticket from running, no more.
            let _ = self.file.as_ref().map(|file| file.set_len(whole_bytes));
            error.into()
        })
    }

    fn write(&mut self, line: &[u8], whole_bytes: u64) -> io::Result<()> {
        let mut file = match &self.file {
            Some(file) => file,
            None => self.file.insert(open_journal(&self.dir, true)?),
        };
        if file.metadata()?.len() != whole_bytes {
            file.set_len(whole_bytes)?;
        }
        file.write_all(line)?;
        file.sync_data()?;
        if whole_bytes == 0 {
            File::open(&self.dir)?.sync_all()?;
        }
        Ok(())
    }
}

fn open_journal(dir: &Path, create: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    files::open_private(
        options.read(true).append(true).create(create),
        &dir.join("journal"),
    )
}

fn lock_file(dir: &Path) -> io::Result<File> {
    files::check_state_dir(dir)?;
    let path = dir.join("lock");
    match files::open_private(OpenOptions::new().read(true), &path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            files::open_private(OpenOptions::new().write(true).create(true), &path)
        }
        result => result,
    }
}

/// Why the journal cannot be used; nothing is started then.
pub(crate) enum Fault {
    Busy,
    Damaged,
    Io(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Damaged> for Fault {
    fn from(_: Damaged) -> Self {
        Self::Damaged
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Busy => Self::new(Reason::Busy, "another run holds the journal"),
            Fault::Damaged => {
                let text = "the journal is damaged: a line cannot be read or contradicts the rest";
                Self::new(Reason::JournalDamaged, text)
            }
            Fault::Io(error) => {
                let text = format!("the journal cannot be used: {error}");
                Self::new(Reason::JournalUnavailable, text)
            }
        }
    }
}
