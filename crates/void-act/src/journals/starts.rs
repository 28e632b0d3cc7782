//! When an action was started: one file an action, for those that a cooldown or a cap holds back, or that record what
//! ran before. Its lock is the only one of a run, and no other action waits for it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::Fault;
use super::records::{Begun, line_of};
use crate::clock::Moment;
use crate::files;

const LOCK_WAIT_MAX: Duration = Duration::from_secs(10);
const LOCK_RETRY: Duration = Duration::from_millis(1);
const LOCK_RETRY_MAX: Duration = Duration::from_millis(20);
/// An hour of one start a millisecond, and then some.
const FILE_BYTES_MAX: u64 = 512 << 20;
const DAY_MS: u64 = 24 * 3600 * 1000;
/// As many are kept where no cap needs more: a cap that is written into the list later finds these.
const KEPT_MIN: usize = 256;

/// The starts of one action, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Starts {
    begun: Vec<Begun>,
    whole_bytes: u64,
}

impl Starts {
    /// What is there now. A last line that is not whole is of somebody who writes it, or died over it: nothing was
    /// started by it yet.
    pub(crate) fn read(path: &Path) -> Result<Self, Fault> {
        match files::open_private(OpenOptions::new().read(true), path) {
            Ok(file) => Self::of(&file),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error.into()),
        }
    }

    fn of(file: &File) -> Result<Self, Fault> {
        let mut text = Vec::new();
        file.take(FILE_BYTES_MAX + 1).read_to_end(&mut text)?;
        if text.len() as u64 > FILE_BYTES_MAX {
            return Err(io::Error::from(ErrorKind::FileTooLarge).into());
        }
        let mut starts = Self::default();
        let lines = text.split_inclusive(|byte| *byte == b'\n');
        for line in lines.filter(|line| line.ends_with(b"\n")) {
            let begun = serde_json::from_slice(line).map_err(|_| Fault::Damaged)?;
            starts.begun.push(begun);
            starts.whole_bytes += line.len() as u64;
        }
        Ok(starts)
    }

    pub(crate) fn moments(&self) -> impl Iterator<Item = &Moment> {
        self.begun.iter().map(|begun| &begun.at)
    }

    /// What the last start recorded before it changed anything.
    pub(crate) fn last_recorded(&self) -> Option<&str> {
        self.begun.last()?.recorded.as_deref()
    }

    /// What still counts: the last day, and of it no more than any cap could ask for; the last one always.
    fn kept(&self, count_max: usize, now: &Moment) -> &[Begun] {
        let skipped = self.begun.len().saturating_sub(count_max.max(KEPT_MIN));
        let newest = self.begun.get(skipped..).unwrap_or_default();
        let old = |begun: &Begun| begun.at.elapsed_ms(now) >= DAY_MS;
        let begin = newest.iter().position(|begun| !old(begun));
        let begin = begin.unwrap_or(newest.len().saturating_sub(1));
        newest.get(begin..).unwrap_or_default()
    }
}

/// The same, while nobody else can add to them.
pub(crate) struct LockedStarts {
    path: PathBuf,
    file: File,
    starts: Starts,
    /// Where the file ended before this process added to it.
    added_at: Option<u64>,
}

/// Whether a start has to outlast a power cut before the command is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasts {
    PowerCut,
    /// Only who comes without a ticket is held back by it.
    Crash,
}

impl LockedStarts {
    /// Waits for whoever starts this action now. Gives up after a while rather than pile up behind a stuck disk.
    pub(crate) fn lock(path: &Path) -> Result<Self, Fault> {
        let give_up = Instant::now() + LOCK_WAIT_MAX;
        let mut pause = LOCK_RETRY;
        loop {
            let mut options = OpenOptions::new();
            let options = options.read(true).append(true).create(true);
            let file = files::open_private(options, path)?;
            match file.try_lock() {
                // The lock of a file that has been replaced meanwhile is nobody's.
                Ok(()) if files::is_at(&file, path)? => {
                    let starts = Starts::of(&file)?;
                    return Ok(Self {
                        path: path.to_owned(),
                        file,
                        starts,
                        added_at: None,
                    });
                }
                Ok(()) => {}
                Err(TryLockError::Error(error)) => return Err(error.into()),
                Err(TryLockError::WouldBlock) if Instant::now() >= give_up => {
                    return Err(Fault::Busy);
                }
                Err(TryLockError::WouldBlock) => {
                    thread::sleep(pause);
                    pause = (pause * 2).min(LOCK_RETRY_MAX);
                }
            }
        }
    }

    pub(crate) fn starts(&self) -> &Starts {
        &self.starts
    }

    /// Forgets what no cap counts any more, once that is more than half. The new file replaces the old one in one
    /// step, and this process holds the lock of the new one.
    pub(crate) fn compact(&mut self, count_max: usize, now: &Moment) -> Result<(), Fault> {
        if self.starts.begun.len() <= 2 * count_max.max(KEPT_MIN) {
            return Ok(());
        }
        let begun = self.starts.kept(count_max, now).to_vec();
        let lines: Vec<Vec<u8>> = begun.iter().map(line_of).collect();
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let draft = self.path.with_file_name(format!(".{name}"));
        let mut options = OpenOptions::new();
        let options = options.read(true).append(true).create(true);
        let mut file = files::open_private(options, &draft)?;
        file.set_len(0)?;
        file.lock()?;
        file.write_all(&lines.concat())?;
        file.sync_all()?;
        fs::rename(&draft, &self.path)?;
        files::sync_folder_of(&self.path)?;
        let whole_bytes = lines.iter().map(|line| line.len() as u64).sum();
        self.file = file;
        self.starts = Starts { begun, whole_bytes };
        Ok(())
    }

    /// One more. Whatever fails after this takes it back, or it counts for nothing that ran.
    pub(crate) fn add(&mut self, begun: &Begun, lasts: Lasts) -> Result<(), Fault> {
        let before = self.starts.whole_bytes;
        self.added_at = Some(before);
        let written = self.append(begun, lasts);
        if written.is_err() {
            self.take_back();
        }
        written.map_err(Fault::from)
    }

    fn append(&mut self, begun: &Begun, lasts: Lasts) -> io::Result<()> {
        let before = self.starts.whole_bytes;
        if self.file.metadata()?.len() != before {
            self.file.set_len(before)?;
        }
        if before == 0 {
            // Made by this process, or by one that wrote nothing: whoever adds a later line takes the name for one that
            // lasts, also where this line need not.
            files::sync_folder_of(&self.path)?;
        }
        self.file.write_all(&line_of(begun))?;
        if lasts == Lasts::PowerCut {
            self.file.sync_data()?;
        }
        Ok(())
    }

    /// Should that fail, a start counts that never was: the brakes hold back more, not less.
    pub(crate) fn take_back(&mut self) {
        if let Some(before) = self.added_at.take() {
            let _ = self.file.set_len(before);
        }
    }
}

#[cfg(test)]
mod tests;
