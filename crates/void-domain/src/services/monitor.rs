//! From readings to what is shown. One bad reading among good ones is a hiccup, not an outage, so a
//! change needs to be seen twice; a service that keeps changing needs to be seen more often. What is
//! shown never outlives the readings for it: when they all say something else and do not agree with
//! each other, it is unknown.

use std::time::Duration;

use super::{Health, Reading};
use crate::time::Timestamp;

/// How often in a row a change must be seen to be believed.
const SEEN_IN_A_ROW: u32 = 2;
/// The same for a service that flaps.
const SEEN_IN_A_ROW_FLAPPING: u32 = 5;
/// So many changes within the window, and a service flaps.
const FLAPS: usize = 6;
const FLAP_WINDOW: Duration = Duration::from_secs(10 * 60);

/// What is known of one service.
#[derive(Debug, Clone)]
pub struct Monitor {
    shown: Health,
    since: Timestamp,
    last: Option<Reading>,
    /// Whether a reading of this process has ever said what is shown.
    is_seen: bool,
    /// What the readings in a row say that disagree with what is shown, and how many they are.
    against: (Health, u32),
    changes: Vec<Timestamp>,
}

/// What may be said of a service at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub health: Health,
    pub since: Timestamp,
    /// It is unknown because nobody has looked for too long.
    pub is_stale: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandingChange {
    pub from: Health,
    pub to: Health,
    pub reading: Reading,
}

impl Monitor {
    /// Nothing is known before the first reading.
    pub const fn new(at: Timestamp) -> Self {
        Self {
            shown: Health::Unknown,
            since: at,
            last: None,
            is_seen: false,
            against: (Health::Unknown, 0),
            changes: Vec::new(),
        }
    }

    /// Goes on with what was believed before a restart. It is not shown before a reading says so too,
    /// and to contradict it takes as much as ever.
    #[must_use]
    pub fn resume(shown: Health, since: Timestamp) -> Self {
        Self {
            shown,
            ..Self::new(since)
        }
    }

    /// What is believed, whatever its age.
    pub const fn shown(&self) -> Health {
        self.shown
    }

    pub const fn last(&self) -> Option<Reading> {
        self.last
    }

    /// What may be said at `now`, and since when it is so. A reading that is too old says nothing.
    pub fn standing(&self, now: Timestamp, fresh_for: Duration) -> Standing {
        let unknown = |since, is_stale| Standing {
            health: Health::Unknown,
            since,
            is_stale,
        };
        match self.last {
            None => unknown(self.since, false),
            Some(last) if now.since(last.at) > fresh_for => unknown(last.at.plus(fresh_for), true),
            Some(last) if !self.is_seen => unknown(last.at, false),
            Some(_) => Standing {
                health: self.shown,
                since: self.since,
                is_stale: false,
            },
        }
    }

    pub fn is_flapping(&self, now: Timestamp) -> bool {
        self.changes
            .iter()
            .filter(|at| now.since(**at) <= FLAP_WINDOW)
            .count()
            >= FLAPS
    }

    /// Whether the last reading disagrees with what is shown: worth looking again soon.
    pub const fn is_in_doubt(&self) -> bool {
        self.against.1 > 0
    }

    /// Takes a reading in; a change if it is believed.
    pub fn observe(&mut self, reading: Reading) -> Option<StandingChange> {
        let health = reading.answer.health();
        self.last = Some(reading);
        if health == self.shown {
            self.against = (health, 0);
            self.is_seen = true;
            return None;
        }
        self.against = match self.against {
            (_, 0) => (health, 1),
            (others, count) if others == health => (health, count + 1),
            (_, count) => (Health::Unknown, count + 1),
        };
        let (to, count) = self.against;
        if count < self.needed(reading.at) {
            return None;
        }
        let change = StandingChange {
            from: self.shown,
            to,
            reading,
        };
        self.shown = to;
        self.since = reading.at;
        self.is_seen = true;
        self.against = (to, 0);
        self.changes
            .retain(|at| reading.at.since(*at) <= FLAP_WINDOW);
        // The first thing ever known is no flap.
        if change.from != Health::Unknown {
            self.changes.push(reading.at);
        }
        Some(change)
    }

    fn needed(&self, now: Timestamp) -> u32 {
        if self.shown == Health::Unknown {
            1
        } else if self.is_flapping(now) {
            SEEN_IN_A_ROW_FLAPPING
        } else {
            SEEN_IN_A_ROW
        }
    }
}
