//! The owner moves an agent, with everybody below it. What that changes is told before it is done; done, it is a commit
//! by whoever did it, then an entry of the record, and only then in force.

use std::collections::BTreeMap;

use void_channels::MetaError;
use void_domain::agents::AgentName;
use void_domain::capabilities::Capabilities;
use void_store::StoreError;
use void_tree::{AgentKind, Index, MoveRefusal, Relocation, RightsChange, difference};

use super::commits::{self, NextTree, TreeCommitError};
use super::recording::Why;
use super::views;
use crate::agent_messages;
use crate::agent_processes;
use crate::context::Ctx;
use crate::control::Control;
use crate::detached::detached;
use crate::parts::tree::Tree;

#[derive(Debug, Clone)]
pub struct MoveRequest {
    pub name: AgentName,
    pub parent: AgentName,
    /// Only tells what it would change.
    pub is_dry_run: bool,
    /// The commit of the tree that the owner saw the difference for; another one, and nothing is done.
    pub seen: Option<String>,
}

/// What a move changes, or would change.
#[derive(Debug)]
pub struct Moved {
    pub name: AgentName,
    pub from: Option<AgentName>,
    pub to: AgentName,
    /// How many stand below it and go along.
    pub below: usize,
    pub rights: Vec<RightsChange>,
    /// The tree that it was judged by.
    pub before: Option<String>,
    /// The tree that came of it; `None` for a dry run.
    pub commit: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    #[error("only the owner moves agents")]
    OwnerOnly,
    #[error("there is no agent called {0} in the tree")]
    Unknown(AgentName),
    #[error(transparent)]
    Refused(MoveRefusal),
    #[error("the tree is not changed while something is wrong with it: {0}")]
    Broken(String),
    #[error("the tree is not the one that was looked at")]
    Changed,
    #[error("the repository of the tree cannot be written ({0}); nothing was changed")]
    Repository(MetaError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<TreeCommitError> for MoveError {
    fn from(error: TreeCommitError) -> Self {
        match error {
            TreeCommitError::Changed => Self::Changed,
            TreeCommitError::Repository(error) => Self::Repository(error),
            TreeCommitError::Store(error) => Self::Store(error),
        }
    }
}

impl From<MoveRefusal> for MoveError {
    fn from(refusal: MoveRefusal) -> Self {
        match refusal {
            MoveRefusal::NoPosition(name) => Self::Unknown(name),
            other => Self::Refused(other),
        }
    }
}

/// Goes to its end even if its caller goes away.
pub async fn move_agent(
    control: &Control,
    ctx: &Ctx,
    wanted: MoveRequest,
) -> Result<Moved, MoveError> {
    if !ctx.actor.is_owner() {
        return Err(MoveError::OwnerOnly);
    }
    let (control, ctx) = (control.clone(), ctx.clone());
    detached(async move { run(&control, &ctx, wanted).await }).await
}

async fn run(control: &Control, ctx: &Ctx, wanted: MoveRequest) -> Result<Moved, MoveError> {
    let part = &control.in_force.tree;
    part.opened().await;
    let folder = part.folder.lock().await;
    let tree = part.now();
    let Some(folder) = folder.as_ref().filter(|_| !tree.is_broken) else {
        let first = tree.problems.first().map(String::as_str);
        let why = first.unwrap_or("it was not opened");
        return Err(MoveError::Broken(why.to_owned()));
    };
    if wanted.seen.is_some() && wanted.seen != tree.commit {
        return Err(MoveError::Changed);
    }
    let topology = tree.topology.moved(&wanted.name, &wanted.parent)?;
    let index = Index::of(&topology);
    let known = views::capabilities(control, &tree).await?;
    let mut moved = Moved {
        from: tree.topology.parent(&wanted.name).cloned(),
        below: tree.index.descendants(&wanted.name).len(),
        rights: rights_changed(&tree, &index, &wanted.name, &known),
        before: tree.commit.clone(),
        commit: None,
        name: wanted.name,
        to: wanted.parent,
    };
    if !wanted.is_dry_run {
        let wanted = NextTree {
            next: Tree {
                topology,
                index,
                ..(*tree).clone()
            },
            why: Why::Moved,
            subject: format!("tree: move {} under {}", moved.name, moved.to),
            relocations: vec![relocation(&moved)],
            rights: &moved.rights,
        };
        moved.commit = Some(commits::put_in_force(control, ctx, (folder, &tree), wanted).await?);
        agent_processes::follow_tree(control, &tree, &part.now()).await;
        // What this forgets is found when somebody reads.
        if let Err(error) = agent_messages::after_move(control, ctx, &moved.rights).await {
            tracing::warn!(%error, "messages that nobody may send any more could not be ended");
        }
    }
    Ok(moved)
}

fn rights_changed(
    tree: &Tree,
    after: &Index,
    name: &AgentName,
    known: &BTreeMap<AgentName, Capabilities>,
) -> Vec<RightsChange> {
    let none = Capabilities::none();
    let facts = |one: &AgentName| -> (AgentKind, &Capabilities) {
        (tree.kind(one), known.get(one).unwrap_or(&none))
    };
    let listed = |from: &AgentName, to: &AgentName| tree.listed(from, to);
    difference(&tree.index, after, name, facts, listed)
}

fn relocation(moved: &Moved) -> Relocation {
    Relocation {
        name: moved.name.clone(),
        from: moved.from.clone(),
        to: Some(moved.to.clone()),
    }
}
