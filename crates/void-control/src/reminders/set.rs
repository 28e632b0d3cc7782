//! An agent sets a reminder for itself, or the owner sets one for an agent.

use std::time::Duration;

use void_domain::actors::Actor;
use void_domain::agents::AgentName;
use void_domain::reminders::{
    ACTIVE_PER_AGENT_MAX, InvalidReminder, Reminder, ReminderSchedule, ReminderState,
    SET_PER_HOUR_MAX, checked_text,
};
use void_domain::taint::Taint;
use void_store::{StoreError, Tx, agents, reminders as stored};
use void_tree::{Operation, Right};

use super::record;
use crate::context::Ctx;
use crate::control::Control;
use crate::{questions, random, tree};

pub(super) const VERB: &str = "reminder.set";
const HOUR: Duration = Duration::from_secs(60 * 60);

#[derive(Debug, Clone)]
pub struct SetRequest {
    /// Who is to be reminded.
    pub agent: AgentName,
    pub text: String,
    pub schedule: ReminderSchedule,
    /// What whoever sets it has read.
    pub taint: Taint,
}

#[derive(Debug, thiserror::Error)]
pub enum SetError {
    #[error(transparent)]
    Invalid(#[from] InvalidReminder),
    #[error("an agent of the tree sets reminders for itself, and the owner for any of them")]
    NotAllowed,
    #[error("there is no agent of this name in the tree")]
    UnknownAgent,
    #[error("it has {limit} reminders already; cancel one first")]
    TooMany { limit: u64 },
    #[error("{SET_PER_HOUR_MAX} reminders were set within an hour; set one later")]
    TooOften,
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub async fn set(control: &Control, ctx: &Ctx, wanted: SetRequest) -> Result<Reminder, SetError> {
    let mut taint = Taint::clean();
    match &ctx.actor {
        Actor::Owner { .. } => {
            if !questions::is_member(control, &wanted.agent) {
                return Err(SetError::UnknownAgent);
            }
        }
        Actor::Agent { .. } | Actor::Viewer { .. } | Actor::Node { .. } | Actor::System => {
            let right = tree::right_of(control, ctx, Operation::Remind, &wanted.agent);
            if right != Right::Alone {
                return Err(SetError::NotAllowed);
            }
            taint.unite(&wanted.taint);
        }
    }
    let at = control.clock.now();
    let next_at = wanted.schedule.first(at)?;
    let reminder = Reminder {
        id: random::reminder_id(at)?,
        agent: wanted.agent,
        set_by: ctx.actor.to_string(),
        text: checked_text(&wanted.text)?,
        taint,
        schedule: wanted.schedule,
        set_at: at,
        fired_count: 0,
        last_fired_at: None,
        state: ReminderState::Active { next_at },
    };
    let (context, is_owner) = (control.context(ctx), ctx.actor.is_owner());
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                check_there(tx, &reminder.agent).await?;
                check_room(tx, &reminder, is_owner).await?;
                stored::insert(tx, &reminder).await?;
                record(tx, &context, at, VERB, &reminder).await?;
                Ok(reminder)
            })
        })
        .await
}

async fn check_there(tx: &mut Tx, name: &AgentName) -> Result<(), SetError> {
    match agents::find_named(tx, name).await? {
        Some(agent) if !agent.is_live() => Err(SetError::UnknownAgent),
        Some(_) | None => Ok(()),
    }
}

async fn check_room(tx: &mut Tx, reminder: &Reminder, is_owner: bool) -> Result<(), SetError> {
    let agent = &reminder.agent;
    if stored::count_active_of(tx, agent).await? >= ACTIVE_PER_AGENT_MAX {
        let limit = ACTIVE_PER_AGENT_MAX;
        return Err(SetError::TooMany { limit });
    }
    let since = reminder.set_at.minus(HOUR);
    if !is_owner && stored::count_set_since(tx, agent, since).await? >= SET_PER_HOUR_MAX {
        return Err(SetError::TooOften);
    }
    Ok(())
}
