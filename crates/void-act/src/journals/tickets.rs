//! One ticket's file: its name is the proposal's id, its first line says what became of the ticket.
//!
//! Creating the file exclusively *is* the decision who runs a ticket; there is no lock. A file whose first line is not
//! whole was being written when its writer died: it counts as started, because a doubt never runs twice (I1, I12).

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use super::Fault;
use super::records::{Mark, Record, Start, Tombstone, line_of};
use crate::answers::Ending;
use crate::commands::ActionId;
use crate::files;

/// Twice of what an end with both outputs takes at most.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// What is known of a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    Never,
    Ran {
        /// None where the start was not written to its end.
        id: Option<ActionId>,
        ending: Option<Ending>,
    },
    Settled,
    /// The same proposal with another content.
    Mismatch,
    /// Older than what this journal still remembers: it may have run.
    Forgotten,
}

/// What a ticket's file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    /// Not even the first line is whole.
    Torn,
    Run {
        start: Start,
        ending: Option<Ending>,
    },
    Void(Tombstone),
}

impl Content {
    pub(crate) fn parse(text: &[u8]) -> Result<Self, Fault> {
        let mut lines = text
            .split_inclusive(|byte| *byte == b'\n')
            .filter(|line| line.ends_with(b"\n"))
            .map(|line| serde_json::from_slice(line).map_err(|_| Fault::Damaged));
        let content = match (lines.next().transpose()?, lines.next().transpose()?) {
            (None, _) => Self::Torn,
            (Some(Record::Void(stone)), None) => Self::Void(stone),
            (Some(Record::Start(start)), None) => Self::Run {
                start,
                ending: None,
            },
            (Some(Record::Start(start)), Some(Record::End(ending))) => Self::Run {
                start,
                ending: Some(ending),
            },
            (Some(_), _) => return Err(Fault::Damaged),
        };
        if lines.next().is_some() {
            return Err(Fault::Damaged);
        }
        Ok(content)
    }

    fn seen_by(self, mark: &Mark) -> Result<Seen, Fault> {
        let known = match &self {
            Self::Torn => {
                return Ok(Seen::Ran {
                    id: None,
                    ending: None,
                });
            }
            Self::Run { start, .. } => &start.ticket,
            Self::Void(stone) => &stone.ticket,
        };
        if known.proposal != mark.proposal {
            return Err(Fault::Damaged);
        }
        Ok(match self {
            _ if known != mark => Seen::Mismatch,
            Self::Run { start, ending } => Seen::Ran {
                id: Some(start.id),
                ending,
            },
            Self::Void(_) | Self::Torn => Seen::Settled,
        })
    }
}

/// What a file says, or `None` when there is none.
pub(crate) fn content(path: &Path) -> Result<Option<Content>, Fault> {
    let file = match files::open_private(OpenOptions::new().read(true), path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut text = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::from(ErrorKind::FileTooLarge).into());
    }
    Content::parse(&text).map(Some)
}

/// What became of a ticket, or `None` when it has no file. A tombstone is on disk when this returns: whoever wrote it may
/// have died before it was, and what is answered from it has to hold after a power cut too.
pub(crate) fn seen(path: &Path, mark: &Mark) -> Result<Option<Seen>, Fault> {
    let seen = content(path)?
        .map(|content| content.seen_by(mark))
        .transpose()?;
    if seen == Some(Seen::Settled) {
        files::open_private(OpenOptions::new().read(true), path)?.sync_all()?;
        files::sync_folder_of(path)?;
    }
    Ok(seen)
}

/// A ticket's file that this process created, and so the right to run it.
pub(crate) struct Claimed {
    file: File,
    start_bytes: u64,
}

/// Creates a ticket's file with its first line. `None` when somebody else was faster; otherwise the record is on
/// disk, and so is its name.
pub(crate) fn create(path: &Path, record: &Record) -> Result<Option<Claimed>, Fault> {
    let mut options = OpenOptions::new();
    let opened = files::open_private(options.append(true).create_new(true), path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let line = line_of(record);
    let written = (&file).write_all(&line);
    // A whole tombstone may have been read meanwhile, and answered from: it stays.
    let may_go = written.is_err() || !matches!(record, Record::Void(_));
    let lasts = written
        .and_then(|()| file.sync_data())
        .and_then(|()| files::sync_folder_of(path));
    if let Err(error) = lasts {
        if may_go {
            // Nothing will act on this record. Should it stay all the same, it keeps a ticket from running, no more.
            let _ = fs::remove_file(path);
        }
        return Err(error.into());
    }
    Ok(Some(Claimed {
        file,
        start_bytes: line.len() as u64,
    }))
}

impl Claimed {
    pub(crate) fn end(&self, ending: Ending) -> Result<(), Fault> {
        append(&self.file, &line_of(&Record::End(ending))).map_err(|error| {
            // Half of an end reads as none, but would be in the way of nobody either.
            let _ = self.file.set_len(self.start_bytes);
            error.into()
        })
    }
}

fn append(mut file: &File, line: &[u8]) -> io::Result<()> {
    file.write_all(line)?;
    file.sync_data()
}

/// Writes a file of the journal that nobody looks at yet; whoever calls syncs it.
pub(crate) fn write_new(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = files::open_private(options.write(true).create_new(true), path)?;
    file.write_all(text)
}

/// Replaces an ended run's file by one without the command's output. Who writes the draft holds its lock: one that is
/// being written is left alone, and one whose writer died is written anew.
pub(crate) fn forget_output(path: &Path) -> Result<(), Fault> {
    let Some(Content::Run {
        start,
        ending: Some(ending),
    }) = content(path)?
    else {
        return Ok(());
    };
    let lines = [
        line_of(&Record::Start(start)),
        line_of(&Record::End(ending.without_output())),
    ];
    let draft = draft_of(path);
    let file = files::open_private(OpenOptions::new().write(true).create(true), &draft)?;
    file.try_lock().map_err(io::Error::from)?;
    if !files::is_at(&file, &draft)? {
        // Somebody else was faster, and is done.
        return Ok(());
    }
    let replaced = rewrite(&file, &lines.concat()).and_then(|()| fs::rename(&draft, path));
    if replaced.is_err() {
        let _ = fs::remove_file(&draft);
    }
    Ok(replaced?)
}

fn rewrite(mut file: &File, text: &[u8]) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all(text)?;
    file.sync_all()
}

/// No proposal's id begins with a dot.
fn draft_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}"))
}

#[cfg(test)]
mod tests;
