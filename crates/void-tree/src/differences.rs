//! What a move changes: who may do what to whom afterwards that they could not before, and the other way round.
//!
//! Between two agents of which neither stands at or below the one that is moved nothing changes, and among those at or
//! below it neither. So it is enough to look at them and at the ancestors and siblings of before and after.

use std::collections::{BTreeMap, BTreeSet};

use void_domain::agents::AgentName;
use void_domain::capabilities::Capabilities;
use void_domain::relations::Relation;

use crate::index::{Index, Position};
use crate::operations::Operation;
use crate::rights::{AgentKind, Listed, Right, Standing, right};

/// One right that becomes another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RightShift {
    pub operation: Operation,
    pub from: Right,
    pub to: Right,
}

impl RightShift {
    pub fn is_gain(self) -> bool {
        self.to > self.from
    }
}

/// The same for each of `who` over each of `over`, both in the order of their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RightsChange {
    pub who: Vec<AgentName>,
    pub over: Vec<AgentName>,
    pub shifts: Vec<RightShift>,
}

/// How many names one sentence has.
const NAMED_MAX: usize = 5;

impl RightsChange {
    /// What of it is gained, or what is lost.
    pub fn shifts_of(&self, is_gain: bool) -> impl Iterator<Item = RightShift> {
        let those = self.shifts.iter().copied();
        those.filter(move |shift| shift.is_gain() == is_gain)
    }

    /// One sentence for what is gained and one for what is lost.
    pub fn words(&self) -> Vec<String> {
        let (who, over) = (named(&self.who), named(&self.over));
        let sentence = |is_gain: bool| {
            let said: Vec<String> = self
                .shifts_of(is_gain)
                .map(|shift| match (shift.from, shift.to) {
                    (Right::Never, Right::WithNod) => {
                        format!("{} with a nod", shift.operation.words())
                    }
                    (Right::Alone, Right::WithNod) | (Right::WithNod, Right::Alone) => {
                        format!("{} without a nod", shift.operation.words())
                    }
                    (Right::Never | Right::WithNod | Right::Alone, _) => {
                        shift.operation.words().to_owned()
                    }
                })
                .collect();
            let verb = match (is_gain, self.who.len() == 1) {
                (true, true) => "may from then on",
                (true, false) => "may each from then on",
                (false, true) => "may no longer",
                (false, false) => "may each no longer",
            };
            let said = said.join(", ");
            (!said.is_empty()).then(|| format!("{who} {verb}, to {over}: {said}"))
        };
        [true, false].into_iter().filter_map(sentence).collect()
    }
}

fn named(names: &[AgentName]) -> String {
    let told: Vec<&str> = names
        .iter()
        .take(NAMED_MAX)
        .map(AgentName::as_str)
        .collect();
    match names.len().saturating_sub(NAMED_MAX) {
        0 => told.join(", "),
        more => format!("{} and {more} more", told.join(", ")),
    }
}

/// What is the case if an agent, and with it everybody below it, stands elsewhere in `after` than in `before`. `facts`
/// knows of everybody where they run and what they may, and `listed` knows the allow-list.
pub fn difference<'a>(
    before: &Index,
    after: &Index,
    moved: &AgentName,
    facts: impl Fn(&AgentName) -> (AgentKind, &'a Capabilities),
    listed: impl Fn(&AgentName, &AgentName) -> Listed,
) -> Vec<RightsChange> {
    let shifts = |who: &AgentName, over: &AgentName| {
        let relations = (before.relation(who, over), after.relation(who, over));
        let ((_, capabilities), (target, _)) = (facts(who), facts(over));
        shifts_of(relations, target, listed(who, over), capabilities)
    };
    let mut over_of: BTreeMap<(AgentName, Vec<RightShift>), BTreeSet<AgentName>> = BTreeMap::new();
    let mut note = |who: &AgentName, over: &[&AgentName], shifts: Vec<RightShift>| {
        if !shifts.is_empty() {
            let all = over_of.entry((who.clone(), shifts)).or_default();
            all.extend(over.iter().map(|name| (*name).clone()));
        }
    };
    for other in around(before, moved).union(&around(after, moved)) {
        note(other, &[moved], shifts(other, moved));
        note(moved, &[other], shifts(moved, other));
    }
    // Whoever gains or loses the one that is moved does so with everybody below it, by where those run.
    let mut below: BTreeMap<AgentKind, Vec<&AgentName>> = BTreeMap::new();
    for name in before.descendants(moved) {
        below.entry(facts(name).0).or_default().push(name);
    }
    for other in above(before, moved).union(&above(after, moved)) {
        for names in below.values() {
            if let Some(first) = names.first() {
                note(other, names, shifts(other, first));
            }
        }
    }
    joined(over_of)
}

fn shifts_of(
    (before, after): (Relation, Relation),
    target: AgentKind,
    listed: Listed,
    capabilities: &Capabilities,
) -> Vec<RightShift> {
    let judged = |operation, relation| {
        let standing = Standing {
            relation,
            target,
            listed,
            capabilities,
        };
        right(operation, standing)
    };
    let all = Operation::ALL.into_iter().map(|operation| RightShift {
        operation,
        from: judged(operation, before),
        to: judged(operation, after),
    });
    all.filter(|shift| shift.from != shift.to).collect()
}

fn above<'a>(index: &'a Index, name: &AgentName) -> BTreeSet<&'a AgentName> {
    let parents = std::iter::successors(index.position(name), |position| position.parent());
    parents.skip(1).filter_map(Position::name).collect()
}

/// The ancestors and the siblings.
fn around<'a>(index: &'a Index, name: &AgentName) -> BTreeSet<&'a AgentName> {
    let mut around = above(index, name);
    let parent = index.position(name).and_then(Position::parent);
    let parent = parent.and_then(Position::name);
    let beside = parent
        .map(|parent| index.descendants(parent))
        .unwrap_or_default();
    around.extend(
        beside
            .iter()
            .filter(|other| index.relation(name, other) == Relation::Sibling),
    );
    around
}

/// Those of whom the same is true are said together.
fn joined(
    over_of: BTreeMap<(AgentName, Vec<RightShift>), BTreeSet<AgentName>>,
) -> Vec<RightsChange> {
    let mut who_of: BTreeMap<(BTreeSet<AgentName>, Vec<RightShift>), Vec<AgentName>> =
        BTreeMap::new();
    for ((who, shifts), over) in over_of {
        who_of.entry((over, shifts)).or_default().push(who);
    }
    let changes = who_of
        .into_iter()
        .map(|((over, shifts), who)| RightsChange {
            who,
            over: over.into_iter().collect(),
            shifts,
        });
    changes.collect()
}
