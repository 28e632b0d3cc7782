//! The time of day, read in one place.
//!
//! It never goes back by itself: a clock that is set back neither revives nor prolongs an approval, it only
//! makes time pass at the rate of the time since boot until the wall catches up. A wall clock that jumps
//! ahead is not believed at once either: what is made and recorded then would carry a date that time does
//! not reach for years. Until it is believed there are two readings, both on the safe side: [`Clock::now`],
//! which everything new is dated and ended by, and [`Clock::latest`], which judges whether something is
//! over. So a jump ends things early and lengthens nothing.
//!
//! A jump is believed on the word of a second witness, which is a database on another machine, or of the
//! owner (`void clock accept`), and never because it lasts. Over a restart the note of [`Reading`] keeps it
//! apart from the truth as long as the machine was not booted meanwhile.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};
use void_domain::time::Timestamp;

/// How far the wall may run ahead of the time since boot and be followed at once: a correction, not a jump.
pub(crate) const STEP_MAX: Duration = Duration::from_secs(5 * 60);
const STEP_MAX_MS: u64 = 5 * 60 * 1_000;

/// Whether a moment is so far ahead that a wrong clock wrote it, which was put right since then. Nearer ones may
/// be another instance's.
pub(crate) fn is_ahead(at: Timestamp, now: Timestamp) -> bool {
    at.since(now) > STEP_MAX
}

/// The latest moment that counts as past or present.
pub(crate) fn believed_until(now: Timestamp) -> Timestamp {
    now.plus(STEP_MAX)
}

#[derive(Clone)]
pub struct Clock(ClockSource);

#[derive(Clone)]
enum ClockSource {
    System(Arc<Mutex<Anchor>>),
    Manual(Arc<AtomicI64>),
}

/// The latest moment that was believed, and when that was by the time since boot, which counts a sleeping
/// machine's sleep and nobody can set.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    ms: i64,
    up: Duration,
    /// Whether the wall is ahead by a jump that is not believed.
    in_doubt: bool,
}

/// The time in force at a moment of the time since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    pub at_ms: i64,
    pub up_ms: u64,
}

/// The wall clock is not followed: what is in force instead, and what the wall says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockDoubt {
    pub in_force: Timestamp,
    pub wall: Timestamp,
}

impl ClockDoubt {
    /// How far the wall is ahead of the time in force, in milliseconds; less than zero where it is behind.
    pub fn ahead_ms(self) -> i64 {
        self.wall.as_ms().saturating_sub(self.in_force.as_ms())
    }
}

impl Clock {
    pub fn system() -> Self {
        Self(ClockSource::System(Arc::new(Mutex::new(Anchor {
            ms: wall_ms(),
            up: up(),
            in_doubt: false,
        }))))
    }

    /// A clock that a test moves by hand.
    pub fn manual(start: Timestamp) -> Self {
        Self(ClockSource::Manual(Arc::new(AtomicI64::new(start.as_ms()))))
    }

    /// The time that new things are dated and ended by.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            ClockSource::Manual(ms) => Timestamp::from_ms(ms.load(Ordering::SeqCst)),
            ClockSource::System(anchor) => {
                let mut anchor = anchor.lock().unwrap_or_else(PoisonError::into_inner);
                anchor.advance(wall_ms(), up());
                Timestamp::from_ms(anchor.ms)
            }
        }
    }

    /// The latest that it may be: what would be over by then is over.
    pub fn latest(&self) -> Timestamp {
        match &self.0 {
            ClockSource::Manual(_) => self.now(),
            ClockSource::System(_) => self.now().max(Timestamp::from_ms(wall_ms())),
        }
    }

    /// Time has come at least this far: the database holds a record from then.
    pub fn not_before(&self, at: Timestamp) {
        match &self.0 {
            ClockSource::Manual(ms) => _ = ms.fetch_max(at.as_ms(), Ordering::SeqCst),
            ClockSource::System(anchor) => {
                let mut anchor = anchor.lock().unwrap_or_else(PoisonError::into_inner);
                anchor.ms = anchor.ms.max(at.as_ms());
            }
        }
    }

    /// Whether the wall clock differs from the time in force by more than a correction.
    pub fn doubt(&self) -> Option<ClockDoubt> {
        let ClockSource::System(_) = &self.0 else {
            return None;
        };
        let (in_force, wall) = (self.now(), Timestamp::from_ms(wall_ms()));
        let doubt = ClockDoubt { in_force, wall };
        (doubt.ahead_ms().unsigned_abs() > STEP_MAX_MS).then_some(doubt)
    }

    /// A second witness says what time it is. `true`: it agrees with a wall that was in doubt, and the wall is in
    /// force from now on.
    pub(crate) fn testify(&self, at: Timestamp) -> bool {
        self.with_anchor(|anchor| anchor.testify(at.as_ms(), wall_ms(), up()))
            .unwrap_or(false)
    }

    /// What to note for the next start.
    pub(crate) fn reading(&self) -> Option<Reading> {
        self.now();
        self.with_anchor(|anchor| Reading {
            at_ms: anchor.ms,
            up_ms: u64::try_from(anchor.up.as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// Goes on from a reading of this boot, so that a jump meanwhile is one. One of the future says nothing.
    pub(crate) fn resume(&self, from: Reading) {
        let noted = Duration::from_millis(from.up_ms);
        self.with_anchor(|anchor| {
            if noted <= up() {
                *anchor = Anchor {
                    ms: from.at_ms,
                    up: noted,
                    in_doubt: false,
                };
            }
        });
    }

    /// The time of now by a second witness: if the wall is far ahead of it, the wall is in doubt.
    pub(crate) fn start_from(&self, at: Timestamp) {
        let up_ms = u64::try_from(up().as_millis()).unwrap_or(u64::MAX);
        if Timestamp::from_ms(wall_ms()).since(at) > STEP_MAX {
            self.resume(Reading {
                at_ms: at.as_ms(),
                up_ms,
            });
        }
    }

    /// The wall is right, by the owner's word.
    pub(crate) fn take_wall(&self) {
        self.with_anchor(|anchor| {
            *anchor = Anchor {
                ms: wall_ms(),
                up: up(),
                in_doubt: false,
            };
        });
    }

    fn with_anchor<T>(&self, look: impl FnOnce(&mut Anchor) -> T) -> Option<T> {
        match &self.0 {
            ClockSource::Manual(_) => None,
            ClockSource::System(anchor) => Some(look(
                &mut anchor.lock().unwrap_or_else(PoisonError::into_inner),
            )),
        }
    }

    /// How far this moment is ahead of the wall clock by more than a correction, if it is.
    pub(crate) fn is_far_ahead(&self, at: Timestamp) -> bool {
        match &self.0 {
            ClockSource::Manual(_) => false,
            ClockSource::System(_) => at.since(Timestamp::from_ms(wall_ms())) > STEP_MAX,
        }
    }

    /// Moves a manual clock; the system's cannot be moved.
    pub fn set(&self, at: Timestamp) {
        if let ClockSource::Manual(ms) = &self.0 {
            ms.store(at.as_ms(), Ordering::SeqCst);
        }
    }
}

impl Anchor {
    fn advance(&mut self, wall_ms: i64, up: Duration) {
        let passed = millis(up.saturating_sub(self.up));
        let at_least = self.ms.saturating_add(passed);
        let in_doubt = wall_ms.saturating_sub(at_least) > millis(STEP_MAX);
        let ms = if in_doubt {
            at_least
        } else {
            wall_ms.max(at_least)
        };
        *self = Self { ms, up, in_doubt };
    }

    /// Whether the wall is believed by this word.
    fn testify(&mut self, at_ms: i64, wall_ms: i64, up: Duration) -> bool {
        self.advance(wall_ms, up);
        let is_believed = self.in_doubt && wall_ms.abs_diff(at_ms) <= STEP_MAX_MS;
        if is_believed {
            *self = Self {
                ms: wall_ms,
                up,
                in_doubt: false,
            };
        }
        is_believed
    }
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that asks for the time of day"
)]
fn wall_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    millis(since)
}

/// Since boot, with the time that the machine slept.
fn up() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: i64 = 1_800_000_000_000;
    const HOUR: i64 = 3_600_000;
    const YEARS: i64 = 10 * 365 * 24 * HOUR;

    fn anchor() -> Anchor {
        Anchor {
            ms: T0,
            up: Duration::ZERO,
            in_doubt: false,
        }
    }

    fn ms(span: i64) -> Duration {
        Duration::from_millis(u64::try_from(span).unwrap())
    }

    #[test]
    fn a_wall_clock_that_jumps_back_does_not_take_time_with_it() {
        let mut anchor = anchor();
        let step = millis(STEP_MAX);
        // (wall, since boot, believed)
        let steps = [
            (500, 500, 500),
            (500 - 30 * 24 * HOUR, 700, 700),
            (-T0, 900, 900),
            (900 + step, 900, 900 + step),
            (1_000, 1_000, 1_000 + step),
            (1_000, 1_000 + HOUR, 1_000 + step + HOUR),
        ];
        for (wall, up, believed) in steps {
            anchor.advance(T0 + wall, ms(up));
            assert_eq!(anchor.ms - T0, believed);
        }
    }

    #[test]
    fn a_jump_ahead_is_forgotten_when_it_is_over() {
        let mut anchor = anchor();
        // Ten years for 1.5 seconds, looked at again and again.
        for up in [100, 600, 1_100, 1_600] {
            anchor.advance(T0 + YEARS + up, ms(up));
            assert_eq!(anchor.ms - T0, up);
        }
        for up in [1_700, HOUR, 5 * HOUR] {
            anchor.advance(T0 + up, ms(up));
            assert_eq!(anchor.ms - T0, up);
            assert!(!anchor.in_doubt);
        }
        // At the limit it is a correction, and one millisecond more is a jump.
        let (limit, now) = (millis(STEP_MAX), 5 * HOUR);
        let mut other = anchor;
        anchor.advance(T0 + now + limit, ms(now));
        assert_eq!(anchor.ms - T0, now + limit);
        other.advance(T0 + now + limit + 1, ms(now));
        assert_eq!(other.ms - T0, now);
    }

    #[test]
    fn a_jump_is_never_believed_because_it_lasts() {
        let mut anchor = anchor();
        for hour in 1..24 * 400 {
            let up = hour * HOUR;
            anchor.advance(T0 + HOUR + up, ms(up));
            assert_eq!((anchor.ms - T0, anchor.in_doubt), (up, true));
        }
    }

    #[test]
    fn a_second_witness_ends_a_doubt_only_where_it_agrees_with_the_wall() {
        let step = millis(STEP_MAX);
        // (what it says beside the wall, believed)
        let words = [
            (0, true),
            (step, true),
            (-step, true),
            (step + 1, false),
            (-step - 1, false),
            // It agrees with the time in force: the wall is the wrong one.
            (-YEARS, false),
            (i64::MIN / 2, false),
        ];
        for (beside, believed) in words {
            let mut anchor = anchor();
            let wall = T0 + YEARS + 1_000;
            anchor.advance(wall, ms(1_000));
            assert_eq!(
                anchor.testify(wall + beside, wall, ms(1_000)),
                believed,
                "{beside}"
            );
            let in_force = if believed { wall } else { T0 + 1_000 };
            assert_eq!(
                (anchor.ms, anchor.in_doubt),
                (in_force, !believed),
                "{beside}"
            );
        }
        // Without a doubt there is nothing to believe, and a witness that is far away changes nothing.
        let mut anchor = anchor();
        assert!(!anchor.testify(T0 + YEARS, T0 + 500, ms(500)));
        assert_eq!(anchor.ms, T0 + 500);
    }

    /// What a start knows of the time before it.
    #[test]
    fn a_start_during_a_jump_goes_on_from_the_note() {
        let clock = Clock::system();
        let (wall, now_up) = (wall_ms(), up());
        let noted = Reading {
            at_ms: wall - HOUR,
            up_ms: u64::try_from(now_up.as_millis()).unwrap(),
        };
        assert_eq!(clock.doubt(), None);
        clock.resume(noted);
        let doubt = clock.doubt().unwrap();
        assert!((doubt.ahead_ms() - HOUR).abs() < 60_000, "{doubt:?}");
        // New things by the earlier time, old ones by the later.
        assert!(clock.now() < Timestamp::from_ms(wall - HOUR + 60_000));
        assert!(clock.latest() >= Timestamp::from_ms(wall));
        assert!(!clock.testify(Timestamp::from_ms(wall - HOUR)));
        assert!(clock.testify(Timestamp::from_ms(wall)));
        assert_eq!(clock.doubt(), None);
        // By the owner.
        clock.resume(noted);
        clock.take_wall();
        assert_eq!(clock.doubt(), None);
        // A note of a later moment of this boot is none, and a note without a jump changes nothing.
        clock.resume(Reading {
            up_ms: noted.up_ms + 3_600_000,
            ..noted
        });
        assert_eq!(clock.doubt(), None);
        clock.resume(Reading {
            at_ms: wall,
            ..noted
        });
        assert_eq!(clock.doubt(), None);
        // A witness at the start.
        clock.start_from(Timestamp::from_ms(wall - 60_000));
        assert_eq!(clock.doubt(), None);
        clock.start_from(Timestamp::from_ms(wall - HOUR));
        assert!(clock.doubt().is_some());
        assert_eq!(Clock::manual(Timestamp::from_ms(0)).doubt(), None);
    }
}
