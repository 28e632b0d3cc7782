//! What another config changes, in words of Void, worst first: what the agent gains, then what is another, then what it
//! loses. Made of typed values alone; a value that somebody wrote is quoted, so that it cannot be read as a sentence of ours.

use std::collections::BTreeSet;
use std::fmt::Display;

use super::{AgentConfig, BrainKind};
use crate::agents::AgentName;
use crate::cards::quoted;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Gains,
    IsAnother,
    Loses,
}

#[derive(Default)]
struct Words(Vec<(Weight, String)>);

impl Words {
    fn add(&mut self, weight: Weight, line: String) {
        self.0.push((weight, line));
    }

    fn in_order(mut self) -> Vec<String> {
        self.0.sort_by_key(|(weight, _)| *weight);
        self.0.into_iter().map(|(_, line)| line).collect()
    }

    /// A list of which no entry means all.
    fn narrowing<T: Ord + Display>(
        &mut self,
        what: &str,
        all: &str,
        (old, new): (Option<&BTreeSet<T>>, Option<&BTreeSet<T>>),
    ) {
        match (old, new) {
            (None, None) => {}
            (Some(_), None) => self.add(Weight::Gains, format!("gains {what}s: {all}")),
            (None, Some(new)) => {
                let line = format!("keeps of its {what}s only {}", listed(new));
                self.add(Weight::Loses, line);
            }
            (Some(old), Some(new)) => {
                for one in new.difference(old) {
                    let line = format!("gains the {what} {}", quoted(one.to_string()));
                    self.add(Weight::Gains, line);
                }
                for one in old.difference(new) {
                    let line = format!("loses the {what} {}", quoted(one.to_string()));
                    self.add(Weight::Loses, line);
                }
            }
        }
    }

    /// A bound of which none means that there is no bound of its own.
    fn bound(
        &mut self,
        what: &str,
        none: &str,
        (old, new): (Option<u64>, Option<u64>),
        shown: fn(u64) -> String,
    ) {
        let is_more = match (old, new) {
            (None, None) => return,
            (Some(old), Some(new)) if old == new => return,
            (Some(old), Some(new)) => new > old,
            (Some(_), None) => true,
            (None, Some(_)) => false,
        };
        let said = |bound: Option<u64>| bound.map_or_else(|| none.to_owned(), shown);
        let (verb, weight) = match is_more {
            true => ("rises", Weight::Gains),
            false => ("falls", Weight::Loses),
        };
        let line = format!("{what} {verb} from {} to {}", said(old), said(new));
        self.add(weight, line);
    }

    fn changed(&mut self, what: &str, old: Option<String>, new: Option<String>, none: &str) {
        if old != new {
            let said = |value: Option<String>| value.map_or_else(|| none.to_owned(), quoted);
            let line = format!("{what} was {}, is {}", said(old), said(new));
            self.add(Weight::IsAnother, line);
        }
    }
}

fn listed<T: Display>(all: &BTreeSet<T>) -> String {
    let names: Vec<String> = all.iter().map(|one| quoted(one.to_string())).collect();
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    }
}

fn dollars(micros: u64) -> String {
    format!("${}.{:06} a day", micros / 1_000_000, micros % 1_000_000)
}

fn tokens(count: u64) -> String {
    format!("{count} tokens a day")
}

/// What is another with the new config. Empty: the two mean the same.
pub fn differences(old: &AgentConfig, new: &AgentConfig) -> Vec<String> {
    let mut words = Words::default();
    let held = |config: &AgentConfig| config.capabilities.iter().collect::<BTreeSet<_>>();
    let (before, after) = (held(old), held(new));
    for one in after.difference(&before) {
        words.add(Weight::Gains, format!("gains the capability {one}"));
    }
    for one in before.difference(&after) {
        words.add(Weight::Loses, format!("loses the capability {one}"));
    }
    let bounds = (old.budget, new.budget);
    let none = "no bound of its own";
    words.bound(
        "its budget",
        none,
        (bounds.0.tokens, bounds.1.tokens),
        tokens,
    );
    words.bound(
        "its budget of money",
        none,
        (bounds.0.cost_micros, bounds.1.cost_micros),
        dollars,
    );
    let lists = (old.actions.as_ref(), new.actions.as_ref());
    words.narrowing("action", "every one that the catalogue lets it", lists);
    let lists = (old.tools.as_ref(), new.tools.as_ref());
    words.narrowing("tool", "every one that its capabilities give", lists);
    for one in new.schedule.difference(&old.schedule) {
        let line = format!("is woken by itself at {}", quoted(one.clone()));
        words.add(Weight::Gains, line);
    }
    for one in old.schedule.difference(&new.schedule) {
        let line = format!("is no longer woken at {}", quoted(one.clone()));
        words.add(Weight::Loses, line);
    }
    limits(&mut words, old, new);
    others(&mut words, old, new);
    words.in_order()
}

fn limits(words: &mut Words, old: &AgentConfig, new: &AgentConfig) {
    let (old, new) = (old.limits, new.limits);
    let none = "what holds for every turn";
    let pair = |old: Option<u32>, new: Option<u32>| (old.map(u64::from), new.map(u64::from));
    words.bound(
        "tool calls in a turn: their bound",
        none,
        pair(old.turn_tool_calls, new.turn_tool_calls),
        |count| count.to_string(),
    );
    words.bound(
        "the time of a turn",
        none,
        pair(old.turn_seconds, new.turn_seconds),
        |seconds| format!("{seconds} seconds"),
    );
    words.bound(
        "output tokens of a turn: their bound",
        none,
        pair(old.turn_output_tokens, new.turn_output_tokens),
        |count| count.to_string(),
    );
}

/// Who thinks, where what it reads is sent, and as whom it speaks.
fn others(words: &mut Words, old: &AgentConfig, new: &AgentConfig) {
    let brain = |config: &AgentConfig| Some(BrainKind::as_str(config.brain).to_owned());
    words.changed("its brain", brain(old), brain(new), "nothing");
    let none = "what the settings say";
    words.changed("its model", old.model.clone(), new.model.clone(), none);
    let persona = |config: &AgentConfig| config.persona.as_ref().map(AgentName::to_string);
    words.changed("its persona", persona(old), persona(new), "none of its own");
}

/// What somebody new is, as if it had been nobody before: every value of the config.
pub fn introduction(config: &AgentConfig) -> Vec<String> {
    let held = &config.capabilities;
    let capabilities: BTreeSet<&str> = held.iter().map(|one| one.as_str()).collect();
    let all = |list: Option<String>, all: &str| list.unwrap_or_else(|| all.to_owned());
    let actions = config.actions.as_ref().map(listed);
    let tools = config.tools.as_ref().map(listed);
    let persona = config.persona.as_ref().map(|name| quoted(name.to_string()));
    let model = config.model.clone().map(quoted);
    let money = config.budget.cost_micros.map(dollars);
    let used = config.budget.tokens.map(tokens);
    let mut lines = vec![
        format!("holds the capabilities: {}", listed(&capabilities)),
        format!(
            "may use {} and {}; what it uses counts against everybody above it",
            all(used, "tokens without a bound of its own"),
            all(money, "money without a bound of its own"),
        ),
        format!(
            "may ask for the actions: {}",
            all(actions, "every one that the catalogue lets it")
        ),
        format!(
            "has the tools: {}",
            all(tools, "every one that its capabilities give")
        ),
        format!("is woken by itself at: {}", listed(&config.schedule)),
    ];
    let limit = |what: &str, bound: Option<u32>| bound.map(|bound| format!("{what}: {bound}"));
    lines.extend(limit(
        "tool calls in a turn, at most",
        config.limits.turn_tool_calls,
    ));
    lines.extend(limit(
        "seconds of a turn, at most",
        config.limits.turn_seconds,
    ));
    lines.extend(limit(
        "output tokens of a turn, at most",
        config.limits.turn_output_tokens,
    ));
    lines.push(format!(
        "thinks with {}, model {}, and speaks as {}",
        config.brain.as_str(),
        all(model, "of the settings"),
        all(persona, "no persona of its own"),
    ));
    lines
}
