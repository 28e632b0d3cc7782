//! A sentence in its clauses, each without its politeness.

use super::verbs::{self, Order, Verb};
use super::words::{MARK, Sentence, is_one_of};

/// Before the verb.
const LEADS: &str = "please|kindly|hey|hi|hello|hallo|moin|servus|yo|ok|okay|yes|yeah|yep|sure|alright|so\
    |little blue|blue|just|now|quick|quickly|bitte|ja|jo|gut|komm|jetzt|dear";
/// These make a question mark part of the politeness.
const YOU: &str = "can you|could you|would you";
const DU: &str = "kannst du|koenntest du|wuerdest du|koennten sie|koennen sie|wuerden sie";
/// Behind the target.
const TAILS: &str = "right now|please|now|right away|immediately|asap|at once|again|thanks|thank you|for me|quickly\
    |real quick|quick|little blue|blue|bitte|jetzt|sofort|schnell|danke|nochmal|noch einmal|fuer mich|dear";
/// Anywhere in a clause, without a meaning of their own.
const FILLERS: &str =
    "please bitte mal doch eben kurz jetzt einmal kindly noch nochmal wieder schnell mir uns";
const JOINTS: &str = "and then but also und dann aber";

/// A part of a sentence without marks, joints and politeness.
pub(super) struct Clause {
    pub words: Vec<String>,
    /// "can you …": a question mark belongs to it.
    asks_you: bool,
    /// "kannst du …": the verb stands last.
    asks_du: bool,
}

pub(super) fn parts_of(sentence: &Sentence) -> Vec<Clause> {
    let is_joint = |word: &String| word == MARK || is_one_of(word, JOINTS);
    let parts = sentence.words.split(is_joint).map(Clause::of);
    parts.filter(|clause| !clause.words.is_empty()).collect()
}

impl Clause {
    pub(super) fn of(words: &[String]) -> Self {
        let mut clause = Self {
            words: words.to_vec(),
            asks_you: false,
            asks_du: false,
        };
        loop {
            if take_front(&mut clause.words, YOU) {
                clause.asks_you = true;
            } else if take_front(&mut clause.words, DU) {
                clause.asks_du = true;
            } else if !take_front(&mut clause.words, LEADS) {
                break;
            }
        }
        while take_back(&mut clause.words, TAILS) {}
        clause.words.retain(|word| !is_one_of(word, FILLERS));
        clause
    }

    pub(super) fn is_polite(&self) -> bool {
        self.asks_you || self.asks_du
    }

    /// The order that it is, if it is nothing else.
    pub(super) fn order(&self) -> Option<Order> {
        if self.asks_du
            && let Some((rest, verb)) = verbs::infinitive(&self.words)
        {
            let verb = (verb != Verb::Mend).then_some(verb)?;
            let target = rest.to_vec();
            return Some(Order { verb, target });
        }
        verbs::imperative(&self.words)
    }

    /// The action that it speaks of anywhere.
    pub(super) fn mention(&self) -> Option<Verb> {
        let order = self.order().map(|order| order.verb);
        let ending = || verbs::infinitive(&self.words).map(|(_, verb)| verb);
        let named = || verbs::mention(&self.words);
        // A verb with a slip is never an order, but one can ask whether it was meant.
        let slipped = || verbs::slipped(&self.words);
        order.or_else(ending).or_else(named).or_else(slipped)
    }
}

fn take_front(words: &mut Vec<String>, phrases: &str) -> bool {
    let length = phrases.split('|').find_map(|phrase| {
        let length = phrase.split(' ').count();
        let front = words.get(..length)?;
        front.iter().eq(phrase.split(' ')).then_some(length)
    });
    length.is_some_and(|length| {
        words.drain(..length);
        true
    })
}

fn take_back(words: &mut Vec<String>, phrases: &str) -> bool {
    let kept = phrases.split('|').find_map(|phrase| {
        let kept = words.len().checked_sub(phrase.split(' ').count())?;
        let back = words.get(kept..)?;
        back.iter().eq(phrase.split(' ')).then_some(kept)
    });
    kept.is_some_and(|kept| {
        words.truncate(kept);
        true
    })
}
