//! Who stands where in the tree of agents, as a snapshot that a decision is made with. A tree that is missing grants
//! nothing: then everybody is a stranger to everybody.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::{Mutex, watch};
use void_channels::MetaFolder;
use void_domain::actors::Actor;
use void_domain::agent_configs::AgentConfig;
use void_domain::agents::AgentName;
use void_domain::capabilities::Capabilities;
use void_domain::ids::ActionId;
use void_domain::meta_locks::MetaLock;
use void_domain::relations::Relation;
use void_tree::{AgentKind, Index, Topology};

use crate::context::Ctx;

/// How long whoever looks waits for a tree that is being opened.
const OPENED_WITHIN: Duration = Duration::from_secs(30);

pub(crate) struct TreePart {
    now: RwLock<Arc<Tree>>,
    is_opening: watch::Sender<bool>,
    /// Held by whoever changes the tree, from the first look to the last word; `None` until it is opened.
    pub(crate) folder: Mutex<Option<MetaFolder>>,
    pub(crate) places: OnceLock<AgentPlaces>,
}

/// Where agents with processes have their folders, and what is applied of their configs.
#[derive(Debug, Clone)]
pub(crate) struct AgentPlaces {
    pub agents: PathBuf,
    pub applied: PathBuf,
}

impl Default for TreePart {
    fn default() -> Self {
        Self {
            now: RwLock::default(),
            is_opening: watch::Sender::new(false),
            folder: Mutex::default(),
            places: OnceLock::new(),
        }
    }
}

impl TreePart {
    pub(crate) fn note_opening(&self, is_opening: bool) {
        self.is_opening.send_replace(is_opening);
    }

    /// The tree, once it is open; for whoever looks at it. Meanwhile decisions are made without it.
    pub(crate) async fn opened(&self) -> Arc<Tree> {
        let mut opening = self.is_opening.subscribe();
        let open = opening.wait_for(|is_opening| !is_opening);
        let _ = tokio::time::timeout(OPENED_WITHIN, open).await;
        self.now()
    }

    /// The tree as it is now; a decision keeps the one that it began with.
    pub(crate) fn now(&self) -> Arc<Tree> {
        let now = self.now.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&now)
    }

    pub(crate) fn set(&self, tree: Tree) {
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(tree);
    }
}

/// Somebody who belongs into the tree, whether or not they have a position there.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub kind: AgentKind,
    /// What it may if the owner has said nothing else.
    pub capabilities: Capabilities,
}

impl Member {
    pub(crate) const fn of(kind: AgentKind, capabilities: Capabilities) -> Self {
        Self { kind, capabilities }
    }
}

#[derive(Clone, Default)]
pub(crate) struct Tree {
    pub topology: Topology,
    pub index: Index,
    pub members: BTreeMap<AgentName, Member>,
    /// What is applied and what is pinned, by the same commit.
    pub lock: MetaLock,
    /// The configs that are applied, as far as they can be read.
    pub configs: BTreeMap<AgentName, AgentConfig>,
    /// The commit that it is.
    pub commit: Option<String>,
    /// What is wrong, in words.
    pub problems: Vec<String>,
    /// Whether something is so wrong that the tree is not changed until the owner has mended it.
    pub is_broken: bool,
}

impl Tree {
    pub(crate) fn kind(&self, name: &AgentName) -> AgentKind {
        let member = self.members.get(name);
        member.map_or(AgentKind::Process, |member| member.kind)
    }

    /// Everybody who belongs in it.
    pub(crate) fn names(&self) -> Vec<AgentName> {
        self.members.keys().cloned().collect()
    }

    /// How whoever acts stands to one agent. Only who acts in the server's own name for an agent stands anywhere: whoever
    /// shows a token from outside is no member, whatever it is called.
    pub(crate) fn standing(&self, ctx: &Ctx, target: &AgentName) -> Relation {
        match &ctx.actor {
            Actor::Agent { name, .. } if !ctx.is_from_outside => self.index.relation(name, target),
            Actor::Owner { .. }
            | Actor::Agent { .. }
            | Actor::Viewer { .. }
            | Actor::Node { .. }
            | Actor::System => Relation::Stranger,
        }
    }

    /// How an actor stands to an action: by the list of its own config, if it has one, and by the agents that the action names.
    /// A config that cannot be read lists nothing.
    pub(crate) fn relation_to(
        &self,
        ctx: &Ctx,
        action: &ActionId,
        named: Option<&[String]>,
    ) -> Relation {
        if let Actor::Agent { name, .. } = &ctx.actor
            && self.lock.agents.contains_key(name)
        {
            let config = self.configs.get(name);
            let lists = config.is_some_and(|config| {
                (config.actions.as_ref()).is_none_or(|list| list.contains(action))
            });
            if !lists {
                return Relation::Stranger;
            }
        }
        self.relation(ctx, named)
    }

    /// How an actor stands to the agents that an action names. One that names nobody is everybody's; whoever is neither
    /// named nor above one that is, is a stranger.
    pub(crate) fn relation(&self, ctx: &Ctx, named: Option<&[String]>) -> Relation {
        let Some(named) = named else {
            return Relation::Same;
        };
        if let Actor::Agent { name, .. } = &ctx.actor
            && named.iter().any(|one| one == name.as_str())
        {
            return Relation::Same;
        }
        let mut names = named.iter().filter_map(|one| one.parse().ok());
        let above = names.find_map(|one| match self.standing(ctx, &one) {
            Relation::Ancestor { depth } => Some(Relation::Ancestor { depth }),
            Relation::Same
            | Relation::Descendant { .. }
            | Relation::Sibling
            | Relation::Stranger => None,
        });
        above.unwrap_or(Relation::Stranger)
    }
}

#[cfg(test)]
mod tests {
    use void_domain::agent_configs::CommitId;
    use void_domain::ids::{AgentId, RequestId};
    use void_domain::time::Timestamp;

    use super::*;

    fn ctx(name: &str, is_from_outside: bool) -> Ctx {
        let at = Timestamp::from_ms(1);
        Ctx {
            actor: Actor::Agent {
                id: AgentId::new(at, [1; 10]),
                name: name.parse().unwrap(),
            },
            is_from_outside,
            ..Ctx::system(RequestId::new(at, [1; 10]))
        }
    }

    fn tree(text: &str) -> Tree {
        let topology = Topology::read(Some(text)).topology;
        Tree {
            index: Index::of(&topology),
            topology,
            ..Tree::default()
        }
    }

    const LISTS: [&[&str]; 6] = [
        &[],
        &["alice"],
        &["alice", "bob"],
        &["root"],
        &["ALICE", "a"],
        &["nobody", "bob"],
    ];

    fn named(list: &[&str]) -> Vec<String> {
        list.iter().map(|&one| one.to_owned()).collect()
    }

    /// Every agent × every list of names: without a tree, named or a stranger, and never above anybody.
    #[test]
    fn without_a_tree_nobody_stands_above_anybody() {
        for tree in [tree("{"), tree("{}"), Tree::default()] {
            for name in ["root", "alice", "bob", "alice-2"] {
                for is_from_outside in [false, true] {
                    let ctx = ctx(name, is_from_outside);
                    assert_eq!(tree.relation(&ctx, None), Relation::Same);
                    for list in LISTS {
                        let expected = match list.contains(&name) {
                            true => Relation::Same,
                            false => Relation::Stranger,
                        };
                        let found = tree.relation(&ctx, Some(&named(list)));
                        assert_eq!(found, expected, "{name} {list:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn an_ancestor_acts_for_whoever_is_named_below_it_and_nobody_else_does() {
        let tree = tree(r#"{"root": null, "alice": "root", "bob": "alice"}"#);
        let found =
            |name: &str, list: &[&str]| tree.relation(&ctx(name, false), Some(&named(list)));
        assert_eq!(found("alice", &["bob"]), Relation::Ancestor { depth: 1 });
        assert_eq!(found("root", &["bob"]), Relation::Ancestor { depth: 2 });
        assert_eq!(
            found("root", &["nobody", "bob"]),
            Relation::Ancestor { depth: 2 }
        );
        assert_eq!(found("alice", &["alice", "bob"]), Relation::Same);
        for (name, list) in [
            ("bob", &["alice"][..]),
            ("alice", &["root"]),
            ("stranger", &["bob"]),
            ("alice", &["BOB"]),
            ("alice", &[]),
        ] {
            assert_eq!(found(name, list), Relation::Stranger, "{name} {list:?}");
        }
    }

    /// A list of its own narrows what an agent may ask for, and a config that cannot be read leaves nothing.
    #[test]
    fn a_config_narrows_what_an_agent_may_ask_for() {
        let mut tree = tree(r#"{"root": null, "alice": "root", "bob": "alice"}"#);
        let action = ActionId::parse("restart-caddy").unwrap();
        let found = |tree: &Tree, is_from_outside: bool| {
            tree.relation_to(&ctx("alice", is_from_outside), &action, None)
        };
        assert_eq!(found(&tree, false), Relation::Same);
        let commit = CommitId::parse(&"a".repeat(40)).unwrap();
        tree.lock.agents.insert("alice".parse().unwrap(), commit);
        assert_eq!(found(&tree, false), Relation::Stranger);
        for (list, expected) in [
            ("", Relation::Same),
            ("actions = [\"restart-caddy\"]", Relation::Same),
            ("actions = [\"stop-nas\"]", Relation::Stranger),
            ("actions = []", Relation::Stranger),
        ] {
            let config = AgentConfig::parse(&format!("brain = \"builtin\"\n{list}\n")).unwrap();
            tree.configs.insert("alice".parse().unwrap(), config);
            for is_from_outside in [false, true] {
                assert_eq!(found(&tree, is_from_outside), expected, "{list}");
            }
        }
    }

    /// Whoever shows a token of the same name from outside is named or a stranger.
    #[test]
    fn a_token_from_outside_stands_above_nobody() {
        let tree = tree(r#"{"root": null, "alice": "root", "bob": "alice"}"#);
        for name in ["root", "alice", "bob", "agent-file"] {
            for list in LISTS {
                let expected = match list.contains(&name) {
                    true => Relation::Same,
                    false => Relation::Stranger,
                };
                let found = tree.relation(&ctx(name, true), Some(&named(list)));
                assert_eq!(found, expected, "{name} {list:?}");
            }
            let alice = "alice".parse().unwrap();
            assert_eq!(tree.standing(&ctx(name, true), &alice), Relation::Stranger);
        }
        let system = Ctx::system(RequestId::new(Timestamp::from_ms(1), [1; 10]));
        let bob = "bob".parse().unwrap();
        assert_eq!(tree.standing(&system, &bob), Relation::Stranger);
    }
}
