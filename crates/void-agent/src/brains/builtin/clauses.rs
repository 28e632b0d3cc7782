//! A sentence in its clauses, each without its politeness.

use super::cues;
use super::doubts::is_interrogative;
use super::known::ARTICLES;
use super::verbs::{self, Order, Verb};
use super::words::{MARK, Sentence, is_one_of};

/// Before all else. Further on it may be a name: "restart photos, hello".
const GREETINGS: &str = "hey|hi|hello|hallo|moin|servus|yo";
/// Before the verb.
const LEADS: &str = "please|kindly|ok|okay|yes|yeah|yep|sure|alright|so\
    |little blue|blue|just|now|quick|quickly|bitte|ja|jo|gut|komm|jetzt|dear";
/// These make a question mark part of the politeness.
/// "would you" asks what she thinks of it, and is no order.
const YOU: &str = "can you|could you";
const DU: &str = "kannst du|koenntest du|koennten sie|koennen sie";
/// Behind the target.
const TAILS: &str = "once more|one more time|right now|please|now|right away|immediately|asap|at once|again|thanks|thank you|for me|quickly\
    |real quick|quick|little blue|blue|bitte|jetzt|sofort|schnell|danke|nochmal|noch einmal|fuer mich|dear";
/// Anywhere in a clause, without a meaning of their own.
const FILLERS: &str = "please bitte mal doch eben kurz jetzt einmal kindly noch nochmal wieder schnell sofort mir uns";
/// Behind a joint only this is politeness: "stop iventoy and blue" may name two.
const POLITE: &str =
    "please thanks thank you now right away bitte danke jetzt sofort schnell quickly asap ok okay";
const JOINTS: &str = "and then but also und dann aber";

/// A name has no more words than this.
pub(super) const NAME_WORDS_MAX: usize = 4;

/// A part of a sentence without marks, joints and politeness.
pub(super) struct Clause {
    pub words: Vec<String>,
    /// "can you …": a question mark belongs to it.
    asks_you: bool,
    /// "kannst du …": the verb stands last.
    asks_du: bool,
}

pub(super) fn is_joint(word: &str) -> bool {
    is_one_of(word, JOINTS)
}

pub(super) fn parts_of(sentence: &Sentence) -> Vec<Clause> {
    let is_joint = |word: &String| word == MARK || is_joint(word);
    let mut clauses: Vec<Clause> = Vec::new();
    let mut joint = None;
    for part in sentence.words.split_inclusive(is_joint) {
        let (words, next) = match part.split_last() {
            Some((last, front)) if is_joint(last) => (front, Some(last.as_str())),
            _ => (part, None),
        };
        let mut clause = Clause::read(words, clauses.is_empty());
        let is_joined = joint.is_some_and(|joint| joint != MARK) && !clauses.is_empty();
        if is_joined && clause.words.is_empty() && !words.iter().all(|it| is_one_of(it, POLITE)) {
            clause.words = words.to_vec();
        }
        if !clause.words.is_empty() {
            clauses.push(clause);
        }
        joint = next;
    }
    clauses
}

impl Clause {
    pub(super) fn of(words: &[String]) -> Self {
        Self::read(words, true)
    }

    fn read(words: &[String], is_first: bool) -> Self {
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
            } else {
                let is_lead = take_front(&mut clause.words, LEADS)
                    || is_first && take_front(&mut clause.words, GREETINGS);
                if !is_lead {
                    break;
                }
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
        verbs::imperative(&self.words).or_else(|| self.named_and_done())
    }

    /// "grafana neu starten": a name and an infinitive behind it, and nothing else.
    fn named_and_done(&self) -> Option<Order> {
        const NO_NAMES: &str =
            "moechte moechten wuerde muesste muessen sollten lieber wollen wollten zu um";
        let (name, verb) = verbs::infinitive(&self.words)?;
        let is_name = |word: &String| {
            is_one_of(word, ARTICLES)
                || !(cues::is_empty(word) || is_one_of(word, NO_NAMES) || is_interrogative(word))
        };
        let fits = !name.is_empty() && name.len() <= NAME_WORDS_MAX && name.iter().all(is_name);
        let is_plain =
            fits && !self.asks_you && verb != Verb::Mend && !self.words.iter().any(|it| it == "zu");
        is_plain.then(|| Order {
            verb,
            target: name.to_vec(),
        })
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
