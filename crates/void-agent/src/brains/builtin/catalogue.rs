//! What the catalogue has: what she can do, how something is ordered, what an action does.

use serde_json::json;

use super::acts;
use super::intents::{RULES, first_of, with_actions};
use super::known::{Known, known};
use super::looks;
use super::orders::{Heard, hear};
use super::targets::{Choice, choose, named_in};
use super::topics::Topic;
use super::verbs::Verb;
use super::words::Sentence;
use super::{Knowledge, Next};

pub(super) fn line_of(action: &Known) -> String {
    format!("- {} (`{}`)", action.label, action.id)
}

/// An order that would be understood here, with a name of this catalogue.
pub(super) fn example(actions: &[Known]) -> Option<String> {
    let safe = actions.iter().filter(|action| action.is_safe);
    let mut all = safe.chain(actions.iter().filter(|action| !action.is_safe));
    all.find_map(|action| {
        let order = format!("{} {}", action.operation, action.spoken_name()?);
        let Heard::Orders(heard) = hear(&Sentence::read(&order)) else {
            return None;
        };
        let [wish] = heard.as_slice() else {
            return None;
        };
        let is_it =
            matches!(choose(wish, actions), Choice::Exact(chosen) if chosen.id == action.id);
        (is_it && !action.needs_params).then_some(order)
    })
}

pub(super) fn greeting(turn: &Knowledge<'_>) -> Next {
    if turn.has_tool("propose_change") && !turn.may_propose() {
        return Next::say(format!(
            "Hello! {RULES} Ask me *what are my open tasks?* or *search for backups*, or tell me *make a task: renew the \
             certificate*."
        ));
    }
    if !turn.may_propose() {
        return Next::say(format!(
            "Hello! {RULES} Ask me *what was refused today?*, or what happened."
        ));
    }
    with_actions(turn, |actions| {
        let order = example(actions).map(|order| format!(", or tell me *{order}*"));
        let order = order.unwrap_or_default();
        Next::say(format!("Hello! {RULES} Ask me *what is wrong?*{order}."))
    })
}

pub(super) fn abilities(turn: &Knowledge<'_>) -> Next {
    with_actions(turn, |actions| {
        let part = |is_safe: bool| {
            let actions = actions.iter().filter(|action| action.is_safe == is_safe);
            actions.map(line_of).collect::<Vec<_>>().join("\n")
        };
        let (safe, risky) = (part(true), part(false));
        let keeps = match turn.has_tool("propose_change") {
            true => {
                ", find and read out what you keep, and draft tasks and notes (*make a task: …*, *note that …*)"
            }
            false => "",
        };
        let mut said =
            format!("{RULES} I can look at services and tell what the record says{keeps}");
        if safe.is_empty() && risky.is_empty() {
            return Next::say(format!(
                "{said}. The catalogue is empty, so there is nothing I could do."
            ));
        }
        said.push_str(if turn.may_propose() {
            ", and I can name these actions."
        } else {
            ". I may not act; these exist for others."
        });
        if !safe.is_empty() {
            said.push_str(&format!("\n\nAt once:\n{safe}"));
        }
        if !risky.is_empty() {
            said.push_str(&format!("\n\nOnly with your yes:\n{risky}"));
        }
        Next::say(said)
    })
}

/// The actions that a question is about.
fn asked_about<'a>(sentence: &Sentence, heard: &Heard, actions: &'a [Known]) -> Vec<&'a Known> {
    let spoken = sentence.owned();
    let verb = heard.doubted_verb().filter(|verb| *verb != Verb::Mend);
    let found = named_in(&spoken, verb, actions);
    match found.is_empty() {
        true => named_in(&spoken, None, actions),
        false => found,
    }
}

/// "how do I restart caddy?"
pub(super) fn how_to(turn: &Knowledge<'_>, sentence: &Sentence, heard: &Heard) -> Next {
    with_actions(turn, |actions| {
        let found = asked_about(sentence, heard, actions);
        if found.is_empty() {
            return Next::say(
                "`void actions ls` lists what may run here, and `void run ID` runs one. For what I can do, ask \
                 *what can you do?*",
            );
        }
        let lines: Vec<String> = first_of(&found)
            .iter()
            .map(|action| match action.needs_params {
                true => acts::needs_params(action),
                false => format!("- {}: `void run {}`", action.label, action.id),
            })
            .collect();
        Next::say(format!(
            "{}\n\nOr order it here. Nothing was run.",
            lines.join("\n")
        ))
    })
}

/// "what does restart-caddy do?", "is it safe to reboot ct100?"
pub(super) fn explain_action(turn: &Knowledge<'_>, sentence: &Sentence, heard: &Heard) -> Next {
    let Some(found) = turn.result("list_actions") else {
        return Next::look("list_actions", json!({}));
    };
    let actions = known(found);
    let found = asked_about(sentence, heard, &actions);
    if found.is_empty() {
        return looks::how_it_is(turn, Topic::Explain, sentence, heard);
    }
    let lines: Vec<String> = first_of(&found)
        .iter()
        .map(|action| explained(action))
        .collect();
    let depends = match is_about_harm(sentence) {
        true => {
            "\n\nWhat depends on it, nobody has told me: while it is away, whatever needs it waits or fails. More than its \
                 check I do not see."
        }
        false => "",
    };
    Next::say(format!("{}{depends}\n\nNothing was run.", lines.join("\n")))
}

/// "can restarting caddy break anything?"
fn is_about_harm(sentence: &Sentence) -> bool {
    sentence.has_any(
        "break breaks harm hurt hurts damage interrupt interrupts affect affects affected depends depend safe sicher \
         schaden schadet kaputt kaputtgehen betroffen haengt risky gefaehrlich dangerous",
    )
}

fn explained(action: &Known) -> String {
    let tier = match action.is_safe {
        true => "It is safe: it runs at once",
        false => "It is risky: it waits for your yes",
    };
    let check = match &action.confirmed_by {
        Some(service) => format!("; afterwards the check of {service} tells whether it helped"),
        None => String::new(),
    };
    let back = match &action.inverse {
        Some(inverse) => format!(" `{inverse}` undoes it."),
        None => String::new(),
    };
    format!(
        "- `{}` ({}): {} {}. {tier}{check}.{back}",
        action.id, action.label, action.operation, action.place
    )
}
