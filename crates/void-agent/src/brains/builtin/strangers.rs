//! Names that are not known here: whoever speaks of one hears so, and is not answered with another's trouble.

use serde_json::Value;
use void_domain::text as texts;

use super::known::ARTICLES;
use super::looks::{ALL_OF_IT, ids};
use super::services::{is_fine, lines_of};
use super::topics::without_openers;
use super::words::{Sentence, is_one_of};
use super::{Next, cues};

const NAME_BYTES_MAX: usize = 64;

/// A name that is not known here, where a name stands: "plex is broken", "why is plex down", "trouble with plex".
pub(super) fn unknown_name(sentence: &Sentence) -> Option<&str> {
    const VERBS: &str = "is are was seems feels looks keeps has does will can ist sind war geht laeuft haengt spinnt hat         reagiert antwortet funktioniert tut macht zickt streikt startet laedt stockt";
    const BEFORE: &str = "with mit";
    /// What people call things whose name they do not say.
    const NO_NAMES: &str = "irgendein irgendeine irgendeiner website websites webseite webseiten seite seiten site sites homepage \
        internet wifi wlan apps app stream film movie music musik container containers guest guests host hosts node nodes people \
        wife frau kids kinder somebody jemand nobody users user dienst service \
        page pages link video videos";
    const ASKING: &str = "is are ist sind does did geht laeuft funktioniert haengt spinnt";
    let words: Vec<&str> = sentence.spoken().collect();
    let words: Vec<&str> = without_openers(&words)
        .iter()
        .copied()
        .filter(|word| !is_one_of(word, ARTICLES))
        .collect();
    let is_name = |word: &str| {
        let has_letters = word.len() > 2 && word.chars().any(char::is_alphabetic);
        let means_none = is_one_of(word, ALL_OF_IT) || is_one_of(word, NO_NAMES);
        has_letters && !means_none && !cues::is_known(word) && !is_inflected(word)
    };
    let asks_why = |word: &str| is_one_of(word, "why warum wieso weshalb");
    let found = words.iter().enumerate().find(|(position, word)| {
        let before = position
            .checked_sub(1)
            .and_then(|at| words.get(at).copied());
        let after = words.get(position + 1).copied().unwrap_or_default();
        let stands = match (position, before) {
            (0, _) => is_one_of(after, VERBS),
            (1, Some(before)) => is_one_of(before, ASKING) || is_one_of(before, BEFORE),
            (2, Some(before)) if words.first().is_some_and(|it| asks_why(it)) => {
                is_one_of(before, ASKING)
            }
            (_, Some(before)) => is_one_of(before, BEFORE),
            _ => false,
        };
        stands && is_name(word)
    });
    found.map(|(_, word)| *word)
}

/// What ends like a verb or an adverb is hardly a name.
fn is_inflected(word: &str) -> bool {
    ["ing", "ed", "ly", "lich", "ig", "isch"]
        .iter()
        .any(|ending| word.ends_with(ending))
}

/// Somebody speaks of what is not watched: says so, and what else is not well. Nothing is offered: a yes would be
/// about another thing than they mean.
pub(super) fn unknown(name: &str, services: &[Value]) -> Next {
    let bad = lines_of(services.iter().filter(|service| !is_fine(service)));
    let besides = match bad.is_empty() {
        true => String::new(),
        false => format!("\n\nNot well just now:\n{bad}"),
    };
    Next::say(format!(
        "I do not know {}: I watch {}.{besides}",
        texts::escaped(texts::cut(name, NAME_BYTES_MAX)),
        ids(services)
    ))
}
