//! What the journal knows beside its tickets: small facts that only grow, each an empty file whose name is the fact.
//!
//! Creating a name is atomic and nobody overwrites anybody, so processes need no lock: the greatest one counts, and
//! lower ones are removed by whoever finds them.
//!
//! - `forgotten_MS`: whatever expires by then may have been forgotten.
//! - `clock_MS_BOOT`: the wall time at which this boot began, by the most advanced clock that was seen in it.
//! - `full_FOLDER`: this folder holds as many tickets as it may.
//! - `pruned_FOLDER_S`: which folder was pruned last, and when.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::Fault;
use crate::clock::Moment;
use crate::files;

/// There are at most some tens; thousands are not ours.
const MARKS_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Marks {
    pub(crate) forgotten_ms: Option<u64>,
    /// None in a journal that was made a moment ago.
    pub(crate) pruned: Option<Pruned>,
    clocks: Vec<(i64, String)>,
    full: BTreeSet<u8>,
    /// Names that a greater one has replaced.
    stale: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pruned {
    pub(crate) folder: u8,
    pub(crate) at_s: u64,
}

impl Pruned {
    pub(crate) fn name(self) -> String {
        format!("pruned_{}_{}", self.folder, self.at_s)
    }
}

impl Marks {
    pub(crate) fn read(dir: &Path) -> Result<Self, Fault> {
        files::check_private_dir(dir)?;
        let mut marks = Self::default();
        for (count, entry) in fs::read_dir(dir)?.enumerate() {
            if count >= MARKS_MAX {
                return Err(io::Error::other("too many marks").into());
            }
            if let Some(name) = entry?.file_name().to_str() {
                marks.add(name);
            }
        }
        Ok(marks)
    }

    fn add(&mut self, name: &str) {
        let words: Vec<&str> = name.split('_').collect();
        match words[..] {
            ["forgotten", ms] => {
                if let Ok(ms) = ms.parse() {
                    let lower = self.forgotten_ms.map(|known| known.min(ms));
                    self.stale.extend(lower.map(forgotten_name));
                    self.forgotten_ms = self.forgotten_ms.max(Some(ms));
                }
            }
            ["clock", ms, boot] => {
                if let Ok(ms) = ms.parse() {
                    self.clocks.push((ms, boot.to_owned()));
                }
            }
            ["full", folder] => self.full.extend(folder.parse::<u8>().ok()),
            ["pruned", folder, at_s] => {
                if let (Ok(folder), Ok(at_s)) = (folder.parse(), at_s.parse()) {
                    let found = Pruned { folder, at_s };
                    let later = self.pruned.is_none_or(|known| known.at_s <= at_s);
                    let stale = if later {
                        self.pruned.replace(found)
                    } else {
                        Some(found)
                    };
                    self.stale.extend(stale.map(Pruned::name));
                }
            }
            _ => {}
        }
    }

    pub(crate) fn is_full(&self, folder: u8) -> bool {
        self.full.contains(&folder)
    }

    /// Wall time, but never earlier than what the records of this boot imply: a clock set back revives no ticket. After
    /// a clock was set ahead by mistake and put right, tickets are refused until the next boot at the latest.
    pub(crate) fn wall_ms_at_least(&self, now: &Moment) -> u64 {
        let up_ms = i64::try_from(now.up_ms).unwrap_or(i64::MAX);
        let implied = self
            .boot_began_ms(&now.boot)
            .and_then(|began_ms| u64::try_from(began_ms.saturating_add(up_ms)).ok());
        implied.map_or(now.wall_ms, |implied| now.wall_ms.max(implied))
    }

    fn boot_began_ms(&self, boot: &str) -> Option<i64> {
        let of_boot = self.clocks.iter().filter(|(_, of)| of == boot);
        of_boot.map(|(ms, _)| *ms).max()
    }

    /// Notes how far the clock was, before anything is written at that time. A boot ends with the power, so this need
    /// not outlast it.
    pub(crate) fn raise_clock(&self, dir: &Path, now: &Moment) -> io::Result<()> {
        let began_ms = began_ms(now);
        if self.boot_began_ms(&now.boot) >= Some(began_ms) {
            return Ok(());
        }
        create(dir, clock_name(began_ms, &now.boot))?;
        for (ms, boot) in &self.clocks {
            let _ = fs::remove_file(dir.join(clock_name(*ms, boot)));
        }
        Ok(())
    }

    /// Durable when it returns: what is forgotten after this stays refused.
    pub(crate) fn raise_forgotten(&mut self, dir: &Path, ms: u64) -> io::Result<()> {
        if self.forgotten_ms < Some(ms) {
            create(dir, forgotten_name(ms)).or_else(|_| self.add_other_name(dir, ms))?;
            self.stale.extend(self.forgotten_ms.map(forgotten_name));
            self.forgotten_ms = Some(ms);
        }
        // Also where it was there: whoever wrote it may have died before this.
        fs::File::open(dir)?.sync_all()
    }

    /// A full disk has no room for one more file, but for another name of one that is there: a mark is its name.
    fn add_other_name(&self, dir: &Path, forgotten_ms: u64) -> io::Result<()> {
        let name = dir.join(forgotten_name(forgotten_ms));
        let lower = self.forgotten_ms.map(|ms| dir.join(forgotten_name(ms)));
        let pruned = self.pruned.map(|pruned| dir.join(pruned.name()));
        let mut known = lower.iter().chain(&pruned);
        if known.any(|known| fs::hard_link(known, &name).is_ok()) {
            return Ok(());
        }
        // Where a file has one name only.
        let lower = lower.ok_or(io::ErrorKind::StorageFull)?;
        fs::rename(lower, name)
    }

    pub(crate) fn set_full(&self, dir: &Path, folder: u8, is_full: bool) -> io::Result<()> {
        let name = format!("full_{folder}");
        match (is_full, self.is_full(folder)) {
            (true, false) => create(dir, &name),
            (false, true) => fs::remove_file(dir.join(name)),
            (true, true) | (false, false) => Ok(()),
        }
    }

    pub(crate) fn remove_stale(&self, dir: &Path) {
        for name in &self.stale {
            let _ = fs::remove_file(dir.join(name));
        }
    }
}

pub(crate) fn begin_pruning(dir: &Path, now: &Moment) -> io::Result<()> {
    let at_s = now.wall_ms / 1000;
    create(dir, Pruned { folder: 0, at_s }.name())
}

/// What an older journal knew.
pub(crate) fn take_over<'a>(
    dir: &Path,
    now: &Moment,
    forgotten_ms: Option<u64>,
    clocks: impl Iterator<Item = &'a Moment>,
) -> io::Result<()> {
    if let Some(ms) = forgotten_ms {
        create(dir, forgotten_name(ms))?;
    }
    let of_boot = clocks.filter(|at| at.boot == now.boot);
    if let Some(ms) = of_boot.map(began_ms).max() {
        create(dir, clock_name(ms, &now.boot))?;
    }
    Ok(())
}

/// When this boot began, if this moment's clock is right.
fn began_ms(at: &Moment) -> i64 {
    let [wall_ms, up_ms] = [at.wall_ms, at.up_ms].map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
    wall_ms.saturating_sub(up_ms)
}

fn forgotten_name(ms: u64) -> String {
    format!("forgotten_{ms}")
}

fn clock_name(began_ms: i64, boot: &str) -> PathBuf {
    format!("clock_{began_ms}_{boot}").into()
}

fn create(dir: &Path, name: impl AsRef<Path>) -> io::Result<()> {
    let mut options = OpenOptions::new();
    files::open_private(options.write(true).create(true), &dir.join(name)).map(drop)
}

#[cfg(test)]
mod tests;
