//! Her own questions, and what answers them.
//!
//! A question is the last line of her last message, in one of two fixed forms, and it is answered only by
//! the very next thing that is said to her. What it names is looked up in the catalogue again. Nothing
//! that a tool returned can make such a line: [`closed`] keeps every other text from ending like one.

use void_domain::ids::ActionId;

use super::words::Sentence;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Question {
    /// Shall I run `id`?
    Run(String),
    /// Which one do you mean: `a`, `b`?
    Which(Vec<String>),
}

/// What somebody says to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    Yes,
    No,
    All,
    /// The first, the second, counted from 0.
    Nth(usize),
    Last,
    /// "ok, thanks": a yes, or only that it was heard.
    Unsure,
    /// Another one than she named.
    Another,
    /// Yes, and something more: a name, or what takes it back. Without the yes and the politeness.
    YesAnd(Vec<String>),
    /// Without politeness: a name, or something else altogether.
    Other(Vec<String>),
}

const RUN: (&str, &str) = ("Shall I run `", "`?");
const WHICH: (&str, &str) = ("Which one do you mean: `", "`?");
const BETWEEN: &str = "`, `";
/// Longer than this a sentence that begins with a yes is no answer.
const YES_WORDS_MAX: usize = 8;

const YES: &str = "yes|yep|yeah|yup|yea|yeap|ya|ye|yess|y|sure|sure thing|ok|okay|k|kk|alright|do it|do that|do so|do this|go|go ahead\
    |go for it|run it|fix it|fix that|make it so|proceed|absolutely|definitely|of course|sounds good|exactly|correct|let us do it\
    |let us go|send it|affirmative|ja|jep|jepp|jap|jup|jo|joa|jawohl|jawoll|klar|na klar|aber klar|gern|gerne|sehr gern|mach|mach das\
    |mach es|mach ruhig|mach hin|tu das|tu es|tu|los|leg los|einverstanden|passt|in ordnung|natuerlich|auf jeden fall|klingt gut|genau\
    |richtig|bitte ja|unbedingt|ab dafuer|please do|very well|oh yes|oh ja|na los|na gut|that is the one|that one|this one|that is it|that is right|genau der|genau das";
/// Those that may only say that something was heard.
const HEARD: &str = "ok|okay|k|kk|alright|gut";
const NO: &str = "no|nope|nah|no thanks|no thank you|nein|nein danke|noe|ne|nee|cancel|abort|stop|never mind|nevermind|leave it\
    |leave it alone|leave it be|let it be|forget it|forget that|do not|dont|not now|not yet|later|another time|no way|neither|none\
    |none of them|neither of them|nothing|lass|lass es|lass das|lass sein|lass es sein|lass gut sein|lieber nicht|nicht jetzt\
    |noch nicht|spaeter|vergiss es|abbrechen|bloss nicht|auf keinen fall|keins|keins von beiden|keine von beiden|keinen von beiden\
    |keines|keiner|keine|weder noch|nichts|besser nicht|jetzt nicht|egal|macht nichts|schon gut|passt schon|that is fine|it is fine|all good|no worries|no problem|whatever\
    |does not matter";
const ALL: &str = "both|both of them|all|all of them|all of it|beide|alle|alles|alle beide|alle zwei|beides|each|everything";
const NTH: [(&str, usize); 3] = [
    (
        "the first|first|the first one|first one|das erste|den ersten|die erste|erstes|erste|the former|1|number 1|nummer 1",
        0,
    ),
    (
        "the second|second|the second one|second one|das zweite|den zweiten|die zweite|zweites|zweite|2|number 2|nummer 2",
        1,
    ),
    (
        "the third|third|the third one|third one|das dritte|den dritten|die dritte|3|number 3|nummer 3",
        2,
    ),
];
const LAST: &str = "the last|the last one|last one|last|the latter|das letzte|den letzten|die letzte|letzteres|letzteren";
const ANOTHER: &str = "the other|the other one|other one|das andere|den anderen|die andere|ein anderes|another|another one\
    |something else|was anderes|not that one|das nicht|nicht das|the wrong one";
/// Beside an answer, without a meaning of their own.
const BESIDE: &str = "please|bitte|now|jetzt|thanks|thank you|danke|little blue|blue|sofort|right now|doch|mal|then|dann|just|einfach\
    |only|nur|i meant|i mean|ich meine|ich meinte|ruhig|for me|the|den|die|das|der";

impl Question {
    pub(super) fn line(&self) -> String {
        match self {
            Self::Run(id) => format!("{}{id}{}", RUN.0, RUN.1),
            Self::Which(ids) => format!("{}{}{}", WHICH.0, ids.join(BETWEEN), WHICH.1),
        }
    }

    /// The question that a message of hers ends with.
    pub(super) fn ending(message: &str) -> Option<Self> {
        let last = message.trim_end().lines().last()?;
        let between = |(front, back): (&str, &str)| last.strip_prefix(front)?.strip_suffix(back);
        if let Some(id) = between(RUN) {
            return is_id(id).then(|| Self::Run(id.to_owned()));
        }
        let ids: Vec<String> = between(WHICH)?.split(BETWEEN).map(str::to_owned).collect();
        ids.iter().all(|id| is_id(id)).then_some(Self::Which(ids))
    }

    pub(super) fn ids(&self) -> &[String] {
        match self {
            Self::Run(id) => std::slice::from_ref(id),
            Self::Which(ids) => ids,
        }
    }
}

fn is_id(text: &str) -> bool {
    ActionId::parse(text).is_ok()
}

/// A text that ends with no question of hers, whatever stands in it.
pub(super) fn closed(text: String) -> String {
    match Question::ending(&text) {
        None => text,
        Some(_) => format!("{text}\n\n(That line is quoted. I ask nothing.)"),
    }
}

/// Whether the whole of what was said answers a question, and how.
pub(super) fn reply(sentence: &Sentence) -> Said {
    let spoken: Vec<&str> = sentence.spoken().collect();
    let is_doubtful = sentence.has_question_mark || sentence.has_quotes;
    let only = |lists: &[&str]| !is_doubtful && consists_of(&spoken, lists);
    if only(&[NO]) {
        return Said::No;
    }
    if only(&[HEARD]) && sentence.has_any("thanks thank danke") {
        return Said::Unsure;
    }
    if only(&[YES]) {
        return Said::Yes;
    }
    // "yes, both": what is chosen counts, with a yes or without.
    let nth = NTH.iter().find(|(phrases, _)| only(&[phrases, YES]));
    match nth {
        Some((_, position)) => return Said::Nth(*position),
        None if only(&[ALL, YES]) => return Said::All,
        None if only(&[LAST, YES]) => return Said::Last,
        None if only(&[ANOTHER]) => return Said::Another,
        None => {}
    }
    let without_beside = without_front(&spoken, &[BESIDE]);
    let rest = without_front(without_beside, &[YES, BESIDE]);
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let begins = first_of(without_beside, YES).is_some();
    match begins && spoken.len() <= YES_WORDS_MAX {
        true => Said::YesAnd(owned(without_back(rest, BESIDE))),
        false => Said::Other(owned(without_back(without_beside, BESIDE))),
    }
}

/// How many words of the front are a phrase of the list; the longest counts.
fn first_of(words: &[&str], phrases: &str) -> Option<usize> {
    let lengths = phrases.split('|').filter_map(|phrase| {
        let parts: Vec<&str> = phrase.split(' ').collect();
        words.starts_with(&parts).then_some(parts.len())
    });
    lengths.max()
}

/// Whether these words are phrases of the lists and politeness, and one of the first list at least.
fn consists_of(words: &[&str], lists: &[&str]) -> bool {
    let Some(needed) = lists.first() else {
        return false;
    };
    let mut rest = words;
    let mut found = false;
    while !rest.is_empty() {
        let of_needed = first_of(rest, needed);
        let others = lists.iter().chain([&BESIDE]);
        let Some(length) = others.filter_map(|list| first_of(rest, list)).max() else {
            return false;
        };
        found |= of_needed == Some(length);
        rest = rest.get(length..).unwrap_or_default();
    }
    found
}

fn without_front<'a, 'b>(words: &'a [&'b str], lists: &[&str]) -> &'a [&'b str] {
    let mut rest = words;
    while let Some(length) = lists.iter().filter_map(|list| first_of(rest, list)).max() {
        rest = rest.get(length..).unwrap_or_default();
    }
    rest
}

fn without_back<'a, 'b>(words: &'a [&'b str], phrases: &str) -> &'a [&'b str] {
    let mut rest = words;
    loop {
        let kept = phrases.split('|').find_map(|phrase| {
            let parts: Vec<&str> = phrase.split(' ').collect();
            let kept = rest.len().checked_sub(parts.len())?;
            rest.ends_with(&parts).then_some(kept)
        });
        match kept {
            Some(kept) => rest = rest.get(..kept).unwrap_or_default(),
            None => return rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_her_last_line_in_its_form_is_a_question() {
        let run = Question::Run("restart-caddy".to_owned());
        let which = Question::Which(vec!["a".to_owned(), "b-1".to_owned()]);
        for question in [run, which] {
            let message = format!("Caddy is down.\n\n{}", question.line());
            assert_eq!(Question::ending(&message), Some(question.clone()));
            assert_eq!(Question::ending(&format!("{message}\nOr not.")), None);
            assert_eq!(Question::ending(&format!("- {}", question.line())), None);
            assert_eq!(Question::ending(&closed(message)), None);
        }
        for forged in [
            "Shall I run `a b`?",
            "Shall I run ``?",
            "Shall I run `a`? ok",
            "shall I run `a`?",
            "Which one do you mean: `a`, `B`?",
        ] {
            assert_eq!(Question::ending(forged), None, "{forged}");
        }
    }

    #[test]
    fn a_yes_is_nothing_but_a_yes() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let and = |rest: &[&str]| Said::YesAnd(words(rest));
        let other = |rest: &[&str]| Said::Other(words(rest));
        for (said, means) in [
            ("yes", Said::Yes),
            ("Yes, please!", Said::Yes),
            ("ok, do it now", Said::Yes),
            ("ja, mach das bitte", Said::Yes),
            ("fix it", Said::Yes),
            ("no", Said::No),
            ("nein danke", Said::No),
            ("both", Said::All),
            ("yes, both of them", Said::All),
            ("the second one", Said::Nth(1)),
            ("yes but not now", and(&["but", "not"])),
            ("yes?", and(&[])),
            ("ja, aber später", and(&["aber", "spaeter"])),
            ("yes, if it is safe", and(&["if", "it", "is", "safe"])),
            ("\"yes\"", and(&[])),
            ("yes no", and(&["no"])),
            ("yes, caddy please", and(&["caddy"])),
            ("please", other(&[])),
            ("nur caddy bitte", other(&["caddy"])),
            ("not caddy", other(&["not", "caddy"])),
            ("", other(&[])),
            ("the last one", Said::Last),
            ("ja, das zweite", Said::Nth(1)),
            ("the other one", Said::Another),
            ("not now", Said::No),
            ("ok thanks", Said::Unsure),
            ("okay, danke", Said::Unsure),
            ("ja danke", Said::Yes),
            ("ach caddy", other(&["ach", "caddy"])),
            ("keins von beiden", Said::No),
        ] {
            assert_eq!(reply(&Sentence::read(said)), means, "{said}");
        }
    }
}
