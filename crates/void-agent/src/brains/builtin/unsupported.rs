//! What she is asked to do and cannot: what no action of any catalogue does, and more than one thing at a time. Each
//! says so and what there is instead; nothing of it is offered, because none of it would be what was asked for.

use std::sync::LazyLock;

use super::clauses::parts_of;
use super::doubts::{Doubt, is_question};
use super::intents::with_actions;
use super::known::Known;
use super::orders::Heard;
use super::patterns::Pattern;
use super::targets::{CHOICES_MAX, named_in};
use super::topics::{is_about_everything, of_no_action};
use super::verbs::Verb;
use super::words::{Sentence, is_one_of};
use super::{Knowledge, Next};

pub(super) const REMINDER: &str = "I cannot remind you: there are no reminders yet, and what I do, I do at once. Nothing was run.";
pub(super) const UPDATES: &str = "I cannot look for updates: nothing here asks the internet for a newer Void, nor for anything newer of what \
     runs here. `void --version` says which Void this is.";

/// What begins like an order and is no operation that a catalogue could have, and how it is called.
const FOREIGN: [(&str, &str); 9] = [
    (
        "delete remove erase purge loesche loesch entferne entfern",
        "delete",
    ),
    ("destroy wipe format zerstoere formatiere", "destroy"),
    ("install installiere", "install"),
    ("uninstall deinstalliere", "uninstall"),
    ("update upgrade aktualisiere", "update"),
    ("migrate move verschiebe migriere", "move"),
    ("clone copy klone kopiere", "copy"),
    ("rename resize benenne vergroessere", "change"),
    ("create erstelle", "create"),
];
/// The same where a German verb stands last.
const FOREIGN_INFINITIVES: [(&str, &str); 6] = [
    ("loeschen entfernen", "delete"),
    ("zerstoeren formatieren", "destroy"),
    ("installieren deinstallieren", "install"),
    ("aktualisieren updaten", "update"),
    ("verschieben migrieren", "move"),
    ("klonen kopieren", "copy"),
];
const EXCEPT: &str = "everything/all/alles/alle/every except/ausser/besides/but|all/alle/every/the .. except/ausser\
    |all/alle services/containers/vms/guests/dienste/container but/except/ausser|everything/all/alles/alle apart/other/bis|everything/alles ohne/without";
const ALL: &str = "everything all alles alle";
const NOT: &str = "not never no nothing nobody nicht nichts nie niemals kein keine keinen";

static EXCEPTS: LazyLock<Vec<Pattern>> = LazyLock::new(|| Pattern::parse_all(EXCEPT).collect());

pub(super) fn next(turn: &Knowledge<'_>, sentence: &Sentence, heard: &Heard) -> Option<Next> {
    if sentence.has_quotes || sentence.has_any(NOT) || is_about_everything(sentence) {
        return None;
    }
    if let Some(verb) = of_all(sentence, heard) {
        return Some(with_actions(turn, |actions| {
            one_at_a_time(sentence, verb, actions)
        }));
    }
    let what = foreign(sentence).filter(|_| of_no_action(sentence).is_none())?;
    Some(Next::say(format!(
        "I know no action for that: nothing in the catalogue can {what} anything, and there is no other way for me. \
         *What can you do?* lists what there is. Nothing was run."
    )))
}

/// What is to be done to everything, or to everything but something.
fn of_all(sentence: &Sentence, heard: &Heard) -> Option<Verb> {
    let spoken: Vec<&str> = sentence.spoken().collect();
    let has_exception = EXCEPTS.iter().any(|pattern| pattern.is_in(&spoken));
    let (verb, is_all) = match heard {
        Heard::Orders(orders) => match orders.as_slice() {
            [order] => {
                let is_all = |word: &String| is_one_of(word, ALL);
                (
                    order.verb,
                    order.target.iter().all(is_all) && !order.target.is_empty(),
                )
            }
            _ => return None,
        },
        Heard::Doubted {
            doubt: Doubt::Words | Doubt::Negated,
            verb,
            ..
        } => (*verb, false),
        Heard::Doubted { .. } | Heard::Nothing(_) => return None,
    };
    let is_operation = !matches!(verb, Verb::Mend | Verb::Run | Verb::Revive);
    let asks = is_question(sentence, &parts_of(sentence));
    (is_operation && !asks && (is_all || has_exception)).then_some(verb)
}

fn one_at_a_time(sentence: &Sentence, verb: Verb, actions: &[Known]) -> Next {
    let left_out = named_in(&sentence.owned(), Some(verb), actions);
    let operations = verb.operations();
    let ids: Vec<String> = actions
        .iter()
        .filter(|action| operations.contains(&action.operation.as_str()))
        .filter(|action| left_out.iter().all(|named| named.id != action.id))
        .map(|action| format!("`{}`", action.id))
        .collect();
    let spoken = verb.spoken();
    let said = format!("I cannot {spoken} more than one thing at a time. Nothing was run.");
    let shown = ids.get(..CHOICES_MAX).unwrap_or(&ids).join(", ");
    Next::say(match ids.len().checked_sub(CHOICES_MAX) {
        _ if ids.is_empty() => format!("{said} The catalogue has nothing to {spoken}."),
        None | Some(0) => format!("{said} It could be {shown}: say which one."),
        Some(more) => format!("{said} It could be {shown} and {more} more: say which one."),
    })
}

/// What a sentence orders that no catalogue has.
fn foreign(sentence: &Sentence) -> Option<&'static str> {
    let clauses = parts_of(sentence);
    let first = clauses.first()?;
    let is_asked = sentence.has_question_mark && !first.is_polite();
    // "update me" asks for news.
    let is_for_somebody = first
        .words
        .get(1)
        .is_some_and(|word| is_one_of(word, "me us mich uns"));
    if is_asked || is_for_somebody || first.words.len() < 2 {
        return None;
    }
    let of = |word: &String, table: &'static [(&str, &str)]| {
        let mut rows = table.iter();
        rows.find(|(words, _)| is_one_of(word, words))
            .map(|(_, what)| *what)
    };
    let last = first
        .words
        .last()
        .filter(|_| first.is_polite() || first.words.len() <= 3);
    of(first.words.first()?, &FOREIGN).or_else(|| of(last?, &FOREIGN_INFINITIVES))
}
