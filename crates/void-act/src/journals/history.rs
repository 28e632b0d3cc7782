//! The journal of earlier versions, one file for everything, as values: without files or clocks of its own.
//!
//! It is read once, to be taken over. A history is built line by line and refuses a line that cannot follow what was
//! there before (a second start of a ticket, an end without a start): a journal that contradicts itself is damaged,
//! and a damaged journal runs nothing. Only what is still asked for is kept in memory: no output of more than two days
//! ago.

mod records;

use std::collections::BTreeMap;
use std::io::BufRead;

use self::records::{Head, OldEnd, OldRecord, OldStart};
use super::Fault;
use super::pruning::OUTPUT_KEPT_MS;
use super::records::Tombstone;
use crate::answers::Ending;
use crate::clock::Moment;
use crate::tickets::is_uuid;

#[derive(Debug, Default)]
pub(crate) struct History {
    head: Head,
    /// By ascending number.
    runs: Vec<OldRun>,
    tickets: BTreeMap<String, Known>,
    is_begun: bool,
}

#[derive(Debug)]
pub(crate) struct OldRun {
    pub(crate) start: OldStart,
    pub(crate) ending: Option<Ending>,
}

#[derive(Debug)]
enum Known {
    Ran,
    Void(Tombstone),
}

impl Known {
    fn tombstone(&self) -> Option<&Tombstone> {
        match self {
            Self::Ran => None,
            Self::Void(stone) => Some(stone),
        }
    }
}

impl History {
    /// Reads whole lines; a last one without its newline was never acknowledged and does not count.
    pub(crate) fn read(mut text: impl BufRead, now: &Moment) -> Result<Self, Fault> {
        let mut history = Self::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            text.read_until(b'\n', &mut line)?;
            if !line.ends_with(b"\n") {
                return Ok(history);
            }
            history.add(&line, now)?;
        }
    }

    fn add(&mut self, line: &[u8], now: &Moment) -> Result<(), Fault> {
        match serde_json::from_slice(line).map_err(|_| Fault::Damaged)? {
            OldRecord::Head(head) if !self.is_begun => self.head = head,
            OldRecord::Head(_) => return Err(Fault::Damaged),
            OldRecord::Start(start) => self.add_start(start)?,
            OldRecord::End(OldEnd { run, ending }) => {
                let index = self.runs.binary_search_by_key(&run, |run| run.start.run);
                let run = index.ok().and_then(|index| self.runs.get_mut(index));
                let open = run.filter(|run| run.ending.is_none());
                let open = open.ok_or(Fault::Damaged)?;
                let is_old = open.start.at.elapsed_ms(now) >= OUTPUT_KEPT_MS;
                open.ending = Some(if is_old {
                    ending.without_output()
                } else {
                    ending
                });
            }
            OldRecord::Void(stone) => {
                self.claim(stone.ticket.proposal.clone(), Known::Void(stone))?;
            }
        }
        self.is_begun = true;
        Ok(())
    }

    fn add_start(&mut self, start: OldStart) -> Result<(), Fault> {
        let last = self.runs.last();
        if last.is_some_and(|last| last.start.run >= start.run) {
            return Err(Fault::Damaged);
        }
        if let Some(mark) = &start.ticket {
            self.claim(mark.proposal.clone(), Known::Ran)?;
        }
        self.runs.push(OldRun {
            start,
            ending: None,
        });
        Ok(())
    }

    /// A proposal becomes the name of a file: what is no proposal's id never stood in a journal of ours.
    fn claim(&mut self, proposal: String, known: Known) -> Result<(), Fault> {
        if !is_uuid(&proposal) {
            return Err(Fault::Damaged);
        }
        self.tickets
            .insert(proposal, known)
            .map_or(Ok(()), |_| Err(Fault::Damaged))
    }

    /// The latest expiry of any ticket that it had forgotten itself.
    pub(crate) fn forgotten_ms(&self) -> Option<u64> {
        self.head.forgotten_ms
    }

    /// When anything in it was written.
    pub(crate) fn moments(&self) -> impl Iterator<Item = &Moment> {
        let stones = self.tickets.values().filter_map(Known::tombstone);
        let starts = self.runs.iter().map(|run| &run.start.at);
        stones.map(|stone| &stone.at).chain(starts)
    }

    /// The runs in the order of their starts, and the tombstones.
    pub(crate) fn into_records(
        self,
    ) -> (
        impl Iterator<Item = OldRun>,
        impl Iterator<Item = Tombstone>,
    ) {
        let stones = self.tickets.into_values().filter_map(|known| match known {
            Known::Ran => None,
            Known::Void(stone) => Some(stone),
        });
        (self.runs.into_iter(), stones)
    }
}

#[cfg(test)]
mod tests;
