//! What was said, and what follows from it: an answer to her question, an order, a subject to talk about,
//! or something that she does not understand.

use serde_json::json;

use super::clauses::NAME_WORDS_MAX;
use super::known::{Known, known};
use super::orders::{self, Heard, hear};
use super::questions::{Question, Said, more_than_yes, reply};
use super::results::{text, trouble};
use super::services::{is_fine, told, with_services};
use super::targets::{CHOICES_MAX, Choice, choose, is_called, named_besides, named_in};
use super::verbs::{Order, Verb};
use super::words::{Sentence, is_one_of};
use super::{
    Knowledge, Next, acts, kinship, looks, notes, pasted, records, requests, topics, unclear, undo,
    unsupported,
};

pub(super) const RULES: &str =
    "I am the built-in rule brain: I know a few kinds of questions and no more.";

pub(super) fn next(turn: &Knowledge<'_>) -> Next {
    let sentence = Sentence::read(turn.said);
    if pasted::is_pasted(turn.said, &sentence) {
        return pasted::next(turn, &sentence);
    }
    if let Some(next) = notes::next(turn) {
        return next;
    }
    let heard = hear(&sentence);
    if let Some(question) = &turn.asked
        && let Some(next) = answered(turn, question, &sentence, &heard)
    {
        return next;
    }
    let about_requests = match turn.asked {
        None => requests::next(turn, &sentence),
        Some(_) => requests::beside_a_question(turn, &sentence),
    };
    if let Some(next) = about_requests {
        return next;
    }
    if records::is_own_deed(&sentence) {
        return records::own_deed(turn, &sentence);
    }
    if wants_approval(&sentence) {
        return Next::say(
            "Only you approve, and not through me: `void inbox ls` shows what waits, \
             `void inbox approve CODE` says yes.",
        );
    }
    if let Some(next) = unsupported::next(turn, &sentence, &heard) {
        return next;
    }
    match heard {
        Heard::Orders(orders) if !topics::is_about_everything(&sentence) => {
            with_actions(turn, |actions| ordered(turn, &sentence, &orders, actions))
        }
        heard => {
            if let Some(next) = topics::once_more(turn, &sentence) {
                return next;
            }
            let asks = orders::asks(&sentence);
            let is_answer = unclear::is_answer(&sentence);
            // Beside her question a hint is not enough: what is no answer to it is left alone.
            let is_hint_enough = asks || (turn.asked.is_none() && !is_answer);
            let about = topics::of(turn, &sentence)
                .filter(|about| about.fits(&sentence, &heard, asks))
                .filter(|about| about.is_strong || is_hint_enough);
            match about {
                Some(about) if about.is_weak => looks::named_without_topic(turn, &sentence, &heard)
                    .unwrap_or_else(|| about.topic.next(turn, &sentence, &heard)),
                Some(about) => about.topic.next(turn, &sentence, &heard),
                None => unclear::next(turn, &sentence, &heard),
            }
        }
    }
}

/// Whether she is asked to say yes in the owner's place.
fn wants_approval(sentence: &Sentence) -> bool {
    const VERBS: &str = "approve confirm genehmige bestaetige";
    const INFINITIVES: &str = "approve confirm genehmigen freigeben bestaetigen";
    let words: Vec<&str> = sentence.spoken().collect();
    let words = match words.as_slice() {
        ["please" | "bitte" | "just", rest @ ..] => rest,
        words => words,
    };
    match words {
        [
            "can" | "could" | "would" | "kannst" | "koenntest",
            "you" | "du",
            rest @ ..,
        ] => rest.iter().any(|word| is_one_of(word, INFINITIVES)),
        ["yes" | "ja" | "ok", ..] => words.iter().any(|word| is_one_of(word, VERBS)),
        [first, ..] => is_one_of(first, VERBS) || (*first == "gib" && words.contains(&"frei")),
        [] => false,
    }
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
fn answered(
    turn: &Knowledge<'_>,
    question: &Question,
    sentence: &Sentence,
    heard: &Heard,
) -> Option<Next> {
    let said = reply(sentence);
    if let Some(rest) = more_than_yes(sentence)
        && let Some(next) = yes_and_more(turn, question, heard, &rest)
    {
        return Some(next);
    }
    if let (Heard::Orders(orders), false) = (heard, said == Said::No) {
        return ordered_again(turn, question, orders);
    }
    let wanted: Vec<String> = match (said, question) {
        (Said::No, _) => return Some(Next::say("Good, I leave it as it is. Nothing was run.")),
        (Said::Yes, Question::Run(id) | Question::Request(id)) => vec![id.clone()],
        (Said::All, Question::Which(ids)) => ids.clone(),
        (Said::Unsure | Said::All, Question::Run(_) | Question::Request(_)) => {
            return Some(Next::ask("Was that a yes?", question));
        }
        (Said::Nth(position), Question::Which(ids)) if position < ids.len() => {
            ids.get(position).into_iter().cloned().collect()
        }
        (Said::Last, Question::Which(ids)) => ids.last().into_iter().cloned().collect(),
        (Said::Another, Question::Run(_) | Question::Request(_)) => {
            return Some(Next::say("Which one then? Say its name. Nothing was run."));
        }
        (Said::Yes | Said::Unsure | Said::Nth(_) | Said::Last | Said::Another, _) => {
            return Some(Next::ask("Say its name, or say both.", question));
        }
        (Said::YesAnd(rest), _) => {
            if let (Some(id), true) = (question.only(), !orders::asks(sentence))
                && names_operation(id, &rest)
            {
                return Some(run_all(turn, std::slice::from_ref(id)));
            }
            let named = bare_name(turn, question, sentence, &rest);
            return named.or_else(|| yes_but(turn, sentence, &rest));
        }
        (Said::Other(rest), _) => return bare_name(turn, question, sentence, &rest),
    };
    Some(run_all(turn, &wanted))
}

/// "yes, and restart hello too": nothing of it is done before it is clear what all of it is.
fn yes_and_more(
    turn: &Knowledge<'_>,
    question: &Question,
    heard: &Heard,
    rest: &[String],
) -> Option<Next> {
    let verb = match heard {
        Heard::Orders(orders) => orders.first().map(|order| order.verb),
        heard => heard.doubted_verb(),
    };
    let Some(found) = turn.result("list_actions") else {
        return Some(Next::look("list_actions", json!({})));
    };
    let actions = known(found);
    let named = named_in(rest, verb, &actions);
    let asked = question.ids();
    let others = named.iter().filter(|action| !asked.contains(&action.id));
    let others: Vec<String> = others.map(|action| action.id.clone()).collect();
    if others.is_empty() {
        let said = "I did not understand the rest of that, so nothing was run yet.";
        return verb.is_some().then(|| Next::ask(said, question));
    }
    let mut all = [asked, &others].concat();
    all.truncate(CHOICES_MAX);
    Some(Next::ask(
        "One thing at a time: nothing was run yet.",
        &Question::Which(all),
    ))
}

/// "yes, restart": nothing but the operation that the id begins with. "yes, stop" may mean her.
fn names_operation(id: &str, rest: &[String]) -> bool {
    const SAME: [(&str, &str); 3] = [
        ("restart", "restart neustart neustarten"),
        ("reboot", "reboot neustart rebooten"),
        ("start", "start starten"),
    ];
    let said = rest.concat();
    let operation = id.split('-').next().unwrap_or_default();
    let mut same = SAME.iter().filter(|(first, _)| *first == operation);
    same.any(|(_, words)| is_one_of(&said, words))
}

/// What she asked about is looked up again, and done.
fn run_all(turn: &Knowledge<'_>, wanted: &[String]) -> Next {
    with_actions(turn, |actions| {
        let mut chosen = Vec::new();
        for id in wanted {
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
    })
}

/// A yes that something takes back. What is about something else altogether is heard as that.
fn yes_but(turn: &Knowledge<'_>, sentence: &Sentence, rest: &[String]) -> Option<Next> {
    let is_more = topics::of(turn, sentence).is_some_and(|about| about.is_strong);
    let is_all = rest.is_empty() || (!is_more && !orders::asks(sentence));
    is_all.then(|| {
        Next::say(
            "That is a yes with a but, so I leave it. Nothing was run. Tell me when it is time.",
        )
    })
}

/// "restart it" after her question is a yes if it is the operation that she asked about. "stop it" is not:
/// it may mean her.
fn ordered_again(turn: &Knowledge<'_>, question: &Question, orders: &[Order]) -> Option<Next> {
    let [order] = orders else { return None };
    let is_it = |word: &String| is_one_of(word, "it that this es das ihn sie den");
    if !order.target.iter().all(is_it) {
        return None;
    }
    let Some(id) = question.only() else {
        return Some(Next::ask("Say its name, or say both.", question));
    };
    if matches!(order.verb, Verb::Stop | Verb::Shutdown) {
        return Some(Next::say(format!(
            "Good, I leave it. Nothing was run. If you meant `{id}`, say its name."
        )));
    }
    Some(with_actions(turn, |actions| {
        let asked = actions.iter().find(|action| action.id == *id);
        let operations = order.verb.operations();
        let fits = |action: &&Known| {
            order.verb == Verb::Run || operations.contains(&action.operation.as_str())
        };
        match asked.filter(fits) {
            Some(action) => acts::act(turn, &[action]),
            None => Next::ask("That is not what I asked about.", question),
        }
    }))
}

/// A name alone picks from what she asked about, and from nothing else.
fn bare_name(
    turn: &Knowledge<'_>,
    question: &Question,
    sentence: &Sentence,
    target: &[String],
) -> Option<Next> {
    let is_plain = !sentence.has_question_mark && !sentence.has_quotes;
    if !is_plain || target.is_empty() || target.len() > NAME_WORDS_MAX {
        return None;
    }
    let Some(found) = turn.result("list_actions") else {
        // Whether it is a name shows only with the catalogue.
        return Some(Next::look("list_actions", json!({})));
    };
    let actions: Vec<Known> = known(found)
        .into_iter()
        .filter(|action| question.ids().contains(&action.id))
        .collect();
    let fits = |action: &&Known| is_called(action, target);
    let fitting: Vec<&Known> = actions.iter().filter(fits).collect();
    match fitting.as_slice() {
        [one] => Some(acts::act(turn, &[one])),
        _ => None,
    }
}

fn ordered(turn: &Knowledge<'_>, sentence: &Sentence, orders: &[Order], actions: &[Known]) -> Next {
    if let [order] = orders {
        if order.verb == Verb::Rollback && unclear::is_pronoun(&order.target) {
            return undo::next(turn, sentence);
        }
        return match choose(order, actions) {
            Choice::Exact(action) => {
                let others = named_besides(&sentence.owned(), order, action, actions);
                match others.is_empty() {
                    true if order.verb == Verb::Revive => revive(turn, action),
                    true => acts::act(turn, &[action]),
                    false => {
                        let all = [&[action], others.as_slice()].concat();
                        acts::offer(turn, "One thing at a time.", first_of(&all))
                    }
                }
            }
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

/// What is up is not brought back: that would interrupt it, so it is asked.
fn revive(turn: &Knowledge<'_>, action: &Known) -> Next {
    with_services(turn, |services, times| {
        let mut its = services.iter().filter(|service| {
            let id = text(service, "id");
            action.confirmed_by.as_deref() == Some(id)
                || action.works_on(id, text(service, "runs_on"))
        });
        match its.next() {
            Some(service) if is_fine(service) => {
                acts::offer(turn, &told(service, times), &[action])
            }
            _ => acts::act(turn, &[action]),
        }
    })
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
    if let Some(topic) = topics::of_no_action(sentence) {
        return topic.next(turn, sentence, &Heard::Nothing(None));
    }
    let near = named_in(&sentence.owned(), Some(order.verb), actions);
    if !near.is_empty() {
        return acts::offer(turn, "I did not understand all of that.", first_of(&near));
    }
    let before = turn
        .said_before
        .filter(|_| unclear::is_pronoun(&order.target));
    let before = before
        .map(|said| Sentence::read(said).owned())
        .unwrap_or_default();
    let meant = named_in(&before, Some(order.verb), actions);
    if !meant.is_empty() {
        return acts::offer(turn, "", first_of(&meant));
    }
    if let Some(next) = kinship::offered(turn, sentence, order, actions) {
        return next;
    }
    let operations = order.verb.operations();
    let ids: Vec<String> = actions
        .iter()
        .filter(|action| operations.is_empty() || operations.contains(&action.operation.as_str()))
        .map(|action| format!("`{}`", action.id))
        .collect();
    let shown = ids.get(..CHOICES_MAX).unwrap_or(&ids).join(", ");
    let there_are = match ids.len().checked_sub(CHOICES_MAX) {
        _ if ids.is_empty() => "There is none of that kind.".to_owned(),
        None | Some(0) => format!("Of that kind there are: {shown}."),
        Some(more) => {
            format!("Of that kind there are: {shown}, and {more} more (`void actions ls`).")
        }
    };
    if unclear::is_pronoun(&order.target) {
        return Next::say(format!(
            "{there_are}\n\nWhat should I {}?",
            order.verb.spoken()
        ));
    }
    Next::say(format!("I know no action for that. {there_are}"))
}
