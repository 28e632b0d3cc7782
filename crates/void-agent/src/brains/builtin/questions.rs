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
    /// Yes, and something that takes it back: not now, later, if.
    YesBut,
    Other,
}

const RUN: (&str, &str) = ("Shall I run `", "`?");
const WHICH: (&str, &str) = ("Which one do you mean: `", "`?");
const BETWEEN: &str = "`, `";

const YES: [&str; 39] = [
    "yes",
    "yes please",
    "yep",
    "yeah",
    "yup",
    "y",
    "sure",
    "ok",
    "okay",
    "do it",
    "do that",
    "do so",
    "go",
    "go ahead",
    "go for it",
    "run it",
    "fix it",
    "fix that",
    "please do",
    "make it so",
    "proceed",
    "ja",
    "ja bitte",
    "jo",
    "jawohl",
    "klar",
    "gern",
    "gerne",
    "mach",
    "mach das",
    "mach es",
    "mach mal",
    "tu das",
    "tu es",
    "los",
    "leg los",
    "einverstanden",
    "passt",
    "in ordnung",
];
const NO: [&str; 16] = [
    "no",
    "nope",
    "nah",
    "no thanks",
    "no thank you",
    "nein",
    "nein danke",
    "noe",
    "nee",
    "cancel",
    "stop",
    "never mind",
    "nevermind",
    "lass es",
    "lass das",
    "lieber nicht",
];
const ALL: [&str; 10] = [
    "both",
    "both of them",
    "all",
    "all of them",
    "all of it",
    "beide",
    "alle",
    "alles",
    "alle beide",
    "both please",
];
const NTH: [(&str, usize); 12] = [
    ("the first", 0),
    ("first", 0),
    ("the first one", 0),
    ("first one", 0),
    ("das erste", 0),
    ("den ersten", 0),
    ("the second", 1),
    ("second", 1),
    ("the second one", 1),
    ("second one", 1),
    ("das zweite", 1),
    ("den zweiten", 1),
];
/// Beside an answer, without a meaning of their own.
const BESIDE: [&str; 14] = [
    "please",
    "bitte",
    "now",
    "jetzt",
    "thanks",
    "thank you",
    "danke",
    "little blue",
    "blue",
    "sofort",
    "right now",
    "doch",
    "mal",
    "then",
];

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
    if consists_of(&spoken, &NO) && !is_doubtful {
        return Said::No;
    }
    let only = |phrases: &[&str]| !is_doubtful && consists_of(&spoken, phrases);
    if only(&YES) {
        return Said::Yes;
    }
    if only(&ALL) || (only(&[&YES[..], &ALL[..]].concat()) && sentence.has_any(&ALL)) {
        return Said::All;
    }
    for (phrase, position) in NTH {
        if only(&[phrase]) {
            return Said::Nth(position);
        }
    }
    let begins = sentence.begins_with(&YES);
    let is_short = spoken.len() <= 8;
    match begins && is_short {
        true => Said::YesBut,
        false => Said::Other,
    }
}

/// Whether these words are phrases of the list and nothing else, one of the list at least.
fn consists_of(words: &[&str], phrases: &[&str]) -> bool {
    let mut rest = words;
    let mut found = false;
    while !rest.is_empty() {
        let longest = |list: &[&str]| {
            let lengths = list.iter().filter_map(|phrase| {
                let parts: Vec<&str> = phrase.split(' ').collect();
                rest.starts_with(&parts).then_some(parts.len())
            });
            lengths.max()
        };
        let (of_list, beside) = (longest(phrases), longest(&BESIDE));
        let Some(length) = of_list.max(beside) else {
            return false;
        };
        found |= of_list == Some(length);
        rest = rest.get(length..).unwrap_or_default();
    }
    found
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
            ("yes but not now", Said::YesBut),
            ("yes?", Said::YesBut),
            ("ja, aber später", Said::YesBut),
            ("yes, if it is safe", Said::YesBut),
            ("\"yes\"", Said::YesBut),
            ("yes no", Said::YesBut),
            ("please", Said::Other),
            ("caddy", Said::Other),
            ("", Said::Other),
        ] {
            assert_eq!(reply(&Sentence::read(said)), means, "{said}");
        }
    }
}
