//! Why something that speaks of an action is no order: somebody's words, a no, a condition, another time,
//! a question. A doubt only ever takes away.

use std::sync::LazyLock;

use super::clauses::{Clause, is_joint};
use super::patterns::Pattern;
use super::words::{Sentence, is_one_of};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    Quoted,
    Negated,
    Condition,
    Time,
    Question,
    /// Words that are neither verb nor politeness, or more than one clause.
    Words,
}

const NEGATIONS: &str = "not never no none nothing nobody neither nor without avoid refrain instead rather except leave \
    keep ignore forget nevermind nope nah hardly cancel skip abort nicht nichts kein keine keinen keiner keinem keines \
    keins nie niemals niemand ohne weder nein noe nee lass lasse lasst statt ausser vergiss unterlass unterlasse \
    verzichte bloss forbid forbidden verboten";
/// What asks to let something be, without a word that says no.
const LET_BE: &str = "leave|keep|let .. run/be/alone/running|hold off|hands off|lay off|back off|skip|forget|cancel|abort\
    |avoid|spare|wait .. with/before|^wait|lass* .. sein/laufen/ruhe/bleiben/finger/an/stehen|^lass*|lass ihn/sie/es/das/den/die/mal|finger weg|vergiss\
    |^warte|hoer auf|aufhoeren|stop stop|do nothing|mach* .. nichts|tu* .. nichts|no way|not .. touch|^stop/quit/cease touching\
    |in ruhe|alone|anlassen|laufen lassen|nicht .. anfassen/anruehren|bleib*|stay*|remain*|myself|selbst|selber";
const CONDITIONS: &str = "if unless when once whenever provided assuming while until till otherwise else case depending \
    falls wenn sobald sofern solange bevor nachdem waehrend ob sonst je";
const TIMES: &str = "yesterday tomorrow tonight today later soon every daily nightly weekly hourly monday tuesday \
    wednesday thursday friday saturday sunday next last before after ago midnight noon am pm minute minutes min mins \
    hour hours second seconds day days week weeks weekend month night morning evening afternoon always someday \
    eventually already lunch dinner breakfast gestern morgen uebermorgen vorgestern spaeter heute nachts abends morgens \
    taeglich jeden jede jedes uhr minuten stunde stunden tag tage tagen woche wochen gleich bald nachher vorhin danach \
    immer naechste naechsten naechster naechstes letzte letzten wochenende mitternacht mittag abend nacht montag \
    dienstag mittwoch donnerstag freitag samstag sonntag erst feierabend";
const QUOTING: &str =
    "said says told wrote reads sagte sagt sagen schrieb meinte meint steht heisst";
const QUESTION_STARTS: &str = "what why how when who where which whose should shall do does did is are was were has have \
    had may might must can could would will am wer wie wann warum wieso weshalb wo welche welcher welches welchen soll \
    sollte sollen kann koennte darf muss ist sind hat hast habe haben laeuft wird wurde wurden war waren geht gibt \
    funktioniert kannst koenntest weisst bist wieviel wozu wofuer stimmt brauchst any anything anyone anybody \
    startest stoppst willst wuerdest wuerden";

static LETS_BE: LazyLock<Vec<Pattern>> = LazyLock::new(|| Pattern::parse_all(LET_BE).collect());

/// Whether it asks to let things be.
pub(super) fn lets_be(sentence: &Sentence) -> bool {
    let words: Vec<&str> = sentence.spoken().collect();
    LETS_BE.iter().any(|pattern| pattern.is_in(&words))
}

/// Whether it asks something: by its mark, or by how it begins.
pub(super) fn is_question(sentence: &Sentence, clauses: &[Clause]) -> bool {
    clauses.iter().any(begins_as_question) || sentence.has_question_mark
}

pub(super) fn is_interrogative(word: &str) -> bool {
    is_one_of(word, QUESTION_STARTS)
}

/// "do you …", but not "do not …"
fn begins_as_question(clause: &Clause) -> bool {
    let mut words = clause.words.iter().map(String::as_str);
    match (words.next(), words.next()) {
        (Some("do"), Some("not" | "nothing")) | (None, _) => false,
        (Some(first), _) => is_one_of(first, QUESTION_STARTS),
    }
}

/// The strongest doubt about a sentence.
pub(super) fn doubt_of(sentence: &Sentence, clauses: &[Clause]) -> Option<Doubt> {
    if sentence.has_quotes {
        return Some(Doubt::Quoted);
    }
    let by_words = word_doubt(&sentence.owned());
    if by_words == Some(Doubt::Negated) || lets_be(sentence) {
        return Some(Doubt::Negated);
    }
    if sentence.has_any(QUOTING) {
        return Some(Doubt::Quoted);
    }
    if by_words.is_some() {
        return by_words;
    }
    // "restart caddy but": somebody has not ended.
    if sentence.spoken().last().is_some_and(is_joint) {
        return Some(Doubt::Words);
    }
    let starts_as_question = clauses.iter().any(begins_as_question);
    let is_marked = sentence.has_question_mark && !clauses.iter().any(Clause::is_polite);
    (starts_as_question || is_marked).then_some(Doubt::Question)
}

pub(super) fn word_doubt(words: &[String]) -> Option<Doubt> {
    let any = |list: &str| words.iter().any(|word| is_one_of(word, list));
    if any(NEGATIONS) || ends_something(words) {
        return Some(Doubt::Negated);
    }
    if asks_when(words) {
        return Some(Doubt::Question);
    }
    if is_conditional(words) {
        return Some(Doubt::Condition);
    }
    (any(TIMES) || has_moment(words)).then_some(Doubt::Time)
}

/// Whether it depends on something.
pub(super) fn is_conditional(words: &[String]) -> bool {
    // "once more" is no condition.
    let is_repeated = |at: usize| {
        let next = words.get(at + 1).map_or("", String::as_str);
        words.get(at).is_some_and(|word| word == "once") && next == "more"
    };
    let mut all = words.iter().enumerate();
    all.any(|(at, word)| is_one_of(word, CONDITIONS) && !is_repeated(at)) && !asks_when(words)
}

/// "stop restarting it"
fn ends_something(words: &[String]) -> bool {
    words.windows(2).any(|pair| match pair {
        [first, second] => {
            let is_doing = second.ends_with("ing") && !second.ends_with("thing");
            is_doing && is_one_of(first, "stop quit cease halt")
        }
        _ => false,
    })
}

/// "when did you": no condition, although it begins like one.
fn asks_when(words: &[String]) -> bool {
    const FOLLOWS: &str = "did was were is will have has do hast hat wurde war ist lief";
    match words {
        [first, second, ..] => is_one_of(first, "when wann") && is_one_of(second, FOLLOWS),
        _ => false,
    }
}

/// "at 8", "in an hour", "um 3"
pub(super) fn has_moment(words: &[String]) -> bool {
    words.windows(2).any(|pair| match pair {
        [first, second] => {
            let is_number = second.starts_with(|c: char| c.is_ascii_digit());
            let is_span = is_one_of(second, "a an half einer einem one two five ten");
            is_one_of(first, "at in um by for ab gegen about around") && (is_number || is_span)
        }
        _ => false,
    })
}
