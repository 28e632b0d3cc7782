//! The tree of agents: opened at the start, shown, and changed by the owner. What is in force is committed in the
//! repository `meta` and was recorded before; whoever has no position in it has no right over anybody.

mod moves;
mod opening;
mod recording;
mod views;

use void_domain::agents::AgentName;
use void_tree::{Listed, Operation, Right, Standing, right};

use crate::context::Ctx;
use crate::control::Control;

pub use self::moves::{MoveError, MoveRequest, Moved, move_agent};
pub(crate) use self::opening::unreadable;
pub use self::opening::{TreePlaces, open, start};
pub(crate) use self::recording::DEPLOYED;
pub(crate) use self::views::capabilities_now;
pub use self::views::{CanOver, CanView, MemberView, TreeView, can, show};

/// Whether an agent may do this to another one or for itself, now. Whoever is no agent, or shows a token from outside,
/// may do nothing by its place in the tree.
pub fn right_of(control: &Control, ctx: &Ctx, operation: Operation, target: &AgentName) -> Right {
    let tree = control.in_force.tree.now();
    let standing = Standing {
        relation: tree.standing(ctx, target),
        target: tree.kind(target),
        listed: Listed::No,
        capabilities: &ctx.capabilities,
    };
    right(operation, standing)
}
