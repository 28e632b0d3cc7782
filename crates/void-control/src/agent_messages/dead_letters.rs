//! Dead letters: messages that reach nobody any more. They are found when somebody reads, when the owner moves an agent, and
//! by a sweep; their sender is told with what it receives, and the owner sees them in the mailbox.

use std::time::Duration;

use void_domain::agent_messages::{AgentMessage, DeadReason, ENDED_KEPT, Sender};
use void_domain::agents::AgentName;
use void_domain::time::Timestamp;
use void_store::{StoreError, agent_messages as table};
use void_tree::{Operation, Right, RightsChange};

use super::bury;
use crate::context::Ctx;
use crate::control::Control;

const AT_ONCE: u32 = 100;
const FORGOTTEN_AT_ONCE: u32 = 500;

/// What has expired, and what waits for somebody who was withdrawn. Also forgets what was over long ago.
pub(crate) async fn sweep(control: &Control) -> Result<(), StoreError> {
    let at = control.clock.now();
    let found = control
        .store
        .read(move |tx| Box::pin(table::list_undeliverable(tx, at, AT_ONCE)))
        .await?;
    let dead = found.into_iter().filter_map(|(message, is_gone)| {
        let why = match is_gone {
            true => DeadReason::ReceiverGone,
            false => DeadReason::Expired,
        };
        let before = message.state.deliveries();
        Some((message.bury(at, why).ok()?, before))
    });
    bury_all(control, &control.system_ctx()?, dead.collect()).await?;
    let before = Timestamp::from_ms(at.as_ms().saturating_sub(ms(ENDED_KEPT)));
    // Nothing is written where there is nothing to forget.
    let has_old = control
        .store
        .read(move |tx| Box::pin(table::has_ended(tx, before)))
        .await?;
    if has_old {
        control
            .store
            .write_closing(move |tx| Box::pin(table::forget_ended(tx, before, FORGOTTEN_AT_ONCE)))
            .await?;
    }
    Ok(())
}

fn ms(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

/// What was on its way between two who may not write to each other any more.
pub(crate) async fn after_move(
    control: &Control,
    ctx: &Ctx,
    changes: &[RightsChange],
) -> Result<(), StoreError> {
    for (from, to) in severed(changes) {
        let sender = Sender::Agent(from);
        let found = control
            .store
            .read(move |tx| {
                Box::pin(async move { table::list_open_between(tx, &sender, &to, AT_ONCE).await })
            })
            .await?;
        let at = control.clock.now();
        let dead = found.into_iter().filter_map(|message| {
            let before = message.state.deliveries();
            Some((message.bury(at, DeadReason::OutOfReach).ok()?, before))
        });
        bury_all(control, ctx, dead.collect()).await?;
    }
    Ok(())
}

fn severed(changes: &[RightsChange]) -> Vec<(AgentName, AgentName)> {
    let is_severed = |change: &&RightsChange| {
        let mut shifts = change.shifts.iter();
        shifts.any(|shift| shift.operation == Operation::Send && shift.to == Right::Never)
    };
    let of_one = |change: &RightsChange| -> Vec<(AgentName, AgentName)> {
        let ways = change.who.iter().flat_map(|from| {
            let to = change.over.iter();
            to.map(move |to| (from.clone(), to.clone()))
        });
        ways.collect()
    };
    changes.iter().filter(is_severed).flat_map(of_one).collect()
}

/// Each with how often it had been handed out when it was looked at.
async fn bury_all(
    control: &Control,
    ctx: &Ctx,
    dead: Vec<(AgentMessage, u32)>,
) -> Result<(), StoreError> {
    if dead.is_empty() {
        return Ok(());
    }
    let (context, at) = (control.context(ctx), control.clock.now());
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                for (message, before) in &dead {
                    bury(tx, &context, at, message, *before).await?;
                }
                Ok(())
            })
        })
        .await
}
