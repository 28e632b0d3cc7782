//! What may happen, decided before anything happens: pure functions of the request, the list, the journal and time.
//!
//! The order matters. A ticket that the journal knows is answered from it, whatever has changed since; only an
//! unseen one is judged, and everything that is not plainly allowed is refused.

use std::time::Duration;

use crate::answers::{Reason, Refusal, Reply, refuse};
use crate::clock::Moment;
use crate::commands::ActionId;
use crate::journals::{History, Seen};
use crate::lists::{Entry, Invocation, List, Tier};
use crate::params::Params;
use crate::tickets::Ticket;

const HOUR_MS: u64 = 3600 * 1000;
const DAY_MS: u64 = 24 * HOUR_MS;

/// The kill switch, as far as it could be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Absent,
    PresentOrUnknown,
}

/// How far ahead a ticket may end.
pub(crate) const TICKET_AHEAD_MAX_MS: u64 = 60 * 60 * 1000;

/// What is so at the moment of judging.
pub(crate) struct Present<'a> {
    pub(crate) now: &'a Moment,
    pub(crate) stop: Stop,
    /// The server's time, if whoever started us knows it.
    pub(crate) ticket_time_ms: Option<u64>,
}

pub(crate) enum Verdict {
    /// Start exactly this.
    Start {
        invocation: Invocation,
        timeout: Duration,
    },
    /// The journal already has the answer.
    Recorded(Reply),
}

pub(crate) enum Settlement {
    Known(Reply),
    /// Write the tombstone, then answer `unseen`.
    Tombstone,
}

/// May this run now?
pub(crate) fn judge(
    id: &ActionId,
    ticket: Option<&Ticket>,
    list: &List,
    history: &History,
    present: &Present<'_>,
) -> Result<Verdict, Refusal> {
    if let Some(ticket) = ticket {
        match history.seen(ticket) {
            Seen::Never => {}
            Seen::Ran(run) if run.start.id != *id => return mismatch(),
            Seen::Settled => {
                let text = "the server was told that this ticket never ran";
                return refuse(Reason::Settled, text);
            }
            known @ (Seen::Ran(_) | Seen::Mismatch | Seen::Forgotten) => {
                return recorded(known).map(Verdict::Recorded);
            }
        }
    }
    let Some(entry) = list.entry(id) else {
        return refuse(
            Reason::UnknownAction,
            "this action is not in the host's list",
        );
    };
    if entry.signed {
        let text = "the entry needs a signature, and signatures are not yet checked here";
        return refuse(Reason::SignatureUnsupported, text);
    }
    match ticket {
        Some(ticket) => check_ticket(ticket, entry, history, present)?,
        None => check_bare(entry)?,
    }
    let recorded = |of: &ActionId| history.recorded(of).map(str::to_owned);
    let none = Params::new();
    let invocation = entry.invocation(ticket.map_or(&none, Ticket::params), recorded)?;
    if present.stop == Stop::PresentOrUnknown {
        return refuse(
            Reason::Stopped,
            "the stop file is there, or cannot be looked for",
        );
    }
    check_room(history)?;
    let cooldown_s = match ticket {
        Some(_) => entry.cooldown_s,
        None => bare_cooldown_s(entry),
    };
    check_brakes(entry, cooldown_s, history, present.now)?;
    let timeout = entry.timeout();
    Ok(Verdict::Start {
        invocation,
        timeout,
    })
}

/// What became of a ticket. A settled one has not run and never will, so it is `unseen` too.
pub(crate) fn look_up(ticket: &Ticket, history: &History) -> Result<Reply, Refusal> {
    recorded(history.seen(ticket))
}

/// What has to be done so that the answer stays true. TCP may still deliver the original request after the server
/// gave up on it and asked here; `unseen` would then become a lie. So an unseen ticket is first made unable to start.
///
/// A ticket that ends too far away gets no tombstone, which would have to be kept as long; it is refused, and a refused
/// question says nothing about a run.
pub(crate) fn judge_settle(
    ticket: &Ticket,
    history: &History,
    now_ms: u64,
) -> Result<Settlement, Refusal> {
    match history.seen(ticket) {
        Seen::Never => {
            check_end(ticket, now_ms)?;
            check_room(history).map(|()| Settlement::Tombstone)
        }
        known @ (Seen::Ran(_) | Seen::Settled | Seen::Mismatch | Seen::Forgotten) => {
            recorded(known).map(Settlement::Known)
        }
    }
}

fn recorded(seen: Seen<'_>) -> Result<Reply, Refusal> {
    match seen {
        Seen::Never | Seen::Settled => Ok(Reply::Unseen),
        Seen::Ran(run) => Ok(match run.ending.clone() {
            Some(ending) => Reply::ended(ending, true),
            None => Reply::started(None, true),
        }),
        Seen::Mismatch => mismatch(),
        Seen::Forgotten => {
            let text = "the journal no longer remembers tickets this old; it may have run";
            refuse(Reason::Forgotten, text)
        }
    }
}

fn mismatch<T>() -> Result<T, Refusal> {
    let text = "this proposal is known here with another action or other content";
    refuse(Reason::TicketMismatch, text)
}

fn check_ticket(
    ticket: &Ticket,
    entry: &Entry,
    history: &History,
    present: &Present<'_>,
) -> Result<(), Refusal> {
    let ours = || history.wall_ms_at_least(present.now);
    let now_ms = present.ticket_time_ms.unwrap_or_else(ours);
    if ticket.expires_ms() <= now_ms {
        return refuse(Reason::Expired, "the ticket has expired");
    }
    check_end(ticket, now_ms)?;
    if entry.def.as_deref() != Some(ticket.exec_digest()) {
        return refuse(
            Reason::Drift,
            "the ticket is for another definition than this host's",
        );
    }
    Ok(())
}

/// A server's tickets last minutes. One that ends much later comes from a clock that is wrong, here or there:
/// it would be good for years, and its place in the journal taken for as long.
fn check_end(ticket: &Ticket, now_ms: u64) -> Result<(), Refusal> {
    if ticket.expires_ms() <= now_ms.saturating_add(TICKET_AHEAD_MAX_MS) {
        return Ok(());
    }
    let text = "the ticket ends more than an hour from now by this host's clock: compare the clocks of server and host";
    refuse(Reason::BadTicket, text)
}

fn check_bare(entry: &Entry) -> Result<(), Refusal> {
    match (entry.tier, bare_cooldown_s(entry)) {
        (Tier::Safe, Some(_)) => Ok(()),
        (Tier::Safe, None) => {
            let text = "without a ticket this action needs a cooldown_s in the host's list";
            refuse(Reason::NeedsCooldown, text)
        }
        (Tier::Risky, _) => refuse(Reason::NeedsTicket, "a risky action needs a ticket"),
    }
}

/// The longer of the two, if the list has both.
fn bare_cooldown_s(entry: &Entry) -> Option<u32> {
    entry.cooldown_s.max(entry.bare_cooldown_s)
}

fn check_room(history: &History) -> Result<(), Refusal> {
    if history.is_full() {
        return refuse(
            Reason::JournalFull,
            "the journal is full of tickets that may still come",
        );
    }
    Ok(())
}

fn check_brakes(
    entry: &Entry,
    cooldown_s: Option<u32>,
    history: &History,
    now: &Moment,
) -> Result<(), Refusal> {
    let starts = || history.starts_ago(&entry.id, now);
    if let (Some(cooldown_s), Some(ago_ms)) = (cooldown_s, starts().last())
        && ago_ms < u64::from(cooldown_s) * 1000
    {
        let ago_s = ago_ms / 1000;
        let text = format!("it ran {ago_s} s ago; the host waits {cooldown_s} s between runs");
        return refuse(Reason::CoolingDown, text);
    }
    for (cap, window_ms, per) in [
        (entry.max_per_hour, HOUR_MS, "hour"),
        (entry.max_per_day, DAY_MS, "day"),
    ] {
        let count = starts().filter(|ago_ms| *ago_ms < window_ms).count() as u64;
        if let Some(cap) = cap.filter(|cap| count >= u64::from(*cap)) {
            let text = format!("the host allows {cap} runs per {per}");
            return refuse(Reason::CapReached, text);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
