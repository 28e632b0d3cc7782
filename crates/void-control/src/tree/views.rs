//! The tree and the rights in it, to be looked at.

use std::collections::BTreeMap;

use void_domain::agents::AgentName;
use void_domain::capabilities::Capabilities;
use void_domain::relations::Relation;
use void_store::{StoreError, Tx, agents, tokens};
use void_tree::{AgentKind, Listed, Operation, Position, Right, Standing, right};

use crate::control::Control;
use crate::parts::tree::{Member, Tree};

#[derive(Debug)]
pub struct TreeView {
    /// Everybody, parents before their children; then whoever has no position.
    pub members: Vec<MemberView>,
    /// What is wrong, in words.
    pub problems: Vec<String>,
    pub commit: Option<String>,
}

#[derive(Debug, Clone)]
pub struct MemberView {
    pub name: AgentName,
    pub kind: AgentKind,
    pub parent: Option<AgentName>,
    /// How many generations below the root; `None`: it has no position.
    pub depth: Option<u32>,
}

/// What an agent may do to everybody, and for itself.
#[derive(Debug)]
pub struct CanView {
    pub member: MemberView,
    /// `None`: it was withdrawn, and may do nothing.
    pub capabilities: Option<Capabilities>,
    pub over: Vec<CanOver>,
}

#[derive(Debug)]
pub struct CanOver {
    pub target: MemberView,
    /// Of the agent that acts, seen from this one.
    pub relation: Relation,
    /// Every operation.
    pub rights: Vec<(Operation, Right)>,
}

pub async fn show(control: &Control) -> TreeView {
    let tree = control.in_force.tree.opened().await;
    TreeView {
        members: members(&tree),
        problems: tree.problems.clone(),
        commit: tree.commit.clone(),
    }
}

fn members(tree: &Tree) -> Vec<MemberView> {
    let placed = tree.index.names().iter();
    let placed = placed.filter_map(|name| Some(view(tree, name, tree.members.get(name)?)));
    let others = tree.members.iter();
    let others = others.filter(|(name, _)| !tree.topology.has(name));
    let others = others.map(|(name, member)| view(tree, name, member));
    placed.chain(others).collect()
}

fn view(tree: &Tree, name: &AgentName, member: &Member) -> MemberView {
    MemberView {
        name: name.clone(),
        kind: member.kind,
        parent: tree.topology.parent(name).cloned(),
        depth: tree.index.position(name).map(Position::depth),
    }
}

/// `None`: nobody of this name belongs into the tree.
pub async fn can(control: &Control, name: &AgentName) -> Result<Option<CanView>, StoreError> {
    let tree = control.in_force.tree.opened().await;
    let Some(member) = tree.members.get(name) else {
        return Ok(None);
    };
    let capabilities = capabilities(control, &tree).await?.remove(name);
    let may = capabilities.as_ref();
    let all = members(&tree).into_iter();
    Ok(Some(CanView {
        over: all.map(|target| over(&tree, name, may, target)).collect(),
        member: view(&tree, name, member),
        capabilities,
    }))
}

fn over(tree: &Tree, name: &AgentName, may: Option<&Capabilities>, target: MemberView) -> CanOver {
    let relation = tree.index.relation(name, &target.name);
    let judged = |operation| {
        let found = may.map(|capabilities| {
            let standing = Standing {
                relation,
                target: target.kind,
                listed: Listed::No,
                capabilities,
            };
            right(operation, standing)
        });
        // Whoever was withdrawn has no turn in which it could do anything.
        (operation, found.unwrap_or(Right::Never))
    };
    CanOver {
        relation,
        rights: Operation::ALL.into_iter().map(judged).collect(),
        target,
    }
}

/// What everybody may who was not withdrawn.
pub(super) async fn capabilities(
    control: &Control,
    tree: &Tree,
) -> Result<BTreeMap<AgentName, Capabilities>, StoreError> {
    let members = tree.members.clone();
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let mut all = BTreeMap::new();
                for (name, member) in members {
                    if let Some(capabilities) = capabilities_of(tx, &name, &member).await? {
                        all.insert(name, capabilities);
                    }
                }
                Ok(all)
            })
        })
        .await
}

/// What one of them may now; `None`: nobody, or withdrawn.
pub(crate) async fn capabilities_now(
    control: &Control,
    tree: &Tree,
    name: &AgentName,
) -> Result<Option<Capabilities>, StoreError> {
    let Some(member) = tree.members.get(name).cloned() else {
        return Ok(None);
    };
    let name = name.clone();
    control
        .store
        .read(move |tx| Box::pin(async move { capabilities_of(tx, &name, &member).await }))
        .await
}

/// What the owner said with a token. As long as they have not, a resident may what its persona says, and an agent with a
/// process, of which nobody knows yet, nothing; what is known of that one the owner said with a token or with its config.
async fn capabilities_of(
    tx: &mut Tx,
    name: &AgentName,
    member: &Member,
) -> Result<Option<Capabilities>, StoreError> {
    let own = || Ok(Some(member.capabilities.clone()));
    let Some(agent) = agents::find_named(tx, name).await? else {
        return own();
    };
    if !agent.is_live() || !tokens::has_usable(tx, agent.id).await? {
        return Ok(None);
    }
    let live = tokens::list_live_of(tx, agent.id).await?;
    let has_said = live.iter().any(|token| !token.resident) || member.kind == AgentKind::Process;
    match has_said {
        true => Ok(Some(agent.capabilities)),
        false => own(),
    }
}
