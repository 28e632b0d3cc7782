//! What was said, and what follows from it: an answer to her question, an order, a subject to talk about,
//! or something that she does not understand.

use serde_json::json;

use super::acts;
use super::doubts;
use super::orders::{Heard, Order, hear};
use super::questions::{Question, Said, reply};
use super::results::trouble;
use super::targets::{CHOICES_MAX, Choice, Known, choose, known, named_in};
use super::topics;
use super::words::Sentence;
use super::{Knowledge, Next};

pub(super) const RULES: &str =
    "I am the built-in rule brain: I know a few kinds of questions and no more.";

pub(super) fn next(turn: &Knowledge<'_>) -> Next {
    let sentence = Sentence::read(turn.said);
    let heard = hear(&sentence);
    if let (Some(question), false) = (&turn.asked, matches!(heard, Heard::Orders(_)))
        && let Some(next) = answered(turn, question, &sentence)
    {
        return next;
    }
    if wants_approval(&sentence) {
        return Next::say(
            "Only you approve, and not through me: `void inbox ls` shows what waits, \
             `void inbox approve CODE` says yes.",
        );
    }
    match heard {
        Heard::Orders(orders) if !topics::is_about_everything(&sentence) => {
            with_actions(turn, |actions| ordered(turn, &sentence, &orders, actions))
        }
        heard => match topics::of(&sentence).filter(|topic| topic.fits(&sentence, &heard)) {
            Some(topic) => topic.next(turn, &sentence, &heard),
            None => doubts::next(turn, &sentence, &heard),
        },
    }
}

/// Whether she is asked to say yes in the owner's place.
fn wants_approval(sentence: &Sentence) -> bool {
    let words = ["approve", "approved", "genehmige", "genehmigen", "confirm"];
    let begins = words.iter().any(|word| {
        let please = format!("please {word}");
        sentence.begins_with(&[word, &please])
    });
    begins || (sentence.has_any(&words) && topics::of(sentence).is_none())
}

/// Looks the catalogue up first; what she asked about may be gone from it.
pub(super) fn with_actions(turn: &Knowledge<'_>, then: impl FnOnce(&[Known]) -> Next) -> Next {
    let Some(found) = turn.result("list_actions") else {
        return Next::look("list_actions", json!({}));
    };
    match trouble(found) {
        Some(said) => Next::say(said),
        None => then(&known(found)),
    }
}

/// `None`: it has nothing to do with the question.
fn answered(turn: &Knowledge<'_>, question: &Question, sentence: &Sentence) -> Option<Next> {
    let ids = question.ids();
    let wanted: Vec<String> = match (reply(sentence), question) {
        (Said::No, _) => return Some(Next::say("Good, I leave it as it is. Nothing was run.")),
        (Said::Yes, Question::Run(id)) => vec![id.clone()],
        (Said::All, _) => ids.to_vec(),
        (Said::Nth(position), Question::Which(ids)) => {
            ids.get(position).into_iter().cloned().collect()
        }
        (Said::Yes | Said::Nth(_), _) => return Some(Next::ask("One of them, or both?", question)),
        (Said::YesBut, _) if topics::of(sentence).is_none() => {
            return Some(Next::say(
                "That is a yes with a but, so I leave it. Nothing was run. Tell me when it is time.",
            ));
        }
        (Said::YesBut, _) => return None,
        (Said::Other, _) => return bare_name(turn, question, sentence),
    };
    Some(with_actions(turn, |actions| {
        let mut chosen = Vec::new();
        for id in &wanted {
            match actions.iter().find(|action| action.id == *id) {
                Some(action) => chosen.push(action),
                None => {
                    return Next::say(format!(
                        "`{id}` is not in the catalogue any more, so I cannot ask for it. Nothing was run."
                    ));
                }
            }
        }
        acts::act(turn, &chosen)
    }))
}

/// A name alone picks from what she asked about, and from nothing else.
fn bare_name(turn: &Knowledge<'_>, question: &Question, sentence: &Sentence) -> Option<Next> {
    let target: Vec<String> = sentence.spoken().map(str::to_owned).collect();
    let is_plain = !sentence.has_question_mark && !sentence.has_quotes && target.len() <= 4;
    if !is_plain || target.is_empty() {
        return None;
    }
    let found = turn.result("list_actions");
    let Some(found) = found else {
        // Whether it is a name shows only with the catalogue.
        let talks = topics::of(sentence).is_some();
        return (!talks).then(|| Next::look("list_actions", json!({})));
    };
    let actions: Vec<Known> = known(found)
        .into_iter()
        .filter(|action| question.ids().contains(&action.id))
        .collect();
    let fits = |action: &&Known| super::targets::is_called(action, &target);
    let fitting: Vec<&Known> = actions.iter().filter(fits).collect();
    match fitting.as_slice() {
        [one] => Some(acts::act(turn, &[one])),
        _ => None,
    }
}

fn ordered(turn: &Knowledge<'_>, sentence: &Sentence, orders: &[Order], actions: &[Known]) -> Next {
    if let [order] = orders {
        return match choose(order, actions) {
            Choice::Exact(action) => acts::act(turn, &[action]),
            Choice::Several(found) | Choice::Guessed(found) => {
                acts::offer(turn, "", first_of(&found))
            }
            Choice::Nothing => unknown_target(turn, sentence, order, actions),
        };
    }
    // More than one at a time is asked about, in the order in which it was said.
    let mut found: Vec<&Known> = Vec::new();
    for order in orders {
        if let Choice::Exact(action) = choose(order, actions)
            && !found.iter().any(|known| known.id == action.id)
        {
            found.push(action);
        }
    }
    let said = match found.len() == orders.len() {
        true => "One thing at a time.",
        false => "I did not understand all of that.",
    };
    acts::offer(turn, said, first_of(&found))
}

pub(super) fn first_of<'a, 'b>(found: &'a [&'b Known]) -> &'a [&'b Known] {
    found.get(..found.len().min(CHOICES_MAX)).unwrap_or(found)
}

/// An order whose words do not all fit: asks for what it may mean, or says what there is.
fn unknown_target(
    turn: &Knowledge<'_>,
    sentence: &Sentence,
    order: &Order,
    actions: &[Known],
) -> Next {
    let spoken: Vec<String> = sentence.spoken().map(str::to_owned).collect();
    let near = named_in(&spoken, Some(order.verb), actions);
    if !near.is_empty() {
        return acts::offer(turn, "I did not understand all of that.", first_of(&near));
    }
    let operations = order.verb.operations();
    let ids: Vec<String> = actions
        .iter()
        .filter(|action| operations.is_empty() || operations.contains(&action.operation.as_str()))
        .take(CHOICES_MAX)
        .map(|action| format!("`{}`", action.id))
        .collect();
    let there_are = match ids.is_empty() {
        true => "There is none of that kind.".to_owned(),
        false => format!("Of that kind there are: {}.", ids.join(", ")),
    };
    if doubts::is_pronoun(&order.target) {
        return Next::say(format!(
            "{there_are}\n\nWhat should I {}?",
            order.verb.spoken()
        ));
    }
    Next::say(format!("I know no action for that. {there_are}"))
}
