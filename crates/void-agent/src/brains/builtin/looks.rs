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
use super::spans::spoken_span;
use super::strangers::{unknown, unknown_name};
use super::targets::named_in;
use super::times::Times;
use super::topics::{Topic, without_openers};
use super::unclear::mentioned;
use super::words::{Sentence, folded, is_one_of};
use super::{Knowledge, Next};

/// A sentence about *it* is short, and what *it* is was named a moment ago.
const PRONOUN_WORDS_MAX: usize = 6;
const LOOKED_BACK_MAX: usize = 4;

/// Words that mean no service in particular.
pub(super) const ALL_OF_IT: &str = "everything all alles services dienste lab homelab anything something irgendwas irgendetwas \
    irgendwo it es das was this that stuff things server servers network netzwerk someone etwas \
    kiste bude laden rechner box system systems ding zeug machine machines";
/// What says that something is well, or asks only to look.
const NO_COMPLAINT: &str = "works|is/are fine|is/are back|is better|geht wieder|laeuft wieder|wieder da|funktioniert\
    |ist gut|check*|look*|schau*|guck*|status|sieh|zeig|show|great|super|how";
/// What asks for what there is to know of something.
const DESCRIPTION: &str = "tell me .. about|tell me more|^about|erzaehl* .. von/ueber|was weisst du ueber/von|know about|info* zu/about/on/ueber\
    |describe*|beschreib*|show me|zeig* mir|what is|was ist|who is|wer ist";
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
        let found = match named(sentence, services) {
            found if found.is_empty() => meant_before(turn, sentence, services),
            found => found,
        };
        let is_of_all = sentence.has_any(ALL_OF_IT);
        match topic {
            _ if !found.is_empty() => explain(turn, sentence, heard, &found, times),
            Topic::Status if asks_if_well(sentence) => check(turn, sentence, heard, services),
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

/// "is everything ok?" wants a yes or what is wrong; "how is everything?" wants all of it.
fn asks_if_well(sentence: &Sentence) -> bool {
    const STARTS: &str =
        "is are all everything alles laeuft geht steht ist sind we lebt funktioniert";
    const WELL: &str = "ok okay fine good well alright right up running smooth working green clear gut ordnung klar fit gruen roger \
        paletti palletti stabil super tutti frisch lot gruenen laeuft geht da steht funktioniert";
    let words: Vec<&str> = sentence.spoken().collect();
    let words = without_openers(&words);
    let begins = words.first().is_some_and(|first| is_one_of(first, STARTS));
    begins && words.iter().any(|word| is_one_of(word, WELL))
}

/// "is it up?" is about what was named last, a few sentences back at most.
fn meant_before<'a>(
    turn: &Knowledge<'_>,
    sentence: &Sentence,
    services: &'a [Value],
) -> Vec<&'a Value> {
    const PRONOUN: &str = "^is/was/does/did/has/why/since/how/ist/laeuft/geht/lebt/war/warum/wieso/seit .. it/he/she/es/er/sie";
    const IDIOMS: &str = "how is it going/looking|wie geht es|wie laeuft es|wie steht es|was geht|how goes it|is it .. lab/homelab|how does it";
    let words: Vec<&str> = sentence.spoken().collect();
    let is = |patterns: &'static str| Pattern::parse_all(patterns).any(|it| it.is_in(&words));
    if words.len() > PRONOUN_WORDS_MAX || !is(PRONOUN) || is(IDIOMS) {
        return Vec::new();
    }
    let earlier = turn.said_earlier.iter().rev().take(LOOKED_BACK_MAX);
    let mut named = earlier.map(|said| named(&Sentence::read(said), services));
    named.find(|found| !found.is_empty()).unwrap_or_default()
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
    let found = that_change(sentence, services, actions);
    if wants_description(sentence) {
        return Next::say(format!(
            "{}{}",
            lines.join("\n"),
            described(services, &found)
        ));
    }
    match orders::asks(sentence) {
        true => Next::say(lines.join("\n")),
        false => offer(turn, &lines.join("\n"), first_of(&found)),
    }
}

/// The actions that a sentence names and that would change anything of these services.
fn that_change<'a>(
    sentence: &Sentence,
    services: &[&Value],
    actions: &'a [Known],
) -> Vec<&'a Known> {
    let found = named_in(&sentence.owned(), None, actions);
    let changes = |action: &&Known| services.iter().all(|service| changes(action, service));
    found.into_iter().filter(changes).collect()
}

/// Whether an action would change anything of a service: what is up is not started.
fn changes(action: &Known, service: &Value) -> bool {
    let is_its = action.works_on(text(service, "id"), text(service, "runs_on"));
    action.already.is_none() && !(is_its && is_up(service) && action.operation == "start")
}

/// "tell me about iventoy": what it is, and no offer.
fn wants_description(sentence: &Sentence) -> bool {
    let words: Vec<&str> = sentence.spoken().collect();
    Pattern::parse_all(DESCRIPTION).any(|pattern| pattern.is_in(&words))
}

/// Where it is, and what may be done with it.
fn described(services: &[&Value], actions: &[&Known]) -> String {
    let places: Vec<&str> = services
        .iter()
        .map(|service| text(service, "runs_on"))
        .filter(|place| !place.is_empty())
        .collect();
    let mut said = match places.as_slice() {
        [] => String::new(),
        places => format!(" It is on {}.", places.join(", ")),
    };
    if !actions.is_empty() {
        let lines: Vec<String> = actions
            .iter()
            .map(|action| catalogue::line_of(action))
            .collect();
        said.push_str(&format!(
            "\n\nWhat could be done with it:\n{}",
            lines.join("\n")
        ));
    }
    said
}

/// "which containers do I have?": what is watched and what actions work on; the rest only Proxmox knows.
pub(super) fn guests(turn: &Knowledge<'_>) -> Next {
    with_services(turn, |services, _| {
        with_actions(turn, |actions| {
            let mut lines: Vec<String> = services
                .iter()
                .filter(|service| !text(service, "runs_on").is_empty())
                .map(|service| {
                    let place = text(service, "runs_on");
                    let mut its = actions.iter().filter(|action| action.works_on("", place));
                    let place = its.next().map_or(place, |action| action.place.as_str());
                    let name = super::services::name(service);
                    format!("- {place}: {name} {}", state_of(service))
                })
                .collect();
            let is_listed = |place: &str| lines.iter().any(|line| line.contains(place));
            let mut others: Vec<&str> = actions
                .iter()
                .filter(|action| action.is_on_guest() && !is_listed(&action.place))
                .map(|action| action.place.as_str())
                .collect();
            others.sort_unstable();
            others.dedup();
            lines.extend(
                others
                    .iter()
                    .map(|place| format!("- {place}: nobody watches it")),
            );
            Next::say(match lines.is_empty() {
                true => "I know of none: the Lab page shows what Proxmox has.".to_owned(),
                false => format!(
                    "{}\n\nThat is what I watch or may work on; the Lab page shows all that Proxmox has.",
                    lines.join("\n")
                ),
            })
        })
    })
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
    let has_trouble = sentence.has_any(COMPLAINTS) || heard.doubted_verb().is_some();
    if all_up && !has_trouble && wants_description(sentence) {
        return with_actions(turn, |actions| {
            let found = that_change(sentence, services, actions);
            Next::say(format!("{said}{}", described(services, &found)))
        });
    }
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
        let found = match named(sentence, services) {
            found if found.is_empty() => meant_before(turn, sentence, services),
            found => found,
        };
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

/// As long as `void notify mute` holds where nothing is said.
const LASTS_DEFAULT: &str = "4h";

/// She cannot keep the messages back; says what does, for the service that is named.
pub(super) fn mute(turn: &Knowledge<'_>, sentence: &Sentence) -> Next {
    with_services(turn, |services, _| {
        let found = named(sentence, services);
        let id = found
            .first()
            .map_or("SERVICE", |service| text(service, "id"));
        let lasts = spoken_span(sentence).unwrap_or_else(|| LASTS_DEFAULT.to_owned());
        let ends = sentence.spoken().any(|word| word.starts_with("unmut"));
        Next::say(match ends {
            true => format!(
                "I cannot unmute. `void notify unmute {id}` does, and `void notify ls` shows what is muted."
            ),
            false => format!(
                "I cannot mute. `void notify mute {id} --for {lasts} --reason \"known\"` keeps you from being told that it is down; \
                 `void notify unmute {id}` ends that."
            ),
        })
    })
}
