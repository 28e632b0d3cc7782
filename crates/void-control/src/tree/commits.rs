//! A change of the tree by somebody: a commit by whoever did it, then an entry of the record, and only then in force.
//! What cannot be recorded is taken back.

use void_channels::{MetaAuthor, MetaError, MetaFolder};
use void_store::StoreError;
use void_tree::{Relocation, RightsChange};

use super::recording::{self, RoutesChange, TreeChange, Why};
use crate::context::Ctx;
use crate::control::Control;
use crate::parts::tree::Tree;

pub(super) struct NextTree<'a> {
    pub next: Tree,
    pub why: Why,
    /// The first line of the commit's message.
    pub subject: String,
    pub relocations: Vec<Relocation>,
    pub rights: &'a [RightsChange],
}

#[derive(Debug, thiserror::Error)]
pub enum TreeCommitError {
    #[error("the tree is not the one that was looked at")]
    Changed,
    #[error("the repository of the tree cannot be written ({0}); nothing was changed")]
    Repository(MetaError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Called by whoever holds the folder. The commit that came of it.
pub(super) async fn put_in_force(
    control: &Control,
    ctx: &Ctx,
    (folder, before): (&MetaFolder, &Tree),
    wanted: NextTree<'_>,
) -> Result<String, TreeCommitError> {
    let commit = write(control, ctx, (folder, before), &wanted).await?;
    record(control, ctx, (folder, before), &wanted, &commit).await?;
    control.in_force.tree.set(Tree {
        commit: Some(commit.clone()),
        ..wanted.next
    });
    Ok(commit)
}

/// Makes it the newest commit.
async fn write(
    control: &Control,
    ctx: &Ctx,
    (folder, before): (&MetaFolder, &Tree),
    wanted: &NextTree<'_>,
) -> Result<String, TreeCommitError> {
    let state = folder.look().await.map_err(TreeCommitError::Repository)?;
    // Somebody else's work, committed or not, is neither taken in nor written over.
    if state.commit != before.commit || !state.is_committed {
        return Err(TreeCommitError::Changed);
    }
    let author = MetaAuthor {
        name: ctx.actor.to_string(),
        at: control.clock.now(),
    };
    let message = recording::message(&wanted.subject, &wanted.relocations);
    let (text, parent) = (wanted.next.topology.to_json(), before.commit.as_deref());
    let commit = folder.commit(&text, parent, &author, &message).await;
    commit.map_err(|error| match error {
        MetaError::Changed => TreeCommitError::Changed,
        MetaError::Git(_) | MetaError::File(_) => TreeCommitError::Repository(error),
    })
}

async fn record(
    control: &Control,
    ctx: &Ctx,
    (folder, tree): (&MetaFolder, &Tree),
    wanted: &NextTree<'_>,
    commit: &str,
) -> Result<(), StoreError> {
    let change = TreeChange {
        why: wanted.why,
        before: tree.commit.as_deref(),
        commit,
        author: &ctx.actor.to_string(),
        relocations: &wanted.relocations,
        rights: wanted.rights,
        routes: RoutesChange::default(),
    };
    let Err(error) = recording::record(control, ctx, &change).await else {
        return Ok(());
    };
    let (text, before) = (tree.topology.to_json(), tree.commit.as_deref());
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
