//! What the journal says, as values: pure, without files or clocks.
//!
//! A history is built record by record and refuses records that cannot follow what was there before (a second start
//! of a ticket, an end without a start): a journal that contradicts itself is damaged, and a damaged journal runs
//! nothing.

use std::collections::HashMap;

use super::records::{End, Head, Mark, Record, Start, Tombstone};
use crate::answers::Ending;
use crate::clock::Moment;
use crate::commands::ActionId;
use crate::tickets::Ticket;

pub(crate) const TICKETS_MAX: usize = 50_000;
const DAY_MS: u64 = 24 * 3600 * 1000;
/// How long past its expiry a ticket is remembered.
const TICKET_KEPT_MS: u64 = 30 * DAY_MS;
/// How long a start is remembered for the daily cap, and an output for being asked again.
const RUN_KEPT_MS: u64 = 2 * DAY_MS;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct History {
    head: Head,
    runs: Vec<Run>,
    tombstones: Vec<Tombstone>,
    /// Every known proposal id; the index into `runs`, or None for a tombstone.
    tickets: HashMap<String, Option<usize>>,
    run_index: HashMap<u64, usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) start: Start,
    pub(crate) ending: Option<Ending>,
}

/// What is known of a ticket.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seen<'a> {
    Never,
    Ran(&'a Run),
    Settled,
    /// The same proposal with another content.
    Mismatch,
    /// Older than what this journal still remembers: it may have run.
    Forgotten,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Contradiction;

impl History {
    pub(crate) fn apply(&mut self, record: Record) -> Result<(), Contradiction> {
        match record {
            Record::Head(head) => {
                if *self != Self::default() {
                    return Err(Contradiction);
                }
                self.head = head;
                Ok(())
            }
            Record::Start(start) => self.apply_start(start),
            Record::End(End { run, ending }) => {
                let known = self
                    .run_index
                    .get(&run)
                    .and_then(|index| self.runs.get_mut(*index));
                let open = known
                    .filter(|run| run.ending.is_none())
                    .ok_or(Contradiction)?;
                open.ending = Some(ending);
                Ok(())
            }
            Record::Void(tombstone) => {
                self.claim(&tombstone.ticket, None)?;
                self.tombstones.push(tombstone);
                Ok(())
            }
        }
    }

    fn apply_start(&mut self, start: Start) -> Result<(), Contradiction> {
        let index = self.runs.len();
        if let Some(mark) = &start.ticket {
            self.claim(mark, Some(index))?;
        }
        if self.run_index.insert(start.run, index).is_some() {
            return Err(Contradiction);
        }
        self.head.next_run = self.head.next_run.max(start.run.saturating_add(1));
        self.runs.push(Run {
            start,
            ending: None,
        });
        Ok(())
    }

    fn claim(&mut self, mark: &Mark, run: Option<usize>) -> Result<(), Contradiction> {
        match self.tickets.insert(mark.proposal.clone(), run) {
            None => Ok(()),
            Some(_) => Err(Contradiction),
        }
    }

    pub(crate) fn next_run(&self) -> u64 {
        self.head.next_run
    }

    pub(crate) fn is_full(&self) -> bool {
        self.tickets.len() >= TICKETS_MAX
    }

    pub(crate) fn seen(&self, ticket: &Ticket) -> Seen<'_> {
        let same = |mark: &Mark| *mark == Mark::of(ticket);
        match self.tickets.get(ticket.proposal()) {
            None if ticket.expires_ms() <= self.head.forgotten_ms => Seen::Forgotten,
            None => Seen::Never,
            Some(None) if self.tombstones.iter().any(|stone| same(&stone.ticket)) => Seen::Settled,
            Some(Some(index)) => match self.runs.get(*index) {
                Some(run) if run.start.ticket.as_ref().is_some_and(same) => Seen::Ran(run),
                Some(_) | None => Seen::Mismatch,
            },
            Some(None) => Seen::Mismatch,
        }
    }

    /// Milliseconds since each start of this action, the last one last, each counted conservatively.
    pub(crate) fn starts_ago<'a>(
        &'a self,
        id: &'a ActionId,
        now: &'a Moment,
    ) -> impl Iterator<Item = u64> + 'a {
        let of_id = self.runs.iter().filter(move |run| run.start.id == *id);
        of_id.map(move |run| run.start.at.elapsed_ms(now))
    }

    /// Wall time, but never earlier than what the records of this boot imply.
    pub(crate) fn wall_ms_at_least(&self, now: &Moment) -> u64 {
        let started = self.runs.iter().map(|run| &run.start.at);
        let moments = started.chain(self.tombstones.iter().map(|stone| &stone.at));
        moments
            .filter_map(|at| at.implied_wall_ms(now))
            .fold(now.wall_ms, u64::max)
    }

    /// The history without what nothing can ask for any more: tickets long expired, starts that no cooldown or cap
    /// counts, outputs of runs long ended. What is forgotten raises `forgotten_ms`.
    pub(crate) fn pruned(&self, now: &Moment) -> Self {
        let mut kept = Self {
            head: self.head,
            ..Self::default()
        };
        let last_of_id: HashMap<&ActionId, u64> = self
            .runs
            .iter()
            .map(|run| (&run.start.id, run.start.run))
            .collect();
        let remembered = |mark: &Mark| now.wall_ms < mark.expires_ms.saturating_add(TICKET_KEPT_MS);
        for run in &self.runs {
            let start = &run.start;
            let recent = start.at.elapsed_ms(now) < RUN_KEPT_MS;
            let last = last_of_id.get(&start.id) == Some(&start.run);
            if recent || last || start.ticket.as_ref().is_some_and(remembered) {
                let mut run = run.clone();
                if let Some(ending) = run.ending.as_mut().filter(|_| !recent) {
                    (ending.stdout, ending.stderr) = (None, None);
                }
                kept.keep(run);
            } else if let Some(mark) = &start.ticket {
                kept.head.forgotten_ms = kept.head.forgotten_ms.max(mark.expires_ms);
            }
        }
        for stone in &self.tombstones {
            if remembered(&stone.ticket) {
                kept.tickets.insert(stone.ticket.proposal.clone(), None);
                kept.tombstones.push(stone.clone());
            } else {
                kept.head.forgotten_ms = kept.head.forgotten_ms.max(stone.ticket.expires_ms);
            }
        }
        kept
    }

    fn keep(&mut self, run: Run) {
        let index = self.runs.len();
        self.run_index.insert(run.start.run, index);
        if let Some(mark) = &run.start.ticket {
            self.tickets.insert(mark.proposal.clone(), Some(index));
        }
        self.runs.push(run);
    }

    pub(crate) fn ticket_count(&self) -> usize {
        self.tickets.len()
    }

    /// The records that build this history again.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        let runs = self.runs.iter().flat_map(|run| {
            let number = run.start.run;
            let end = run.ending.clone().map(|ending| {
                Record::End(End {
                    run: number,
                    ending,
                })
            });
            [Some(Record::Start(run.start.clone())), end]
                .into_iter()
                .flatten()
        });
        let stones = self.tombstones.iter().cloned().map(Record::Void);
        [Record::Head(self.head)]
            .into_iter()
            .chain(runs)
            .chain(stones)
    }
}

#[cfg(test)]
mod tests;
