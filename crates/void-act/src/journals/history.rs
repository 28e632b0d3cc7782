//! What the journal says, as values: pure, without files or clocks.
//!
//! A history is built line by line and refuses a line that cannot follow what was there before (a second start of a
//! ticket, an end without a start): a journal that contradicts itself is damaged, and a damaged journal runs nothing.

use std::collections::{BTreeMap, HashMap};

use super::records::{End, Head, Mark, Record, Start, Tombstone, line_of};
use crate::answers::Ending;
use crate::clock::Moment;
use crate::commands::ActionId;
use crate::tickets::Ticket;

const TICKETS_MAX: usize = 50_000;
const BYTES_MAX: u64 = 64 << 20;
const DAY_MS: u64 = 24 * 3600 * 1000;
/// How long past its expiry a ticket is remembered.
const TICKET_KEPT_MS: u64 = 30 * DAY_MS;
/// How long a start is remembered for the daily cap, and an output for being asked again.
const RUN_KEPT_MS: u64 = 2 * DAY_MS;

#[derive(Debug, Default)]
pub(crate) struct History {
    head: Head,
    /// By ascending number.
    runs: Vec<Run>,
    tickets: BTreeMap<String, Known>,
    bytes: u64,
}

#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) start: Start,
    pub(crate) ending: Option<Ending>,
}

#[derive(Debug)]
enum Known {
    Run(usize),
    Void(Tombstone),
}

/// What is known of a ticket.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Seen<'a> {
    Never,
    Ran(&'a Run),
    Settled,
    /// The same proposal with another content.
    Mismatch,
    /// Older than what this journal still remembers: it may have run.
    Forgotten,
}

#[derive(Debug)]
pub(crate) struct Damaged;

impl History {
    /// Reads whole lines; a last one without its newline was never acknowledged and does not count.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, Damaged> {
        let mut history = Self::default();
        let lines = text.split_inclusive(|byte| *byte == b'\n');
        for line in lines.filter(|line| line.ends_with(b"\n")) {
            history.add(line)?;
        }
        Ok(history)
    }

    pub(crate) fn add(&mut self, line: &[u8]) -> Result<(), Damaged> {
        match serde_json::from_slice(line).map_err(|_| Damaged)? {
            Record::Head(head) if self.bytes == 0 => self.head = head,
            Record::Head(_) => return Err(Damaged),
            Record::Start(start) => self.add_start(start)?,
            Record::End(End { run, ending }) => {
                let index = self.runs.binary_search_by_key(&run, |run| run.start.run);
                let run = index.ok().and_then(|index| self.runs.get_mut(index));
                let open = run.filter(|run| run.ending.is_none()).ok_or(Damaged)?;
                open.ending = Some(ending);
            }
            Record::Void(stone) => self.claim(stone.ticket.proposal.clone(), Known::Void(stone))?,
        }
        self.bytes += line.len() as u64;
        Ok(())
    }

    fn add_start(&mut self, start: Start) -> Result<(), Damaged> {
        if self
            .runs
            .last()
            .is_some_and(|last| last.start.run >= start.run)
        {
            return Err(Damaged);
        }
        if let Some(mark) = &start.ticket {
            self.claim(mark.proposal.clone(), Known::Run(self.runs.len()))?;
        }
        self.head.next_run = self.head.next_run.max(start.run.saturating_add(1));
        self.runs.push(Run {
            start,
            ending: None,
        });
        Ok(())
    }

    fn claim(&mut self, proposal: String, known: Known) -> Result<(), Damaged> {
        self.tickets
            .insert(proposal, known)
            .map_or(Ok(()), |_| Err(Damaged))
    }

    /// Bytes of whole lines.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn next_run(&self) -> u64 {
        self.head.next_run
    }

    pub(crate) fn is_full(&self) -> bool {
        self.tickets.len() >= TICKETS_MAX || self.bytes >= BYTES_MAX
    }

    pub(crate) fn seen(&self, ticket: &Ticket) -> Seen<'_> {
        let mark = Mark::of(ticket);
        match self.tickets.get(ticket.proposal()) {
            None if self.head.forgotten_ms >= Some(ticket.expires_ms()) => Seen::Forgotten,
            None => Seen::Never,
            Some(Known::Void(stone)) if stone.ticket == mark => Seen::Settled,
            Some(Known::Void(_)) => Seen::Mismatch,
            Some(Known::Run(index)) => match self.runs.get(*index) {
                Some(run) if run.start.ticket.as_ref() == Some(&mark) => Seen::Ran(run),
                Some(_) | None => Seen::Mismatch,
            },
        }
    }

    /// Milliseconds since each start of this action, the last one last, each counted conservatively.
    pub(crate) fn starts_ago(&self, id: &ActionId, now: &Moment) -> impl Iterator<Item = u64> {
        let of_id = self.runs.iter().filter(move |run| run.start.id == *id);
        of_id.map(move |run| run.start.at.elapsed_ms(now))
    }

    /// What the last run of this action recorded before it changed anything.
    pub(crate) fn recorded(&self, id: &ActionId) -> Option<&str> {
        let last = self.runs.iter().rev().find(|run| run.start.id == *id)?;
        last.start.recorded.as_deref()
    }

    /// Wall time, but never earlier than what the records of this boot imply: a clock set back revives no ticket. After
    /// a clock was set ahead by mistake and put right, tickets are refused until the next boot at the latest.
    pub(crate) fn wall_ms_at_least(&self, now: &Moment) -> u64 {
        let started = self.runs.iter().map(|run| &run.start.at);
        let settled = self.tombstones().map(|stone| &stone.at);
        let implied = started
            .chain(settled)
            .filter_map(|at| at.implied_wall_ms(now));
        implied.fold(now.wall_ms, u64::max)
    }

    /// The journal without what nothing can ask for any more: tickets long expired, starts that no cooldown or cap
    /// counts, outputs of runs long ended. What is forgotten raises `forgotten_ms`.
    pub(crate) fn pruned(&self, now: &Moment) -> Vec<u8> {
        let last_of_id: HashMap<_, _> = self
            .runs
            .iter()
            .map(|run| (&run.start.id, run.start.run))
            .collect();
        let remembered = |mark: &Mark| now.wall_ms < mark.expires_ms.saturating_add(TICKET_KEPT_MS);
        let mut head = self.head;
        let mut kept = Vec::new();
        for Run { start, ending } in &self.runs {
            let recent = start.at.elapsed_ms(now) < RUN_KEPT_MS;
            let last = last_of_id.get(&start.id) == Some(&start.run);
            if recent || last || start.ticket.as_ref().is_some_and(remembered) {
                kept.extend(line_of(&Record::Start(start.clone())));
                if let Some(ending) = ending {
                    let ending = if recent {
                        ending.clone()
                    } else {
                        ending.without_output()
                    };
                    kept.extend(line_of(&Record::End(End {
                        run: start.run,
                        ending,
                    })));
                }
            } else if let Some(mark) = &start.ticket {
                head.forgotten_ms = head.forgotten_ms.max(Some(mark.expires_ms));
            }
        }
        for stone in self.tombstones() {
            if remembered(&stone.ticket) {
                kept.extend(line_of(&Record::Void(stone.clone())));
            } else {
                head.forgotten_ms = head.forgotten_ms.max(Some(stone.ticket.expires_ms));
            }
        }
        [line_of(&Record::Head(head)), kept].concat()
    }

    fn tombstones(&self) -> impl Iterator<Item = &Tombstone> {
        self.tickets.values().filter_map(|known| match known {
            Known::Run(_) => None,
            Known::Void(stone) => Some(stone),
        })
    }
}

#[cfg(test)]
mod tests;
