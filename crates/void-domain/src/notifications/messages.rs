//! What a message says: the same fields on every channel, from the stored proposal alone, as plain
//! text that nothing parses. The requester's words are one quoted line of their own.

mod alerts;
mod asking;
mod questions;
#[cfg(test)]
mod tests;

use jiff::tz::TimeZone;

pub use self::alerts::{alert, told_again};
use self::alerts::{line, rehearsed};
use self::asking::{asking, diff_lines, first_diff_lines};
pub use self::questions::question;
use super::quiet::zoned;
use super::{News, RolledBack, Tally, news};
use crate::actors::person;
use crate::alerts::Alert;
use crate::cards::{Card, Eyes};
use crate::digests::Digest;
use crate::holds::Hold;
use crate::proposals::{Cancellation, DisplayState, Proposal, State};
use crate::text;
use crate::time::Timestamp;

/// Telegram's limit is 4096 UTF-16 units; some room is left for what a client adds.
pub const MESSAGE_UNITS_MAX: usize = 3_900;
/// How many proposals a digest names one by one.
pub const DIGEST_NAMED_MAX: u32 = 10;
/// How many messages the details of one proposal are, at most.
pub const DETAILS_MESSAGES_MAX: usize = 8;
const LINE_CHARS_MAX: usize = 120;
const TOO_LONG: &str = "Too long for a message: open it to read everything and to approve it.";

/// What every message needs beside its proposal.
#[derive(Debug, Clone)]
pub struct Frame {
    pub zone: TimeZone,
    pub rehearsal: bool,
    /// Number and hash of the newest entry of the record: the reader is its witness.
    pub head: Option<(u64, Digest)>,
    /// What a run is looked at with afterwards.
    pub eyes: Eyes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotificationMessage {
    pub title: String,
    pub body: String,
    /// Whether everything that a yes would bind is in it, and a yes would count. If not, it offers none.
    pub is_whole: bool,
}

impl NotificationMessage {
    pub fn text(&self) -> String {
        format!("{}\n{}", self.title, self.body)
    }
}

/// How much one message of a channel takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// Title and text together, in UTF-16 units.
    Units(usize),
    /// The title in characters, the text in bytes.
    Apart {
        title_chars: usize,
        body_bytes: usize,
    },
}

impl Room {
    pub const TELEGRAM: Self = Self::Units(MESSAGE_UNITS_MAX);

    fn takes(self, title: &str, body: &str) -> bool {
        match self {
            Self::Units(max) => units(title) + units(body) < max,
            Self::Apart {
                title_chars,
                body_bytes,
            } => title.chars().count() <= title_chars && body.len() <= body_bytes,
        }
    }
}

/// How a proposal stands. One that waits says everything that a yes would bind, and what its requester says.
pub fn about(
    proposal: &Proposal,
    (shown, holds): (DisplayState, &[Hold]),
    frame: &Frame,
    room: Room,
) -> NotificationMessage {
    let card = Card::seen_with(proposal, &frame.eyes);
    let headline = headline(proposal, shown, frame);
    let title = rehearsed(
        frame,
        &format!("{headline} · {}", text::escaped(&card.title)),
    );
    let said = |diff: &dyn Fn(&str) -> Vec<String>| match proposal.state {
        State::Pending => {
            let mut lines = asking(proposal, &card, frame, diff);
            lines.extend(hold_lines(holds));
            lines
        }
        _ => {
            let mut lines = ending(proposal, frame);
            lines.extend(hold_lines(holds));
            lines
        }
    };
    let last = last_line(proposal, frame);
    let joined = |mut lines: Vec<String>| {
        lines.retain(|line| !line.is_empty());
        lines.push(last.clone());
        lines.join("\n")
    };
    let body = joined(said(&diff_lines));
    if room.takes(&title, &body) {
        return NotificationMessage {
            title,
            body,
            is_whole: shown != DisplayState::HeldFromAbove,
        };
    }
    // What a diff says goes first; if that is not enough, every line is cut, and the message says so.
    let mut lines = said(&first_diff_lines);
    // First, so that whatever is cut this is not.
    lines.insert(0, TOO_LONG.to_owned());
    let shorter = joined(lines.clone());
    if room.takes(&title, &shorter) {
        return NotificationMessage {
            title,
            body: shorter,
            is_whole: false,
        };
    }
    let cut = |line: &String| short(line, LINE_CHARS_MAX);
    NotificationMessage {
        title: short(&title, LINE_CHARS_MAX),
        body: cut_to(room, &joined(lines.iter().map(cut).collect())),
        is_whole: false,
    }
}

/// Who put what on it from above; their words are quoted and theirs.
fn hold_lines(holds: &[Hold]) -> impl Iterator<Item = String> {
    holds.iter().map(|hold| {
        let words = text::words_in_quotes(&hold.words);
        format!("From above: {}: {words}", text::escaped(&hold.sentence()))
    })
}

fn short(text: &str, chars_max: usize) -> String {
    let cut: String = text.chars().take(chars_max).collect();
    if cut.len() < text.len() {
        format!("{cut}…")
    } else {
        cut
    }
}

fn cut_to(room: Room, body: &str) -> String {
    match room {
        Room::Units(max) => cut_units(body, max.saturating_sub(2 * LINE_CHARS_MAX)),
        Room::Apart { body_bytes, .. } => text::cut(body, body_bytes),
    }
    .to_owned()
}

/// What asks is headed by its tier; everything else by the words of its state, with the time where nothing ran.
fn headline(proposal: &Proposal, shown: DisplayState, frame: &Frame) -> String {
    let words = shown.words().to_uppercase();
    match &proposal.state {
        State::Pending => Card::of(proposal).tier.to_uppercase(),
        State::Expired { at, .. } => format!("{words} {}, NOTHING RAN", clock(*at, &frame.zone)),
        State::Approved { .. }
        | State::Running { .. }
        | State::Executed { .. }
        | State::Failed { .. }
        | State::Unknown { .. }
        | State::Rejected { .. }
        | State::Cancelled { .. }
        | State::Refused { .. } => words,
    }
}

fn ending(proposal: &Proposal, frame: &Frame) -> Vec<String> {
    let time = |at| clock(at, &frame.zone);
    let mut lines: Vec<String> = Vec::new();
    if let Some(approval) = proposal.approval() {
        lines.push(format!(
            "Approved by {} {}",
            person(&approval.by),
            time(approval.at)
        ));
    }
    match &proposal.state {
        State::Failed { failure, .. } | State::Refused { failure, .. } => {
            lines.push(text::escaped(&failure.message));
        }
        State::Unknown { failure, .. } => {
            let message = text::escaped(&failure.message);
            lines.push(format!(
                "It may have run: {message}. It is not tried again by itself."
            ));
        }
        State::Rejected { by, at, reason } => {
            let said = reason
                .as_ref()
                .map(|reason| format!(": \"{}\"", text::escaped(reason)));
            lines.push(format!(
                "By {} {}{}",
                person(by),
                time(*at),
                said.unwrap_or_default()
            ));
        }
        State::Cancelled { by, at, why } => {
            lines.push(match why {
                Cancellation::Withdrawn => format!("By {} {}", person(by), time(*at)),
                _ => why.message().to_owned(),
            });
        }
        State::Executed { run, at, .. } => {
            lines.push(format!(
                "Took {:.1} s",
                at.since(run.started_at).as_secs_f64()
            ));
        }
        State::Pending | State::Approved { .. } | State::Running { .. } | State::Expired { .. } => {
        }
    }
    lines
}

fn last_line(proposal: &Proposal, frame: &Frame) -> String {
    let mut last = format!("{} · {}", proposal.code, proposal.subject.digest.short());
    if let Some(record) = record_line(frame) {
        last.push_str(&format!(" · {record}"));
    }
    last
}

/// What the reader is witness of.
fn record_line(frame: &Frame) -> Option<String> {
    let (seq, hash) = frame.head?;
    Some(format!("record {seq} {}", hash.short()))
}

/// What a digest stands for: everything counted, some of it named.
#[derive(Debug, Clone, Default)]
pub struct Gathered {
    pub tally: Tally,
    pub proposals: Vec<(Proposal, DisplayState)>,
    pub alert_count: u64,
    pub alerts: Vec<Alert>,
}

/// One message for many. It offers no decision: each is looked at on its own.
pub fn digest(gathered: &Gathered, frame: &Frame) -> NotificationMessage {
    let Gathered {
        tally,
        proposals: named,
        alert_count,
        alerts,
    } = gathered;
    let counted = [
        (tally.total(), "proposal", "proposals"),
        (*alert_count, "outage", "outages"),
    ];
    let counted = counted.into_iter().filter(|(count, ..)| *count > 0);
    let counted: Vec<String> = counted
        .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
        .collect();
    let title = rehearsed(frame, &counted.join(" · "));
    let counts: Vec<String> = [
        (tally.waiting, "wait for you"),
        (tally.running, "run"),
        (tally.done, "done"),
        (tally.rejected, "rejected"),
        (tally.expired, "expired"),
        (tally.withdrawn, "withdrawn"),
        (tally.failed, "failed"),
        (tally.unknown, "with unknown outcome"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, words)| format!("{count} {words}"))
    .collect();
    let mut lines: Vec<String> = Vec::new();
    if !counts.is_empty() {
        lines.push(counts.join(" · "));
    }
    for (proposal, shown) in named.iter().take(DIGEST_NAMED_MAX as usize) {
        let line = format!(
            "{} {} {}",
            proposal.code,
            headline(proposal, *shown, frame).to_lowercase(),
            text::escaped(&proposal.subject.label)
        );
        lines.push(line.chars().take(LINE_CHARS_MAX).collect());
    }
    let more = |total: u64, named: usize| {
        let rest = total.saturating_sub(named.min(DIGEST_NAMED_MAX as usize) as u64);
        (rest > 0).then(|| format!("and {rest} more"))
    };
    lines.extend(more(tally.total(), named.len()));
    for one in alerts.iter().take(DIGEST_NAMED_MAX as usize) {
        lines.push(short(&line(one, frame), LINE_CHARS_MAX));
    }
    lines.extend(more(*alert_count, alerts.len()));
    NotificationMessage {
        title,
        body: lines.join("\n"),
        is_whole: false,
    }
}

/// The database went back. It offers nothing: what is to be done is done where the owner's token is.
pub fn rolled_back(rolled_back: &RolledBack, frame: &Frame) -> NotificationMessage {
    let (what, known) = match rolled_back.noted_seq {
        Some(noted) => ("went back", format!("it had been at entry {noted}")),
        None => (
            "may be an older copy",
            "no readable note beside it says how far it had come".to_owned(),
        ),
    };
    let title = rehearsed(frame, &format!("FROZEN · the database {what}"));
    let body = format!(
        "At {} Void found its database at entry {} of the record; {known}. What waited in it is void, \
         its credentials are in quarantine, and nothing runs.\nNext: find out who put it there, then void quarantine ls and void thaw.",
        clock(rolled_back.at, &frame.zone),
        rolled_back.found_seq,
    );
    NotificationMessage {
        title,
        body,
        is_whole: false,
    }
}

/// Whether a message about it still asks for something.
pub const fn asks(proposal: &Proposal) -> bool {
    matches!(news(proposal), Some(News::Ask))
}

/// Everything about it, for who wants to read on: as many messages as it takes, up to a bound.
pub fn details(proposal: &Proposal, frame: &Frame) -> Vec<String> {
    let card = Card::seen_with(proposal, &frame.eyes);
    let mut lines: Vec<String> = vec![text::escaped(&card.title)];
    lines.extend(asking(proposal, &card, frame, &diff_lines));
    if !matches!(proposal.state, State::Pending) {
        lines.extend(ending(proposal, frame));
    }
    lines.push(format!("Id: {}", proposal.id));
    lines.push(last_line(proposal, frame));
    in_messages(&lines, &proposal.code.to_string())
}

/// Lines in messages that each fit; a line that fits nowhere goes on in the next one.
fn in_messages(lines: &[String], code: &str) -> Vec<String> {
    let rest = format!("There is more: void inbox show {code}, or open it on the web.");
    let max = MESSAGE_UNITS_MAX - units(&rest) - 1;
    let mut all: Vec<String> = Vec::new();
    let mut message = String::new();
    for line in lines {
        let mut left = line.as_str();
        loop {
            let used = units(&message);
            let room = max.saturating_sub(used + usize::from(used > 0));
            let part = cut_units(left, room);
            let fits = part.len() == left.len();
            if fits || message.is_empty() {
                if !message.is_empty() {
                    message.push('\n');
                }
                message.push_str(part);
                left = left.get(part.len()..).unwrap_or_default();
            }
            if fits {
                break;
            }
            all.push(std::mem::take(&mut message));
        }
    }
    all.push(message);
    if all.len() > DETAILS_MESSAGES_MAX {
        all.truncate(DETAILS_MESSAGES_MAX);
        if let Some(last) = all.last_mut() {
            last.push('\n');
            last.push_str(&rest);
        }
    }
    all
}

/// The last button before it runs: what will happen, in a few words. The message above says all of it.
pub fn yes_button(proposal: &Proposal) -> String {
    const CHARS_MAX: usize = 60;
    let text = format!("Yes: {}", text::escaped(&Card::of(proposal).consequence));
    short(&text, CHARS_MAX)
}

fn clock(at: Timestamp, zone: &TimeZone) -> String {
    match zoned(at, zone) {
        Some(at) => at.strftime("%a %H:%M").to_string(),
        None => at.to_string(),
    }
}

pub fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Cut to at most so many UTF-16 units, at a character boundary.
pub fn cut_units(text: &str, max: usize) -> &str {
    let mut seen = 0;
    for (at, character) in text.char_indices() {
        seen += character.len_utf16();
        if seen > max {
            return text.get(..at).unwrap_or_default();
        }
    }
    text
}
