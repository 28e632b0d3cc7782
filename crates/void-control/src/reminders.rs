//! Reminders: an agent is woken at its time, once or again and again. It sets its own; the owner sets any. Those above it
//! and the owner cancel them; what the owner set only the owner cancels.
//!
//! A reminder fires once for each time that it is due: whoever moves its next time on has fired it, in the transaction
//! that notes why the agent wakes. So neither a crash nor a second instance repeats or loses one.

mod fire;
mod set;

use serde_json::{Map, Value, json};
use void_domain::agent_turns::TurnCause;
use void_domain::agents::AgentName;
use void_domain::ids::ReminderId;
use void_domain::reminders::{Reminder, ReminderOver};
use void_domain::text;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, agent_turns as causes, reminders as stored};
use void_tree::{Operation, Right};

use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::tree;

pub(crate) use self::fire::sweep;
pub use self::set::{SetError, SetRequest, set};

/// How many are listed at once; more than anybody set by hand.
pub const LISTED_MAX: u32 = 500;
const OWNER: &str = "owner-";

#[derive(Debug, thiserror::Error)]
pub enum ReminderError {
    #[error("there is no such reminder, or it is not yours to see")]
    NotFound,
    #[error("the owner set this reminder, and only the owner cancels it")]
    OwnersOwn,
    #[error(transparent)]
    Over(#[from] ReminderOver),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Active ones, the next one first; of one agent or of all. For people.
pub async fn list(
    control: &Control,
    agent: Option<&AgentName>,
) -> Result<Vec<Reminder>, StoreError> {
    let agent = agent.cloned();
    control
        .store
        .read(move |tx| {
            Box::pin(async move { stored::list_active(tx, agent.as_ref(), LISTED_MAX).await })
        })
        .await
}

pub async fn cancel(control: &Control, ctx: &Ctx, id: ReminderId) -> Result<(), ReminderError> {
    let (this, ctx, context) = (control.clone(), ctx.clone(), control.context(ctx));
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                let found = stored::find(tx, id).await?.ok_or(ReminderError::NotFound)?;
                if !may_cancel(&this, &ctx, &found) {
                    return Err(ReminderError::NotFound);
                }
                if found.set_by.starts_with(OWNER) && !ctx.actor.is_owner() {
                    return Err(ReminderError::OwnersOwn);
                }
                let now = this.clock.now();
                let cancelled = found.cancel(&context.actor, now)?;
                end(tx, &context, &cancelled, now).await?;
                Ok(())
            })
        })
        .await
}

fn may_cancel(control: &Control, ctx: &Ctx, reminder: &Reminder) -> bool {
    let right = || tree::right_of(control, ctx, Operation::Moderate, &reminder.agent);
    ctx.actor.is_owner() || right() == Right::Alone
}

/// What a withdrawn agent is to be reminded of ends with it, in the transaction that withdraws it.
pub(crate) async fn end_of(
    tx: &mut Tx,
    context: &AuditContext,
    now: Timestamp,
    agent: &AgentName,
) -> Result<(), StoreError> {
    for reminder in stored::list_active(tx, Some(agent), LISTED_MAX).await? {
        if let Ok(cancelled) = reminder.cancel(&context.actor, now) {
            end(tx, context, &cancelled, now).await?;
        }
    }
    Ok(())
}

async fn end(
    tx: &mut Tx,
    context: &AuditContext,
    cancelled: &Reminder,
    now: Timestamp,
) -> Result<(), StoreError> {
    if stored::cancel(tx, cancelled.id, &context.actor, now).await? {
        let cause = cause_of(cancelled.id);
        causes::drop_waiting(tx, &cancelled.agent, &cause).await?;
        record(tx, context, now, "reminder.cancelled", cancelled).await?;
    }
    Ok(())
}

/// Why whoever is reminded wakes.
fn cause_of(id: ReminderId) -> TurnCause {
    TurnCause::Reminder {
        reminder: id.into(),
    }
}

/// On the record.
async fn record(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    verb: &'static str,
    reminder: &Reminder,
) -> Result<(), StoreError> {
    let mut detail = Map::new();
    for (name, value) in [
        ("name", json!(reminder.agent)),
        ("kind", json!(reminder.schedule.kind())),
        ("status", json!(reminder.state.as_str())),
        ("count", json!(reminder.fired_count)),
        ("next_at", json!(reminder.next_at())),
    ] {
        detail.insert(name.to_owned(), value);
    }
    if verb == set::VERB {
        detail.insert("taint".to_owned(), json!(reminder.taint));
        facts::tell(&mut detail, "reason", &text::escaped(&reminder.text));
    }
    let subject = Some(reminder.id.to_string());
    facts::audit(tx, context, at, verb, subject, Value::Object(detail)).await
}
