//! When a reminder is due. The arithmetic of cron is a library's, with its rules for clocks that are changed: a fixed
//! time that does not exist that day is due when the clock has jumped, one that exists twice is due the first time.

use std::time::Duration;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Timestamp as Instant;

use super::{AHEAD_MAX, INTERVAL_MIN, InvalidReminder};
use crate::notifications::Zone;
use crate::time::Timestamp;

pub const CRON_BYTES_MAX: usize = 128;
/// How many times of a schedule are looked at when it is set. Closer ones that come later are left out when they come.
const LOOKED_AT: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReminderSchedule {
    Once { at: Timestamp },
    Every { interval: Duration },
    Cron { expression: String, zone: Zone },
}

impl ReminderSchedule {
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Once { .. } => "once",
            Self::Every { .. } => "every",
            Self::Cron { .. } => "cron",
        }
    }

    /// The first time of a schedule that is set now.
    pub fn first(&self, now: Timestamp) -> Result<Timestamp, InvalidReminder> {
        let first = match self {
            Self::Once { at } => *at,
            Self::Every { interval } => {
                if *interval < INTERVAL_MIN {
                    return Err(InvalidReminder::TooOften);
                }
                now.plus(*interval)
            }
            Self::Cron { expression, zone } => {
                let cron = parse(expression).ok_or(InvalidReminder::Cron)?;
                first_of_cron(&cron, zone, now)?
            }
        };
        match first > now && first <= now.plus(AHEAD_MAX) {
            true => Ok(first),
            false => Err(InvalidReminder::Time),
        }
    }

    /// The next time after `now`, where the last one was due at `due_at`; times that went by meanwhile are left out.
    pub(super) fn after(&self, now: Timestamp, due_at: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Once { .. } => None,
            Self::Every { interval } => {
                let step = i64::try_from(interval.as_millis()).ok()?;
                let late = now.as_ms().saturating_sub(due_at.as_ms()).max(0);
                let steps = late.checked_div(step)?.checked_add(1)?;
                let ahead = steps.checked_mul(step)?;
                Some(Timestamp::from_ms(due_at.as_ms().checked_add(ahead)?))
            }
            Self::Cron { expression, zone } => {
                let before_next = due_at.plus(INTERVAL_MIN).minus(Duration::from_millis(1));
                next_of_cron(&parse(expression)?, zone, now.max(before_next))
            }
        }
    }
}

/// Five fields of plain characters; no seconds, no years, no nicknames.
fn parse(expression: &str) -> Option<Cron> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"*,-/#? ".contains(&byte);
    let is_fit = expression.len() <= CRON_BYTES_MAX && expression.bytes().all(is_plain);
    if !is_fit
        || expression
            .split(' ')
            .filter(|part| !part.is_empty())
            .count()
            != 5
    {
        return None;
    }
    let parser = CronParser::builder()
        .seconds(Seconds::Disallowed)
        .year(Year::Disallowed)
        .build();
    parser.parse(expression).ok()
}

fn first_of_cron(cron: &Cron, zone: &Zone, now: Timestamp) -> Result<Timestamp, InvalidReminder> {
    let first = next_of_cron(cron, zone, now).ok_or(InvalidReminder::Cron)?;
    let mut last = first;
    for _ in 0..LOOKED_AT {
        let Some(next) = next_of_cron(cron, zone, last) else {
            break;
        };
        if next.since(last) < INTERVAL_MIN {
            return Err(InvalidReminder::TooOften);
        }
        last = next;
    }
    Ok(first)
}

/// Strictly after that.
fn next_of_cron(cron: &Cron, zone: &Zone, after: Timestamp) -> Option<Timestamp> {
    let after = Instant::from_millisecond(after.as_ms()).ok()?;
    let next = cron.find_next_occurrence(&after.to_zoned(zone.clone()), false);
    Some(Timestamp::from_ms(next.ok()?.timestamp().as_millisecond()))
}
