//! What the catalogue has: what she can do, how something is ordered, what an action does.

use serde_json::json;

use super::acts;
use super::intents::{RULES, first_of, with_actions};
use super::known::{Known, known};
use super::looks;
use super::orders::Heard;
use super::targets::named_in;
use super::topics::Topic;
use super::verbs::Verb;
use super::words::Sentence;
use super::{Knowledge, Next};

pub(super) fn line_of(action: &Known) -> String {
    format!("- {} (`{}`)", action.label, action.id)
}

pub(super) fn abilities(turn: &Knowledge<'_>) -> Next {
    with_actions(turn, |actions| {
        let part = |is_safe: bool| {
            let actions = actions.iter().filter(|action| action.is_safe == is_safe);
            actions.map(line_of).collect::<Vec<_>>().join("\n")
        };
        let (safe, risky) = (part(true), part(false));
        let mut said = format!("{RULES} I can look at services and tell what the record says");
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
    Next::say(format!("{}\n\nNothing was run.", lines.join("\n")))
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
