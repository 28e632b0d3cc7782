//! The words that show what a sentence is about, with how much they show. The topic with the most wins, the
//! earlier one of two that have as much. Cues are loose on purpose: a topic is only looked at, answered
//! or offered.

mod table;

use std::sync::LazyLock;

use self::table::{CUES, WEAK};
pub(super) use self::table::{HINT, STRONG};
use super::patterns::Pattern;
use super::topics::Topic;
use super::words::{is_one_of, is_slip_of};

/// Shorter words have too many neighbours to be mended.
const MENDED_CHARS_MIN: usize = 5;

/// Words without a meaning of their own: never a name, and never a slip of another word.
const FUNCTION_WORDS: &str = "a an the this that these those i you he she it we they me my your our his her its their to of \
    in on at for from with by as or not no be been being am is are was were do does did done have has had will would can \
    could may might must just only very really so too now then here there still already again yet please ok okay and but \
    if than any some all more most much many what who how why which when where think know want like need should would \
    about these there their other after before never every first still could thing things today der die das den dem des \
    ein eine einen einem einer ich du er sie es wir ihr mich mir dich dir uns euch mein meine dein deine sein seine unser \
    unsere zu von im an am auf aus bei mit fuer nach um und oder aber nicht kein keine ist sind war waren wird werden hat \
    haben habe kann kannst koennen soll will muss darf denn doch mal schon noch nur auch sehr jetzt gerade eben eigentlich \
    wieder hier da dort bitte wer wie warum weiss wisse wollen wollte sollte diese dieser dieses etwas heute immer nichts \
    vielleicht glaube denke meine mache machen macht sagen sagt gehen kommt kommen lassen lasst";

struct Cue {
    topic: Topic,
    weight: u32,
    pattern: Pattern,
}

static ALL: LazyLock<Vec<Cue>> = LazyLock::new(|| {
    let rows = CUES.into_iter();
    let cues = rows.flat_map(|(topic, weight, texts)| {
        Pattern::parse_all(texts).map(move |pattern| Cue {
            topic,
            weight,
            pattern,
        })
    });
    cues.collect()
});

/// What the words are about, and how sure that is.
pub(super) fn best(words: &[&str]) -> Option<(Topic, u32)> {
    most(words, |weight| weight > WEAK).or_else(|| most(words, |weight| weight == WEAK))
}

fn most(words: &[&str], counts: impl Fn(u32) -> bool) -> Option<(Topic, u32)> {
    let mut scores: Vec<(Topic, u32)> = Vec::new();
    let cues = ALL.iter().filter(|cue| counts(cue.weight));
    for cue in cues.filter(|cue| cue.pattern.is_in(words)) {
        match scores.iter_mut().find(|(topic, _)| *topic == cue.topic) {
            Some((_, score)) => *score += cue.weight,
            None => scores.push((cue.topic, cue.weight)),
        }
    }
    let mut best: Option<(Topic, u32)> = None;
    for (topic, score) in scores {
        if best.is_none_or(|(_, most)| score > most) {
            best = Some((topic, score));
        }
    }
    best
}

/// Whether a word has no meaning of its own.
pub(super) fn is_empty(word: &str) -> bool {
    is_one_of(word, FUNCTION_WORDS)
}

/// Whether a word is part of any cue, or has no meaning of its own.
pub(super) fn is_known(word: &str) -> bool {
    let mut known = ALL.iter().flat_map(|cue| cue.pattern.vocabulary());
    let is_cue =
        |known: &str| word == known || (known.len() >= MENDED_CHARS_MIN && word.starts_with(known));
    is_one_of(word, FUNCTION_WORDS) || known.any(is_cue)
}

/// The words with slips of the finger mended where a cue is near.
pub(super) fn mended(words: &[&str]) -> Vec<String> {
    let near = |word: &str| {
        let known = ALL.iter().flat_map(|cue| cue.pattern.vocabulary());
        let mut known = known.filter(|known| known.len() >= MENDED_CHARS_MIN);
        known.find(|known| is_slip_of(word, known))
    };
    let mend = |word: &&str| match word.len() < MENDED_CHARS_MIN || is_one_of(word, FUNCTION_WORDS)
    {
        true => (*word).to_owned(),
        false => near(word).unwrap_or(word).to_owned(),
    };
    words.iter().map(mend).collect()
}
