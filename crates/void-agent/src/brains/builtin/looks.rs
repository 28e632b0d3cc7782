//! Looking: how services are and since when. A look ends with an offer at most.

use serde_json::Value;

use super::acts::offer;
use super::catalogue;
use super::cues;
use super::doubts::{Doubt, lets_be};
use super::intents::{first_of, with_actions};
use super::known::Known;
use super::orders::{self, Heard};
use super::patterns::Pattern;
use super::records::HAS_NOTHING;
use super::results::{list, text};
use super::services::{
    NOBODY_WATCHES, helping, is_fine, is_up, lines_of, named, since, state_of, told, with_services,
};
use super::strangers::{unknown, unknown_name};
use super::targets::named_in;
use super::times::Times;
use super::topics::Topic;
use super::unclear::mentioned;
use super::words::{Sentence, folded, is_one_of};
use super::{Knowledge, Next};

/// Words that mean no service in particular.
pub(super) const ALL_OF_IT: &str = "everything all alles services dienste lab homelab anything something irgendwas irgendetwas \
    irgendwo it es das was this that stuff things server servers network netzwerk someone etwas \
    kiste bude laden rechner box system systems ding zeug machine machines";
/// What says that something is well, or asks only to look.
const NO_COMPLAINT: &str = "works|is/are fine|is/are back|is better|geht wieder|laeuft wieder|wieder da|funktioniert\
    |ist gut|check*|look*|schau*|guck*|status|sieh|zeig|show|great|super|how";
pub(super) const COMPLAINTS: &str = "dead slow broken hangs stuck hanging crashed feels seems weird laggy not nicht haengt spinnt tot \
    kaputt langsam lahmt weg acting streikt zickt buffering stutters ruckelt unreachable offline wrong down error errors \
    fehler fehlermeldung died problem problems probleme flaky abgestuerzt";

/// How one service is if one is named, and how all are if not.
pub(super) fn how_it_is(
    turn: &Knowledge<'_>,
    topic: Topic,
    sentence: &Sentence,
    heard: &Heard,
) -> Next {
    with_services(turn, |services, times| {
        if services.is_empty() {
            return Next::say(NOBODY_WATCHES);
        }
        let found = named(sentence, services);
        let is_of_all = sentence.has_any(ALL_OF_IT);
        match topic {
            _ if !found.is_empty() => explain(turn, sentence, heard, &found, times),
            Topic::Status => Next::say(lines_of(services.iter())),
            Topic::Check if unknown_name(sentence).is_none() => {
                check(turn, sentence, heard, services)
            }
            _ => with_actions(turn, |actions| {
                let about = named_in(&sentence.owned(), heard.doubted_verb(), actions);
                match about.as_slice() {
                    [] if let Some(name) = unknown_name(sentence) => unknown(name, services),
                    [] if is_of_all || !names_something(sentence) => {
                        check(turn, sentence, heard, services)
                    }
                    [] => Next::say(format!(
                        "I do not know which service you mean. I watch: {}.",
                        ids(services)
                    )),
                    about => unwatched(about),
                }
            }),
        }
    })
}

/// Whether a word in it may be a name that is not known here.
fn names_something(sentence: &Sentence) -> bool {
    let mut words = sentence.spoken();
    words.any(|word| !cues::is_known(word))
}

/// What is said of a service without any word that tells why: it is named, so it is looked at.
pub(super) fn named_without_topic(
    turn: &Knowledge<'_>,
    sentence: &Sentence,
    heard: &Heard,
) -> Option<Next> {
    let Some(found) = turn.result("service_status") else {
        return Some(with_services(turn, |_, _| Next::say(NOBODY_WATCHES)));
    };
    let services = list(found, "services");
    let times = Times::at(text(found, "at"));
    let found = named(sentence, services);
    if found.is_empty() {
        return None;
    }
    let next = with_actions(turn, |actions| {
        let mut helped = found.iter().filter_map(|service| helping(service, actions));
        match helped.next() {
            Some(_) => explain(turn, sentence, heard, &found, &times),
            None => bare(turn, sentence, &found, &times, actions),
        }
    });
    Some(next)
}

/// A name and no more, of something that no safe action helps: how it is, and what there is for it.
fn bare(
    turn: &Knowledge<'_>,
    sentence: &Sentence,
    services: &[&Value],
    times: &Times,
    actions: &[Known],
) -> Next {
    let lines: Vec<String> = services
        .iter()
        .map(|service| told(service, times))
        .collect();
    let found = match orders::asks(sentence) {
        true => Vec::new(),
        false => named_in(&sentence.owned(), None, actions),
    };
    offer(turn, &lines.join("\n"), first_of(&found))
}

/// What is asked of a service that the record does not speak of: how it is. `None` if none is named.
pub(super) fn nothing_recorded(turn: &Knowledge<'_>, sentence: &Sentence) -> Option<Next> {
    let Some(found) = turn.result("service_status") else {
        return Some(with_services(turn, |_, _| Next::say(NOBODY_WATCHES)));
    };
    let times = Times::at(text(found, "at"));
    let services = named(sentence, list(found, "services"));
    let lines: Vec<String> = services
        .iter()
        .map(|service| told(service, &times))
        .collect();
    (!lines.is_empty()).then(|| Next::say(format!("{HAS_NOTHING} lately. {}", lines.join("\n"))))
}

pub(super) fn ids(services: &[Value]) -> String {
    let ids: Vec<&str> = services.iter().map(|service| text(service, "id")).collect();
    ids.join(", ")
}

/// Looks, and offers what may help for what is down.
fn check(turn: &Knowledge<'_>, sentence: &Sentence, heard: &Heard, services: &[Value]) -> Next {
    let bad: Vec<&Value> = services
        .iter()
        .filter(|service| !is_fine(service))
        .collect();
    let stopped = lines_of(services.iter().filter(|it| is_fine(it) && !is_up(it)));
    if bad.is_empty() && stopped.is_empty() {
        return Next::say(format!("All {} watched services are up.", services.len()));
    }
    if bad.is_empty() {
        return Next::say(format!(
            "Nothing is wrong: all watched services are up but for what you stopped.\n\n{stopped}"
        ));
    }
    let seen = lines_of(bad.iter().copied());
    if heard.doubt() == Some(Doubt::Negated) && lets_be(sentence) {
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
                "{seen}\n\nThe catalogue has no action for it. *What can you do?* lists what there is."
            )),
            false => offer(turn, &seen, first_of(&helping)),
        }
    })
}

/// How these services are, why, and what may help.
fn explain(
    turn: &Knowledge<'_>,
    sentence: &Sentence,
    heard: &Heard,
    services: &[&Value],
    times: &Times,
) -> Next {
    let lines: Vec<String> = services
        .iter()
        .map(|service| told(service, times))
        .collect();
    let mut said = lines.join("\n");
    let complains = is_complaint(sentence, heard);
    let all_up = services.iter().all(|service| is_up(service));
    if all_up && !complains {
        return Next::say(said);
    }
    if all_up {
        said.push_str(" What a check sees is fine; what you see may not be.");
    }
    let is_put_off = matches!(
        heard.doubt(),
        Some(Doubt::Condition | Doubt::Time | Doubt::Quoted)
    );
    if is_put_off && heard.doubted_verb().is_some() {
        return Next::say(format!("{said} I only looked. Nothing was run."));
    }
    with_actions(turn, |actions| {
        let verb = heard.doubted_verb();
        let ordered = verb.map_or_else(Vec::new, |verb| mentioned(sentence, verb, actions));
        let bad = services
            .iter()
            .filter(|service| complains || !is_up(service));
        let offered = match ordered.is_empty() {
            true => bad
                .filter_map(|service| helping(service, actions))
                .collect(),
            false => ordered,
        };
        offer(turn, &said, first_of(&offered))
    })
}

/// Whoever names a service and asks nothing tells that something is the matter with it.
fn is_complaint(sentence: &Sentence, heard: &Heard) -> bool {
    let words: Vec<&str> = sentence.spoken().collect();
    let says_well = Pattern::parse_all(NO_COMPLAINT).any(|pattern| pattern.is_in(&words));
    let goes_on = words
        .first()
        .is_some_and(|first| is_one_of(first, "and und"));
    let states = !orders::asks(sentence) && !says_well && !goes_on && !begins_with_verb(&words);
    sentence.has_any(COMPLAINTS) || heard.doubted_verb().is_some() || states
}

/// "lebt grafana noch": a German question begins with its verb, and that ends so.
fn begins_with_verb(words: &[&str]) -> bool {
    let first = words.first().filter(|word| word.len() > 3);
    words.len() > 1 && first.is_some_and(|first| first.ends_with('t'))
}

/// What names no service may name an action's target.
fn unwatched(actions: &[&Known]) -> Next {
    let lines: Vec<String> = actions
        .iter()
        .map(|action| catalogue::line_of(action))
        .collect();
    Next::say(format!(
        "Nobody watches that, so only the Lab page can tell how it is. These actions know it:\n{}",
        lines.join("\n")
    ))
}

pub(super) fn status(turn: &Knowledge<'_>) -> Next {
    with_services(turn, |services, _| match services.is_empty() {
        true => Next::say(NOBODY_WATCHES),
        false => Next::say(lines_of(services.iter())),
    })
}

pub(super) fn uptime(turn: &Knowledge<'_>, sentence: &Sentence) -> Next {
    with_services(turn, |services, times| {
        if services.is_empty() {
            return Next::say(NOBODY_WATCHES);
        }
        let found = named(sentence, services);
        let all: Vec<&Value> = match found.is_empty() {
            true => services.iter().collect(),
            false => found,
        };
        let lines: Vec<String> = all.iter().map(|service| since(service, times)).collect();
        let said = match lines.as_slice() {
            [line] => format!("{line}."),
            lines => format!("- {}", lines.join("\n- ")),
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
            parts.any(|part| !["on", ""].contains(&part) && sentence.has_any(part))
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

/// She cannot keep the messages back; says what does, for the service that is named.
pub(super) fn mute(turn: &Knowledge<'_>, sentence: &Sentence) -> Next {
    with_services(turn, |services, _| {
        let found = named(sentence, services);
        let id = found
            .first()
            .map_or("SERVICE", |service| text(service, "id"));
        let ends = sentence.spoken().any(|word| word.starts_with("unmut"));
        Next::say(match ends {
            true => format!(
                "I cannot unmute. `void notify unmute {id}` does, and `void notify ls` shows what is muted."
            ),
            false => format!(
                "I cannot mute. `void notify mute {id} --for 4h --reason \"known\"` keeps you from being told that it is down; \
                 `void notify unmute {id}` ends that."
            ),
        })
    })
}

/// What no check sees, and beside it what one does.
pub(super) fn running_out(turn: &Knowledge<'_>) -> Next {
    with_services(turn, |services, _| {
        let bad: Vec<String> = services
            .iter()
            .filter(|service| !is_fine(service))
            .map(|service| format!("{} {}", super::services::name(service), state_of(service)))
            .collect();
        let mut said = "I cannot see disks, memory or load, nor backups and updates: I see whether services answer. \
                        The Lab page shows what the nodes tell, `void backup ls` the copies of Void's own data."
            .to_owned();
        if !bad.is_empty() {
            said.push_str(&format!("\n\nNot well just now:\n- {}", bad.join("\n- ")));
        }
        Next::say(said)
    })
}
