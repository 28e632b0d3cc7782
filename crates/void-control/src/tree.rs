//! The tree of agents: opened at the start, shown, and changed by the owner. What is in force is committed in the
//! repository `meta` and was recorded before; whoever has no position in it has no right over anybody.

mod moves;
mod opening;
mod recording;
mod routes;
mod views;

use void_domain::actors::Actor;
use void_domain::agents::AgentName;
pub use void_tree::{Operation, Right};

use crate::context::Ctx;
use crate::control::Control;
use crate::parts::tree::Tree;

pub use self::moves::{MoveError, MoveRequest, Moved, move_agent};
pub use self::opening::{TreePlaces, open, start};
pub use self::views::{CanOver, CanView, MemberView, TreeView, can, show};

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
