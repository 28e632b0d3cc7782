//! How many changes a minute a viewer, a node or an agent by all its tokens may ask for from outside, each of
//! which writes rows (I36). Asked before the store is, in bounded memory.

use void_domain::actors::Actor;
use void_domain::budgets::ROW_BYTES;
use void_domain::ids::RequesterId;

use crate::context::Ctx;
use crate::control::Control;
use crate::parts::row_budgets::TooManyRows;
use crate::refusal_counts;

/// Counts one change of this caller. The owner's and those of a turn have other bounds.
pub(crate) fn take(control: &Control, ctx: &Ctx) -> Result<(), TooManyRows> {
    let Some(id) = requester(ctx) else {
        return Ok(());
    };
    if !refusal_counts::is_counted(ctx) {
        return Ok(());
    }
    let rate = control.bounds.limits.token_budgets.rows;
    control.bounds.row_budgets.take(id, rate)
}

/// Counts what a change of this caller weighs, where it is kept for long: whoever writes much asks less often.
pub(crate) fn charge(control: &Control, ctx: &Ctx, bytes: usize) {
    let times = u32::try_from(bytes / ROW_BYTES).unwrap_or(u32::MAX);
    if let Some(id) = requester(ctx).filter(|_| times > 0 && refusal_counts::is_counted(ctx)) {
        let rate = control.bounds.limits.token_budgets.rows;
        control.bounds.row_budgets.charge(id, rate, times);
    }
}

/// Who is counted: an agent by all its tokens, a viewer, a node.
pub(crate) fn requester(ctx: &Ctx) -> Option<RequesterId> {
    match &ctx.actor {
        Actor::Agent { id, .. } => Some(RequesterId::from(*id)),
        Actor::Viewer { id, .. } | Actor::Node { id, .. } => Some(RequesterId::from(*id)),
        Actor::Owner { .. } | Actor::System => None,
    }
}
