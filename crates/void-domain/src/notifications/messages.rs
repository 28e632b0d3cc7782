//! What a message says: the same fields on every channel, from the stored proposal alone, as plain
//! text that nothing parses. The requester's words are one quoted line of their own.

#[cfg(test)]
mod tests;

use jiff::tz::TimeZone;

use super::quiet::zoned;
use super::{News, Tally, news};
use crate::cards::Card;
use crate::digests::Digest;
use crate::proposals::{Cancellation, Proposal, State, VerificationOutcome};
use crate::text;
use crate::time::Timestamp;

/// Telegram's limit is 4096 UTF-16 units; some room is left for what a client adds.
pub const MESSAGE_UNITS_MAX: usize = 3_900;
/// How many proposals a digest names one by one.
pub const DIGEST_NAMED_MAX: u32 = 10;
const LINE_CHARS_MAX: usize = 120;

/// What every message needs beside its proposal.
#[derive(Debug, Clone)]
pub struct Frame {
    pub zone: TimeZone,
    pub rehearsal: bool,
    /// Number and hash of the newest entry of the record: the reader is its witness.
    pub head: Option<(u64, Digest)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub title: String,
    pub body: String,
    /// Whether everything that a yes would bind is in it. If not, it offers none.
    pub is_whole: bool,
}

impl Message {
    pub fn text(&self) -> String {
        format!("{}\n{}", self.title, self.body)
    }
}

/// How a proposal stands, in at most a handful of lines.
pub fn about(proposal: &Proposal, frame: &Frame) -> Message {
    let card = Card::of(proposal);
    let title = format!(
        "{}{} · {}",
        if frame.rehearsal { "REHEARSAL · " } else { "" },
        headline(proposal, frame),
        text::escaped(&card.title)
    );
    let lines = match proposal.state {
        State::Pending => asking(proposal, &card, frame),
        _ => ending(proposal, frame),
    };
    whole_or_cut(title, &lines, proposal, frame)
}

/// If it does not fit, the requester's words go first; what would run is never cut silently.
fn whole_or_cut(title: String, lines: &[String], proposal: &Proposal, frame: &Frame) -> Message {
    let last = last_line(proposal, frame);
    let join = |lines: Vec<String>| {
        let mut all: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
        all.push(last.clone());
        all.join("\n")
    };
    let body = join(lines.to_vec());
    if units(&title) + units(&body) < MESSAGE_UNITS_MAX {
        return Message {
            title,
            body,
            is_whole: true,
        };
    }
    let short = |text: &str| -> String {
        let cut: String = text.chars().take(LINE_CHARS_MAX).collect();
        if cut.len() < text.len() {
            format!("{cut}…")
        } else {
            cut
        }
    };
    let mut cut: Vec<String> = lines.iter().map(|line| short(line)).collect();
    cut.push("Too long for a message: open it to read everything.".to_owned());
    Message {
        title: short(&title),
        body: join(cut),
        is_whole: false,
    }
}

fn headline(proposal: &Proposal, frame: &Frame) -> String {
    let time = |at| clock(at, &frame.zone);
    match &proposal.state {
        State::Pending => Card::of(proposal).tier.to_uppercase(),
        State::Approved { .. } => "APPROVED, NOT STARTED".to_owned(),
        State::Running { .. } => "RUNNING".to_owned(),
        State::Executed { verification, .. } => match verification {
            None => "RAN, BEING CHECKED".to_owned(),
            Some(seen) => match seen.outcome {
                VerificationOutcome::Verified => "DONE, CHECKED".to_owned(),
                VerificationOutcome::Failed => "RAN, CHECK FAILED".to_owned(),
                VerificationOutcome::Unverified => "RAN, NOT CHECKED".to_owned(),
            },
        },
        State::Failed { .. } => "FAILED".to_owned(),
        State::Unknown { .. } => "OUTCOME UNKNOWN".to_owned(),
        State::Rejected { .. } => "REJECTED".to_owned(),
        State::Expired { at, lapsed: None } => format!("EXPIRED {}, NOTHING RAN", time(*at)),
        State::Expired { at, .. } => format!("LAPSED {}, NOTHING RAN", time(*at)),
        State::Cancelled { .. } => "WITHDRAWN".to_owned(),
        State::Refused { .. } => "REFUSED".to_owned(),
    }
}

fn asking(proposal: &Proposal, card: &Card, frame: &Frame) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    if let Some(words) = &card.words {
        let name = text::escaped(&card.asked_by);
        lines.push(format!("{name} says: \"{}\"", text::escaped(words)));
    }
    lines.push(format!("If yes: {}", text::escaped(&card.consequence)));
    if card
        .params
        .as_object()
        .is_some_and(|params| !params.is_empty())
    {
        lines.push(format!("With: {}", text::escaped(&card.params.to_string())));
    }
    if !card.read_before.is_empty() {
        let sources: Vec<String> = card
            .read_before
            .iter()
            .map(|source| text::escaped(source))
            .collect();
        lines.push(format!("It had read: {}", sources.join(", ")));
    }
    let times = match proposal.count {
        0 | 1 => String::new(),
        count => format!(", {count} times"),
    };
    lines.push(format!(
        "Asked by {} {}{times} · expires {}",
        text::escaped(&card.asked_by),
        clock(card.asked_at, &frame.zone),
        clock(card.expires_at, &frame.zone)
    ));
    lines
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
    let mut last = format!("{} · {}", proposal.code, proposal.wish.digest.short());
    if let Some((seq, hash)) = frame.head {
        last.push_str(&format!(" · record {seq} {}", hash.short()));
    }
    last
}

/// One message for many proposals. It offers no decision: each is looked at on its own.
pub fn digest(tally: &Tally, named: &[Proposal], frame: &Frame) -> Message {
    let title = format!(
        "{}{} proposals",
        if frame.rehearsal { "REHEARSAL · " } else { "" },
        tally.total()
    );
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
    let mut lines = vec![counts.join(" · ")];
    for proposal in named.iter().take(DIGEST_NAMED_MAX as usize) {
        let line = format!(
            "{} {} {}",
            proposal.code,
            headline(proposal, frame).to_lowercase(),
            text::escaped(&proposal.wish.label)
        );
        lines.push(line.chars().take(LINE_CHARS_MAX).collect());
    }
    let rest = tally
        .total()
        .saturating_sub(named.len().min(DIGEST_NAMED_MAX as usize) as u64);
    if rest > 0 {
        lines.push(format!("and {rest} more"));
    }
    Message {
        title,
        body: lines.join("\n"),
        is_whole: false,
    }
}

/// Whether a message about it still asks for something.
pub const fn asks(proposal: &Proposal) -> bool {
    matches!(news(proposal), Some(News::Ask))
}

/// Everything about it, for who wants to read on.
pub fn details(proposal: &Proposal, frame: &Frame) -> String {
    let wish = &proposal.wish;
    let lines = [
        about(proposal, frame).text(),
        format!("Action: {}", wish.action_id),
        format!("Target: {}", text::escaped(&wish.target)),
        format!("Digest: {}", wish.digest),
        format!("Id: {}", proposal.id),
    ];
    let all = lines.join("\n");
    cut_units(&all, MESSAGE_UNITS_MAX).to_owned()
}

/// The last button before it runs: what will happen, in a few words.
pub fn yes_button(proposal: &Proposal) -> String {
    const CHARS_MAX: usize = 60;
    let text = format!("Yes: {}", text::escaped(&Card::of(proposal).consequence));
    let cut: String = text.chars().take(CHARS_MAX).collect();
    if cut.len() < text.len() {
        format!("{cut}…")
    } else {
        cut
    }
}

/// `owner-telegram-12345` as people say it.
fn person(by: &str) -> String {
    match by.strip_prefix("owner-") {
        Some("cli") => "owner (command line)".to_owned(),
        Some("web") => "owner (web)".to_owned(),
        Some("api") => "owner (API)".to_owned(),
        Some("ntfy") => "owner (ntfy)".to_owned(),
        Some("file") => "owner (file bridge)".to_owned(),
        Some(rest) if rest.starts_with("telegram-") => "owner (Telegram)".to_owned(),
        Some(_) | None => text::escaped(by),
    }
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
