//! Doing what was plainly asked for: she says what and by which id, then names it to the tool. The reason
//! is what was said, quoted; it claims nothing.

use serde_json::{Value, json};
use void_domain::text as texts;

use super::known::Known;
use super::questions::Question;
use super::results::text;
use super::{Knowledge, Next};

const QUOTE_BYTES_MAX: usize = 400;

/// Names the actions one after the other. The first that comes to nothing ends it.
pub(super) fn act(known: &Knowledge<'_>, actions: &[&Known]) -> Next {
    let made: Vec<&Value> = known
        .results("propose_action")
        .map(|(_, result)| result)
        .collect();
    let went_wrong = made.last().is_some_and(|result| !is_under_way(result));
    if let Some(action) = actions.get(made.len()).filter(|_| !went_wrong) {
        return first_step(known, action);
    }
    let lines: Vec<String> = actions
        .iter()
        .zip(&made)
        .map(|(action, result)| format!("{}: {}", action.label, came_of_it(result)))
        .collect();
    let mut said = lines.join("\n");
    let rest = actions.get(made.len()..).unwrap_or_default();
    if !rest.is_empty() {
        let ids: Vec<String> = rest
            .iter()
            .map(|action| format!("`{}`", action.id))
            .collect();
        said.push_str(&format!("\nI did not go on to {}.", ids.join(", ")));
    }
    Next::say(said)
}

fn first_step(known: &Knowledge<'_>, action: &Known) -> Next {
    let (id, label) = (&action.id, &action.label);
    if !known.may_propose() {
        return Next::say(format!(
            "That would be `{id}` ({label}). I may only look; it is yours to run: `void run {id}`."
        ));
    }
    if known.is_second_attempt {
        return Next::say(format!(
            "My first attempt at this was cut off, and Void's line says what it did. I do not repeat it by \
             myself. If `{id}` is still needed, say so again."
        ));
    }
    if action.needs_params {
        return Next::say(needs_params(action));
    }
    let saying = match action.is_safe {
        true => format!("I run `{id}` ({label}) now."),
        false => format!("I ask for `{id}` ({label}); it waits for your yes."),
    };
    let arguments = json!({"action_id": id, "reason": reason(known)});
    match Next::look("propose_action", arguments) {
        Next::Use {
            tool, arguments, ..
        } => Next::Use {
            saying: Some(saying),
            tool,
            arguments,
        },
        said @ Next::Say(_) => said,
    }
}

pub(super) fn needs_params(action: &Known) -> String {
    format!(
        "`{id}` ({label}) takes values, and I do not guess them: `void actions show {id}` names them, \
         `void run {id} --param NAME=VALUE` asks for it.",
        id = action.id,
        label = action.label
    )
}

/// What was said, as a quotation that cannot end itself.
fn reason(known: &Knowledge<'_>) -> String {
    let said = texts::escaped(texts::cut(known.said.trim(), QUOTE_BYTES_MAX)).replace('"', "'");
    match &known.asked {
        Some(question) => format!(
            "Said in this chat: \"{said}\", after \"{}\"",
            question.line()
        ),
        None => format!("Said in this chat: \"{said}\""),
    }
}

fn is_under_way(result: &Value) -> bool {
    let outcome = text(result, "outcome");
    ["executed", "queued", "running"].contains(&outcome)
}

/// Asks whether one of these is meant, or says why it cannot be.
pub(super) fn offer(known: &Knowledge<'_>, before: &str, actions: &[&Known]) -> Next {
    let ids: Vec<String> = actions.iter().map(|action| action.id.clone()).collect();
    match actions {
        [] => Next::say(before),
        [action] if action.needs_params => {
            Next::say(format!("{before}\n\n{}", needs_params(action)))
        }
        [action] if !known.may_propose() => Next::say(format!(
            "{before}\n\n`{id}` ({}) may help; I may only look, so it is yours to run: `void run {id}`.",
            action.label,
            id = action.id
        )),
        [action] => Next::ask(before, &Question::Run(action.id.clone())),
        _ if known.may_propose() => Next::ask(before, &Question::Which(ids)),
        _ => Next::say(format!(
            "{before}\n\nThere are {}; I may only look, so they are yours to run.",
            ids.join(", ")
        )),
    }
}

pub(super) fn came_of_it(result: &Value) -> String {
    if let Some(error) = result.get("error") {
        return format!("I could not do it: {}", text(error, "message"));
    }
    let code = text(result, "code");
    let reason = text(result, "reason").replace('_', " ");
    match (text(result, "outcome"), text(result, "verification")) {
        ("executed", "verified") => "It ran, and the check confirmed it.".to_owned(),
        ("executed", "failed") => "It ran, but the check says that it did not help.".to_owned(),
        ("executed", _) => "It ran, but nobody has confirmed that it helped.".to_owned(),
        ("queued", _) => format!(
            "It waits for your yes: **{code}**. Nothing has run. `void inbox approve {code}` says yes."
        ),
        ("running", _) => {
            format!("It is still running ({code}). Ask me *did it work?* in a moment.")
        }
        ("unknown", _) => format!("Whether it ran is not known ({code}); I will not repeat it."),
        (_, _) if reason.is_empty() => format!("It did not run: {}", text(result, "meaning")),
        (_, _) => format!("It did not run ({reason}). {}", text(result, "meaning")),
    }
}
