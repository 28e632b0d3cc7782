//! Bringing the tree in line with who there is: whoever is new gets their place under the root, whoever is gone leaves
//! the tree, and everybody else stays where the owner put them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use void_domain::agents::AgentName;

use crate::bounds::MEMBERS_MAX;
use crate::problems::TreeProblem;
use crate::topology::{Topology, root};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconciled {
    pub topology: Topology,
    /// Who got no place, and why.
    pub problems: Vec<TreeProblem>,
}

impl Topology {
    /// The tree of exactly these agents and the root. Whose parent is gone stands under the root again: there is one
    /// place that nobody chose, and under it nobody gains a right over them who had none.
    pub fn reconciled(&self, members: &BTreeSet<AgentName>) -> Reconciled {
        let root = root();
        let is_member = |name: &AgentName| members.contains(name) || Some(name) == root.as_ref();
        let mut parents: BTreeMap<AgentName, Option<AgentName>> = BTreeMap::new();
        parents.extend(root.clone().map(|root| (root, None)));
        for (name, parent) in self.entries().filter(|(name, _)| is_member(name)) {
            let parent = parent.filter(|parent| is_member(parent)).cloned();
            // Only the root has none.
            let parent = parent
                .or_else(|| root.clone())
                .filter(|_| Some(name) != root.as_ref());
            parents.insert(name.clone(), parent);
        }
        let mut alike: HashMap<Vec<u8>, AgentName> = parents
            .keys()
            .map(|name| (name.likeness(), name.clone()))
            .collect();
        let mut problems = Vec::new();
        for name in members {
            if parents.contains_key(name) {
                continue;
            }
            if parents.len() >= MEMBERS_MAX {
                problems.push(TreeProblem::TooMany(name.clone()));
                continue;
            }
            if let Some(other) = alike.insert(name.likeness(), name.clone()) {
                problems.push(TreeProblem::ReadsLike {
                    name: name.clone(),
                    other: other.clone(),
                });
                alike.insert(name.likeness(), other);
                continue;
            }
            parents.insert(name.clone(), root.clone());
        }
        let (topology, unsound) = Self::of(parents);
        problems.extend(unsound);
        Reconciled { topology, problems }
    }
}
