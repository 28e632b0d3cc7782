//! Which action of the catalogue an order means. Every word of the target has to fit, a word with a digit
//! exactly; a name with a slip or of which a part is missing is a guess, and a guess is asked about.

use super::known::{ARTICLES, Fit, Known, pieces};
use super::verbs::{Order, Verb};
use super::words::is_one_of;

/// More are not named in a question.
pub(super) const CHOICES_MAX: usize = 6;

#[derive(Debug, Clone)]
pub(super) enum Choice<'a> {
    Exact(&'a Known),
    /// A name that was not said as it is, or not all of it.
    Guessed(Vec<&'a Known>),
    Several(Vec<&'a Known>),
    Nothing,
}

const KINDS: &str =
    "service dienst container guest gast vm ct lxc vmid server machine maschine host node";

/// Whether these words are the action's id or a whole name of its, and nothing else.
pub(super) fn is_called(action: &Known, words: &[String]) -> bool {
    if let [word] = words
        && *word == action.id
    {
        return true;
    }
    let words = target_words(words, std::slice::from_ref(action));
    !words.is_empty() && action.fit(&words, false) == Some(Fit::Exact)
}

/// What an order means, every word of it counted.
pub(super) fn choose<'a>(order: &Order, actions: &'a [Known]) -> Choice<'a> {
    if let [word] = order.target.as_slice()
        && let Some(action) = actions.iter().find(|action| action.id == *word)
    {
        let means = order.verb.operations().contains(&action.operation.as_str());
        if order.verb == Verb::Run || means {
            return Choice::Exact(action);
        }
        return Choice::Guessed(vec![action]);
    }
    if order.verb == Verb::Run {
        return Choice::Nothing;
    }
    let words = target_words(&order.target, actions);
    if words.is_empty() {
        return Choice::Nothing;
    }
    let mut guessed = Vec::new();
    for (rank, operation) in order.verb.operations().iter().enumerate() {
        let candidates = actions
            .iter()
            .filter(|action| action.operation == *operation);
        let fitting: Vec<(Fit, &Known)> = candidates
            .filter_map(|action| Some((action.fit(&words, false)?, action)))
            .collect();
        let exact: Vec<&Known> = of_fit(&fitting, Fit::Exact);
        guessed.extend(of_fit(&fitting, Fit::Guess));
        // Who says reboot of a service may mean its machine.
        let is_other = order.verb == Verb::Reboot && rank > 0;
        match exact.as_slice() {
            [] => {}
            [one] if !is_other => return Choice::Exact(one),
            [_, ..] if is_other => guessed.extend(exact),
            [_, ..] => return Choice::Several(exact),
        }
    }
    match guessed.is_empty() {
        true => Choice::Nothing,
        false => Choice::Guessed(guessed),
    }
}

fn of_fit<'a>(fitting: &[(Fit, &'a Known)], wanted: Fit) -> Vec<&'a Known> {
    let fitting = fitting.iter().filter(|(fit, _)| *fit == wanted);
    fitting.map(|(_, action)| *action).collect()
}

/// The actions of a verb that a sentence names, whatever else it says. Only ever for a question.
pub(super) fn named_in<'a>(
    words: &[String],
    verb: Option<Verb>,
    actions: &'a [Known],
) -> Vec<&'a Known> {
    let words = target_words(words, actions);
    let by_id = actions.iter().filter(|action| words.contains(&action.id));
    let by_id: Vec<&Known> = by_id.collect();
    if !by_id.is_empty() {
        return by_id;
    }
    let of_operation = |operation: Option<&str>| -> Vec<&'a Known> {
        let candidates = actions.iter();
        let fitting: Vec<(Fit, &Known)> = candidates
            .filter(|action| operation.is_none_or(|wanted| action.operation == wanted))
            .filter_map(|action| Some((action.fit(&words, true)?, action)))
            .collect();
        match of_fit(&fitting, Fit::Exact) {
            exact if exact.is_empty() => of_fit(&fitting, Fit::Guess),
            exact => exact,
        }
    };
    match verb {
        None | Some(Verb::Run) => of_operation(None),
        Some(verb) => {
            let mut operations = verb.operations().iter();
            let found = operations.find_map(|operation| {
                Some(of_operation(Some(operation))).filter(|found| !found.is_empty())
            });
            found.unwrap_or_default()
        }
    }
}

/// The words that have to fit: ids as they are, other joined words apart, `CT 107` as one.
fn target_words(target: &[String], actions: &[Known]) -> Vec<String> {
    let is_id = |word: &str| actions.iter().any(|action| action.id == word);
    let mut apart: Vec<String> = Vec::new();
    for word in target {
        match is_id(word) {
            true => apart.push(word.clone()),
            false => apart.extend(pieces(word)),
        }
    }
    let mut words: Vec<String> = Vec::new();
    let mut waiting = apart.into_iter().peekable();
    while let Some(word) = waiting.next() {
        let is_number = |next: &String| next.chars().all(|c| c.is_ascii_digit());
        let numbered = is_one_of(&word, KINDS) && waiting.peek().is_some_and(is_number);
        if numbered {
            let number = waiting.next().unwrap_or_default();
            words.push(match word.as_str() {
                "ct" | "lxc" | "container" => format!("ct{number}"),
                "vm" => format!("vm{number}"),
                _ => number,
            });
        } else if !is_one_of(&word, ARTICLES) && !is_one_of(&word, KINDS) {
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::known::known;
    use super::super::orders::{Heard, hear};
    use super::super::words::Sentence;
    use super::*;

    fn actions() -> Vec<Known> {
        known(&json!({"actions": [
            {"id": "restart-caddy", "label": "Restart Caddy", "op": "restart", "tier": "safe", "target": "host:local/caddy"},
            {"id": "stop-ct107", "label": "Stop iVentoy", "op": "stop", "tier": "risky", "target": "guest:pve1/107", "guest": "CT 107"},
            {"id": "start-ct107", "label": "Start iVentoy", "op": "start", "tier": "safe", "target": "guest:pve1/107", "guest": "CT 107"},
            {"id": "reboot-vm200", "label": "Reboot Home Assistant", "op": "reboot", "tier": "risky", "target": "guest:pve2/200", "guest": "VM 200"},
            {"id": "restart-web-a", "label": "Restart web on alpha", "op": "restart", "tier": "safe", "target": "host:alpha/web"},
            {"id": "restart-web-b", "label": "Restart web on beta", "op": "restart", "tier": "safe", "target": "host:beta/web"},
        ]}))
    }

    fn chosen(said: &str) -> String {
        let Heard::Orders(orders) = hear(&Sentence::read(said)) else {
            panic!("{said}")
        };
        let actions = actions();
        let ids = |found: &[&Known]| {
            let ids: Vec<&str> = found.iter().map(|action| action.id.as_str()).collect();
            ids.join(" ")
        };
        match choose(&orders[0], &actions) {
            Choice::Exact(action) => format!("exact {}", action.id),
            Choice::Guessed(found) => format!("guessed {}", ids(&found)),
            Choice::Several(found) => format!("several {}", ids(&found)),
            Choice::Nothing => "nothing".to_owned(),
        }
    }

    #[test]
    fn a_place_or_another_number_identifies_nothing() {
        for said in [
            "start pve1",
            "start ct101",
            "start ct 101",
            "stop vm107",
            "stop ct1077",
            "restart alpha",
            "restart caddy tonite",
            "restart caddy on alpha",
            "restart the server",
            "start caddy",
            "run restart caddy",
        ] {
            assert_eq!(chosen(said), "nothing", "{said}");
        }
    }

    #[test]
    fn a_guess_is_a_guess_and_several_are_several() {
        for (said, found) in [
            ("restart cady", "guessed restart-caddy"),
            ("restart home", "guessed reboot-vm200"),
            ("reboot caddy", "guessed restart-caddy"),
            ("start stop-ct107", "guessed stop-ct107"),
            ("restart web", "several restart-web-a restart-web-b"),
        ] {
            assert_eq!(chosen(said), found, "{said}");
        }
    }

    #[test]
    fn a_whole_name_is_exact() {
        for (said, found) in [
            ("restart caddy", "exact restart-caddy"),
            ("restart the caddy service on local", "exact restart-caddy"),
            ("stop iventoy on pve1", "exact stop-ct107"),
            ("start CT 107", "exact start-ct107"),
            ("start 107", "exact start-ct107"),
            ("restart home assistant", "exact reboot-vm200"),
            ("reboot homeassistant", "exact reboot-vm200"),
            ("reboot vm 200", "exact reboot-vm200"),
            ("restart web on beta", "exact restart-web-b"),
            ("restart restart-caddy", "exact restart-caddy"),
            ("run stop-ct107", "exact stop-ct107"),
        ] {
            assert_eq!(chosen(said), found, "{said}");
        }
    }
}
