//! The watched services as `service_status` tells them: which one a sentence names, and how one is.

use serde_json::{Value, json};

use super::known::Known;
use super::results::{list, text, trouble};
use super::times::Times;
use super::words::{Sentence, folded, is_one_of, is_slip_of};
use super::{Knowledge, Next};

pub(super) const NOBODY_WATCHES: &str =
    "No service is watched here, so I cannot say how anything is.";

/// Words of labels that name nothing by themselves.
const EMPTY: &str = "the a an on of and ct vm rehearsal restart stop start reboot service is it what how media server up \
    down in my der die das im auf und";

/// Looks at the services first.
pub(super) fn with_services(
    turn: &Knowledge<'_>,
    then: impl FnOnce(&[Value], &Times) -> Next,
) -> Next {
    let Some(found) = turn.result("service_status") else {
        return Next::look("service_status", json!({}));
    };
    match trouble(found) {
        Some(said) => Next::say(said),
        None => then(list(found, "services"), &Times::at(text(found, "at"))),
    }
}

pub(super) fn is_up(service: &Value) -> bool {
    text(service, "status") == "up"
}

/// When the owner stopped what it is on, if that is why it is down.
fn stopped_at(service: &Value) -> Option<&str> {
    Some(text(service, "stopped_by_owner_at")).filter(|at| !at.is_empty())
}

/// Whether nobody has to worry about it: it is up, or the owner stopped it.
pub(super) fn is_fine(service: &Value) -> bool {
    is_up(service) || stopped_at(service).is_some()
}

/// "is down (refused)"
pub(super) fn state_of(service: &Value) -> String {
    if stopped_at(service).is_some() {
        return "is stopped by you".to_owned();
    }
    let reason = text(service, "reason").replace('_', " ");
    match (text(service, "status"), reason.as_str()) {
        ("up", _) => "is up".to_owned(),
        (status, "") => format!("is {status}"),
        (status, reason) => format!("is {status} ({reason})"),
    }
}

pub(super) fn name(service: &Value) -> &str {
    match text(service, "label") {
        "" => text(service, "id"),
        label => label,
    }
}

pub(super) fn lines_of<'a>(services: impl Iterator<Item = &'a Value>) -> String {
    let lines: Vec<String> = services
        .map(|service| format!("- {} {}", name(service), state_of(service)))
        .collect();
    lines.join("\n")
}

/// How one service is, since when, and what that means.
pub(super) fn told(service: &Value, times: &Times) -> String {
    let mut said = format!("{} {}", name(service), state_of(service));
    if let Some(at) = stopped_at(service) {
        return format!("{said}, since {}. That is no worry.", times.moment(at));
    }
    if !text(service, "since").is_empty() {
        said.push_str(&format!(", since {}", times.moment(text(service, "since"))));
    }
    said.push('.');
    if !is_up(service) {
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

/// "Grafana is up, for 3 min now (since 14:55)"
pub(super) fn since(service: &Value, times: &Times) -> String {
    let at = text(service, "since");
    match times.span_since(at) {
        None => format!("{} has not been looked at yet", name(service)),
        Some(span) => format!(
            "{} {}, for {span} now (since {})",
            name(service),
            state_of(service),
            times.moment(at)
        ),
    }
}

/// What may help a service: the action whose check it is or that works on it, a safe one before one that waits
/// for a yes.
pub(super) fn helping<'a>(service: &Value, actions: &'a [Known]) -> Option<&'a Known> {
    let id = text(service, "id");
    let rank = |action: &Known| {
        let operation = action.operation.as_str();
        let confirms = action.confirmed_by.as_deref() == Some(id);
        let is_its = action.works_on(id, text(service, "runs_on"));
        let may_help = match (operation, stopped_at(service)) {
            ("start", _) => !is_up(service),
            (_, Some(_)) | ("stop" | "shutdown", None) => false,
            ("restart" | "reboot", None) => true,
            (_, None) => confirms,
        };
        let fits = may_help && (confirms || is_its);
        fits.then_some((!action.is_safe, !confirms))
    };
    let fitting = actions
        .iter()
        .filter_map(|action| Some((rank(action)?, action)));
    let best = fitting.min_by_key(|(rank, _)| *rank);
    best.map(|(_, action)| action)
}

/// The services that a sentence names best; loosely, because they are only looked at.
pub(super) fn named<'a>(sentence: &Sentence, services: &'a [Value]) -> Vec<&'a Value> {
    let scored: Vec<(usize, &Value)> = services
        .iter()
        .map(|service| (hits(sentence, service), service))
        .collect();
    let most = scored.iter().map(|(score, _)| *score).max().unwrap_or(0);
    let best = scored
        .into_iter()
        .filter(|(score, _)| most > 0 && *score == most);
    best.map(|(_, service)| service).collect()
}

/// How many of its words are said: a name of its own, or the number of its guest.
fn hits(sentence: &Sentence, service: &Value) -> usize {
    let names = folded(&format!(
        "{} {}",
        text(service, "id"),
        text(service, "label")
    ));
    let names: Vec<&str> = names
        .split(|c: char| !c.is_alphanumeric())
        .filter(|name| !name.is_empty() && !is_one_of(name, EMPTY))
        .collect();
    let guest = text(service, "runs_on").split_once(" on ");
    let guest = guest.map_or("", |(number, _)| number);
    let is_guest = |word: &str| {
        let number = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let kind = word.strip_suffix(number).unwrap_or_default();
        !guest.is_empty() && number == guest && ["", "ct", "vm", "lxc"].contains(&kind)
    };
    let pieces = sentence.spoken().flat_map(|word| word.split(['-', '_']));
    let hits = pieces.filter(|word| {
        names.contains(word) || is_guest(word) || names.iter().any(|name| is_slip_of(word, name))
    });
    hits.count()
}
