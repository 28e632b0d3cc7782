//! What of a config is more than the agent's parent has: refused, each by its name. The judge is pure; who the parent is
//! and what it has is looked up by whoever asks.

use std::collections::BTreeSet;

use super::{AgentConfig, DailyBudget};
use crate::agents::AgentName;
use crate::capabilities::{Capabilities, Capability};
use crate::ids::ActionId;

/// The most that a child may be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigCeiling {
    pub parent: AgentName,
    pub capabilities: Capabilities,
    pub budget: DailyBudget,
    /// The actions that the parent may ask for; `None`: there is no list of its own.
    pub actions: Option<BTreeSet<ActionId>>,
    /// The actions that the catalogue gives to others alone: whose `agents` name neither the child nor anybody above it.
    pub closed_actions: BTreeSet<ActionId>,
}

/// One thing that a config has too much of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigExcess {
    #[error("capability {capability}: {parent} does not hold it")]
    Capability {
        capability: Capability,
        parent: AgentName,
    },
    #[error("action {action}: it is not among those of {parent}")]
    Action { action: ActionId, parent: AgentName },
    #[error("actions: {parent} has a list of them, so a child needs one too")]
    EveryAction { parent: AgentName },
    #[error("action {action}: the catalogue names others in its agents, and nobody above")]
    ClosedAction { action: ActionId },
    #[error("budget.tokens_per_day {wanted}: {parent} has {most}")]
    Tokens {
        wanted: u64,
        most: u64,
        parent: AgentName,
    },
    #[error("budget.cost_micros_per_day {wanted}: {parent} has {most}")]
    Cost {
        wanted: u64,
        most: u64,
        parent: AgentName,
    },
}

/// Everything of a config that is beyond its ceiling; empty: it fits. No bound of its own is no excess: a child's use
/// counts against everybody above it.
pub fn excesses(config: &AgentConfig, ceiling: &ConfigCeiling) -> Vec<ConfigExcess> {
    let parent = || ceiling.parent.clone();
    let mut all = Vec::new();
    let wanted = config.capabilities.iter();
    for capability in wanted.filter(|one| !ceiling.capabilities.has(*one)) {
        let parent = parent();
        all.push(ConfigExcess::Capability { capability, parent });
    }
    if config.actions.is_none() && ceiling.actions.is_some() {
        all.push(ConfigExcess::EveryAction { parent: parent() });
    }
    for action in config.actions.iter().flatten() {
        let is_of_parent = (ceiling.actions.as_ref()).is_none_or(|list| list.contains(action));
        let action = action.clone();
        if !is_of_parent {
            let parent = parent();
            all.push(ConfigExcess::Action { action, parent });
        } else if ceiling.closed_actions.contains(&action) {
            all.push(ConfigExcess::ClosedAction { action });
        }
    }
    let most = |wanted: Option<u64>, most: Option<u64>| {
        wanted.zip(most).filter(|(wanted, most)| wanted > most)
    };
    if let Some((wanted, most)) = most(config.budget.tokens, ceiling.budget.tokens) {
        let parent = parent();
        all.push(ConfigExcess::Tokens {
            wanted,
            most,
            parent,
        });
    }
    if let Some((wanted, most)) = most(config.budget.cost_micros, ceiling.budget.cost_micros) {
        let parent = parent();
        all.push(ConfigExcess::Cost {
            wanted,
            most,
            parent,
        });
    }
    all
}
