//! Forgetting what nothing can ask for any more, away from every run: after an answer, in a process of its own.
//!
//! One folder at a time, and never two within a minute. What is forgotten is first said to be, durably, by its latest
//! expiry; a ticket that expires by then is refused from that moment on, so what is forgotten cannot run again
//! whatever any clock says. A file that cannot be read stays, and so does what it keeps from running. What goes wrong
//! with one file holds up no other one, and a full disk is pruned too: what needs room comes after what makes some.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::marks::{Marks, Pruned};
use super::tickets::{self, Content};
use super::{FOLDER_TICKETS_MAX, FOLDERS, Fault, Journal, MARKS, folder_name};
use crate::clock::Moment;

const DAY_MS: u64 = 24 * 3600 * 1000;
/// How long past its expiry a ticket is remembered.
const TICKET_KEPT_MS: u64 = 30 * DAY_MS;
/// How long an output is remembered for being asked again.
pub(super) const OUTPUT_KEPT_MS: u64 = 2 * DAY_MS;
/// Less than this takes no more room on a disk than an end without output.
const OUTPUT_BYTES_MIN: u64 = 4096;
const APART_S: u64 = 60;

/// The right to prune one folder, taken.
pub(crate) struct Duty {
    folder: u8,
    marks: Marks,
}

impl Journal {
    /// Takes the next folder if it is time for it and nobody else did.
    pub(crate) fn pruning_duty(&self, now: &Moment) -> Result<Option<Duty>, Fault> {
        let dir = self.root.join(MARKS);
        let mut marks = Marks::read(&dir)?;
        let now_s = now.wall_ms / 1000;
        let last = marks.pruned.unwrap_or(Pruned { folder: 0, at_s: 0 });
        if now_s.abs_diff(last.at_s) < APART_S {
            return Ok(None);
        }
        let folder = (last.folder + 1) % FOLDERS;
        let next = Pruned {
            folder,
            at_s: now_s,
        };
        // The name that is there can be changed once.
        let taken = fs::rename(dir.join(last.name()), dir.join(next.name())).is_ok();
        marks.pruned = Some(next);
        Ok(taken.then_some(Duty { folder, marks }))
    }

    pub(crate) fn prune(&self, duty: Duty, now: &Moment) -> Result<(), Fault> {
        let Duty { folder, mut marks } = duty;
        let marks_dir = self.root.join(MARKS);
        let found = look_into(&self.root.join(folder_name(folder)), now)?;
        let expires_ms = found.forgettable.iter().map(|(_, ms)| *ms).max();
        let raised = expires_ms.map_or(Ok(()), |ms| marks.raise_forgotten(&marks_dir, ms));
        let mut left = found.count;
        for (path, _) in found.forgettable.iter().filter(|_| raised.is_ok()) {
            if fs::remove_file(path).is_ok() {
                left -= 1;
            }
        }
        for path in &found.outputs {
            // Another turn comes.
            let _ = tickets::forget_output(path);
        }
        raised?;
        let is_full = left >= FOLDER_TICKETS_MAX;
        let noted = match found.is_whole || is_full {
            true => marks.set_full(&marks_dir, folder, is_full),
            false => Ok(()),
        };
        marks.remove_stale(&marks_dir);
        Ok(noted?)
    }
}

struct Found {
    count: usize,
    /// With their expiries.
    forgettable: Vec<(PathBuf, u64)>,
    /// Ended runs whose output nobody asks for any more.
    outputs: Vec<PathBuf>,
    /// Nothing of the folder was left out.
    is_whole: bool,
}

fn look_into(folder: &Path, now: &Moment) -> Result<Found, Fault> {
    let mut found = Found {
        count: 0,
        forgettable: Vec::new(),
        outputs: Vec::new(),
        is_whole: true,
    };
    for entry in fs::read_dir(folder)? {
        let Ok(entry) = entry else {
            found.is_whole = false;
            continue;
        };
        let path = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            remove_draft(&path, now);
            continue;
        }
        found.count += 1;
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        let is_large = metadata.len() > OUTPUT_BYTES_MIN;
        // Nobody prunes for 30 days what was written within them.
        if written_ago_ms(&metadata, now)
            < if is_large {
                OUTPUT_KEPT_MS
            } else {
                TICKET_KEPT_MS
            }
        {
            continue;
        }
        let Ok(Some(content)) = tickets::content(&path) else {
            continue;
        };
        match content {
            Content::Torn => {}
            Content::Void(stone) => {
                if is_forgettable(stone.ticket.expires_ms, now) {
                    found.forgettable.push((path, stone.ticket.expires_ms));
                }
            }
            Content::Run { start, ending } => {
                if is_forgettable(start.ticket.expires_ms, now) {
                    found.forgettable.push((path, start.ticket.expires_ms));
                } else if is_large && ending.is_some() && start.at.elapsed_ms(now) >= OUTPUT_KEPT_MS
                {
                    found.outputs.push(path);
                }
            }
        }
    }
    Ok(found)
}

fn is_forgettable(expires_ms: u64, now: &Moment) -> bool {
    now.wall_ms >= expires_ms.saturating_add(TICKET_KEPT_MS)
}

/// Of somebody who died over it; who still writes it is left alone.
fn remove_draft(path: &Path, now: &Moment) {
    let metadata = fs::symlink_metadata(path);
    if metadata.is_ok_and(|metadata| written_ago_ms(&metadata, now) >= DAY_MS) {
        let _ = fs::remove_file(path);
    }
}

fn written_ago_ms(metadata: &fs::Metadata, now: &Moment) -> u64 {
    let written_ms = u64::try_from(metadata.mtime()).unwrap_or(0) * 1000;
    now.wall_ms.saturating_sub(written_ms)
}
