//! What the record says: what waits, what ended, by whom and when. All of it comes from `recent_activity`,
//! which holds typed fields and nobody's words.

use serde_json::{Value, json};
use void_domain::actors::person;

use super::acts::{came_of_it, offer};
use super::intents::with_actions;
use super::results::{list, moment, text, trouble};
use super::words::{Sentence, folded};
use super::{Knowledge, Next, looks};

const LINES_MAX: usize = 10;

fn with_activity(turn: &Knowledge<'_>, then: impl FnOnce(&Value, &str) -> Next) -> Next {
    if !turn.has_tool("recent_activity") {
        return Next::say(
            "I cannot read the record here; `void inbox ls --all` and `void audit ls` show it.",
        );
    }
    let Some(found) = turn.result("recent_activity") else {
        return Next::look("recent_activity", json!({}));
    };
    match trouble(found) {
        Some(said) => Next::say(said),
        None => then(found, text(found, "at")),
    }
}

pub(super) fn waiting(turn: &Knowledge<'_>) -> Next {
    with_activity(turn, |found, now| {
        let waiting = list(found, "waiting");
        if waiting.is_empty() {
            return Next::say("Nothing waits for you.");
        }
        let lines: Vec<String> = waiting
            .iter()
            .take(LINES_MAX)
            .map(|row| {
                format!(
                    "- **{}** {}, asked for by {} at {}",
                    text(row, "code"),
                    text(row, "label"),
                    text(row, "asked_by"),
                    moment(text(row, "asked_at"), now)
                )
            })
            .collect();
        Next::say(format!(
            "{}\n\n`void inbox show CODE` shows one, `void inbox approve CODE` says yes.",
            lines.join("\n")
        ))
    })
}

/// How one request ended, in a line.
fn ended_line(row: &Value, now: &str) -> String {
    let state = match (text(row, "status"), text(row, "verification")) {
        ("executed", "verified") => "ran, and the check confirmed it".to_owned(),
        ("executed", "failed") => "ran, and the check says that it did not help".to_owned(),
        ("executed", _) => "ran; nobody has confirmed that it helped".to_owned(),
        ("unknown", _) => "may have run".to_owned(),
        ("rejected", _) => "was rejected".to_owned(),
        (status, _) => status.to_owned(),
    };
    let because = match text(row, "reason") {
        "" => String::new(),
        reason => format!(" ({})", reason.replace('_', " ")),
    };
    let decided = match text(row, "decided_by") {
        "" => String::new(),
        "policy" => ", let through or held by policy".to_owned(),
        by => format!(", decided by {}", person(by)),
    };
    let at = match text(row, "ended_at") {
        "" => text(row, "asked_at"),
        ended => ended,
    };
    format!(
        "- {}: {} {state}{because}. Asked for by {}{decided} (**{}**)",
        moment(at, now),
        text(row, "label"),
        text(row, "asked_by"),
        text(row, "code"),
    )
}

fn entry_line(entry: &Value, now: &str) -> String {
    let action = match text(entry, "action_id") {
        "" => String::new(),
        id => format!(" `{id}`"),
    };
    let verb = text(entry, "verb").replace(['.', '_'], " ");
    let at = moment(text(entry, "at"), now);
    format!(
        "- {at}: {verb}{action}, by {}",
        person(text(entry, "actor"))
    )
}

/// Whether only this day is asked for.
fn is_of_today(sentence: &Sentence) -> bool {
    sentence.has_any(&["today", "heute"])
}

fn is_within(row: &Value, names: [&str; 2], sentence: &Sentence, now: &str) -> bool {
    let at = names
        .iter()
        .map(|name| text(row, name))
        .find(|at| !at.is_empty());
    let day = now.get(..10).unwrap_or_default();
    !is_of_today(sentence) || at.is_some_and(|at| at.starts_with(day))
}

/// Whether a row's label or id has one of the words that were said.
fn is_named(row: &Value, sentence: &Sentence) -> bool {
    const COMMON: [&str; 12] = [
        "the",
        "restart",
        "stop",
        "start",
        "reboot",
        "rehearsal",
        "stack",
        "ct",
        "vm",
        "run",
        "a",
        "of",
    ];
    let names = folded(&format!(
        "{} {}",
        text(row, "action_id"),
        text(row, "label")
    ));
    let mut names = names.split(|c: char| !c.is_alphanumeric());
    names.any(|name| name.len() > 1 && !COMMON.contains(&name) && sentence.has_any(&[name]))
}

/// Who did what when, narrowed to what was named if anything was.
pub(super) fn history(turn: &Knowledge<'_>, sentence: &Sentence) -> Next {
    with_activity(turn, |found, now| {
        let rows: Vec<&Value> = list(found, "running")
            .iter()
            .chain(list(found, "ended"))
            .filter(|row| is_within(row, ["ended_at", "asked_at"], sentence, now))
            .collect();
        let named: Vec<&Value> = rows
            .iter()
            .copied()
            .filter(|row| is_named(row, sentence))
            .collect();
        let by_me = sentence.has_any(&["you", "du"]) && named.is_empty();
        let mine: Vec<&Value> = rows
            .iter()
            .copied()
            .filter(|row| text(row, "asked_by") == "little-blue")
            .collect();
        let is_narrow = !named.is_empty();
        let rows = match (is_narrow, by_me && !mine.is_empty()) {
            (true, _) => named,
            (false, true) => mine,
            (false, false) => rows,
        };
        let mut lines: Vec<String> = rows
            .iter()
            .take(LINES_MAX)
            .map(|row| ended_line(row, now))
            .collect();
        if !is_narrow && !by_me {
            let entries = list(found, "record").iter();
            let entries = entries.filter(|entry| is_within(entry, ["at", "at"], sentence, now));
            lines.extend(entries.take(LINES_MAX).map(|entry| entry_line(entry, now)));
        }
        match lines.is_empty() {
            true => Next::say("The record has nothing of that kind."),
            false => Next::say(format!(
                "{}\n\nThat is what the record says; `void audit ls` has all of it.",
                lines.join("\n")
            )),
        }
    })
}

/// What was refused, rejected or failed.
pub(super) fn refused(turn: &Knowledge<'_>, sentence: &Sentence) -> Next {
    with_activity(turn, |found, now| {
        let rows = list(found, "ended").iter().filter(|row| {
            ["refused", "rejected", "failed", "expired", "unknown"].contains(&text(row, "status"))
        });
        let rows = rows.filter(|row| is_within(row, ["ended_at", "asked_at"], sentence, now));
        let mut lines: Vec<String> = rows
            .take(LINES_MAX)
            .map(|row| ended_line(row, now))
            .collect();
        let entries = list(found, "record").iter();
        let entries = entries
            .filter(|entry| {
                text(entry, "verb").ends_with("refused") || text(entry, "verb").ends_with("invalid")
            })
            .filter(|entry| is_within(entry, ["at", "at"], sentence, now));
        lines.extend(entries.take(LINES_MAX).map(|entry| entry_line(entry, now)));
        match (lines.is_empty(), is_of_today(sentence)) {
            (true, true) => Next::say("Nothing was refused and nothing failed today."),
            (true, false) => Next::say("Nothing was refused and nothing failed lately."),
            (false, _) => Next::say(lines.join("\n")),
        }
    })
}

/// Offers what undoes the last thing that ran.
pub(super) fn undo(turn: &Knowledge<'_>) -> Next {
    with_activity(turn, |found, now| {
        let last = list(found, "ended")
            .iter()
            .find(|row| ["executed", "unknown"].contains(&text(row, "status")));
        let Some(last) = last else {
            return Next::say("Nothing has run lately, so there is nothing to undo.");
        };
        with_actions(turn, |actions| {
            let said = format!("The last thing that ran:\n{}", ended_line(last, now));
            let done = actions
                .iter()
                .find(|action| action.id == text(last, "action_id"));
            let inverse = done.and_then(|action| action.inverse.as_ref());
            let inverse = inverse.and_then(|id| actions.iter().find(|action| action.id == *id));
            match inverse {
                Some(action) => offer(turn, &said, &[action]),
                None => Next::say(format!(
                    "{said}\n\nThe catalogue names nothing that undoes it."
                )),
            }
        })
    })
}

/// The last code that was mentioned, asked about.
pub(super) fn follow_up(turn: &Knowledge<'_>) -> Next {
    if let Some(found) = turn.result("proposal_status") {
        if let Some(said) = trouble(found) {
            return Next::say(said);
        }
        return Next::say(format!("{}: {}", text(found, "label"), came_of_it(found)));
    }
    let code = turn.earlier.iter().rev().find_map(|said| {
        let (_, after) = said.split_once("**")?;
        let (code, _) = after.split_once("**")?;
        (code.len() >= 4 && code.chars().all(|c| c.is_ascii_alphanumeric())).then_some(code)
    });
    match code {
        Some(code) => Next::look("proposal_status", json!({"proposal": code})),
        // Nothing waits from before: how it is now tells it.
        None => looks::status(turn),
    }
}
