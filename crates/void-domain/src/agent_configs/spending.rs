//! What agents use up in a day, counted against themselves and everybody above them: a child is no way around the budget
//! of whoever made it.

use std::collections::{BTreeMap, BTreeSet};

use super::DailyBudget;
use crate::agents::AgentName;

/// What was used up since midnight UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpentToday {
    pub tokens: u64,
    pub cost_micros: u64,
}

impl SpentToday {
    fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost_micros: self.cost_micros.saturating_add(other.cost_micros),
        }
    }
}

/// Whose budget is used up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("what {whose} may use in a day is used up, by itself and everybody below it")]
pub struct Overspent {
    pub whose: AgentName,
}

/// What each has used up with everybody below it. `parents` says who stands under whom; a circle in it is walked once.
pub fn with_those_below(
    own: &BTreeMap<AgentName, SpentToday>,
    parents: &BTreeMap<AgentName, Option<AgentName>>,
) -> BTreeMap<AgentName, SpentToday> {
    let mut all: BTreeMap<AgentName, SpentToday> = BTreeMap::new();
    for (name, spent) in own {
        let mut passed = BTreeSet::new();
        let mut at = Some(name);
        while let Some(one) = at.filter(|one| passed.insert(*one)) {
            let sum = all.entry(one.clone()).or_default();
            *sum = sum.plus(*spent);
            at = parents.get(one).and_then(Option::as_ref);
        }
    }
    all
}

/// Whose budget lets an agent begin nothing more: its own, or that of somebody above it, whichever comes first on the way
/// up. What is counted for each is what [`with_those_below`] says.
pub fn overspent<'a>(
    way_up: impl IntoIterator<Item = (&'a AgentName, DailyBudget, SpentToday)>,
) -> Option<Overspent> {
    let is_over = |bound: Option<u64>, spent: u64| bound.is_some_and(|bound| spent >= bound);
    let mut way_up = way_up.into_iter();
    let found = way_up.find(|(_, budget, spent)| {
        is_over(budget.tokens, spent.tokens) || is_over(budget.cost_micros, spent.cost_micros)
    });
    found.map(|(whose, ..)| Overspent {
        whose: whose.clone(),
    })
}
