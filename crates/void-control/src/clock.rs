//! The time of day, read in one place. It never goes back: a clock that is set back neither revives
//! nor prolongs an approval, it only makes time pass at the rate of the monotonic clock until the
//! wall catches up. A clock that is set forward is followed, which can only end things early.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use void_domain::time::Timestamp;

#[derive(Clone)]
pub struct Clock(Source);

#[derive(Clone)]
enum Source {
    System(Arc<Mutex<Anchor>>),
    Manual(Arc<AtomicI64>),
}

/// The latest moment that was believed, and when that was.
struct Anchor {
    ms: i64,
    seen: Instant,
}

impl Clock {
    pub fn system() -> Self {
        Self(Source::System(Arc::new(Mutex::new(Anchor {
            ms: wall_ms(),
            seen: instant(),
        }))))
    }

    /// A clock that a test moves by hand.
    pub fn manual(start: Timestamp) -> Self {
        Self(Source::Manual(Arc::new(AtomicI64::new(start.as_ms()))))
    }

    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Source::Manual(ms) => Timestamp::from_ms(ms.load(Ordering::SeqCst)),
            Source::System(anchor) => {
                let mut anchor = anchor.lock().unwrap_or_else(PoisonError::into_inner);
                anchor.advance(wall_ms(), instant());
                Timestamp::from_ms(anchor.ms)
            }
        }
    }

    /// Time has come at least this far: the database holds a record from then.
    pub fn not_before(&self, at: Timestamp) {
        match &self.0 {
            Source::Manual(ms) => _ = ms.fetch_max(at.as_ms(), Ordering::SeqCst),
            Source::System(anchor) => {
                let mut anchor = anchor.lock().unwrap_or_else(PoisonError::into_inner);
                anchor.ms = anchor.ms.max(at.as_ms());
            }
        }
    }

    /// How far the wall clock is behind what was already recorded, in milliseconds.
    pub fn wall_behind_ms(&self) -> i64 {
        match &self.0 {
            Source::Manual(_) => 0,
            Source::System(_) => self.now().as_ms().saturating_sub(wall_ms()),
        }
    }

    /// Moves a manual clock; the system's cannot be moved.
    pub fn set(&self, at: Timestamp) {
        if let Source::Manual(ms) = &self.0 {
            ms.store(at.as_ms(), Ordering::SeqCst);
        }
    }
}

impl Anchor {
    fn advance(&mut self, wall_ms: i64, now: Instant) {
        let passed =
            i64::try_from(now.saturating_duration_since(self.seen).as_millis()).unwrap_or(0);
        let at_least = self.ms.saturating_add(passed);
        if wall_ms >= at_least {
            *self = Self {
                ms: wall_ms,
                seen: now,
            };
        } else if passed > 0 {
            *self = Self {
                ms: at_least,
                seen: now,
            };
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that asks for the time of day"
)]
fn wall_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn instant() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_wall_clock_that_jumps_back_does_not_take_time_with_it() {
        let start = instant();
        let mut anchor = Anchor {
            ms: 1_000_000,
            seen: start,
        };
        let hour = Duration::from_secs(3_600);
        // (wall, elapsed since start, believed)
        let steps = [
            (1_000_500, Duration::from_millis(500), 1_000_500),
            (
                1_000_500 - 2_592_000_000,
                Duration::from_millis(700),
                1_000_700,
            ),
            (0, Duration::from_millis(900), 1_000_900),
            (1_000_900 + 3_600_000, Duration::from_millis(900), 4_600_900),
            (1_001_000, Duration::from_millis(1_000), 4_601_000),
            (1_001_000, Duration::from_millis(1_000) + hour, 8_201_000),
        ];
        for (wall, elapsed, believed) in steps {
            anchor.advance(wall, start + elapsed);
            assert_eq!(anchor.ms, believed);
        }
    }
}
