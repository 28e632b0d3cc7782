//! What the record has of a time: what ran, who said yes, or all of it. Newest first, whatever it is, and what does
//! not fit is counted: a list that ends says that it does.

use std::cmp::Reverse;
use std::sync::LazyLock;

use serde_json::{Value, json};
use void_domain::actors::person;
use void_domain::proposals::DisplayState;

use super::looks;
use super::patterns::Pattern;
use super::periods::Period;
use super::records::{
    HAS_NOTHING, LINES_MAX, ended_line, entry_line, is_within, narrowed, somebody_unknown,
    with_activity,
};
use super::results::{list, standing, text};
use super::spans::{is_unit, number_of};
use super::times::Times;
use super::words::Sentence;
use super::{Knowledge, Next};

/// Nobody reads more in a chat.
const ASKED_LINES_MAX: usize = 20;

/// "what did you do?", "what ran?"
const RUNS: &str = "what/which/everything .. ran|has/have .. run|ran today/yesterday/lately|did you do|you did|have you done|you have done\
    |been doing|been up to|you done|was .. lief|ist .. gelaufen|hast du .. gemacht/getan/getrieben/erledigt/ausgefuehrt|du .. gemacht\
    |du .. getrieben|executed|ausgefuehrt|has been run";
/// "who approved what?"
const APPROVALS: &str = "approved|said yes|genehmigt|freigegeben|zugestimmt|ja gesagt|erlaubt|i approve .. yesterday|approvals";
/// "the last 5 actions"
const REQUESTS: &str = "action*|aktion*|request*|anfrage*|proposal*";

static ASKED_RUNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| Pattern::parse_all(RUNS).collect());
static ASKED_APPROVALS: LazyLock<Vec<Pattern>> =
    LazyLock::new(|| Pattern::parse_all(APPROVALS).collect());
static ASKED_REQUESTS: LazyLock<Vec<Pattern>> =
    LazyLock::new(|| Pattern::parse_all(REQUESTS).collect());

/// Which part of the record is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReportPart {
    Runs,
    Approvals,
    Requests,
    All,
}

impl ReportPart {
    fn of(sentence: &Sentence) -> Self {
        let words: Vec<&str> = sentence.spoken().collect();
        let asks = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.is_in(&words));
        match () {
            () if asks(&ASKED_APPROVALS) => Self::Approvals,
            () if asks(&ASKED_RUNS) => Self::Runs,
            () if asks(&ASKED_REQUESTS) => Self::Requests,
            () => Self::All,
        }
    }

    fn has(self, row: &Value) -> bool {
        match self {
            Self::Runs => has_run(row),
            Self::Approvals => is_approved(row),
            Self::Requests | Self::All => true,
        }
    }
}

/// Whether it ran, runs, or may have run.
fn has_run(row: &Value) -> bool {
    ["running", "executed", "failed", "unknown"].contains(&text(row, "status"))
}

/// Whether somebody said yes to it; what policy lets through nobody did.
fn is_approved(row: &Value) -> bool {
    let by = text(row, "decided_by");
    !by.is_empty() && by != "policy" && (has_run(row) || text(row, "status") == "approved")
}

/// Who did what when, narrowed to what was named if anything was.
pub(super) fn history(turn: &Knowledge<'_>, sentence: &Sentence) -> Next {
    with_activity(turn, |found, times| {
        let part = ReportPart::of(sentence);
        // Refusals end too, and may have pushed the runs out of the list.
        let is_cut = found.get("more") == Some(&Value::Bool(true));
        let runs = || {
            turn.results("recent_activity")
                .find(|(asked, _)| text(asked, "ended") == "ran")
        };
        let is_of_runs = matches!(part, ReportPart::Runs | ReportPart::Approvals);
        if is_of_runs && is_cut && runs().is_none() {
            return Next::look("recent_activity", json!({"ended": "ran"}));
        }
        told(turn, sentence, part, found, times)
    })
}

fn told(
    turn: &Knowledge<'_>,
    sentence: &Sentence,
    part: ReportPart,
    found: &Value,
    times: &Times,
) -> Next {
    let period = Period::asked_for(sentence, times);
    let within = |row: &&Value| is_within(row, period.as_ref(), times);
    let kinds = ["running", "waiting", "ended"].into_iter();
    let all: Vec<&Value> = kinds
        .flat_map(|kind| list(found, kind))
        .filter(within)
        .collect();
    let (rows, others): (Vec<&Value>, Vec<&Value>) = all.into_iter().partition(|row| part.has(row));
    let (rows, is_narrow) = narrowed(rows, sentence);
    if !is_narrow && let Some(next) = looks::nothing_recorded(turn, sentence) {
        return next;
    }
    let mut lines: Vec<(String, String)> = rows
        .iter()
        .map(|row| (when(row), line_of(row, part, times)))
        .collect();
    if !is_narrow && part == ReportPart::All {
        let entries = list(found, "record").iter().filter(within);
        lines.extend(entries.map(|entry| (when(entry), entry_line(entry, times))));
    }
    // Times of one form are in order as texts.
    lines.sort_by_key(|(at, _)| Reverse(at.clone()));
    let spoken = period.as_ref().map_or("", |period| period.spoken);
    let besides = besides(&others, part);
    if lines.is_empty() {
        return Next::say(nothing(part, spoken, &besides));
    }
    let most = asked_count(sentence).unwrap_or(LINES_MAX);
    let left_out = lines.len().saturating_sub(most);
    let is_cut = found.get("more") == Some(&Value::Bool(true));
    let shown = lines.into_iter().take(most).map(|(_, line)| line);
    let mut said: Vec<String> = shown.collect();
    if left_out > 0 {
        let at_least = if is_cut { "at least " } else { "" };
        said.push(format!("- and {at_least}{left_out} more, older than these"));
    }
    let whose = whose(sentence, part, is_narrow);
    Next::say(format!(
        "{whose}{}{besides}\n\nThat is what the record says; `void audit ls` has all of it.",
        said.join("\n")
    ))
}

/// When a row ended or was asked for, or when an entry was written.
fn when(row: &Value) -> String {
    let names = ["ended_at", "asked_at", "at"].into_iter();
    let mut known = names
        .map(|name| text(row, name))
        .filter(|at| !at.is_empty());
    known.next().unwrap_or_default().to_owned()
}

fn line_of(row: &Value, part: ReportPart, times: &Times) -> String {
    if part != ReportPart::Approvals {
        return ended_line(row, times);
    }
    let state = standing(row).map_or("", DisplayState::clause);
    format!(
        "- {}: {} said yes to {}, asked for by {} (**{}**); it {state}",
        times.moment(&when(row)),
        person(text(row, "decided_by")),
        text(row, "label"),
        text(row, "asked_by"),
        text(row, "code"),
    )
}

/// Who is spoken of, where the rows are not theirs.
fn whose(sentence: &Sentence, part: ReportPart, is_narrow: bool) -> String {
    if is_narrow {
        return String::new();
    }
    match part {
        ReportPart::Runs if sentence.has_any("you du") => {
            "I ran nothing that the record has. What ran:\n".to_owned()
        }
        ReportPart::Runs | ReportPart::Approvals | ReportPart::Requests | ReportPart::All => {
            somebody_unknown(sentence).unwrap_or_default()
        }
    }
}

fn nothing(part: ReportPart, spoken: &str, besides: &str) -> String {
    let when = match spoken {
        "" => String::new(),
        spoken => format!(" {spoken}"),
    };
    match part {
        ReportPart::Runs => format!("{HAS_NOTHING}{when}: nothing ran.{besides}"),
        ReportPart::Approvals => {
            format!("{HAS_NOTHING}{when}: nobody said yes to anything.{besides}")
        }
        ReportPart::Requests | ReportPart::All => format!("{HAS_NOTHING}{when}."),
    }
}

/// What else there was in that time, by its number: a list of runs does not hide that something waits.
fn besides(others: &[&Value], part: ReportPart) -> String {
    if part != ReportPart::Runs {
        return String::new();
    }
    let count = |statuses: &[&str]| {
        let mut all = others
            .iter()
            .filter(|row| statuses.contains(&text(row, "status")));
        all.by_ref().count()
    };
    let kinds = [
        (count(&["pending", "approved"]), "waiting"),
        (count(&["refused", "rejected"]), "refused"),
        (count(&["cancelled", "expired"]), "withdrawn or too late"),
    ];
    let parts: Vec<String> = kinds
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!(
            "\n\nBesides that, and without having run: {}.",
            parts.join(", ")
        ),
    }
}

/// "the last 5 actions": how many are asked for. "the last 24 hours" is a time.
fn asked_count(sentence: &Sentence) -> Option<usize> {
    let words: Vec<&str> = sentence.spoken().collect();
    let count = words.windows(3).find_map(|three| match three {
        [
            "last" | "latest" | "letzte" | "letzten" | "newest" | "neuesten",
            count,
            what,
        ] => number_of(count).filter(|_| !is_unit(what)),
        _ => None,
    });
    let count = usize::try_from(count?).ok()?;
    (1..=ASKED_LINES_MAX).contains(&count).then_some(count)
}
