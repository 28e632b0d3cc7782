//! What she says to something that speaks of an action and is no order: never an act. Where it is clear
//! which action is meant, she asks; a time, a condition or a no is answered.

use super::doubts::{Doubt, lets_be};
use super::intents::{RULES, first_of, with_actions};
use super::known::Known;
use super::orders::Heard;
use super::questions::{Said, reply};
use super::targets::{Choice, choose, named_in};
use super::verbs::{self, Order, Verb};
use super::words::{Sentence, is_one_of};
use super::{Knowledge, Next, acts, catalogue, looks, orders, requests};

/// A no of so few words, about nothing in particular, is an answer.
const NO_WORDS_MAX: usize = 4;
/// A verb and hardly more wants a name.
const ASKED_BACK_WORDS_MAX: usize = 3;

pub(super) fn next(turn: &Knowledge<'_>, sentence: &Sentence, heard: &Heard) -> Next {
    match heard {
        Heard::Doubted {
            doubt, first, verb, ..
        } => doubted(turn, sentence, *doubt, first.as_ref(), *verb),
        Heard::Nothing(Some(Doubt::Negated)) if lets_be(sentence) => leaves_it(turn),
        Heard::Nothing(_) | Heard::Orders(_) => unclear(turn, sentence, heard),
    }
}

fn leaves_it(turn: &Knowledge<'_>) -> Next {
    requests::leaves_it(turn, "Good, I leave everything as it is. Nothing was run.")
}

/// Why nothing was done.
pub(super) const fn told(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::Negated => "I leave it alone: nothing was run.",
        Doubt::Condition => {
            "I cannot wait for a condition: what I do, I do at once. Nothing was run."
        }
        Doubt::Time => {
            "That speaks of another time, and I cannot keep one: what I do, I do at once. Nothing was run."
        }
        Doubt::Quoted => {
            "Those look like somebody's words, so I cannot take them for an order. Say it plainly, without \
             quotes and signs, if it is yours."
        }
        Doubt::Question => "You ask, so I did nothing yet.",
        Doubt::Words => "I am not sure that this is an order.",
    }
}

fn doubted(
    turn: &Knowledge<'_>,
    sentence: &Sentence,
    doubt: Doubt,
    first: Option<&Order>,
    verb: Verb,
) -> Next {
    let said = told(doubt);
    match (doubt, first) {
        (Doubt::Question | Doubt::Words, _) => with_actions(turn, |actions| {
            let found = match mentioned(sentence, verb, actions) {
                // Of "off and on again" only the first half may be there.
                found if found.is_empty() && verb == Verb::Restart && is_cycle(sentence) => {
                    mentioned(sentence, Verb::Stop, actions)
                }
                found => found,
            };
            match found.is_empty() {
                true => nothing_known(verb, sentence),
                false if found.len() > 1 => {
                    acts::offer(turn, "One thing at a time.", first_of(&found))
                }
                false => acts::offer(turn, said, first_of(&found)),
            }
        }),
        // "restart caddy and don't touch grafana": a no belongs to its clause, a condition and a time do not.
        (Doubt::Negated, Some(order)) => {
            with_actions(turn, |actions| match choose(order, actions) {
                Choice::Exact(action) => {
                    acts::offer(turn, "I did not understand all of that.", &[action])
                }
                Choice::Guessed(_) | Choice::Several(_) | Choice::Nothing => {
                    requests::leaves_it(turn, said)
                }
            })
        }
        (Doubt::Negated, _) => requests::leaves_it(turn, said),
        (Doubt::Condition | Doubt::Time | Doubt::Quoted, _) => Next::say(said),
    }
}

/// The actions that a sentence speaks of.
pub(super) fn mentioned<'a>(
    sentence: &Sentence,
    verb: Verb,
    actions: &'a [Known],
) -> Vec<&'a Known> {
    named_in(&sentence.owned(), Some(verb), actions)
}

fn is_cycle(sentence: &Sentence) -> bool {
    let words: Vec<&str> = sentence.spoken().collect();
    verbs::is_cycle(&words)
}

fn nothing_known(verb: Verb, sentence: &Sentence) -> Next {
    if verb != Verb::Mend && sentence.spoken().count() <= ASKED_BACK_WORDS_MAX {
        return Next::say(format!("What should I {}?", verb.spoken()));
    }
    Next::say("I know no action for that. *What can you do?* lists what there is.")
}

pub(super) fn is_pronoun(target: &[String]) -> bool {
    const PRONOUNS: &str = "it that this them one something es das ihn sie den was";
    target.iter().all(|word| is_one_of(word, PRONOUNS))
}

/// Whether it can only answer a question.
pub(super) fn is_answer(sentence: &Sentence) -> bool {
    matches!(
        reply(sentence),
        Said::Yes | Said::All | Said::Nth(_) | Said::Last
    )
}

/// A name without anything that tells why is looked at or asked about; the rest she does not understand.
fn unclear(turn: &Knowledge<'_>, sentence: &Sentence, heard: &Heard) -> Next {
    if is_answer(sentence) {
        return Next::say("Yes to what? I have asked nothing just now.");
    }
    let words = sentence.owned();
    if words.is_empty() {
        return not_understood(turn, &[]);
    }
    if let Some(next) = looks::named_without_topic(turn, sentence, heard) {
        return next;
    }
    with_actions(turn, |actions| {
        let found = named_in(&words, None, actions);
        match found.is_empty() {
            true if heard.doubt() == Some(Doubt::Negated) && words.len() <= NO_WORDS_MAX => {
                leaves_it(turn)
            }
            true if turn.asked.is_some() && !orders::asks(sentence) => {
                Next::say("That is no yes, so I leave it as it is. Nothing was run.")
            }
            true => not_understood(turn, actions),
            false => acts::offer(turn, "What about it?", first_of(&found)),
        }
    })
}

fn not_understood(turn: &Knowledge<'_>, actions: &[Known]) -> Next {
    if turn.has_tool("propose_change") {
        return Next::say(format!(
            "I did not understand that. {RULES} Try: *what are my open tasks?*, *search for backups*, *read out* with a title, \
             *make a task: renew the certificate*, *note that the spare key is in the drawer*, *what can you do?*"
        ));
    }
    let order = catalogue::example(actions).map(|order| format!("*{order}*, "));
    Next::say(format!(
        "I did not understand that. {RULES} Try: *what is wrong?*, *how is everything?*, {}*what waits for me?*, \
         *what happened today?*, *what can you do?*",
        order.unwrap_or_default()
    ))
}
