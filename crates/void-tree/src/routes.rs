//! The allow-list of mailboxes: who may write to whom beside those whom the tree brings together. A person writes it.
//! Anything wrong in it, and none of it counts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use void_domain::agents::AgentName;
use void_domain::text;

use crate::bounds::{ROUTES_BYTES_MAX, ROUTES_MAX};
use crate::reading::{told, written};

/// From each sender to its receivers; one way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Routes {
    receivers: BTreeMap<AgentName, BTreeSet<AgentName>>,
}

/// One way, from a sender to a receiver.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    pub from: AgentName,
    pub to: AgentName,
}

/// What can be wrong with a written list. Text of the file is escaped already.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum RouteProblem {
    #[error("it cannot be read ({0}), so it lets nobody write to anybody")]
    Unreadable(String),
    #[error("it is longer than {ROUTES_BYTES_MAX} bytes, so it lets nobody write to anybody")]
    TooLong,
    #[error(
        "it is no JSON object of names and lists of names ({0}), so it lets nobody write to anybody"
    )]
    NotJson(String),
    #[error("\"{0}\" is no name of an agent, so none of the list counts")]
    NotAName(String),
    #[error("{0} stands there twice, so none of the list counts")]
    Twice(AgentName),
    #[error("{0} has no list of names, so none of the list counts")]
    NotAList(AgentName),
    #[error("it has more than {ROUTES_MAX} ways, so none of them counts")]
    TooMany,
}

impl Routes {
    /// Nobody.
    pub fn none() -> Self {
        Self::default()
    }

    /// All of it, or what is wrong.
    pub fn read(text: &str) -> Result<Self, Vec<RouteProblem>> {
        if text.len() > ROUTES_BYTES_MAX {
            return Err(vec![RouteProblem::TooLong]);
        }
        let written = written(text).map_err(|error| {
            let said = text::without_rust_words(&error.to_string());
            vec![RouteProblem::NotJson(text::escaped(&said))]
        })?;
        let (mut routes, mut problems) = (Self::none(), Vec::new());
        for (word, list) in written {
            let Ok(from) = word.parse::<AgentName>() else {
                problems.push(RouteProblem::NotAName(told(&word)));
                continue;
            };
            let receivers = receivers(&from, list, &mut problems);
            if routes.receivers.insert(from.clone(), receivers).is_some() {
                problems.push(RouteProblem::Twice(from));
            }
        }
        if routes.iter().count() > ROUTES_MAX {
            problems.push(RouteProblem::TooMany);
        }
        match problems.is_empty() {
            true => Ok(routes),
            false => Err(problems),
        }
    }

    pub fn has(&self, from: &AgentName, to: &AgentName) -> bool {
        let receivers = self.receivers.get(from);
        receivers.is_some_and(|receivers| receivers.contains(to))
    }

    /// Every way, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = Route> {
        self.receivers.iter().flat_map(|(from, receivers)| {
            receivers.iter().map(|to| Route {
                from: from.clone(),
                to: to.clone(),
            })
        })
    }

    /// Everybody whom it names.
    pub fn names(&self) -> BTreeSet<&AgentName> {
        let named = self.receivers.iter();
        named
            .flat_map(|(from, receivers)| [from].into_iter().chain(receivers))
            .collect()
    }
}

fn receivers(
    from: &AgentName,
    list: Value,
    problems: &mut Vec<RouteProblem>,
) -> BTreeSet<AgentName> {
    let mut receivers = BTreeSet::new();
    let Value::Array(list) = list else {
        problems.push(RouteProblem::NotAList(from.clone()));
        return receivers;
    };
    for item in list {
        let Value::String(word) = item else {
            problems.push(RouteProblem::NotAName(told(&item.to_string())));
            continue;
        };
        match word.parse() {
            Ok(name) => {
                receivers.insert(name);
            }
            Err(_) => problems.push(RouteProblem::NotAName(told(&word))),
        }
    }
    receivers
}
