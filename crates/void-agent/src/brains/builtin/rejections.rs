//! A no to something that waits, said by name: "reject the stop of iventoy", "I was going to stop iventoy but changed
//! my mind". Hers is withdrawn, if the sentence is nothing but that; for everybody else's she prints the
//! command that says no. A sentence that says no never hears how one says yes.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::doubts::{is_conditional, is_interrogative};
use super::known::ARTICLES;
use super::orders;
use super::patterns::Pattern;
use super::questions::without_front;
use super::records::is_named;
use super::requests::{LEADS, OBJECTS, TAILS, YOU, leaves_it, listed, withdraw};
use super::results::{list, text};
use super::words::{Sentence, folded, is_one_of};
use super::{Knowledge, Next};

/// Front and back of a sentence that is a no; what stands between says to what.
const REFUSALS: [(&str, &str); 14] = [
    (
        "withdraw|reject|deny|decline|refuse|revoke|retract|cancel|abort|discard|dismiss|turn down|call off|say no to|no to\
         |storniere|stornier|verwirf|widerrufe|cancele|nein zu|nein zum|nein zur|verweigere|verbiete",
        "",
    ),
    ("call", "off"),
    ("turn", "down"),
    ("take|pull", "back"),
    ("zieh|ziehe|nimm", "zurueck"),
    ("lehn|lehne", "ab"),
    ("brich|breche|sag|sage", "ab"),
    ("", "zurueckziehen"),
    ("", "zuruecknehmen"),
    ("", "stornieren"),
    ("", "abbrechen"),
    ("", "ablehnen"),
    ("", "verwerfen"),
    ("", "verweigern"),
];
/// Anywhere: somebody wanted it and no longer does.
const REGRETS: &str = "changed my mind|change my mind|anders ueberlegt|decided against|decided not to|thought better of\
    |no longer want|do not want .. anymore/more|nicht mehr .. stoppen/starten/neustarten|doch lieber nicht";
const NOT: &str = "not never nicht nie niemals kein keine keinen without ohne unless";
/// What an operation is called where it is a noun.
const OPERATIONS: &str = "stop start restart reboot shutdown deploy rollback stopp neustart start stoppen starten neustarten action \
    aktion request requests proposal anfrage antrag wish wunsch for on zum zur fuer to";
/// How an operation is said, and how actions call it.
const SPOKEN_OPERATIONS: [(&str, &str); 5] = [
    ("stop stopp stoppen stopping stopped", "stop shutdown shut"),
    ("shutdown herunterfahren", "shutdown shut stop"),
    ("start starten starting started", "start"),
    ("restart neustart neustarten restarting", "restart reboot"),
    ("reboot rebooting", "reboot restart"),
];
const PREPOSITIONS: &str = "of von vom on in at from";
const SHOWN_MAX: usize = 6;

static REGRET: LazyLock<Vec<Pattern>> = LazyLock::new(|| Pattern::parse_all(REGRETS).collect());

/// `None`: it says no to nothing that it names.
pub(super) fn next(turn: &Knowledge<'_>, sentence: &Sentence) -> Option<Next> {
    if !turn.has_tool("recent_activity") || sentence.has_quotes {
        return None;
    }
    let words: Vec<&str> = sentence.spoken().collect();
    let object = object_of(sentence, &words);
    if object.is_none() && !regrets(sentence, &words) {
        return None;
    }
    // A code or a pronoun alone is told apart by what she asked for in this chat.
    let is_its = |word: &&str| is_one_of(word, OBJECTS) || is_one_of(word, TAILS);
    if object.as_ref().is_some_and(|it| it.iter().all(is_its)) {
        return None;
    }
    if turn.result("recent_activity").is_none() {
        return Some(Next::look("recent_activity", json!({})));
    }
    let found = turn.result("recent_activity")?;
    let waiting: Vec<&Value> = list(found, "waiting")
        .iter()
        .filter(|row| is_meant(row, sentence))
        .collect();
    if waiting.is_empty() {
        let speaks_of_one = orders::hear(sentence).doubted_verb().is_some();
        let said = "Good, I leave it. Nothing of that waits for a yes, and nothing was run.";
        return speaks_of_one.then(|| leaves_it(turn, said));
    }
    if let ([row], Some(object)) = (waiting.as_slice(), &object) {
        let code = text(row, "code");
        let is_hers = turn.requested.iter().any(|asked| asked == code);
        if is_hers && object.iter().all(|word| belongs_to(word, row)) {
            return Some(withdraw(turn, &[code]));
        }
    }
    Some(says_how(turn, &waiting))
}

/// The words that say to what the no is, if a sentence begins or ends with one.
fn object_of<'a>(sentence: &Sentence, words: &'a [&'a str]) -> Option<Vec<&'a str>> {
    let plain = without_front(words, &[LEADS]);
    let asked = without_front(plain, &[YOU]);
    let is_polite = asked.len() < plain.len();
    let rest = without_front(asked, &[LEADS]);
    let begins_openly = rest.first().is_some_and(|first| is_interrogative(first));
    let is_asked = sentence.has_question_mark && !is_polite;
    let is_negated = rest.iter().any(|word| is_one_of(word, NOT));
    if begins_openly || is_asked || is_negated || is_conditional(&sentence.owned()) {
        return None;
    }
    let mut end = rest.len();
    while end > 0 && rest.get(end - 1).is_some_and(|last| is_one_of(last, TAILS)) {
        end -= 1;
    }
    let rest = rest.get(..end).unwrap_or_default();
    REFUSALS.iter().find_map(|(fronts, back)| {
        let rest = match *fronts {
            "" => rest,
            fronts => fronts.split('|').find_map(|front| behind(rest, front))?,
        };
        let rest = match *back {
            "" => rest,
            back => {
                let (last, front) = rest.split_last()?;
                (*last == back).then_some(front)?
            }
        };
        (!rest.is_empty()).then(|| rest.to_vec())
    })
}

fn behind<'a, 'b>(words: &'a [&'b str], front: &str) -> Option<&'a [&'b str]> {
    let length = front.split(' ').count();
    let begins = words.iter().copied().take(length).eq(front.split(' '));
    begins.then(|| words.get(length..).unwrap_or_default())
}

fn regrets(sentence: &Sentence, words: &[&str]) -> bool {
    let asks = words.first().is_some_and(|first| is_interrogative(first));
    !asks && !sentence.has_question_mark && REGRET.iter().any(|pattern| pattern.is_in(words))
}

/// Whether a waiting row is of what a sentence names, and of the operation if it names one.
fn is_meant(row: &Value, sentence: &Sentence) -> bool {
    let id = folded(text(row, "action_id"));
    let names = folded(&format!("{id} {}", text(row, "label")));
    let has = |operation: &str| {
        names
            .split(|c: char| !c.is_alphanumeric())
            .any(|it| it == operation)
    };
    let mut spoken = SPOKEN_OPERATIONS
        .iter()
        .filter(|(words, _)| sentence.has_any(words))
        .peekable();
    let is_of =
        spoken.peek().is_none() || spoken.any(|(_, operations)| operations.split(' ').any(has));
    sentence.has_any(&id) || (is_named(row, sentence) && is_of)
}

/// Whether a word is part of how one row is called, or means nothing beside it.
fn belongs_to(word: &str, row: &Value) -> bool {
    let names = folded(&format!(
        "{} {}",
        text(row, "action_id"),
        text(row, "label")
    ));
    let mut parts = names.split(|c: char| !c.is_alphanumeric());
    [ARTICLES, PREPOSITIONS, OPERATIONS, OBJECTS]
        .iter()
        .any(|list| is_one_of(word, list))
        || parts.any(|part| part == word)
        || word == names
        || word.eq_ignore_ascii_case(text(row, "action_id"))
}

/// The owner's own command, code by code.
fn says_how(turn: &Knowledge<'_>, waiting: &[&Value]) -> Next {
    let lines: Vec<String> = waiting
        .iter()
        .take(SHOWN_MAX)
        .map(|row| {
            let code = text(row, "code");
            format!(
                "**{code}** ({}, asked for by {}) still waits: `void inbox reject {code}` says no.",
                text(row, "label"),
                text(row, "asked_by")
            )
        })
        .collect();
    let codes = waiting.iter().map(|row| text(row, "code"));
    let hers: Vec<&str> = codes
        .filter(|code| turn.requested.iter().any(|asked| asked == code))
        .collect();
    let besides = match hers.as_slice() {
        [] => String::new(),
        [code] => format!(
            " I asked for {} here: *cancel {code}* withdraws it.",
            listed(&[code])
        ),
        codes => format!(
            " I asked for {} here: *cancel CODE* withdraws one.",
            listed(codes)
        ),
    };
    Next::say(format!(
        "{}\n\nNothing was decided and nothing was run.{besides}",
        lines.join("\n")
    ))
}
