//! From readings to what is shown. One bad reading among good ones is a hiccup, not an outage, so a
//! change needs to be seen twice; a service that keeps changing needs to be seen more often.

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
    /// Readings in a row that say something else than what is shown.
    against: (Health, u32),
    changes: Vec<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
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
            against: (Health::Unknown, 0),
            changes: Vec::new(),
        }
    }

    pub const fn since(&self) -> Timestamp {
        self.since
    }

    /// What is believed, whatever its age.
    pub const fn shown(&self) -> Health {
        self.shown
    }

    pub const fn last(&self) -> Option<Reading> {
        self.last
    }

    /// What may be said at `now`: a reading that is too old says nothing.
    pub fn health_at(&self, now: Timestamp, fresh_for: Duration) -> Health {
        match self.last {
            Some(reading) if now.since(reading.at) <= fresh_for => self.shown,
            _ => Health::Unknown,
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
    pub fn observe(&mut self, reading: Reading) -> Option<Change> {
        let health = reading.answer.health();
        self.last = Some(reading);
        if health == self.shown {
            self.against = (health, 0);
            return None;
        }
        let count = if self.against.0 == health {
            self.against.1 + 1
        } else {
            1
        };
        self.against = (health, count);
        if count < self.needed(reading.at) {
            return None;
        }
        let change = Change {
            from: self.shown,
            to: health,
            reading,
        };
        self.shown = health;
        self.since = reading.at;
        self.against = (health, 0);
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
