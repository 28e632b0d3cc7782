//! What may happen, decided before anything happens: pure functions of the request, the list, the past and time.
//!
//! The order matters. A ticket that the journal knows is answered from it, whatever has changed since; only an
//! unseen one is judged, and everything that is not plainly allowed is refused.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::answers::{Reason, Refusal, Reply, refuse};
use crate::clock::Moment;
use crate::commands::ActionId;
use crate::journals::Seen;
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

/// What the journal says of this request.
#[derive(Debug)]
pub(crate) struct Past {
    pub(crate) seen: Seen,
    /// When this action was started, the last time last.
    pub(crate) starts: Vec<Moment>,
    /// What the actions that this one returns to recorded before they last ran.
    pub(crate) recorded: BTreeMap<ActionId, String>,
    /// Wall time, but never earlier than what this boot has seen.
    pub(crate) wall_ms_at_least: u64,
    pub(crate) is_full: bool,
}

/// What is so at the moment of judging.
pub(crate) struct Present<'a> {
    pub(crate) now: &'a Moment,
    /// SHA-256 of the list file.
    pub(crate) list_digest: &'a str,
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
    past: &Past,
    present: &Present<'_>,
) -> Result<Verdict, Refusal> {
    match &past.seen {
        Seen::Never => {}
        Seen::Ran { id: Some(ran), .. } if ran != id => return mismatch(),
        Seen::Settled => {
            let text = "the server was told that this ticket never ran";
            return refuse(Reason::Settled, text);
        }
        known @ (Seen::Ran { .. } | Seen::Mismatch | Seen::Forgotten) => {
            return look_up(known).map(Verdict::Recorded);
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
        Some(ticket) => check_ticket(ticket, entry, past, present)?,
        None => check_bare(entry)?,
    }
    let recorded = |of: &ActionId| past.recorded.get(of).cloned();
    let none = Params::new();
    let invocation = entry.invocation(ticket.map_or(&none, Ticket::params), recorded)?;
    if present.stop == Stop::PresentOrUnknown {
        return refuse(
            Reason::Stopped,
            "the stop file is there, or cannot be looked for",
        );
    }
    check_room(past)?;
    let cooldown_s = match ticket {
        Some(_) => entry.cooldown_s,
        None => bare_cooldown_s(entry),
    };
    check_brakes(entry, cooldown_s, past, present.now)?;
    let timeout = entry.timeout();
    Ok(Verdict::Start {
        invocation,
        timeout,
    })
}

/// What has to be done so that the answer stays true. TCP may still deliver the original request after the server
/// gave up on it and asked here; `unseen` would then become a lie. So an unseen ticket is first made unable to start.
///
/// A ticket that ends too far away gets no tombstone, which would have to be kept as long; it is refused, and a refused
/// question says nothing about a run.
pub(crate) fn judge_settle(
    ticket: &Ticket,
    past: &Past,
    now_ms: u64,
) -> Result<Settlement, Refusal> {
    match &past.seen {
        Seen::Never => {
            check_end(ticket, now_ms)?;
            check_room(past).map(|()| Settlement::Tombstone)
        }
        known @ (Seen::Ran { .. } | Seen::Settled | Seen::Mismatch | Seen::Forgotten) => {
            look_up(known).map(Settlement::Known)
        }
    }
}

/// What became of a ticket. A settled one has not run and never will, so it is `unseen` too.
pub(crate) fn look_up(seen: &Seen) -> Result<Reply, Refusal> {
    match seen {
        Seen::Never | Seen::Settled => Ok(Reply::Unseen),
        Seen::Ran { ending, .. } => Ok(match ending.clone() {
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
    past: &Past,
    present: &Present<'_>,
) -> Result<(), Refusal> {
    let now_ms = present.ticket_time_ms.unwrap_or(past.wall_ms_at_least);
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
    if ticket
        .list()
        .is_some_and(|list| list != present.list_digest)
    {
        return refuse(
            Reason::ListChanged,
            "the ticket is for another list than this host's",
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

fn check_room(past: &Past) -> Result<(), Refusal> {
    if past.is_full {
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
    past: &Past,
    now: &Moment,
) -> Result<(), Refusal> {
    let starts = || past.starts.iter().map(|at| at.elapsed_ms(now));
    if let (Some(cooldown_s), Some(ago_ms)) = (cooldown_s, starts().next_back())
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
