//! What the record says: what waits, what ended, by whom and when. All of it comes from `recent_activity`,
//! which holds typed fields and nobody's words.

use std::sync::LazyLock;

use serde_json::{Value, json};
use void_domain::actors::person;

use super::acts::came_of_it;
use super::looks::COMPLAINTS;
use super::patterns::Pattern;
use super::periods::Period;
use super::results::{list, standing, text, trouble};
use super::times::Times;
use super::topics::without_openers;
use super::words::{Sentence, folded, is_one_of};
use super::{Knowledge, Next, cues, looks};

pub(super) const LINES_MAX: usize = 10;
const DEEDS_MAX: usize = 3;
/// How she says that what was asked about is not on the record.
pub(super) const HAS_NOTHING: &str = "The record has nothing of that kind";

pub(super) fn with_activity(
    turn: &Knowledge<'_>,
    then: impl FnOnce(&Value, &Times) -> Next,
) -> Next {
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
        None => then(found, &Times::at(text(found, "at"))),
    }
}

pub(super) fn waiting(turn: &Knowledge<'_>) -> Next {
    with_activity(turn, |found, times| {
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
                    times.moment(text(row, "asked_at"))
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
pub(super) fn ended_line(row: &Value, times: &Times) -> String {
    let state = match standing(row) {
        Some(shown) => shown.clause(),
        None => text(row, "status"),
    };
    let because = match text(row, "reason") {
        "" => String::new(),
        reason => format!(" ({})", reason.replace('_', " ")),
    };
    let decided = match text(row, "decided_by") {
        "" => String::new(),
        "policy" if text(row, "status") == "refused" => ", held by policy".to_owned(),
        "policy" => ", let through by policy".to_owned(),
        by => format!(", decided by {}", person(by)),
    };
    let at = match text(row, "ended_at") {
        "" => text(row, "asked_at"),
        ended => ended,
    };
    format!(
        "- {}: {} {state}{because}. Asked for by {}{decided} (**{}**){}",
        times.moment(at),
        text(row, "label"),
        text(row, "asked_by"),
        text(row, "code"),
        way_out(row),
    )
}

/// What puts right that a machine would not run it, in words.
fn way_out(row: &Value) -> String {
    match text(row, "mended_by") {
        "" => String::new(),
        command @ "void provision local" => format!(
            ". The machine that Void lives on has no list of what may run there, or one that differs from the catalogue: `{command}` prints a script; read it and run it as root"
        ),
        command => format!(
            ". That machine's own list of what may run is missing or differs from the catalogue: `{command}` prints a script; read it and run it there as root"
        ),
    }
}

pub(super) fn entry_line(entry: &Value, times: &Times) -> String {
    let at = times.moment(text(entry, "at"));
    let (service, status) = (text(entry, "service"), text(entry, "status"));
    if !service.is_empty() && !status.is_empty() {
        let from = match text(entry, "from") {
            "" => String::new(),
            from => format!("from {from} "),
        };
        return format!("- {at}: {service} changed {from}to {status}, as its check saw");
    }
    let action = match text(entry, "action_id") {
        "" => String::new(),
        id => format!(" `{id}`"),
    };
    let verb = text(entry, "verb").replace(['.', '_'], " ");
    format!(
        "- {at}: {verb}{action}, by {}",
        person(text(entry, "actor"))
    )
}

/// Whether a row's time is one that was asked for.
pub(super) fn is_within(row: &Value, period: Option<&Period>, times: &Times) -> bool {
    let names = ["ended_at", "asked_at", "at"].into_iter();
    let at = names.map(|name| text(row, name)).find(|at| !at.is_empty());
    let at = at.and_then(|at| times.read(at));
    period.is_none_or(|period| at.is_some_and(|at| period.has(&at)))
}

/// Whether a row's label or id has one of the words that were said.
pub(super) fn is_named(row: &Value, sentence: &Sentence) -> bool {
    const COMMON: &str = "the restart stop start reboot rehearsal stack ct vm run of new old";
    let names = folded(&format!(
        "{} {}",
        text(row, "action_id"),
        text(row, "label")
    ));
    let mut names = names.split(|c: char| !c.is_alphanumeric());
    names.any(|name| name.len() > 1 && !is_one_of(name, COMMON) && sentence.has_any(name))
}

/// The rows that a question means: of what it names, of whom it names, or all.
pub(super) fn narrowed<'a>(rows: Vec<&'a Value>, sentence: &Sentence) -> (Vec<&'a Value>, bool) {
    let is_by = |row: &Value, who: &str| text(row, "asked_by") == who;
    let named = |row: &&Value| is_named(row, sentence);
    let by_one = |row: &&Value| sentence.has_any(&folded(text(row, "asked_by")));
    let by_me = |row: &&Value| sentence.has_any("you du") && is_by(row, "little-blue");
    let kinds: [&dyn Fn(&&Value) -> bool; 3] = [&named, &by_one, &by_me];
    for kind in kinds {
        let found: Vec<&Value> = rows.iter().copied().filter(|row| kind(row)).collect();
        if !found.is_empty() {
            return (found, true);
        }
    }
    (rows, false)
}

/// "what did nightly do?": whoever is asked about and not found is said not to be there.
pub(super) fn somebody_unknown(sentence: &Sentence) -> Option<String> {
    let words: Vec<&str> = sentence.spoken().collect();
    let who = words.windows(2).find_map(|pair| match pair {
        [before, who] if is_one_of(before, "did has hat by von agent") => Some(*who),
        _ => None,
    });
    let who = who.filter(|who| !cues::is_known(who))?;
    Some(format!("Of {who} I find nothing. What there is:\n"))
}

/// What was refused, rejected or failed.
pub(super) fn refused(turn: &Knowledge<'_>, sentence: &Sentence) -> Next {
    with_activity(turn, |found, times| {
        let period = Period::asked_for(sentence, times);
        let within = |row: &&Value| is_within(row, period.as_ref(), times);
        let rows = list(found, "ended").iter().filter(within);
        let rows = rows.filter(|row| {
            is_one_of(
                text(row, "status"),
                "refused rejected failed expired unknown",
            )
        });
        let rows = rows.take(LINES_MAX);
        let mut lines: Vec<String> = rows.map(|row| ended_line(row, times)).collect();
        let entries = list(found, "record").iter().filter(within).filter(|entry| {
            text(entry, "verb").ends_with("refused") || text(entry, "verb").ends_with("invalid")
        });
        lines.extend(
            entries
                .take(LINES_MAX)
                .map(|entry| entry_line(entry, times)),
        );
        let when = period.map_or("lately", |period| period.spoken);
        match lines.is_empty() {
            true => Next::say(format!("Nothing was refused and nothing failed {when}.")),
            false => Next::say(lines.join("\n")),
        }
    })
}

/// "I restarted caddy yesterday": the owner tells what they did. What complains besides is looked at.
pub(super) fn is_own_deed(sentence: &Sentence) -> bool {
    const DEEDS: &str = "^i/we restarted/rebooted/stopped/started/reloaded/killed/updated/upgraded/moved\
        |^i/we just/already/have/had/now/manually restarted/rebooted/stopped/started/reloaded/killed/updated/upgraded/moved\
        |^i/we have just/already/now restarted/rebooted/stopped/started/reloaded/killed/updated/upgraded/moved\
        |^just/already restarted/rebooted/stopped/started|^ich/wir habe/haben .. .. gestartet/neugestartet/gebootet/rebootet/gestoppt\
        |^ich/wir habe/haben .. .. ausgeschaltet/eingeschaltet/heruntergefahren/abgeschaltet/restartet/resettet/ausgemacht/angemacht\
        |^habe .. .. gestartet/neugestartet/gebootet/gestoppt/ausgeschaltet/eingeschaltet/heruntergefahren|^ich/wir startete/stoppte";
    static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| Pattern::parse_all(DEEDS).collect());
    let words: Vec<&str> = sentence.spoken().collect();
    let words = without_openers(&words);
    let is_told = !sentence.has_question_mark && !sentence.has_quotes;
    let is_more = sentence.has_any(COMPLAINTS) || sentence.has_any("but aber still trotzdem immer");
    is_told && !is_more && PATTERNS.iter().any(|pattern| pattern.is_in(words))
}

/// What the record says of it; nothing is offered.
pub(super) fn own_deed(turn: &Knowledge<'_>, sentence: &Sentence) -> Next {
    with_activity(turn, |found, times| {
        let named = |row: &&Value| is_named(row, sentence);
        let rows = list(found, "ended").iter().filter(named).take(DEEDS_MAX);
        let lines: Vec<String> = rows.map(|row| ended_line(row, times)).collect();
        Next::say(match lines.is_empty() {
            true => "Noted. The record has nothing of it: what is done past Void does not stand there. Nothing was run."
                .to_owned(),
            false => format!(
                "Noted. Of what went through Void the record says:\n{}\n\nNothing was run.",
                lines.join("\n")
            ),
        })
    })
}

/// The code that her last message named, asked about; without one the last thing that was asked for.
pub(super) fn follow_up(turn: &Knowledge<'_>) -> Next {
    if let Some(found) = turn.result("proposal_status") {
        if let Some(said) = trouble(found) {
            return Next::say(said);
        }
        return Next::say(format!(
            "{}: {}",
            text(found, "label"),
            came_of_it(found, &Times::at(""))
        ));
    }
    let code = turn.earlier.last().and_then(|said| {
        let (_, after) = said.split_once("**")?;
        let (code, _) = after.split_once("**")?;
        (code.len() >= 4 && code.chars().all(|c| c.is_ascii_alphanumeric())).then_some(code)
    });
    if let Some(code) = code {
        return Next::look("proposal_status", json!({"proposal": code}));
    }
    if !turn.has_tool("recent_activity") {
        return looks::status(turn);
    }
    with_activity(turn, |found, times| {
        let parts = ["waiting", "running", "ended"].into_iter();
        let rows = parts.flat_map(|part| list(found, part));
        // Times of one form are in order as texts.
        match rows.max_by_key(|row| text(row, "asked_at")) {
            Some(last) => Next::say(format!(
                "The last thing that was asked for:\n{}",
                ended_line(last, times)
            )),
            None => Next::say("The record has nothing that was asked for lately."),
        }
    })
}
