//! Looking: how services are, what an action is, what there is. A look ends with an offer at most.

use serde_json::{Value, json};

use super::acts::{self, offer};
use super::doubts::mentioned;
use super::intents::{RULES, first_of, with_actions};
use super::orders::{Doubt, Heard, Verb};
use super::results::{list, moment, text, trouble};
use super::targets::{Known, known, named_in};
use super::words::{Sentence, folded, is_slip_of};
use super::{Knowledge, Next};

/// Looks at the services first.
fn with_services(turn: &Knowledge<'_>, then: impl FnOnce(&[Value], &str) -> Next) -> Next {
    let Some(found) = turn.result("service_status") else {
        return Next::look("service_status", json!({}));
    };
    match trouble(found) {
        Some(said) => Next::say(said),
        None => then(list(found, "services"), text(found, "at")),
    }
}

fn why(service: &Value) -> String {
    let reason = text(service, "reason").replace('_', " ");
    match (text(service, "status"), reason.as_str()) {
        ("up", _) => "is up".to_owned(),
        (status, "") => format!("is {status}"),
        (status, reason) => format!("is {status} ({reason})"),
    }
}

fn name(service: &Value) -> &str {
    match text(service, "label") {
        "" => text(service, "id"),
        label => label,
    }
}

fn lines_of<'a>(services: impl Iterator<Item = &'a Value>) -> String {
    let lines: Vec<String> = services
        .map(|service| format!("- {} {}", name(service), why(service)))
        .collect();
    lines.join("\n")
}

const NOBODY_WATCHES: &str = "No service is watched here, so I cannot say how anything is.";

pub(super) fn status(turn: &Knowledge<'_>) -> Next {
    with_services(turn, |services, _| match services.is_empty() {
        true => Next::say(NOBODY_WATCHES),
        false => Next::say(lines_of(services.iter())),
    })
}

/// Looks, and offers the safe actions for what is down.
pub(super) fn check(turn: &Knowledge<'_>, sentence: &Sentence, negated: bool) -> Next {
    with_services(turn, |services, _| {
        let bad: Vec<&Value> = services
            .iter()
            .filter(|service| text(service, "status") != "up")
            .collect();
        if services.is_empty() {
            return Next::say(NOBODY_WATCHES);
        }
        if bad.is_empty() {
            return Next::say(format!("All {} watched services are up.", services.len()));
        }
        let seen = lines_of(bad.iter().copied());
        if negated && sentence.has_any(&["touch", "anything", "nothing", "restart", "do", "nichts"])
        {
            return Next::say(format!("{seen}\n\nI only looked. Nothing was run."));
        }
        with_actions(turn, |actions| {
            let down = bad
                .iter()
                .filter(|service| text(service, "status") == "down");
            let helping: Vec<&Known> = down
                .filter_map(|service| helping(service, actions))
                .collect();
            match helping.is_empty() {
                true => Next::say(format!(
                    "{seen}\n\nI know no safe action for it. *What can you do?* lists what there is."
                )),
                false => offer(turn, &seen, first_of(&helping)),
            }
        })
    })
}

/// The safe action whose check is this service.
fn helping<'a>(service: &Value, actions: &'a [Known]) -> Option<&'a Known> {
    let mut safe = actions.iter().filter(|action| action.is_safe);
    safe.find(|action| action.confirmed_by.as_deref() == Some(text(service, "id")))
}

/// The service that a sentence names; loosely, because it is only looked at.
fn meant<'a>(sentence: &Sentence, services: &'a [Value]) -> Option<&'a Value> {
    const EMPTY: [&str; 24] = [
        "the",
        "a",
        "an",
        "on",
        "of",
        "and",
        "ct",
        "vm",
        "rehearsal",
        "restart",
        "stop",
        "start",
        "reboot",
        "service",
        "is",
        "it",
        "what",
        "how",
        "media",
        "server",
        "up",
        "down",
        "in",
        "my",
    ];
    let scored = services.iter().map(|service| {
        let names = folded(&format!(
            "{} {}",
            text(service, "id"),
            text(service, "label")
        ));
        let names: Vec<&str> = names
            .split(|c: char| !c.is_alphanumeric())
            .filter(|name| !name.is_empty() && !EMPTY.contains(name))
            .collect();
        let hits = sentence
            .spoken()
            .flat_map(|word| word.split(['-', '_']))
            .filter(|word| names.contains(word) || names.iter().any(|name| is_slip_of(word, name)));
        (hits.count(), service)
    });
    scored
        .filter(|(score, _)| *score > 0)
        .max_by_key(|(score, _)| *score)
        .map(|(_, service)| service)
}

/// Whether it names a service; `None` before anybody has looked.
pub(super) fn is_about_one(turn: &Knowledge<'_>, sentence: &Sentence) -> Option<bool> {
    let found = turn.result("service_status")?;
    Some(meant(sentence, list(found, "services")).is_some())
}

/// How one service is, why, and what may help.
pub(super) fn explain(turn: &Knowledge<'_>, sentence: &Sentence, heard: &Heard) -> Next {
    with_services(turn, |services, now| {
        let Some(service) = meant(sentence, services) else {
            if sentence.has_any(&["everything", "all", "alles", "services", "dienste", "lab"]) {
                return status(turn);
            }
            return unwatched(turn, sentence, heard, services);
        };
        let mut said = told(service, now);
        let is_up = text(service, "status") == "up";
        let complains = is_complaint(sentence) || wants_an_action(heard);
        if is_up && !complains {
            return Next::say(said);
        }
        if is_up {
            said.push_str(" What a check sees is fine; what you see may not be.");
        }
        with_actions(turn, |actions| {
            let named = match heard {
                Heard::Doubted { verb, .. } => mentioned(sentence, *verb, actions),
                Heard::Nothing(_) | Heard::Orders(_) => Vec::new(),
            };
            let offered = match named.is_empty() {
                true => helping(service, actions).into_iter().collect(),
                false => named,
            };
            match doubt_in(heard) {
                Some(Doubt::Condition | Doubt::Time | Doubt::Quoted) if wants_an_action(heard) => {
                    Next::say(format!("{said} I only looked. Nothing was run."))
                }
                _ => offer(turn, &said, first_of(&offered)),
            }
        })
    })
}

fn wants_an_action(heard: &Heard) -> bool {
    matches!(heard, Heard::Doubted { .. })
}

fn doubt_in(heard: &Heard) -> Option<Doubt> {
    match heard {
        Heard::Doubted { doubt, .. } => Some(*doubt),
        Heard::Nothing(doubt) => *doubt,
        Heard::Orders(_) => None,
    }
}

fn is_complaint(sentence: &Sentence) -> bool {
    sentence.has_any(&[
        "dead",
        "slow",
        "broken",
        "hangs",
        "stuck",
        "hanging",
        "crashed",
        "feels",
        "seems",
        "weird",
        "laggy",
        "not",
        "nicht",
        "haengt",
        "spinnt",
        "tot",
        "kaputt",
        "langsam",
        "lahmt",
        "weg",
        "acting",
        "streikt",
        "zickt",
        "buffering",
        "stutters",
        "ruckelt",
        "unreachable",
        "offline",
        "wrong",
        "down",
    ])
}

fn told(service: &Value, now: &str) -> String {
    let mut said = format!("{} {}", name(service), why(service));
    if !text(service, "since").is_empty() {
        said.push_str(&format!(", since {}", moment(text(service, "since"), now)));
    }
    said.push('.');
    if text(service, "status") != "up" {
        said.push_str(match text(service, "reason") {
            "refused" => " Nothing listens on its port: most likely its process is not running.",
            "timed_out" | "unreachable" => {
                " Its machine does not answer: it may be off or cut off."
            }
            "wrong_status" => " It answers, but not with the status that means up.",
            "stopped" => " Its guest is not running.",
            _ => " More than that a check cannot see.",
        });
    }
    said
}

/// What names no service may name an action's target.
fn unwatched(turn: &Knowledge<'_>, sentence: &Sentence, heard: &Heard, services: &[Value]) -> Next {
    let spoken: Vec<String> = sentence.spoken().map(str::to_owned).collect();
    if spoken.is_empty() || services.is_empty() {
        return Next::say(NOBODY_WATCHES);
    }
    with_actions(turn, |actions| {
        let verb = match heard {
            Heard::Doubted { verb, .. } => Some(*verb),
            Heard::Nothing(_) | Heard::Orders(_) => None,
        };
        let found = named_in(&spoken, verb, actions);
        if found.is_empty() {
            let ids: Vec<&str> = services.iter().map(|service| text(service, "id")).collect();
            return Next::say(format!(
                "I do not know which service you mean. I watch: {}.",
                ids.join(", ")
            ));
        }
        let said = "Nobody watches that, so I cannot say how it is. These actions know it:";
        let lines: Vec<String> = found.iter().map(|action| line_of(action)).collect();
        Next::say(format!("{said}\n{}", lines.join("\n")))
    })
}

fn line_of(action: &Known) -> String {
    format!("- {} (`{}`)", action.label, action.id)
}

pub(super) fn uptime(turn: &Knowledge<'_>, sentence: &Sentence) -> Next {
    with_services(turn, |services, now| {
        let since = |service: &Value| {
            let at = text(service, "since");
            match at.is_empty() {
                true => format!("{} has not been looked at yet", name(service)),
                false => format!(
                    "{} {} since {}",
                    name(service),
                    why(service),
                    moment(at, now)
                ),
            }
        };
        let said = match meant(sentence, services) {
            Some(service) => format!("{}.", since(service)),
            None if services.is_empty() => return Next::say(NOBODY_WATCHES),
            None => services
                .iter()
                .map(|service| format!("- {}", since(service)))
                .collect::<Vec<_>>()
                .join("\n"),
        };
        Next::say(format!(
            "{said}\n\nThat is how long its check has said so; how long a machine is up, the Lab page shows."
        ))
    })
}

/// "what's on pve1?": what is watched there.
pub(super) fn on_place(turn: &Knowledge<'_>, sentence: &Sentence) -> Next {
    with_services(turn, |services, _| {
        let there = services.iter().filter(|service| {
            let place = folded(text(service, "runs_on"));
            let mut parts = place.split(|c: char| !c.is_alphanumeric() && c != '-');
            parts.any(|part| !["on", ""].contains(&part) && sentence.has_any(&[part]))
        });
        let said = lines_of(there);
        match said.is_empty() {
            true => Next::say("I watch nothing there. The Lab page shows what runs on a node."),
            false => Next::say(format!(
                "{said}\n\nThat is what is watched there; the Lab page shows all of it."
            )),
        }
    })
}

pub(super) fn running_out(turn: &Knowledge<'_>) -> Next {
    with_services(turn, |services, _| {
        let bad: Vec<&Value> = services
            .iter()
            .filter(|service| text(service, "status") != "up")
            .collect();
        let mut said = "I cannot see disks, memory or load: I see whether services answer. The Lab page shows \
                        what the nodes tell."
            .to_owned();
        if !bad.is_empty() {
            said.push_str(&format!(
                "\n\nNot well just now:\n{}",
                lines_of(bad.into_iter())
            ));
        }
        Next::say(said)
    })
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
    let spoken: Vec<String> = sentence.spoken().map(str::to_owned).collect();
    let verb = match heard {
        Heard::Doubted { verb, .. } if *verb != Verb::Mend => Some(*verb),
        Heard::Doubted { .. } | Heard::Nothing(_) | Heard::Orders(_) => None,
    };
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
        return explain(turn, sentence, heard);
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
        "- `{}` is {}: {} on {}. {tier}{check}.{back}",
        action.id, action.label, action.operation, action.target
    )
}
