//! What one caller other than the owner may use up, so that one token cannot take the house (I36): pure
//! arithmetic, and the bounds with their units. Time comes in as an argument that never goes back.

use std::time::Duration;

/// Requests a second of one token, over a long time.
pub const TOKEN_REQUESTS_PER_S: u32 = 100;
/// Requests that one token may make at once after a pause.
pub const TOKEN_REQUESTS_BURST: u32 = 1_000;
/// Changes a minute that one token may ask for, each of which is a row.
pub const TOKEN_ROWS_PER_MINUTE: u32 = 120;
/// Changes that one token may ask for at once after a pause.
pub const TOKEN_ROWS_BURST: u32 = 300;
/// So much of what is kept of a change costs as much as another one.
pub const ROW_BYTES: usize = 4 * 1024;
/// Event streams and MCP connections that one token keeps open.
pub const TOKEN_STREAMS_MAX: u32 = 32;
/// Requests of one token that are answered or wait at a time, a node's polls among them.
pub const TOKEN_REQUESTS_OPEN_MAX: u32 = 256;
/// Connections by which one token has made requests and which are still open.
pub const TOKEN_CONNECTIONS_MAX: u32 = 512;
/// Reads of one token that are answered at a time; more wait for their turn.
pub const TOKEN_READS_AT_ONCE_MAX: u32 = 4;
/// Bytes of answers that one token has asked for and not taken yet.
pub const TOKEN_BYTES_IN_FLIGHT_MAX: usize = 8 * 1024 * 1024;
/// The same of everybody but the owner together.
pub const BYTES_IN_FLIGHT_MAX: usize = 64 * 1024 * 1024;
/// Requests a second of one address without a credential that is good.
pub const STRANGER_REQUESTS_PER_S: u32 = 200;
pub const STRANGER_REQUESTS_BURST: u32 = 2_000;
/// The owner's own programs may run wild too; this is far above what one machine answers.
pub const OWNER_REQUESTS_PER_S: u32 = 50_000;
pub const OWNER_REQUESTS_BURST: u32 = 100_000;
/// A list ends early rather than hold more than this; `next` leads on.
pub const LIST_BYTES_MAX: usize = 2 * 1024 * 1024;

/// What somebody who fell behind holds of the events that are to be sent.
pub const EVENT_PAGE_BYTES_MAX: usize = 128 * 1024;
/// Answers of MCP calls that are gathered before they are sent; one answer may be larger.
pub const UNSENT_BYTES_MAX: usize = 256 * 1024;
/// So much of an answer costs as much as a request: whoever asks for long lists asks less often.
pub const ANSWER_BYTES_PER_REQUEST: usize = 64 * 1024;

/// How often something may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub per_minute: u32,
    /// How much of it at once after a pause.
    pub burst: u32,
}

impl Rate {
    pub const fn per_second(per_second: u32, burst: u32) -> Self {
        Self {
            per_minute: per_second.saturating_mul(60),
            burst,
        }
    }

    /// From one to the next if they come evenly.
    fn interval(self) -> Duration {
        Duration::from_secs(60) / self.per_minute.max(1)
    }
}

/// Counts what happened against a [`Rate`], in one number: when all of it will have been made up for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bucket {
    even_at: Duration,
}

impl Bucket {
    /// Counts one at `now`. `Err`: it was too much and is not counted; how long to wait for the next.
    pub fn take(&mut self, rate: Rate, now: Duration) -> Result<(), Duration> {
        let interval = rate.interval();
        let even_at = self.even_at.max(now).saturating_add(interval);
        let ahead = even_at.saturating_sub(now);
        let allowed = interval.saturating_mul(rate.burst.max(1));
        if ahead > allowed {
            return Err(ahead.saturating_sub(allowed));
        }
        self.even_at = even_at;
        Ok(())
    }

    /// Counts what has happened already, whether or not there was room for it.
    pub fn charge(&mut self, rate: Rate, now: Duration, times: u32) {
        let interval = rate.interval();
        // Nobody waits longer than for two bursts, whatever they have taken.
        let ahead_max = interval.saturating_mul(rate.burst.max(1)).saturating_mul(2);
        let even_at = self
            .even_at
            .max(now)
            .saturating_add(interval.saturating_mul(times));
        self.even_at = even_at.min(now.saturating_add(ahead_max)).max(self.even_at);
    }

    /// Whether nothing is left to make up for; such a bucket need not be kept.
    pub fn is_even(&self, now: Duration) -> bool {
        self.even_at <= now
    }
}

/// The budgets of one token that an owner may set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenBudgets {
    pub requests: Rate,
    pub rows: Rate,
    pub streams: u32,
}

impl Default for TokenBudgets {
    fn default() -> Self {
        Self {
            requests: Rate::per_second(TOKEN_REQUESTS_PER_S, TOKEN_REQUESTS_BURST),
            rows: Rate {
                per_minute: TOKEN_ROWS_PER_MINUTE,
                burst: TOKEN_ROWS_BURST,
            },
            streams: TOKEN_STREAMS_MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_and_then_evenly() {
        let rate = Rate::per_second(10, 5);
        let mut bucket = Bucket::default();
        let start = Duration::from_secs(7);
        for n in 0..5 {
            assert_eq!(bucket.take(rate, start), Ok(()), "{n}");
        }
        let wait = bucket.take(rate, start).unwrap_err();
        assert_eq!(wait, Duration::from_millis(100));
        assert_eq!(
            bucket.take(rate, start),
            Err(wait),
            "a refusal costs nothing"
        );
        assert!(bucket.take(rate, start + wait / 2).is_err());
        assert_eq!(bucket.take(rate, start + wait), Ok(()));
        assert!(bucket.take(rate, start + wait).is_err());
        // Over ten seconds: the burst and what comes evenly.
        let mut bucket = Bucket::default();
        let taken = (0..10_000).filter(|ms| {
            let now = Duration::from_millis(*ms);
            bucket.take(rate, now).is_ok()
        });
        assert!((100..=105).contains(&taken.count()));
    }

    #[test]
    fn a_charge_is_paid_back_before_the_next_and_has_an_end() {
        let rate = Rate::per_second(10, 5);
        let mut bucket = Bucket::default();
        let start = Duration::from_secs(7);
        bucket.charge(rate, start, 5);
        assert_eq!(bucket.take(rate, start), Err(Duration::from_millis(100)));
        let mut bucket = Bucket::default();
        bucket.charge(rate, start, 4);
        assert_eq!(bucket.take(rate, start), Ok(()));
        assert!(bucket.take(rate, start).is_err());
        for _ in 0..3 {
            bucket.charge(rate, start, u32::MAX);
        }
        // Two bursts are a second.
        let soon = start + Duration::from_millis(599);
        assert!(bucket.take(rate, soon).is_err());
        let later = start + Duration::from_millis(600);
        assert_eq!(bucket.take(rate, later), Ok(()));
        // A smaller charge never pays anything back.
        let before = bucket;
        bucket.charge(rate, start, 0);
        assert_eq!(bucket, before);
    }

    #[test]
    fn a_pause_is_worth_a_burst_and_not_more() {
        let rate = Rate {
            per_minute: 60,
            burst: 3,
        };
        let mut bucket = Bucket::default();
        for hour in 1..4 {
            let now = Duration::from_secs(hour * 3600);
            assert!(bucket.is_even(now));
            let taken = (0..10).filter(|_| bucket.take(rate, now).is_ok()).count();
            assert_eq!(taken, 3);
            assert!(!bucket.is_even(now + Duration::from_secs(2)));
            assert!(bucket.is_even(now + Duration::from_secs(3)));
        }
    }

    #[test]
    fn no_rate_makes_it_panic() {
        for (per_minute, burst) in [(0, 0), (0, u32::MAX), (u32::MAX, 0), (u32::MAX, u32::MAX)] {
            let mut bucket = Bucket::default();
            let rate = Rate { per_minute, burst };
            assert_eq!(bucket.take(rate, Duration::ZERO), Ok(()));
            let _ = bucket.take(rate, Duration::MAX);
            let _ = bucket.take(rate, Duration::MAX);
        }
    }
}
