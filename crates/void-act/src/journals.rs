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

pub(crate) use history::{History, Seen};
use records::{End, Mark, Record, Start, Tombstone};

const COMPACT_BYTES_MIN: u64 = 1 << 20;
const JOURNAL_BYTES_MAX: u64 = 64 << 20;
const LOCK_WAIT_MAX: Duration = Duration::from_secs(30);
const LOCK_RETRY: Duration = Duration::from_millis(5);

/// The journal, locked for as long as this value lives.
pub(crate) struct Journal {
    dir: PathBuf,
    /// None until the first record is written, so that asking leaves no trace.
    file: Option<File>,
    bytes: u64,
    history: History,
    _lock: File,
}

impl Journal {
    /// Locks and reads. Gives up after a while rather than pile up behind a stuck disk.
    pub(crate) fn open(dir: &Path) -> Result<Self, Refusal> {
        let lock = lock_file(dir).map_err(|error| unavailable(&error))?;
        let give_up = Instant::now() + LOCK_WAIT_MAX;
        loop {
            match lock.try_lock() {
                Ok(()) => return Self::read(dir, lock),
                Err(TryLockError::WouldBlock) if Instant::now() < give_up => {
                    thread::sleep(LOCK_RETRY)
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(Refusal::new(
                        Reason::Busy,
                        "the journal is locked by another run",
                    ));
                }
                Err(TryLockError::Error(error)) => return Err(unavailable(&error)),
            }
        }
    }

    /// The same, but waits as long as it takes: a command has ended and that has to be written down.
    pub(crate) fn reopen(dir: &Path) -> Result<Self, Refusal> {
        let lock = lock_file(dir).map_err(|error| unavailable(&error))?;
        lock.lock().map_err(|error| unavailable(&error))?;
        Self::read(dir, lock)
    }

    fn read(dir: &Path, lock: File) -> Result<Self, Refusal> {
        let file = match files::open_private(
            OpenOptions::new().read(true).append(true),
            &dir.join("journal"),
        ) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(unavailable(&error)),
        };
        let mut text = Vec::new();
        if let Some(file) = &file {
            file.take(JOURNAL_BYTES_MAX + 1)
                .read_to_end(&mut text)
                .map_err(|error| unavailable(&error))?;
        }
        if text.len() as u64 > JOURNAL_BYTES_MAX {
            return Err(Refusal::new(
                Reason::JournalDamaged,
                "the journal is larger than 64 MiB",
            ));
        }
        let mut history = History::default();
        let mut bytes = 0;
        for line in text
            .split_inclusive(|byte| *byte == b'\n')
            .filter(|line| line.ends_with(b"\n"))
        {
            let record = serde_json::from_slice(line).map_err(|_| damaged())?;
            history.apply(record).map_err(|_| damaged())?;
            bytes += line.len() as u64;
        }
        Ok(Self {
            dir: dir.to_owned(),
            file,
            bytes,
            history,
            _lock: lock,
        })
    }

    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    /// Forgets what is old when that at least halves a large journal, or when it makes room in a full one. The new
    /// file replaces the old one in one step.
    pub(crate) fn compact(&mut self, now: &Moment) -> Result<(), Refusal> {
        if self.bytes <= COMPACT_BYTES_MIN && !self.history.is_full() {
            return Ok(());
        }
        let pruned = self.history.pruned(now);
        let mut text = Vec::new();
        for record in pruned.records() {
            text.extend(line_of(&record)?);
        }
        let frees_tickets =
            self.history.is_full() && pruned.ticket_count() < self.history.ticket_count();
        if text.len() as u64 > self.bytes / 2 && !frees_tickets {
            return Ok(());
        }
        self.file = Some(self.replace(&text).map_err(|error| unavailable(&error))?);
        self.bytes = text.len() as u64;
        self.history = pruned;
        Ok(())
    }

    fn replace(&self, text: &[u8]) -> io::Result<File> {
        let new = self.dir.join("journal.new");
        match fs::remove_file(&new) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut file = files::open_private(
            OpenOptions::new().read(true).append(true).create_new(true),
            &new,
        )?;
        file.write_all(text)?;
        file.sync_all()?;
        fs::rename(&new, self.dir.join("journal"))?;
        File::open(&self.dir)?.sync_all()?;
        Ok(file)
    }

    /// Returns the run's number once the start is on disk; only then may anything be started.
    pub(crate) fn start(
        &mut self,
        id: &ActionId,
        ticket: Option<&Ticket>,
        at: &Moment,
    ) -> Result<u64, Refusal> {
        let run = self.history.next_run();
        let ticket = ticket.map(Mark::of);
        self.append(Record::Start(Start {
            run,
            id: id.clone(),
            ticket,
            at: at.clone(),
        }))?;
        Ok(run)
    }

    pub(crate) fn end(&mut self, run: u64, ending: &Ending) -> Result<(), Refusal> {
        self.append(Record::End(End {
            run,
            ending: ending.clone(),
        }))
    }

    pub(crate) fn settle(&mut self, ticket: &Ticket, at: &Moment) -> Result<(), Refusal> {
        self.append(Record::Void(Tombstone {
            ticket: Mark::of(ticket),
            at: at.clone(),
        }))
    }

    fn append(&mut self, record: Record) -> Result<(), Refusal> {
        let line = line_of(&record)?;
        self.history.apply(record).map_err(|_| damaged())?;
        self.write(&line).map_err(|error| {
            // Nothing will act on this record, so none of it may stay; if it does, it only keeps a ticket from running.
            let _ = self.file.as_ref().map(|file| file.set_len(self.bytes));
            unavailable(&error)
        })?;
        self.bytes += line.len() as u64;
        Ok(())
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let path = self.dir.join("journal");
        let mut file = match &self.file {
            Some(file) => file,
            None => self.file.insert(files::open_private(
                OpenOptions::new().read(true).append(true).create(true),
                &path,
            )?),
        };
        if file.metadata()?.len() != self.bytes {
            file.set_len(self.bytes)?;
        }
        file.write_all(line)?;
        file.sync_data()?;
        if self.bytes == 0 {
            File::open(&self.dir)?.sync_all()?;
        }
        Ok(())
    }
}

fn lock_file(dir: &Path) -> io::Result<File> {
    files::check_state_dir(dir)?;
    let path = dir.join("lock");
    match files::open_private(OpenOptions::new().read(true), &path) {
        Err(error) if error.kind() == ErrorKind::NotFound => files::open_private(
            OpenOptions::new().read(true).append(true).create(true),
            &path,
        ),
        result => result,
    }
}

fn line_of(record: &Record) -> Result<Vec<u8>, Refusal> {
    let mut line = serde_json::to_vec(record).map_err(|_| damaged())?;
    line.push(b'\n');
    Ok(line)
}

fn unavailable(error: &io::Error) -> Refusal {
    Refusal::new(
        Reason::JournalUnavailable,
        format!("the journal cannot be used: {error}"),
    )
}

fn damaged() -> Refusal {
    Refusal::new(
        Reason::JournalDamaged,
        "the journal is damaged: a line of it cannot be read or contradicts the rest",
    )
}
