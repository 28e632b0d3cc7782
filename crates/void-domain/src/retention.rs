//! What is kept for how long. Everything that grows has a row here or a bound of its own; the audit is
//! not here, because it is kept whole.

use std::time::Duration;

use crate::time::Timestamp;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Ten years: longer is for ever, and then there is no policy.
pub const DAYS_MAX: u32 = 3_650;
/// The newest runs of each action stay whatever their age: a card shows them beside the next request.
pub const RUNS_KEPT_PER_ACTION: u32 = 10;
/// The newest messages of a conversation that is still used stay: a prompt is made of them, and they
/// carry what it was tainted by.
pub const MESSAGES_KEPT_PER_CONVERSATION: u32 = crate::limits::HISTORY_MESSAGES_MAX;

/// What can be forgotten by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kept {
    /// Wishes that policy refused, with their steps and files' notes.
    Refused,
    /// What ended otherwise and is not in doubt.
    Ended,
    Events,
    /// Deliveries about what has ended.
    Notifications,
    /// Sessions that ended or ran out.
    Sessions,
    /// What was said, and what agents used by day.
    Messages,
}

impl Kept {
    pub const ALL: [Self; 6] = [
        Self::Refused,
        Self::Ended,
        Self::Events,
        Self::Notifications,
        Self::Sessions,
        Self::Messages,
    ];

    /// Its name in `[retention]`, with `_days` after it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Ended => "ended",
            Self::Events => "events",
            Self::Notifications => "notifications",
            Self::Sessions => "sessions",
            Self::Messages => "messages",
        }
    }

    pub const fn days_default(self) -> u32 {
        match self {
            Self::Refused | Self::Events | Self::Sessions => 30,
            Self::Notifications => 90,
            Self::Ended | Self::Messages => 400,
        }
    }

    /// Cooldowns of up to a week, caps and daily allowances count rows of what ended.
    pub const fn days_min(self) -> u32 {
        match self {
            Self::Ended => 30,
            Self::Refused
            | Self::Events
            | Self::Notifications
            | Self::Sessions
            | Self::Messages => 1,
        }
    }
}

/// For how many days each of them is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    days: [u32; Kept::ALL.len()],
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            days: Kept::ALL.map(Kept::days_default),
        }
    }
}

impl Retention {
    /// With another number of days for one of them; an error says what is allowed.
    pub fn with(mut self, kept: Kept, days: u32) -> Result<Self, String> {
        let min = kept.days_min();
        if !(min..=DAYS_MAX).contains(&days) {
            return Err(format!(
                "retention.{}_days must be {min} to {DAYS_MAX}",
                kept.as_str()
            ));
        }
        let places = Kept::ALL.iter().zip(&mut self.days);
        for (_, place) in places.filter(|(one, _)| **one == kept) {
            *place = days;
        }
        Ok(self)
    }

    pub fn days(&self, kept: Kept) -> u32 {
        let mut places = Kept::ALL.iter().zip(self.days);
        places
            .find(|(one, _)| **one == kept)
            .map_or_else(|| kept.days_default(), |(_, days)| days)
    }

    /// What is older than this goes.
    pub fn horizon(&self, kept: Kept, now: Timestamp) -> Timestamp {
        now.minus(DAY * self.days(kept))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_hold_at_their_limits() {
        for kept in Kept::ALL {
            let all = Retention::default();
            assert_eq!(all.days(kept), kept.days_default());
            for (days, fits) in [
                (kept.days_min() - 1, false),
                (kept.days_min(), true),
                (DAYS_MAX, true),
                (DAYS_MAX + 1, false),
            ] {
                let set = all.with(kept, days);
                assert_eq!(set.is_ok(), fits, "{kept:?} {days}");
                if let Ok(set) = set {
                    assert_eq!(set.days(kept), days);
                    let others = Kept::ALL.into_iter().filter(|other| *other != kept);
                    for other in others {
                        assert_eq!(set.days(other), other.days_default());
                    }
                }
            }
        }
        let now = Timestamp::from_ms(86_400_000 * 31);
        let horizon = Retention::default().horizon(Kept::Events, now);
        assert_eq!(horizon, Timestamp::from_ms(86_400_000));
    }
}
