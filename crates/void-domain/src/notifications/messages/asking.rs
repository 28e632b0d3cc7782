//! What a message says about a proposal that waits: everything that a yes would bind, and the requester's
//! words, marked as theirs.

use super::{Frame, LINE_CHARS_MAX, clock, short};
use crate::cards::{Card, words_of};
use crate::proposals::{Proposal, Words};
use crate::text;

/// How many lines of a diff are shown where the whole does not fit.
const DIFF_LINES_SHOWN: usize = 8;
/// In front of every line of a diff: none of them can look like a line of ours.
const DIFF_MARK: &str = "| ";

pub(super) fn asking(
    proposal: &Proposal,
    card: &Card,
    frame: &Frame,
    diff: &dyn Fn(&str) -> Vec<String>,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    if let Some(words) = &card.words {
        let name = text::escaped(&card.asked_by);
        lines.push(format!("{name} says: {}", text::words_in_quotes(words)));
    }
    lines.push(format!("If yes: {}", text::escaped(&card.consequence)));
    lines.push(card.checked_by.clone());
    lines.extend(bound_lines(card));
    if !card.read_before.is_empty() {
        let sources: Vec<String> = card
            .read_before
            .iter()
            .map(|source| text::escaped(source))
            .collect();
        lines.push(format!("It had read: {}", sources.join(", ")));
    }
    if let Some(change) = &card.change {
        lines.push("What changes, as Void found out:".to_owned());
        lines.extend(change.summary.iter().map(|line| format!("• {line}")));
        lines.extend(diff(&change.diff));
    }
    if let Some(change) = &card.diff {
        lines.push(diff_title(card));
        lines.extend(diff(change));
    }
    for words in &card.joined {
        lines.extend(joined_lines(card, words, diff));
    }
    if card.left_out > 0 {
        lines.push(left_out(card.left_out));
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

/// What a yes binds: what the requester chose line by line, the catalogue's own values in one.
fn bound_lines(card: &Card) -> Vec<String> {
    let chosen = card.bound.iter().filter(|bound| bound.is_param);
    let mut lines: Vec<String> = chosen
        .map(|bound| format!("With {}: {}", bound.name, bound.value))
        .collect();
    let written = card.bound.iter().filter(|bound| !bound.is_param);
    let written: Vec<String> = written
        .map(|bound| format!("{} {}", bound.name, bound.value))
        .collect();
    lines.push(format!("Binds: {}", written.join(" · ")));
    lines
}

fn diff_title(card: &Card) -> String {
    format!("Diff, {}:", words_of(&card.asked_by))
}

fn joined_lines(card: &Card, words: &Words, diff: &dyn Fn(&str) -> Vec<String>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(reason) = &words.reason {
        let name = text::escaped(&card.asked_by);
        let said = text::words_in_quotes(reason);
        lines.push(format!("{name} also says: {said}"));
    }
    if let Some(change) = &words.diff {
        lines.push(diff_title(card));
        lines.extend(diff(change));
    }
    lines
}

/// That later requests said more than is kept.
fn left_out(count: u64) -> String {
    format!(
        "Other words of {count} more requests are not kept here; the record has how they begin."
    )
}

pub(super) fn diff_lines(diff: &str) -> Vec<String> {
    let lines = text::escaped_lines(diff);
    lines
        .lines()
        .map(|line| format!("{DIFF_MARK}{line}"))
        .collect()
}

pub(super) fn first_diff_lines(diff: &str) -> Vec<String> {
    let all = diff_lines(diff);
    let shown = all.iter().take(DIFF_LINES_SHOWN);
    let mut lines: Vec<String> = shown.map(|line| short(line, LINE_CHARS_MAX)).collect();
    let more = all.len().saturating_sub(DIFF_LINES_SHOWN);
    if more > 0 {
        lines.push(format!("({more} more lines under Details)"));
    }
    lines
}
