//! When a process that ended unasked is started again: later each time, and not for ever.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restarts {
    /// Before the first time; twice as long before each further one.
    pub first: Duration,
    pub most: Duration,
    /// Failures in a row after which nobody tries again.
    pub failures_max: u32,
    /// Whoever ran so long has failed for the first time.
    pub stable_after: Duration,
}

impl Default for Restarts {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            most: Duration::from_secs(300),
            failures_max: 8,
            stable_after: Duration::from_secs(120),
        }
    }
}

impl Restarts {
    /// How many failures in a row that makes.
    pub(crate) fn failures(&self, before: u32, ran: Duration) -> u32 {
        match ran >= self.stable_after {
            true => 1,
            false => before.saturating_add(1),
        }
    }

    /// How long to wait after that many; `None`: it is given up.
    pub(crate) fn pause(&self, failures: u32) -> Option<Duration> {
        if failures >= self.failures_max {
            return None;
        }
        let doublings = failures.saturating_sub(1);
        let factor = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
        Some(self.first.saturating_mul(factor).min(self.most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_their_bound_and_end() {
        let restarts = Restarts::default();
        let pauses: Vec<Option<u64>> = (1..=9)
            .map(|failures| restarts.pause(failures).map(|pause| pause.as_secs()))
            .collect();
        let expected = [1, 2, 4, 8, 16, 32, 64].map(Some);
        assert_eq!(pauses[..7], expected);
        assert_eq!(pauses[7..], [None, None]);
        let patient = Restarts {
            failures_max: u32::MAX,
            ..restarts
        };
        for failures in [10, 31, 32, 33, 1_000_000] {
            assert_eq!(patient.pause(failures), Some(restarts.most));
        }
    }

    #[test]
    fn whoever_ran_long_enough_begins_again() {
        let restarts = Restarts::default();
        let just = restarts.stable_after - Duration::from_millis(1);
        assert_eq!(restarts.failures(6, just), 7);
        assert_eq!(restarts.failures(6, restarts.stable_after), 1);
        assert_eq!(restarts.failures(u32::MAX, Duration::ZERO), u32::MAX);
    }
}
