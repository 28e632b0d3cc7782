//! What is near to an order that the catalogue does not have: the restart of what cannot be started, and a name that
//! is called almost so. Only ever offered.

use super::acts::offer;
use super::intents::first_of;
use super::known::{ARTICLES, Known};
use super::results::text;
use super::services::{is_fine, told, with_services};
use super::targets::named_in;
use super::verbs::{Order, Verb};
use super::words::{Sentence, is_one_of};
use super::{Knowledge, Next, unclear};

/// Names of machines that other names begin like: "proxmox" is no "proxy".
const MACHINES: &str = "proxmox pve node host server nas router";

pub(super) fn offered(
    turn: &Knowledge<'_>,
    sentence: &Sentence,
    order: &Order,
    actions: &[Known],
) -> Option<Next> {
    if unclear::is_pronoun(&order.target) {
        return None;
    }
    restarted(turn, sentence, order, actions).or_else(|| called_alike(turn, order, actions))
}

/// "start caddy" where only a restart is known: offered while it is down; what is up needs no start.
fn restarted(
    turn: &Knowledge<'_>,
    sentence: &Sentence,
    order: &Order,
    actions: &[Known],
) -> Option<Next> {
    if !matches!(order.verb, Verb::Start | Verb::Revive) {
        return None;
    }
    let found = named_in(&sentence.owned(), Some(Verb::Restart), actions);
    let found: Vec<&Known> = found
        .into_iter()
        .filter(|action| action.operation == "restart")
        .collect();
    let ids: Vec<String> = found
        .iter()
        .map(|action| format!("`{}`", action.id))
        .collect();
    let ids = ids.join(", ");
    (!found.is_empty()).then(|| {
        with_services(turn, |services, times| {
            let mut its = services.iter().filter(|service| {
                let id = text(service, "id");
                found.iter().any(|action| {
                    action.confirmed_by.as_deref() == Some(id)
                        || action.works_on(id, text(service, "runs_on"))
                })
            });
            match its.next() {
                Some(service) if is_fine(service) => Next::say(format!(
                    "{} I know no action that only starts it, and {ids} would interrupt it. Nothing was run.",
                    told(service, times)
                )),
                Some(service) => offer(
                    turn,
                    &format!(
                        "{} No action only starts it; a restart does that too.",
                        told(service, times)
                    ),
                    first_of(&found),
                ),
                None => offer(
                    turn,
                    "No action only starts it; a restart does that too.",
                    first_of(&found),
                ),
            }
        })
    })
}

/// "reboot HA", "starte den Medienserver neu"
fn called_alike(turn: &Knowledge<'_>, order: &Order, actions: &[Known]) -> Option<Next> {
    let operations = order.verb.operations();
    let mut words = order
        .target
        .iter()
        .filter(|word| !is_one_of(word, ARTICLES));
    let (word, others) = (words.next()?, words.next());
    if others.is_some() || is_one_of(word, MACHINES) {
        return None;
    }
    let of = |operation: &&str| -> Vec<&Known> {
        let mut alike: Vec<&Known> = Vec::new();
        for action in actions {
            if action.operation == *operation && action.resembles(word) {
                alike.push(action);
            }
        }
        alike
    };
    let found = operations.iter().map(of).find(|found| !found.is_empty())?;
    Some(offer(
        turn,
        "Nothing is called that here. Did you mean this?",
        first_of(&found),
    ))
}
