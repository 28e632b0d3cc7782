//! Reminders: an agent is woken at a time, once or again and again. Whoever set it said what for.

mod schedules;
#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::agents::AgentName;
use crate::ids::ReminderId;
use crate::taint::Taint;
use crate::time::Timestamp;

pub use schedules::{CRON_BYTES_MAX, ReminderSchedule};

pub const TEXT_BYTES_MAX: usize = 2 * 1024;
/// How many of one agent are active at the same time, whoever set them.
pub const ACTIVE_PER_AGENT_MAX: u64 = 20;
/// How many an agent sets in an hour, however fast they are over or taken back.
pub const SET_PER_HOUR_MAX: u64 = 30;
/// Two times of one reminder are at least so far apart: every one of them is a turn, which costs.
pub const INTERVAL_MIN: Duration = Duration::from_secs(5 * 60);
/// Nothing is due later than this from now.
pub const AHEAD_MAX: Duration = Duration::from_secs(366 * 24 * 60 * 60);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reminder {
    pub id: ReminderId,
    /// Who is reminded.
    pub agent: AgentName,
    /// Who set it, as the record names them.
    pub set_by: String,
    pub text: String,
    /// What whoever set it had read.
    pub taint: Taint,
    pub schedule: ReminderSchedule,
    pub set_at: Timestamp,
    pub fired_count: u64,
    pub last_fired_at: Option<Timestamp>,
    pub state: ReminderState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReminderState {
    Active {
        next_at: Timestamp,
    },
    /// Its last time is over, or none can be found any more.
    Done {
        at: Timestamp,
    },
    Cancelled {
        by: String,
        at: Timestamp,
    },
}

impl ReminderState {
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Active { .. } => "active",
            Self::Done { .. } => "done",
            Self::Cancelled { .. } => "cancelled",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidReminder {
    #[error("a reminder says in 1 to {TEXT_BYTES_MAX} bytes what for")]
    Text,
    #[error("a reminder is due in the future, within 366 days")]
    Time,
    #[error("a reminder is due every five minutes at most")]
    TooOften,
    #[error(
        "a schedule is five fields as cron has them (minute hour day month weekday), of {CRON_BYTES_MAX} bytes at most, that come true"
    )]
    Cron,
    #[error("no time zone of this name is known here")]
    Zone,
}

/// It is over already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the reminder is {} already", .0)]
pub struct ReminderOver(pub &'static str);

/// What is said in a reminder, checked.
pub fn checked_text(text: &str) -> Result<String, InvalidReminder> {
    let text = text.trim();
    match text.is_empty() || text.len() > TEXT_BYTES_MAX {
        true => Err(InvalidReminder::Text),
        false => Ok(text.to_owned()),
    }
}

impl Reminder {
    pub const fn next_at(&self) -> Option<Timestamp> {
        match self.state {
            ReminderState::Active { next_at } => Some(next_at),
            ReminderState::Done { .. } | ReminderState::Cancelled { .. } => None,
        }
    }

    /// It was due: the same reminder with its next time, and the time that it was due at. However many times went by
    /// meanwhile, that is one. `None`: it is not due.
    #[must_use]
    pub fn fire(self, now: Timestamp) -> Option<(Self, Timestamp)> {
        let due_at = self.next_at().filter(|next_at| *next_at <= now)?;
        let state = match self.schedule.after(now, due_at) {
            Some(next_at) => ReminderState::Active { next_at },
            None => ReminderState::Done { at: now },
        };
        let fired = Self {
            fired_count: self.fired_count.saturating_add(1),
            last_fired_at: Some(now),
            state,
            ..self
        };
        Some((fired, due_at))
    }

    pub fn cancel(self, by: &str, now: Timestamp) -> Result<Self, ReminderOver> {
        match &self.state {
            ReminderState::Active { .. } => Ok(Self {
                state: ReminderState::Cancelled {
                    by: by.to_owned(),
                    at: now,
                },
                ..self
            }),
            over => Err(ReminderOver(over.as_str())),
        }
    }
}
