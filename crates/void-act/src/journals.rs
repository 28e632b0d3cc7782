//! The journal: what was started, how it ended, and what must never start.
//!
//! One small file a ticket, created exclusively and synced before the command runs, so a crash leaves at worst a
//! start without an end, which is answered as `started` and never run again (I1, I13). Nothing is read but the file
//! that is asked about: the cost does not grow with what is remembered, and runs of different actions wait for
//! nothing of each other. Why it is made so: `docs/adr/0024-journal.md`.
//!
//! ```text
//! journal/0 … f/PROPOSAL   one ticket each (tickets.rs)
//! journal/actions/ID       when an action was started, where brakes or records need it (starts.rs)
//! journal/marks/           what is known beside them (marks.rs)
//! ```

mod history;
mod marks;
mod migration;
mod pruning;
mod records;
mod starts;
mod tickets;

use std::io;
use std::path::{Path, PathBuf};

use crate::answers::{Reason, Refusal};
use crate::clock::Moment;
use crate::commands::ActionId;
use crate::files::{self, Kind};
use crate::tickets::Ticket;

pub(crate) use marks::Marks;
use records::{Begun, Mark, Record, Start, Tombstone};
pub(crate) use starts::{Lasts, LockedStarts, Starts};
pub(crate) use tickets::{Claimed, Seen};

const ROOT: &str = "journal";
const ACTIONS: &str = "actions";
const MARKS: &str = "marks";
const FOLDERS: u8 = 16;
/// Two million in all folders; some 8 GB, with a block of the disk for each.
const FOLDER_TICKETS_MAX: usize = 131_072;

pub(crate) struct Journal {
    state: PathBuf,
    root: PathBuf,
    /// Read after a ticket was not found, and not before: a ticket is forgotten only after that is written there.
    marks: Option<Marks>,
}

impl Journal {
    /// Takes over what an earlier version wrote, if anything. A journal that is not there is an empty one.
    pub(crate) fn open(state: &Path) -> Result<Self, Fault> {
        files::check_state_dir(state)?;
        if migration::is_due(state)? {
            migration::make(state)?;
        }
        Ok(Self {
            state: state.to_owned(),
            root: state.join(ROOT),
            marks: None,
        })
    }

    fn is_there(&self) -> Result<bool, Fault> {
        if files::kind(&self.root)? == Kind::Missing {
            return Ok(false);
        }
        files::check_private_dir(&self.root)?;
        Ok(true)
    }

    /// Makes it, if it is not there.
    pub(crate) fn prepare(&mut self) -> Result<(), Fault> {
        if !self.is_there()? {
            migration::make(&self.state)?;
            files::check_private_dir(&self.root)?;
            self.marks = None;
        }
        Ok(())
    }

    pub(crate) fn seen(&mut self, ticket: &Ticket) -> Result<Seen, Fault> {
        self.marks = None;
        if !self.is_there()? {
            return Ok(Seen::Never);
        }
        if let Some(seen) = tickets::seen(&self.path_of(ticket)?, &Mark::of(ticket))? {
            return Ok(seen);
        }
        let forgotten_ms = self.marks()?.forgotten_ms;
        Ok(if forgotten_ms >= Some(ticket.expires_ms()) {
            Seen::Forgotten
        } else {
            Seen::Never
        })
    }

    fn marks(&mut self) -> Result<&Marks, Fault> {
        let marks = match self.marks.take() {
            Some(marks) => marks,
            None if self.is_there()? => {
                let dir = self.root.join(MARKS);
                check_part(&dir)?;
                Marks::read(&dir)?
            }
            None => Marks::default(),
        };
        Ok(self.marks.insert(marks))
    }

    pub(crate) fn wall_ms_at_least(&mut self, now: &Moment) -> Result<u64, Fault> {
        Ok(self.marks()?.wall_ms_at_least(now))
    }

    /// Whether there is no room for this ticket.
    pub(crate) fn is_full(&mut self, ticket: &Ticket) -> Result<bool, Fault> {
        let folder = folder_of(ticket.proposal());
        Ok(self.marks()?.is_full(folder))
    }

    /// Whether anything was ever started is not said by a missing file: an action without brakes has none.
    pub(crate) fn starts(&self, id: &ActionId) -> Result<Starts, Fault> {
        if self.is_there()? {
            Starts::read(&self.actions()?.join(id.as_str()))
        } else {
            Ok(Starts::default())
        }
    }

    pub(crate) fn lock_starts(&mut self, id: &ActionId) -> Result<LockedStarts, Fault> {
        self.prepare()?;
        LockedStarts::lock(&self.actions()?.join(id.as_str()))
    }

    /// Writes a ticket's start. Only if this returns its file may anything be started; `None` says that another
    /// process has it.
    pub(crate) fn start(
        &mut self,
        id: &ActionId,
        ticket: &Ticket,
        at: &Moment,
    ) -> Result<Option<Claimed>, Fault> {
        let start = Start {
            id: id.clone(),
            ticket: Mark::of(ticket),
            at: at.clone(),
        };
        self.create(ticket, at, &Record::Start(start))
    }

    /// Writes a tombstone, unless another process was faster with whatever it is.
    pub(crate) fn settle(&mut self, ticket: &Ticket, at: &Moment) -> Result<bool, Fault> {
        let stone = Tombstone {
            ticket: Mark::of(ticket),
            at: at.clone(),
        };
        let created = self.create(ticket, at, &Record::Void(stone))?;
        Ok(created.is_some())
    }

    fn create(
        &mut self,
        ticket: &Ticket,
        at: &Moment,
        record: &Record,
    ) -> Result<Option<Claimed>, Fault> {
        self.prepare()?;
        self.note_clock(at)?;
        tickets::create(&self.path_of(ticket)?, record)
    }

    /// Before anything is written at this time.
    pub(crate) fn note_clock(&mut self, at: &Moment) -> Result<(), Fault> {
        let dir = self.root.join(MARKS);
        let marks = self.marks()?;
        marks.raise_clock(&dir, at)?;
        if marks.pruned.is_none() {
            // Whoever made the journal has not said yet that its name will last.
            migration::name_lasts(&self.state, at)?;
        }
        Ok(())
    }

    fn path_of(&self, ticket: &Ticket) -> Result<PathBuf, Fault> {
        let path = self.root.join(ticket_file(ticket.proposal()));
        path.parent().map_or(Ok(()), check_part)?;
        Ok(path)
    }

    fn actions(&self) -> Result<PathBuf, Fault> {
        let path = self.root.join(ACTIONS);
        check_part(&path)?;
        Ok(path)
    }
}

/// A journal is made whole: where a part of it is gone, what was in it is not known.
fn check_part(path: &Path) -> Result<(), Fault> {
    if files::kind(path)? == Kind::Missing {
        return Err(Fault::Damaged);
    }
    Ok(files::check_private_dir(path)?)
}

fn folder_name(number: u8) -> String {
    format!("{number:x}")
}

/// By the hash, because ids begin with the time and a peer chooses them.
fn folder_of(proposal: &str) -> u8 {
    let hash = files::sha256_hex(proposal.as_bytes());
    let first = hash.chars().next().and_then(|digit| digit.to_digit(16));
    first
        .and_then(|digit| u8::try_from(digit).ok())
        .unwrap_or_default()
}

fn ticket_file(proposal: &str) -> PathBuf {
    Path::new(&folder_name(folder_of(proposal))).join(proposal)
}

/// One start in its action's file.
pub(crate) fn begun(at: &Moment, recorded: Option<String>) -> Begun {
    let at = at.clone();
    Begun { at, recorded }
}

/// Why the journal cannot be used; nothing is started then.
#[derive(Debug)]
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
