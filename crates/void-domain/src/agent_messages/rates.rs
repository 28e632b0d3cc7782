//! How often a sender may send: so many at once, and then one for each share of a minute. All that is kept of a sender is one
//! moment, so the bound holds over restarts and for all instances.

use std::time::Duration;

use crate::time::Timestamp;

/// One sender, to everybody together.
pub const SENDS_PER_MINUTE: u32 = 120;
/// One agent, itself.
pub const WAKES_PER_MINUTE: u32 = 12;

const MINUTE_MS: i64 = 60_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many messages of late")]
pub struct TooManySends {
    pub retry_after: Duration,
}

/// Takes one of a minute's sends. `spent_until` is when a sender that sends no more has all of them again; the new one.
/// A clock that went back keeps nobody out for longer than a minute.
pub fn take_send(
    spent_until: Timestamp,
    now: Timestamp,
    per_minute: u32,
) -> Result<Timestamp, TooManySends> {
    let share = MINUTE_MS / i64::from(per_minute.max(1));
    let spent = spent_until.as_ms().saturating_sub(now.as_ms());
    let spent = spent.clamp(0, MINUTE_MS);
    let over = spent.saturating_add(share).saturating_sub(MINUTE_MS);
    match u64::try_from(over) {
        Ok(wait) if wait > 0 => Err(TooManySends {
            retry_after: Duration::from_millis(wait),
        }),
        Ok(_) | Err(_) => Ok(Timestamp::from_ms(
            now.as_ms().saturating_add(spent).saturating_add(share),
        )),
    }
}
