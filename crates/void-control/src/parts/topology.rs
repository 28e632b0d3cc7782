//! Who stands where in the tree of agents, as a snapshot that a decision is made with.
//!
//! The tree is flat: every agent is a child of nobody, so none has a descendant and none acts on another's
//! behalf. That is also what a missing tree means: it grants nothing.

use void_domain::actors::Actor;
use void_domain::agents::AgentName;
use void_domain::relations::Relation;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Topology {
    /// Nobody is anybody's parent.
    Flat,
}

impl Topology {
    /// How an actor stands to the agents that an action names. One that names nobody is everybody's; whoever
    /// is neither named nor an ancestor of one that is, is a stranger.
    pub(crate) fn relation(self, actor: &Actor, named: Option<&[String]>) -> Relation {
        let Self::Flat = self;
        match (actor, named) {
            (_, None) => Relation::Same,
            (Actor::Agent { name, .. }, Some(named)) if is_named(name, named) => Relation::Same,
            (
                Actor::Owner { .. }
                | Actor::Agent { .. }
                | Actor::Viewer { .. }
                | Actor::Node { .. }
                | Actor::System,
                Some(_),
            ) => Relation::Stranger,
        }
    }
}

fn is_named(name: &AgentName, named: &[String]) -> bool {
    named.iter().any(|one| one == name.as_str())
}

#[cfg(test)]
mod tests {
    use void_domain::ids::AgentId;
    use void_domain::time::Timestamp;

    use super::*;

    /// Every agent × every list of names: named or a stranger, and never above anybody.
    #[test]
    fn while_the_tree_is_flat_nobody_stands_above_anybody() {
        let names = ["root", "alice", "bob", "alice-2"];
        let lists: [&[&str]; 5] = [
            &[],
            &["alice"],
            &["alice", "bob"],
            &["root"],
            &["ALICE", "a"],
        ];
        for name in names {
            let actor = Actor::Agent {
                id: AgentId::new(Timestamp::from_ms(1), [1; 10]),
                name: name.parse().unwrap(),
            };
            assert_eq!(Topology::Flat.relation(&actor, None), Relation::Same);
            for list in lists {
                let named: Vec<String> = list.iter().map(|&one| one.to_owned()).collect();
                let expected = match list.contains(&name) {
                    true => Relation::Same,
                    false => Relation::Stranger,
                };
                let found = Topology::Flat.relation(&actor, Some(&named));
                assert_eq!(found, expected, "{name} {list:?}");
            }
        }
    }
}
