//! One request to run an action: look, judge, write the start, run, write the end.
//!
//! Nothing is locked between looking and writing but, where brakes count, the action's own file. The ticket's file is
//! created exclusively: whoever finds that somebody else did looks again and answers from it.

use crate::answers::{Ending, Refusal, Reply};
use crate::clock::{self, Moment};
use crate::commands::ActionId;
use crate::forced::{look_for_stop, print};
use crate::journals::{self, Claimed, Fault, Journal, Lasts, LockedStarts, Seen};
use crate::lists::{Entry, Invocation, List};
use crate::options::Options;
use crate::params::ParamValue;
use crate::runs::{self, Ran};
use crate::tickets::Ticket;
use crate::verdicts::{self, Past, Present, Stop, Verdict};

/// How often a file that came between looking and writing is looked at again. It is there by then, unless its writer
/// found the disk full and took it back.
pub(crate) const LOOKS_MAX: usize = 8;

pub(crate) struct Attempt<'a> {
    pub(crate) options: &'a Options,
    pub(crate) list: &'a List,
    /// SHA-256 of the list's file.
    pub(crate) list_digest: &'a str,
    pub(crate) id: &'a ActionId,
    pub(crate) ticket: Option<&'a Ticket>,
}

/// What is started, with its start on disk.
struct Started {
    invocation: Invocation,
    timeout: std::time::Duration,
    /// None without a ticket: nobody can ask how that ended.
    claimed: Option<Claimed>,
}

impl Past {
    pub(crate) fn of_ticket(
        journal: &mut Journal,
        ticket: &Ticket,
        now: &Moment,
    ) -> Result<Self, Fault> {
        Ok(Self {
            seen: journal.seen(ticket)?,
            starts: Vec::new(),
            recorded: std::collections::BTreeMap::new(),
            wall_ms_at_least: journal.wall_ms_at_least(now)?,
            is_full: journal.is_full(ticket)?,
        })
    }
}

impl Attempt<'_> {
    pub(crate) fn run(&self) -> Result<Reply, Refusal> {
        let mut journal = Journal::open(&self.options.state)?;
        let started = match self.start(&mut journal)? {
            Ok(started) => started,
            Err(reply) => return Ok(reply),
        };
        // A slow disk must not let a command start long after the switch was thrown.
        let ran = match look_for_stop(&self.list.stop_file) {
            Stop::Absent => runs::run(&started.invocation, started.timeout, &mut |line| {
                if self.options.progress {
                    print(&format!("{}\n", serde_json::json!({ "line": line })));
                }
            }),
            Stop::PresentOrUnknown => Ran::Ended(Ending::failed(
                "void-act: the stop file came before the command was started".to_owned(),
            )),
        };
        let mut ending = match ran {
            Ran::StillRunning { note } => return Ok(Reply::started(Some(note), false)),
            Ran::Ended(ending) => ending,
        };
        let claimed = started.claimed;
        let recorded = claimed.map_or(Ok(()), |claimed| claimed.end(ending.clone()));
        if let Err(fault) = recorded {
            let (said, why) = (ending.stderr.unwrap_or_default(), Refusal::from(fault).text);
            ending.stderr = Some(format!("{said}\nvoid-act: this end is not recorded: {why}"));
        }
        let running = if ending.done { self.count() } else { None };
        Ok(Reply::Ended {
            ending,
            replayed: false,
            running,
        })
    }

    /// The start on disk, or what the journal answers instead.
    fn start(&self, journal: &mut Journal) -> Result<Result<Started, Reply>, Refusal> {
        // Judged before anything is locked, written or looked at, so that what is refused leaves no trace.
        let first = self.judged(journal, None)?;
        if let Verdict::Recorded(reply) = first.verdict {
            return Ok(Err(reply));
        }
        let entry = self.list.entry(self.id);
        let record = entry.and_then(|entry| entry.record.as_ref());
        let recorded = record.map(runs::record).transpose()?.flatten();
        // Nothing can have changed where nothing was waited for or looked up since.
        let mut still_good = Some(first).filter(|_| record.is_none() && !self.is_counted(entry));
        for _ in 0..LOOKS_MAX {
            let mut locked = if self.is_counted(entry) {
                Some(journal.lock_starts(self.id)?)
            } else {
                None
            };
            let judged = still_good
                .take()
                .map_or_else(|| self.judged(journal, locked.as_ref()), Ok);
            let Judged { now, verdict } = judged?;
            let (invocation, timeout) = match verdict {
                Verdict::Recorded(reply) => return Ok(Err(reply)),
                Verdict::Start {
                    invocation,
                    timeout,
                } => (invocation, timeout),
            };
            if let Some(locked) = &mut locked {
                journal.note_clock(&now)?;
                locked.compact(entry.map_or(0, Entry::starts_max), &now)?;
                locked.add(&journals::begun(&now, recorded.clone()), self.lasts(entry))?;
            }
            let Some(ticket) = self.ticket else {
                return Ok(Ok(Started {
                    invocation,
                    timeout,
                    claimed: None,
                }));
            };
            let claimed = journal.start(self.id, ticket, &now);
            if let (Ok(None) | Err(_), Some(locked)) = (&claimed, &mut locked) {
                locked.take_back();
            }
            if let Some(claimed) = claimed? {
                return Ok(Ok(Started {
                    invocation,
                    timeout,
                    claimed: Some(claimed),
                }));
            }
        }
        Err(Fault::Busy.into())
    }

    fn is_counted(&self, entry: Option<&Entry>) -> bool {
        self.ticket.is_none() || entry.is_some_and(Entry::is_counted)
    }

    /// A cooldown of those without a ticket is no longer than a restart of the machine, and its other starts hold
    /// nobody back.
    fn lasts(&self, entry: Option<&Entry>) -> Lasts {
        let only_bare = entry.is_some_and(Entry::counts_for_bare_only);
        if self.ticket.is_some() && only_bare {
            Lasts::Crash
        } else {
            Lasts::PowerCut
        }
    }

    fn judged(
        &self,
        journal: &mut Journal,
        locked: Option<&LockedStarts>,
    ) -> Result<Judged, Refusal> {
        // Read under the lock: whoever waited for it must not act on an old clock or an old stop file.
        let now = clock::now()?;
        let past = self.past(journal, locked, &now)?;
        let present = Present {
            now: &now,
            list_digest: self.list_digest,
            stop: look_for_stop(&self.list.stop_file),
            ticket_time_ms: self.options.ticket_time_ms,
        };
        let verdict = verdicts::judge(self.id, self.ticket, self.list, &past, &present)?;
        Ok(Judged { now, verdict })
    }

    fn past(
        &self,
        journal: &mut Journal,
        locked: Option<&LockedStarts>,
        now: &Moment,
    ) -> Result<Past, Fault> {
        let mut past = match self.ticket {
            Some(ticket) => Past::of_ticket(journal, ticket, now)?,
            None => Past {
                seen: Seen::Never,
                starts: Vec::new(),
                recorded: std::collections::BTreeMap::new(),
                wall_ms_at_least: journal.wall_ms_at_least(now)?,
                is_full: false,
            },
        };
        let entry = self
            .list
            .entry(self.id)
            .filter(|_| past.seen == Seen::Never);
        let Some(entry) = entry else {
            return Ok(past);
        };
        if self.is_counted(Some(entry)) {
            past.starts = match locked {
                Some(locked) => locked.starts().moments().cloned().collect(),
                None => journal.starts(self.id)?.moments().cloned().collect(),
            };
        }
        for of in entry.reads_records_of() {
            let recorded = journal.starts(of)?.last_recorded().map(str::to_owned);
            past.recorded
                .extend(recorded.map(|recorded| (of.clone(), recorded)));
        }
        Ok(past)
    }

    /// How many copies run now. The end is on disk already: whoever dies while counting loses the number only.
    fn count(&self) -> Option<u32> {
        let spec = self.list.entry(self.id)?.count.as_ref()?;
        match self.ticket?.params().get(&spec.param)? {
            ParamValue::Integer(wanted) => runs::count(spec, *wanted),
            ParamValue::Text(_) => None,
        }
    }
}

/// A verdict, and when it was made.
struct Judged {
    now: Moment,
    verdict: Verdict,
}
