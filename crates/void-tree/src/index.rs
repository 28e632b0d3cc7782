//! How two agents stand to each other, in constant time. Made anew whenever the tree changes; a reader keeps the one
//! that it began with.

use std::collections::HashMap;
use std::ptr;

use void_domain::agents::AgentName;
use void_domain::relations::Relation;

use crate::intervals::Intervals;
use crate::topology::Topology;

#[derive(Debug, Clone, Default)]
pub struct Index {
    intervals: Intervals,
    /// By number: root first, and everybody's descendants right after them.
    names: Vec<AgentName>,
    numbers: HashMap<AgentName, u32>,
}

/// Where somebody stands in one index. It means nothing in another one.
#[derive(Debug, Clone, Copy)]
pub struct Position<'a> {
    index: &'a Index,
    number: u32,
}

impl Index {
    pub fn of(topology: &Topology) -> Self {
        // The root comes first, whatever it is called; the others in the order of their names.
        let (roots, others): (Vec<_>, Vec<_>) =
            topology.entries().partition(|(_, parent)| parent.is_none());
        let all: Vec<(&AgentName, Option<&AgentName>)> = roots.into_iter().chain(others).collect();
        let by_name: HashMap<&AgentName, u32> =
            all.iter().map(|(name, _)| *name).zip(0_u32..).collect();
        let parents: Vec<u32> = all
            .iter()
            .map(|(_, parent)| parent.and_then(|parent| by_name.get(parent)).copied())
            .map(Option::unwrap_or_default)
            .collect();
        let (intervals, indexes) = Intervals::of(&parents);
        let names: Vec<AgentName> = indexes
            .into_iter()
            .filter_map(|index| all.get(usize::try_from(index).ok()?))
            .map(|(name, _)| (*name).clone())
            .collect();
        let numbers = names.iter().cloned().zip(0_u32..).collect();
        Self {
            intervals,
            names,
            numbers,
        }
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// `None`: not in the tree.
    pub fn position(&self, name: &AgentName) -> Option<Position<'_>> {
        let number = *self.numbers.get(name)?;
        Some(Position {
            index: self,
            number,
        })
    }

    /// How the one that acts stands, seen from the one it acts on. Whoever is not in the tree is a stranger to
    /// everybody, also to itself.
    pub fn relation(&self, actor: &AgentName, target: &AgentName) -> Relation {
        match (self.position(actor), self.position(target)) {
            (Some(actor), Some(target)) => actor.relation_to(target),
            (Some(_) | None, _) => Relation::Stranger,
        }
    }

    /// Everybody, root first, and everybody's descendants right after them.
    pub fn names(&self) -> &[AgentName] {
        &self.names
    }

    /// Everybody below somebody, at any depth; nobody below whoever is not in the tree.
    pub fn descendants(&self, name: &AgentName) -> &[AgentName] {
        let found = self.position(name).and_then(|position| {
            let last = usize::try_from(self.intervals.last(position.number)?).ok()?;
            let first = usize::try_from(position.number).ok()?.checked_add(1)?;
            self.names.get(first..=last)
        });
        found.unwrap_or_default()
    }

    fn name(&self, number: u32) -> Option<&AgentName> {
        self.names.get(usize::try_from(number).ok()?)
    }
}

impl<'a> Position<'a> {
    pub fn name(self) -> Option<&'a AgentName> {
        self.index.name(self.number)
    }

    /// `None` for the root.
    pub fn parent(self) -> Option<Self> {
        let number = self.index.intervals.parent(self.number)?;
        Some(Self { number, ..self })
    }

    /// How many generations below the root.
    pub fn depth(self) -> u32 {
        self.index.intervals.depth(self.number).unwrap_or_default()
    }

    /// Whether it is the other's ancestor.
    pub fn is_above(self, other: Self) -> bool {
        ptr::eq(self.index, other.index) && self.index.intervals.is_above(self.number, other.number)
    }

    /// How this one stands, seen from the other.
    pub fn relation_to(self, other: Self) -> Relation {
        if !ptr::eq(self.index, other.index) {
            return Relation::Stranger;
        }
        if self.number == other.number {
            return Relation::Same;
        }
        let apart = u8::try_from(self.depth().abs_diff(other.depth())).unwrap_or(u8::MAX);
        if self.is_above(other) {
            return Relation::Ancestor { depth: apart };
        }
        if other.is_above(self) {
            return Relation::Descendant { depth: apart };
        }
        let parent = |position: Self| position.index.intervals.parent(position.number);
        match parent(self).is_some() && parent(self) == parent(other) {
            true => Relation::Sibling,
            false => Relation::Stranger,
        }
    }
}
