//! The owner moves an agent, with everybody below it. What that changes is told before it is done; done, it is a commit
//! by whoever did it, then an entry of the record, and only then in force.

use std::collections::BTreeMap;

use void_channels::{MetaAuthor, MetaError, MetaFolder};
use void_domain::agents::AgentName;
use void_domain::capabilities::Capabilities;
use void_store::StoreError;
use void_tree::{AgentKind, Index, MoveRefusal, Relocation, RightsChange, difference};

use super::recording::{self, RoutesChange, TreeChange, Why};
use super::views;
use crate::agent_messages;
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
        let next = Tree {
            topology,
            index,
            ..(*tree).clone()
        };
        let commit = write(control, ctx, folder, &next, &moved).await?;
        record(control, ctx, folder, (&tree, &moved), &commit).await?;
        moved.commit = Some(commit.clone());
        part.set(Tree {
            commit: Some(commit),
            ..next
        });
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

fn relocation(moved: &Moved) -> [Relocation; 1] {
    [Relocation {
        name: moved.name.clone(),
        from: moved.from.clone(),
        to: Some(moved.to.clone()),
    }]
}

/// Makes it the newest commit.
async fn write(
    control: &Control,
    ctx: &Ctx,
    folder: &MetaFolder,
    next: &Tree,
    moved: &Moved,
) -> Result<String, MoveError> {
    let state = folder.look().await.map_err(MoveError::Repository)?;
    // Somebody else's work, committed or not, is neither taken in nor written over.
    if state.commit != moved.before || !state.is_committed {
        return Err(MoveError::Changed);
    }
    let author = MetaAuthor {
        name: ctx.actor.to_string(),
        at: control.clock.now(),
    };
    let subject = format!("tree: move {} under {}", moved.name, moved.to);
    let message = recording::message(&subject, &relocation(moved));
    let (text, before) = (next.topology.to_json(), moved.before.as_deref());
    let commit = folder.commit(&text, before, &author, &message).await;
    commit.map_err(|error| match error {
        MetaError::Changed => MoveError::Changed,
        MetaError::Git(_) | MetaError::File(_) => MoveError::Repository(error),
    })
}

/// What cannot be recorded is taken back.
async fn record(
    control: &Control,
    ctx: &Ctx,
    folder: &MetaFolder,
    (tree, moved): (&Tree, &Moved),
    commit: &str,
) -> Result<(), StoreError> {
    let change = TreeChange {
        why: Why::Moved,
        before: moved.before.as_deref(),
        commit,
        author: &ctx.actor.to_string(),
        relocations: &relocation(moved),
        rights: &moved.rights,
        routes: RoutesChange::default(),
    };
    let Err(error) = recording::record(control, ctx, &change).await else {
        return Ok(());
    };
    let (text, before) = (tree.topology.to_json(), moved.before.as_deref());
    if let Err(error) = folder.take_back(commit, before, &text).await {
        tracing::error!(%error, "the tree of agents is ahead of the record until the next start");
        let mut broken = tree.clone();
        broken.is_broken = true;
        let said = "the repository has a change that could not be recorded and is not in force";
        broken.problems.push(said.to_owned());
        control.in_force.tree.set(broken);
    }
    Err(error)
}
