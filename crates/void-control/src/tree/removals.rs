//! An agent leaves the tree because it is destroyed. Its children stand under the root: nobody but the root is above
//! somebody afterwards who was not before.

use std::collections::BTreeSet;

use tokio::sync::MutexGuard;
use void_channels::MetaFolder;
use void_domain::agents::AgentName;
use void_tree::Index;

use super::commits::{self, NextTree, TreeCommitError};
use super::recording::Why;
use crate::context::Ctx;
use crate::control::Control;
use crate::parts::tree::Tree;

/// The tree, which nobody else changes as long as this is held.
pub(crate) struct HeldTree<'a> {
    control: &'a Control,
    folder: MutexGuard<'a, Option<MetaFolder>>,
}

/// `None`: something is wrong with the tree, so it is not changed.
pub(crate) async fn hold(control: &Control) -> Option<HeldTree<'_>> {
    let part = &control.in_force.tree;
    part.opened().await;
    let folder = part.folder.lock().await;
    let is_sound = folder.is_some() && !part.now().is_broken;
    is_sound.then_some(HeldTree { control, folder })
}

impl HeldTree<'_> {
    /// The trees before and after.
    pub(crate) async fn remove(
        &self,
        ctx: &Ctx,
        name: &AgentName,
    ) -> Result<(std::sync::Arc<Tree>, std::sync::Arc<Tree>), TreeCommitError> {
        let part = &self.control.in_force.tree;
        let tree = part.now();
        let Some(folder) = self.folder.as_ref() else {
            return Err(TreeCommitError::Changed);
        };
        let mut members = tree.members.clone();
        members.remove(name);
        let names: BTreeSet<AgentName> = members.keys().cloned().collect();
        let topology = tree.topology.reconciled(&names).topology;
        let wanted = NextTree {
            why: Why::Destroyed,
            subject: format!("tree: destroy {name}"),
            relocations: tree.topology.relocations(&topology),
            rights: &[],
            next: Tree {
                index: Index::of(&topology),
                topology,
                members,
                ..(*tree).clone()
            },
        };
        commits::put_in_force(self.control, ctx, (folder, &tree), wanted).await?;
        Ok((tree, part.now()))
    }
}
