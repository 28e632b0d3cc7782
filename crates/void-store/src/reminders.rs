//! The table `reminders`. Whoever moves the next time of a reminder on has fired it, and nobody else has.

use std::time::Duration;

use void_domain::agents::AgentName;
use void_domain::ids::ReminderId;
use void_domain::notifications::Zone;
use void_domain::reminders::{Reminder, ReminderSchedule, ReminderState};
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, int, ms, values};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, agent, set_by, text, taint, kind, once_at, every_ms, expression, zone, set_at, fired_count, \
             last_fired_at, status, next_at, ended_by, ended_at FROM reminders",
            $rest
        )
    };
}

const TABLE: &str = "reminders";

pub async fn insert(tx: &mut Tx, reminder: &Reminder) -> Result<(), StoreError> {
    let sql = "INSERT INTO reminders (id, agent, set_by, text, taint, kind, once_at, every_ms, expression, zone, set_at, \
        fired_count, status, next_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, 'active', $12)";
    let (mut once, mut every, mut cron) = (None, None, None);
    match &reminder.schedule {
        ReminderSchedule::Once { at } => once = Some(*at),
        ReminderSchedule::Every { interval } => every = Some(ms(*interval)),
        ReminderSchedule::Cron { expression, zone } => {
            // A zone without a name cannot be found again.
            let name = zone.iana_name().unwrap_or("UTC");
            cron = Some((expression.as_str(), name.to_owned()));
        }
    }
    let taint = serde_json::to_string(&reminder.taint);
    let row = values![
        reminder.id.to_string(),
        reminder.agent.as_str(),
        &reminder.set_by,
        &reminder.text,
        taint.map_err(|error| StoreError::Internal(error.to_string()))?,
        reminder.schedule.kind(),
        once,
        every,
        cron.as_ref().map(|(expression, _)| *expression),
        cron.as_ref().map(|(_, zone)| zone.as_str()),
        reminder.set_at,
        reminder.next_at(),
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// Moves a reminder that was due at `due_at` on. `false`: somebody else did, or it ended.
pub async fn advance(
    tx: &mut Tx,
    reminder: &Reminder,
    due_at: Timestamp,
) -> Result<bool, StoreError> {
    let sql = "UPDATE reminders SET fired_count = $3, last_fired_at = $4, status = $5, next_at = $6, ended_at = $7 \
        WHERE id = $1 AND status = 'active' AND next_at = $2";
    let (next_at, ended_at) = match &reminder.state {
        ReminderState::Active { next_at } => (Some(*next_at), None),
        ReminderState::Done { at } | ReminderState::Cancelled { at, .. } => (None, Some(*at)),
    };
    let row = values![
        reminder.id.to_string(),
        due_at,
        int(reminder.fired_count),
        reminder.last_fired_at,
        reminder.state.as_str(),
        next_at,
        ended_at,
    ];
    Ok(tx.execute(sql, row).await? == 1)
}

/// `false`: it is over already.
pub async fn cancel(
    tx: &mut Tx,
    id: ReminderId,
    by: &str,
    at: Timestamp,
) -> Result<bool, StoreError> {
    let sql = "UPDATE reminders SET status = 'cancelled', next_at = NULL, ended_by = $2, ended_at = $3 \
        WHERE id = $1 AND status = 'active'";
    Ok(tx.execute(sql, values![id.to_string(), by, at]).await? == 1)
}

pub async fn find(tx: &mut Tx, id: ReminderId) -> Result<Option<Reminder>, StoreError> {
    let sql = select!(" WHERE id = $1");
    tx.find(TABLE, sql, values![id.to_string()], reminder).await
}

/// Those that are due, the longest due first. Only their ids: one that cannot be read keeps no other from firing.
pub async fn list_due(
    tx: &mut Tx,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<ReminderId>, StoreError> {
    let sql = "SELECT id FROM reminders WHERE status = 'active' AND next_at <= $1 ORDER BY next_at, id LIMIT $2";
    let values = values![now, i64::from(limit)];
    tx.read(TABLE, sql, values, |row| row.parse("id")).await
}

/// Active ones of an agent, or of everybody, the next one first.
pub async fn list_active(
    tx: &mut Tx,
    agent: Option<&AgentName>,
    limit: u32,
) -> Result<Vec<Reminder>, StoreError> {
    let of_one = select!(" WHERE status = 'active' AND agent = $1 ORDER BY next_at, id LIMIT $2");
    let of_all = select!(" WHERE status = 'active' ORDER BY next_at, id LIMIT $1");
    let limit = i64::from(limit);
    match agent {
        Some(agent) => {
            let values = values![agent.as_str(), limit];
            tx.read(TABLE, of_one, values, reminder).await
        }
        None => tx.read(TABLE, of_all, values![limit], reminder).await,
    }
}

pub async fn count_active_of(tx: &mut Tx, agent: &AgentName) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM reminders WHERE status = 'active' AND agent = $1";
    tx.count(TABLE, sql, values![agent.as_str()]).await
}

/// How many were set for an agent since, whatever became of them.
pub async fn count_set_since(
    tx: &mut Tx,
    agent: &AgentName,
    since: Timestamp,
) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM reminders WHERE agent = $1 AND set_at > $2";
    tx.count(TABLE, sql, values![agent.as_str(), since]).await
}

fn reminder(row: &Row) -> Result<Reminder, StoreError> {
    let schedule = match (row.text("kind")?, row.opt_int("every_ms")?) {
        ("once", None) => ReminderSchedule::Once {
            at: row.time("once_at")?,
        },
        ("every", Some(_)) => ReminderSchedule::Every {
            interval: Duration::from_millis(row.count("every_ms")?),
        },
        ("cron", None) => ReminderSchedule::Cron {
            expression: row.string("expression")?,
            zone: row.parsed("zone", |zone| Zone::get(zone).ok())?,
        },
        _ => return Err(row.corrupt("a schedule that no reminder has")),
    };
    Ok(Reminder {
        id: row.parse("id")?,
        agent: row.parse("agent")?,
        set_by: row.string("set_by")?,
        text: row.string("text")?,
        taint: row.json("taint")?,
        schedule,
        set_at: row.time("set_at")?,
        fired_count: row.count("fired_count")?,
        last_fired_at: row.opt_time("last_fired_at")?,
        state: state(row)?,
    })
}

fn state(row: &Row) -> Result<ReminderState, StoreError> {
    let (next_at, by) = (row.opt_time("next_at")?, row.opt_string("ended_by")?);
    match (row.text("status")?, next_at, by, row.opt_time("ended_at")?) {
        ("active", Some(next_at), None, None) => Ok(ReminderState::Active { next_at }),
        ("done", None, None, Some(at)) => Ok(ReminderState::Done { at }),
        ("cancelled", None, Some(by), Some(at)) => Ok(ReminderState::Cancelled { by, at }),
        _ => Err(row.corrupt("a state that no reminder has")),
    }
}
