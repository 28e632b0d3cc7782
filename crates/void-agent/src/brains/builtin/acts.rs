//! Doing what was plainly asked for: she says what and by which id, then names it to the tool. The reason
//! is what was said, quoted; it claims nothing.

use serde_json::{Value, json};
use void_domain::proposals::DisplayState;
use void_domain::text as texts;

use super::known::Known;
use super::questions::Question;
use super::requests::{QUEUED, WAITS_ALREADY};
use super::results::{list, standing, text};
use super::times::Times;
use super::{Knowledge, Next};

const QUOTE_BYTES_MAX: usize = 400;

/// How she says that an order changes nothing. The same order right after it is meant.
const CHANGES_NOTHING: &str = "would change nothing";

/// Names the actions one after the other. The first that comes to nothing ends it. What would change nothing is said
/// to be so, and asked for only if the owner says it again.
pub(super) fn act(known: &Knowledge<'_>, actions: &[&Known]) -> Next {
    let (idle, actions): (Vec<&Known>, Vec<&Known>) =
        actions.iter().partition(|action| is_idle(known, action));
    let idle: Vec<String> = idle.into_iter().map(changes_nothing).collect();
    if actions.is_empty() {
        return Next::say(idle.join("\n"));
    }
    match act_on(known, &actions) {
        Next::Say(said) if !idle.is_empty() => Next::say(format!("{}\n{said}", idle.join("\n"))),
        next => next,
    }
}

/// Whether its guest is as it would make it, and the owner has not just been told so.
fn is_idle(known: &Knowledge<'_>, action: &Known) -> bool {
    let told = format!("`{}` {CHANGES_NOTHING}", action.id);
    let is_told = known.said_last.is_some_and(|said| said.contains(&told));
    action.already.is_some() && known.may_propose() && !is_told
}

fn changes_nothing(action: &Known) -> String {
    format!(
        "`{}` {CHANGES_NOTHING}: Proxmox says that {} is {} already. I asked for nothing; say it again if you want it all the same.",
        action.id,
        action.place,
        action.already.as_deref().unwrap_or_default()
    )
}

fn act_on(known: &Knowledge<'_>, actions: &[&Known]) -> Next {
    let made: Vec<&Value> = known
        .results("propose_action")
        .map(|(_, result)| result)
        .collect();
    let went_wrong = made.last().is_some_and(|result| !is_under_way(result));
    if let Some(action) = actions.get(made.len()).filter(|_| !went_wrong) {
        return first_step(known, action);
    }
    let now = known.result("list_actions").map_or("", |it| text(it, "at"));
    let times = Times::at(now);
    let lines: Vec<String> = actions
        .iter()
        .zip(&made)
        .map(|(action, result)| format!("{}: {}", action.label, came_of_it(result, &times)))
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
    let arguments = json!({"action_id": id, "reason": reason(known)});
    let saying = match action.is_safe {
        // What will hardly run is not announced: the gate says, and that is told once.
        true if action.again.is_some() || is_frozen(known) => {
            return Next::look("propose_action", arguments);
        }
        true => format!("{}I run `{id}` ({label}) now.", quoted(action)),
        false => format!(
            "{}I ask for `{id}` ({label}); it waits for your yes.",
            quoted(action)
        ),
    };
    Next::saying(saying, "propose_action", arguments)
}

/// What the owner's own runbook says of it, before what she does: the words are the owner's and no order to her.
fn quoted(action: &Known) -> String {
    let Some((title, says)) = &action.runbook else {
        return String::new();
    };
    // Marks of bold are hers: by them she finds the codes of her own requests.
    let [title, says] = [title, says].map(|words| words.replace("**", ""));
    let says = texts::words_in_quotes(&says);
    format!("Your runbook “{}” says: {says} ", texts::escaped(&title))
}

fn is_frozen(known: &Knowledge<'_>) -> bool {
    let actions = known.result("list_actions");
    actions.is_some_and(|found| found.get("frozen") == Some(&Value::Bool(true)))
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
pub(super) fn reason(known: &Knowledge<'_>) -> String {
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

/// Asks whether one of these is meant, or says why it cannot be: it is cooling down, or somebody asked for it
/// already.
pub(super) fn offer(known: &Knowledge<'_>, before: &str, actions: &[&Known]) -> Next {
    let needs_yes = actions.iter().any(|action| !action.is_safe);
    let looks = needs_yes && known.may_propose() && known.has_tool("recent_activity");
    if looks && known.result("recent_activity").is_none() {
        return Next::look("recent_activity", json!({}));
    }
    let mut said = before.to_owned();
    let mut open: Vec<&Known> = Vec::new();
    for action in actions {
        let waiting = known.result("recent_activity").filter(|_| looks);
        match why_not(action, waiting) {
            Some(why) => said.push_str(&format!("\n\n{why}")),
            None => open.push(action),
        }
    }
    if let [action] = open.as_slice() {
        said.push_str(&format!("\n\n{}", quoted(action).trim_end()));
    }
    ask_for(known, said.trim(), &open)
}

fn why_not(action: &Known, activity: Option<&Value>) -> Option<String> {
    let (id, label) = (&action.id, &action.label);
    if let Some(again) = &action.again {
        return Some(format!(
            "`{id}` ({label}) ran a moment ago and is cooling down: {again}."
        ));
    }
    if let Some(already) = &action.already {
        return Some(format!(
            "`{id}` {CHANGES_NOTHING}: {} is {already} already.",
            action.place
        ));
    }
    let mut waiting = activity
        .map_or(&[][..], |found| list(found, "waiting"))
        .iter();
    let row = waiting.find(|row| text(row, "action_id") == *id)?;
    let code = text(row, "code");
    Some(format!(
        "`{id}` {WAITS_ALREADY}{code}**. `void inbox approve {code}` says yes, `void inbox reject {code}` no, or the buttons on \
         its card."
    ))
}

fn ask_for(known: &Knowledge<'_>, before: &str, actions: &[&Known]) -> Next {
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
        [action] if action.is_safe => Next::ask(before, &Question::Run(action.id.clone())),
        [action] => Next::ask(before, &Question::Request(action.id.clone())),
        _ if known.may_propose() => {
            let risky = actions.iter().filter(|action| !action.is_safe);
            let risky: Vec<String> = risky.map(|action| format!("`{}`", action.id)).collect();
            let said = match risky.is_empty() {
                true => before.to_owned(),
                false => format!("{before}\n\n{} would wait for your yes.", risky.join(", ")),
            };
            Next::ask(&said, &Question::Which(ids))
        }
        _ => Next::say(format!(
            "{before}\n\nThere are {}; I may only look, so they are yours to run.",
            ids.join(", ")
        )),
    }
}

pub(super) fn came_of_it(result: &Value, times: &Times) -> String {
    if let Some(error) = result.get("error") {
        return format!("I could not do it: {}", text(error, "message"));
    }
    let code = text(result, "code");
    let reason = text(result, "reason").replace('_', " ");
    let shown = standing(result);
    let clause = shown.map_or("", DisplayState::clause);
    match shown {
        Some(DisplayState::Waiting) => {
            // Each surface has its own way to say yes right below.
            format!("{QUEUED}{code}**. Nothing has run.")
        }
        Some(
            DisplayState::Starting
            | DisplayState::WaitsForTarget
            | DisplayState::HeldByFreeze
            | DisplayState::HeldFromAbove,
        ) => format!("It {clause} ({code}). Nothing has run."),
        Some(DisplayState::Running | DisplayState::BeingChecked) => {
            format!("It {clause} ({code}). Ask me *did it work?* in a moment.")
        }
        Some(DisplayState::Verified | DisplayState::CheckFailed | DisplayState::Unconfirmed) => {
            format!("It {clause}.")
        }
        Some(DisplayState::Failed) if reason.is_empty() => format!("It {clause} ({code})."),
        Some(DisplayState::Failed) => format!("It {clause} ({reason})."),
        Some(DisplayState::Unknown) => {
            format!("It {clause}, nobody knows ({code}); I will not repeat it.")
        }
        Some(
            DisplayState::Rejected
            | DisplayState::Expired
            | DisplayState::Lapsed
            | DisplayState::Withdrawn
            | DisplayState::Refused,
        )
        | None => did_not_run(result, clause, &reason, times),
    }
}

/// Also where the request became none at all.
fn did_not_run(result: &Value, clause: &str, reason: &str, times: &Times) -> String {
    let (meaning, until) = (text(result, "meaning"), text(result, "until"));
    let (frozen_by, waits_as) = (text(result, "frozen_by"), text(result, "waits_as"));
    if !frozen_by.is_empty() {
        return frozen(frozen_by, until, times);
    }
    if !waits_as.is_empty() {
        return format!(
            "Nothing new was asked for: the same {WAITS_ALREADY}{waits_as}**. Other words about it are taken {}. \
             Nothing has run.",
            times.again(until)
        );
    }
    let said = match clause {
        "" => "It did not run".to_owned(),
        clause => format!("It {clause}. It did not run"),
    };
    match (until, reason) {
        ("", "") => format!("{said}: {meaning}"),
        // Why says more than that it was refused, which is said already.
        ("", reason) => match meaning.split_once("Why: ") {
            Some((_, why)) => format!("{said} ({reason}): {why}"),
            None => format!("{said} ({reason}). {meaning}"),
        },
        (until, reason) => format!("{said} ({reason}): {}.", times.again(until)),
    }
}

/// Who holds everything, until when, and how the owner lets go.
fn frozen(by: &str, until: &str, times: &Times) -> String {
    let until = match until {
        "" => "until you thaw it".to_owned(),
        until => format!("until {}", times.moment(until)),
    };
    format!(
        "It did not run: everything is frozen by {by}, {until}. `void thaw` lets go; say it again then."
    )
}
