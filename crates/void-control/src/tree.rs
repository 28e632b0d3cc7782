//! The tree of agents: opened at the start, shown, and changed by the owner. What is in force is committed in the
//! repository `meta` and was recorded before; whoever has no position in it has no right over anybody.

mod commits;
mod moves;
mod old_layout;
mod opening;
mod recording;
mod removals;
mod routes;
mod views;

use void_domain::actors::Actor;
use void_domain::agents::AgentName;
use void_domain::relations::Relation;
use void_store::StoreError;
pub use void_tree::{Operation, Right};

use crate::agents;
use crate::context::Ctx;
use crate::control::Control;
use crate::parts::tree::Tree;

pub use self::commits::TreeCommitError;
pub use self::moves::{MoveError, MoveRequest, Moved, move_agent};
pub use self::opening::{TreePlaces, open, start};
pub(crate) use self::removals::hold;
pub use self::views::{CanOver, CanView, MemberView, TreeView, can, show};

/// Whether whoever acts has a position in the tree, and so anything to do there.
pub fn stands(control: &Control, ctx: &Ctx) -> bool {
    let tree = control.in_force.tree.now();
    let name = ctx.member();
    name.is_some_and(|name| tree.index.position(name).is_some())
}

/// Who acts, if it is an agent that acts inside and has a position in the tree.
pub fn acting_member<'a>(control: &Control, ctx: &'a Ctx) -> Option<&'a AgentName> {
    match &ctx.actor {
        Actor::Agent { name, .. } => {
            let standing = control.in_force.tree.now().standing(ctx, name);
            (standing == Relation::Same).then_some(name)
        }
        Actor::Owner { .. } | Actor::Viewer { .. } | Actor::Node { .. } | Actor::System => None,
    }
}

/// Whether an agent may do this to another one or for itself, now. Whoever is no agent, or shows a token from outside,
/// may do nothing by its place in the tree.
pub fn right_of(control: &Control, ctx: &Ctx, operation: Operation, target: &AgentName) -> Right {
    right_in(&control.in_force.tree.now(), ctx, operation, target)
}

/// The same by one tree, for whoever decides more than one thing by it.
pub(crate) fn right_in(tree: &Tree, ctx: &Ctx, operation: Operation, target: &AgentName) -> Right {
    match &ctx.actor {
        // Also the allow-list is for whoever stands somewhere.
        Actor::Agent { name, .. } if !ctx.is_from_outside => {
            tree.right_between((name, &ctx.capabilities), operation, target)
        }
        Actor::Owner { .. }
        | Actor::Agent { .. }
        | Actor::Viewer { .. }
        | Actor::Node { .. }
        | Actor::System => Right::Never,
    }
}

/// The same for whoever is still somebody: a turn that goes on after its agent was withdrawn may do nothing any more.
pub async fn right_now(
    control: &Control,
    ctx: &Ctx,
    operation: Operation,
    target: &AgentName,
) -> Result<Right, StoreError> {
    let right = right_of(control, ctx, operation, target);
    let Actor::Agent { id, .. } = &ctx.actor else {
        return Ok(right);
    };
    match right > Right::Never && agents::is_usable(control, *id).await? {
        true => Ok(right),
        false => Ok(Right::Never),
    }
}

/// Whether anybody stands below whoever acts.
pub fn stands_above_somebody(control: &Control, ctx: &Ctx) -> bool {
    let tree = control.in_force.tree.now();
    match &ctx.actor {
        Actor::Agent { name, .. } if !ctx.is_from_outside => {
            !tree.index.descendants(name).is_empty()
        }
        Actor::Owner { .. }
        | Actor::Agent { .. }
        | Actor::Viewer { .. }
        | Actor::Node { .. }
        | Actor::System => false,
    }
}
