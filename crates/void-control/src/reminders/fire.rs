//! Time passes: what is due fires, once for each time that it is due, late ones once.

use void_domain::agent_turns::WakeCause;
use void_domain::agents::AgentName;
use void_domain::ids::ReminderId;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, reminders as stored};

use super::{cause_of, record};
use crate::agent_turns;
use crate::control::Control;
use crate::facts::AuditContext;

/// How many are looked at in one round.
const BATCH: u32 = 100;

/// Each in a transaction of its own: one that cannot be read, because its time zone is gone from the machine, keeps no
/// other from firing.
pub(crate) async fn sweep(control: &Control) -> Result<(), StoreError> {
    let now = control.clock.now();
    let due = control
        .store
        .read(move |tx| Box::pin(stored::list_due(tx, now, BATCH)))
        .await?;
    for id in due {
        if let Err(error) = fire(control, id).await {
            tracing::error!(%error, reminder = %id, "a reminder could not fire; it is tried again");
        }
    }
    Ok(())
}

async fn fire(control: &Control, id: ReminderId) -> Result<(), StoreError> {
    let context = control.context(&control.system_ctx()?);
    let now = control.clock.now();
    let woken = control
        .store
        .write_closing(move |tx| Box::pin(async move { fire_one(tx, &context, id, now).await }))
        .await?;
    if let Some(agent) = woken {
        agent_turns::tell(control, &agent);
    }
    Ok(())
}

/// Whom it wakes. What it says goes along with what whoever set it had read, and with the time that it was due.
async fn fire_one(
    tx: &mut Tx,
    context: &AuditContext,
    id: ReminderId,
    now: Timestamp,
) -> Result<Option<AgentName>, StoreError> {
    let found = stored::find(tx, id).await?;
    // Another instance was faster, or it was cancelled.
    let Some((fired, due_at)) = found.and_then(|reminder| reminder.fire(now)) else {
        return Ok(None);
    };
    if !stored::advance(tx, &fired, due_at).await? {
        return Ok(None);
    }
    let woken = WakeCause {
        cause: cause_of(id),
        words: Some(fired.text.clone()),
        taint: fired.taint.clone(),
    };
    agent_turns::note(tx, due_at, &fired.agent, woken).await?;
    record(tx, context, now, "reminder.fired", &fired).await?;
    Ok(Some(fired.agent))
}
