//! Undoing: which run is meant, and what the catalogue names as its inverse. It is offered, never run by itself.
//!
//! The run that is meant is the one that the sentence names, else the one that she has just told of, else the last.
//! Where the run that was asked about is not on the record, nothing is offered: the inverse of another run would be
//! a guess.

use serde_json::Value;

use super::acts::offer;
use super::clauses::parts_of;
use super::cues;
use super::doubts::{Doubt, has_moment, is_conditional};
use super::intents::{first_of, with_actions};
use super::known::Known;
use super::questions::without_front;
use super::records::{HAS_NOTHING, ended_line, is_named, with_activity};
use super::requests::{LEADS, codes, leaves_it, not_run_yet};
use super::results::{list, text};
use super::targets::named_in;
use super::times::Times;
use super::topics::Topic;
use super::unclear::told;
use super::verbs::{self, Verb};
use super::words::{Sentence, is_one_of};
use super::{Knowledge, Next};

/// How a line of the record names its request.
const TOLD: &str = "(**";
/// The last thing that ran, whatever was spoken of before.
const LAST: &str = "last latest letzte letzten letzter letztes zuletzt";
/// Before what is said; no operation.
const CALLS: &str = "stop|stopp|halt|wait|warte|oh|no|nein";

/// Not now. What is over ("the last thing", "since yesterday") may be undone now.
const LATER: &str =
    "tomorrow tonight later soon morgen uebermorgen spaeter nachher bald every jeden jede";
/// What makes the contrary of it.
const NOT: &str = "not never nothing nobody no none nicht nichts nie niemals niemand kein keine keinen without ohne";
const NEEDLESS: &str = "need reason point grund";

/// Which runs are meant.
enum Meant<'a> {
    Last(&'a Value),
    /// Those that were named or told of, newest first.
    These(Vec<&'a Value>),
    /// What was named or told of has not run.
    NotRun,
}

pub(super) fn next(turn: &Knowledge<'_>, sentence: &Sentence) -> Next {
    if let Some(next) = not_run_yet(turn) {
        return next;
    }
    match doubt_of(sentence) {
        Some(Doubt::Negated) => return leaves_it(turn, told(Doubt::Negated)),
        Some(doubt) => return Next::say(told(doubt)),
        None => {}
    }
    with_activity(turn, |found, times| {
        let ran = |row: &&Value| ["executed", "unknown"].contains(&text(row, "status"));
        let runs: Vec<&Value> = list(found, "ended").iter().filter(ran).collect();
        let Some(last) = runs.first().copied() else {
            return Next::say("Nothing has run lately, so there is nothing to undo.");
        };
        with_actions(turn, |actions| {
            match meant(turn, sentence, &runs, last, actions) {
                Meant::Last(run) => inverse_of(
                    turn,
                    "The last thing that ran:",
                    (&[run], &runs),
                    times,
                    actions,
                ),
                Meant::These(these) => {
                    inverse_of(turn, "That ran:", (&these, &runs), times, actions)
                }
                Meant::NotRun => Next::say(format!(
                    "The record has no such run lately, so there is nothing to undo. The last thing that ran is \
                     another:\n{}\n\n*Undo the last thing* asks about that one.",
                    ended_line(last, times)
                )),
            }
        })
    })
}

/// Why it is not to be undone, or not now. "not that, undo it" says no to something else.
fn doubt_of(sentence: &Sentence) -> Option<Doubt> {
    let clauses = parts_of(sentence);
    let is_negated = clauses.iter().any(|clause| {
        let words: Vec<&str> = clause.words.iter().map(String::as_str).collect();
        let words = without_front(&words, &[LEADS]);
        let says_undo = cues::best(words).is_some_and(|(topic, _)| topic == Topic::Undo);
        // "no need to": the no in front belongs to it.
        let is_needless = words
            .first()
            .is_some_and(|first| is_one_of(first, NEEDLESS));
        // "I did not mean that" is how one says undo.
        let is_regret = words
            .windows(2)
            .any(|pair| matches!(pair, ["not", "mean" | "want"]));
        let is_not = is_needless || words.iter().any(|word| is_one_of(word, NOT));
        says_undo && is_not && !is_regret
    });
    let words = sentence.owned();
    match () {
        () if is_negated => Some(Doubt::Negated),
        () if is_conditional(&words) => Some(Doubt::Condition),
        () if sentence.has_any(LATER) || has_moment(&words) => Some(Doubt::Time),
        () => None,
    }
}

fn meant<'a>(
    turn: &Knowledge<'_>,
    sentence: &Sentence,
    runs: &[&'a Value],
    last: &'a Value,
    actions: &[Known],
) -> Meant<'a> {
    let these = |runs: Vec<&'a Value>| match runs.is_empty() {
        true => Meant::NotRun,
        false => Meant::These(runs),
    };
    let runs = runs.iter().copied();
    let is_said = |run: &&Value| sentence.has_any(&text(run, "code").to_ascii_lowercase());
    let by_code: Vec<&Value> = runs.clone().filter(is_said).collect();
    if !by_code.is_empty() {
        return Meant::These(by_code);
    }
    let words = sentence.owned();
    let spoken: Vec<&str> = words.iter().map(String::as_str).collect();
    let operations = operations_in(without_front(&spoken, &[CALLS]));
    let is_of = |run: &&Value, operations: &[&str]| {
        let id = text(run, "action_id");
        let operation = actions.iter().find(|action| action.id == id);
        let operation = operation.map(|action| action.operation.as_str());
        operations.is_empty() || operation.is_some_and(|done| operations.contains(&done))
    };
    let is_a_name = !named_in(&words, None, actions).is_empty();
    let named = |run: &&Value| is_named(run, sentence);
    if is_a_name || runs.clone().any(|run| named(&run)) {
        return these(
            runs.filter(named)
                .filter(|run| is_of(run, operations))
                .collect(),
        );
    }
    if !operations.is_empty() {
        let newest = runs.clone().find(|run| is_of(run, operations));
        return these(newest.into_iter().collect());
    }
    let told = turn.said_last.unwrap_or_default();
    let codes = codes(told, TOLD);
    let is_of_the_record = !codes.is_empty() || told.contains(HAS_NOTHING);
    if !is_of_the_record || sentence.has_any(LAST) {
        return Meant::Last(last);
    }
    let asked = Sentence::read(turn.said_before.unwrap_or_default()).owned();
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    let operations = operations_in(&asked);
    let told = runs.filter(|run| codes.contains(&text(run, "code")));
    these(told.filter(|run| is_of(run, operations)).collect())
}

/// The operations that words speak of; none where they speak of none in particular.
fn operations_in(words: &[&str]) -> &'static [&'static str] {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    match verbs::mention(&words) {
        Some(
            verb @ (Verb::Start
            | Verb::Stop
            | Verb::Shutdown
            | Verb::Restart
            | Verb::Reboot
            | Verb::Deploy
            | Verb::Scale),
        ) => verb.operations(),
        // "roll that back" and "bring it back" are how one says undo.
        Some(Verb::Rollback | Verb::Run | Verb::Revive | Verb::Mend) | None => &[],
    }
}

/// Says what ran and offers what undoes it; of several runs it is asked which.
fn inverse_of(
    turn: &Knowledge<'_>,
    before: &str,
    (runs, all): (&[&Value], &[&Value]),
    times: &Times,
    actions: &[Known],
) -> Next {
    let mut lines = vec![before.to_owned()];
    let mut inverses: Vec<&Known> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    let mut is_undone = false;
    for run in runs {
        let id = text(run, "action_id");
        // Of one that ran several times the newest run counts.
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        lines.push(ended_line(run, times));
        let done = actions.iter().find(|action| action.id == id);
        let inverse = done.and_then(|action| action.inverse.as_ref());
        if let Some(undoing) = inverse.and_then(|inverse| run_after(all, run, inverse)) {
            lines.push(format!(
                "It is undone already:\n{}",
                ended_line(undoing, times)
            ));
            is_undone = true;
            continue;
        }
        let inverse = inverse.and_then(|id| actions.iter().find(|action| action.id == *id));
        inverses.extend(inverse);
    }
    let said = lines.join("\n");
    match inverses.is_empty() {
        true if is_undone => Next::say(format!("{said}\n\nNothing was run.")),
        true => Next::say(format!(
            "{said}\n\nThe catalogue names nothing that undoes it."
        )),
        false => offer(turn, &said, first_of(&inverses)),
    }
}

/// The run of an action that came after another run. What nobody knows to have run has undone nothing.
fn run_after<'a>(all: &[&'a Value], run: &Value, id: &str) -> Option<&'a Value> {
    let mut later = all
        .iter()
        .filter(|other| text(other, "status") == "executed")
        .filter(|other| text(other, "ended_at") > text(run, "ended_at"));
    later.find(|other| text(other, "action_id") == id).copied()
}
