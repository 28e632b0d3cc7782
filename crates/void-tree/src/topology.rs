//! Who stands under whom. A value of this type is sound; there is no way to make another one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::str::FromStr as _;

use void_domain::agents::AgentName;

use crate::bounds::DEPTH_MAX;
use crate::problems::TreeProblem;

/// The one agent without a parent. It is everybody's ancestor.
pub const ROOT: &str = "root";

/// Either nobody at all, or `root` and those below it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Topology {
    parents: BTreeMap<AgentName, Option<AgentName>>,
}

/// Why an agent is not moved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoveRefusal {
    #[error("{0} has no position in the tree")]
    NoPosition(AgentName),
    #[error("root stands above everybody and is not moved")]
    Root,
    #[error("{parent} stands below {name} already, so that would be a circle")]
    Cycle { name: AgentName, parent: AgentName },
    #[error("an agent is not its own parent")]
    Itself,
    #[error("{0} would stand deeper than {DEPTH_MAX} below root")]
    TooDeep(AgentName),
    #[error("{name} stands under {parent} already")]
    Already { name: AgentName, parent: AgentName },
}

/// How one agent's place differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Relocation {
    pub name: AgentName,
    /// `None`: it was in no place.
    pub from: Option<AgentName>,
    /// `None`: it is in none any more.
    pub to: Option<AgentName>,
}

/// The name of the root, as the type that names have.
pub(crate) fn root() -> Option<AgentName> {
    AgentName::from_str(ROOT).ok()
}

impl Topology {
    /// Nobody stands above anybody.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The root alone.
    pub fn of_root() -> Self {
        Self {
            parents: root().into_iter().map(|root| (root, None)).collect(),
        }
    }

    /// What of these entries is sound, and what is wrong with the others.
    pub fn of(entries: BTreeMap<AgentName, Option<AgentName>>) -> (Self, Vec<TreeProblem>) {
        Self::beside(entries, &BTreeSet::new())
    }

    /// The same where these names are taken too, by whoever has no entry.
    pub(crate) fn beside(
        entries: BTreeMap<AgentName, Option<AgentName>>,
        taken: &BTreeSet<AgentName>,
    ) -> (Self, Vec<TreeProblem>) {
        let mut problems = Vec::new();
        if root().is_none_or(|root| entries.get(&root) != Some(&None)) {
            problems.push(TreeProblem::NoRoot);
            return (Self::empty(), problems);
        }
        let wrong = wrong_by_themselves(&entries, taken, &mut problems);
        let reached = reached(&entries, &wrong, &mut problems);
        hanging(&entries, &wrong, &reached, &mut problems);
        problems.sort();
        let mut parents = entries;
        parents.retain(|name, _| reached.contains(name));
        (Self { parents }, problems)
    }

    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Whether nobody has a position.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    pub fn has(&self, name: &AgentName) -> bool {
        self.parents.contains_key(name)
    }

    pub fn parent(&self, name: &AgentName) -> Option<&AgentName> {
        self.parents.get(name).and_then(Option::as_ref)
    }

    /// Everybody with their parent, by name.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&AgentName, Option<&AgentName>)> {
        let entries = self.parents.iter();
        entries.map(|(name, parent)| (name, parent.as_ref()))
    }

    /// The file: one name a line, in order.
    pub fn to_json(&self) -> String {
        let lines: Vec<String> = self
            .entries()
            .map(|(name, parent)| match parent {
                // A name is a slug: nothing in it has to be escaped.
                Some(parent) => format!("  \"{name}\": \"{parent}\""),
                None => format!("  \"{name}\": null"),
            })
            .collect();
        match lines.is_empty() {
            true => "{}\n".to_owned(),
            false => format!("{{\n{}\n}}\n", lines.join(",\n")),
        }
    }

    /// The same tree with one agent, and everybody below it, under another parent.
    pub fn moved(&self, name: &AgentName, parent: &AgentName) -> Result<Self, MoveRefusal> {
        for one in [name, parent] {
            if !self.has(one) {
                return Err(MoveRefusal::NoPosition(one.clone()));
            }
        }
        let (name, parent) = (name.clone(), parent.clone());
        let Some(from) = self.parent(&name) else {
            return Err(MoveRefusal::Root);
        };
        if name == parent {
            return Err(MoveRefusal::Itself);
        }
        if *from == parent {
            return Err(MoveRefusal::Already { name, parent });
        }
        if self.ancestors(&parent).any(|above| *above == name) {
            return Err(MoveRefusal::Cycle { name, parent });
        }
        let mut parents = self.parents.clone();
        parents.insert(name, Some(parent));
        // Whoever has no position any more stands too deep: nothing else can have become wrong.
        let (moved, _) = Self::of(parents);
        match self.parents.keys().find(|one| !moved.has(one)) {
            Some(deep) => Err(MoveRefusal::TooDeep(deep.clone())),
            None => Ok(moved),
        }
    }

    /// From the parent up to the root.
    pub fn ancestors(&self, name: &AgentName) -> impl Iterator<Item = &AgentName> {
        std::iter::successors(self.parent(name), |above| self.parent(above))
    }

    /// Who stands elsewhere in another tree, by name.
    pub fn relocations(&self, after: &Self) -> Vec<Relocation> {
        let names: BTreeSet<&AgentName> = self.parents.keys().chain(after.parents.keys()).collect();
        let changed = names
            .into_iter()
            .filter(|name| self.parents.get(*name) != after.parents.get(*name));
        changed
            .map(|name| Relocation {
                name: name.clone(),
                from: self.parent(name).cloned(),
                to: after.parent(name).cloned(),
            })
            .collect()
    }
}

type Entries = BTreeMap<AgentName, Option<AgentName>>;

/// Those that are wrong whatever stands around them.
fn wrong_by_themselves(
    entries: &Entries,
    taken: &BTreeSet<AgentName>,
    problems: &mut Vec<TreeProblem>,
) -> BTreeSet<AgentName> {
    let mut wrong = BTreeSet::new();
    let mut alike: HashMap<Vec<u8>, Vec<&AgentName>> = HashMap::new();
    for name in entries.keys().chain(taken) {
        alike.entry(name.likeness()).or_default().push(name);
    }
    for (name, parent) in entries {
        let problem = match parent {
            None if name.as_str() == ROOT => continue,
            None => TreeProblem::SecondRoot(name.clone()),
            Some(parent) if entries.contains_key(parent) => continue,
            Some(parent) => TreeProblem::UnknownParent {
                name: name.clone(),
                parent: parent.clone(),
            },
        };
        problems.push(problem);
        wrong.insert(name.clone());
    }
    for names in alike.values() {
        let [first, second, ..] = names.as_slice() else {
            continue;
        };
        // Nobody can say which of them was meant; there is one root.
        for name in names
            .iter()
            .filter(|name| name.as_str() != ROOT && entries.contains_key(**name))
        {
            let other = if name == first { second } else { first };
            problems.push(TreeProblem::ReadsLike {
                name: (*name).clone(),
                other: (*other).clone(),
            });
            wrong.insert((*name).clone());
        }
    }
    wrong
}

/// Whom the root reaches within the depth that is allowed.
fn reached(
    entries: &Entries,
    wrong: &BTreeSet<AgentName>,
    problems: &mut Vec<TreeProblem>,
) -> BTreeSet<AgentName> {
    let mut below: HashMap<&AgentName, Vec<&AgentName>> = HashMap::new();
    for (name, parent) in entries {
        if let Some(parent) = parent
            && !wrong.contains(name)
        {
            below.entry(parent).or_default().push(name);
        }
    }
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<(&AgentName, u8)> = entries
        .keys()
        .filter(|name| name.as_str() == ROOT)
        .map(|root| (root, 0))
        .collect();
    // Everybody has one parent, so nobody comes twice.
    while let Some((name, depth)) = waiting.pop() {
        reached.insert(name.clone());
        for child in below.get(name).into_iter().flatten() {
            match depth.checked_add(1).filter(|depth| *depth <= DEPTH_MAX) {
                Some(depth) => waiting.push((child, depth)),
                None => problems.push(TreeProblem::TooDeep((*child).clone())),
            }
        }
    }
    reached
}

/// Says of everybody else why they have no position.
fn hanging(
    entries: &Entries,
    wrong: &BTreeSet<AgentName>,
    reached: &BTreeSet<AgentName>,
    problems: &mut Vec<TreeProblem>,
) {
    let too_deep = problems.iter().filter_map(|problem| match problem {
        TreeProblem::TooDeep(name) => entries.get_key_value(name).map(|(name, _)| name),
        _ => None,
    });
    // Below whom somebody hangs who has a reason of their own, found once for everybody on the way.
    let mut known: HashMap<&AgentName, &AgentName> =
        too_deep.chain(wrong).map(|name| (name, name)).collect();
    let mut found = Vec::new();
    for start in entries.keys().filter(|name| !reached.contains(*name)) {
        let mut way: Vec<&AgentName> = Vec::new();
        let mut on_way: HashMap<&AgentName, usize> = HashMap::new();
        let mut at = start;
        let why = loop {
            if let Some(why) = known.get(at) {
                break *why;
            }
            if let Some(begin) = on_way.get(at) {
                for name in way.drain(*begin..) {
                    found.push(TreeProblem::InCycle(name.clone()));
                    known.insert(name, name);
                }
                break at;
            }
            on_way.insert(at, way.len());
            way.push(at);
            match entries.get(at).and_then(Option::as_ref) {
                Some(parent) => at = parent,
                None => break at,
            }
        };
        for name in way {
            found.push(TreeProblem::BelowWrong {
                name: name.clone(),
                wrong: why.clone(),
            });
            known.insert(name, why);
        }
    }
    problems.extend(found);
}
