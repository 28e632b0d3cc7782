//! The server's time, as far as this machine can know it without trusting its own clock.
//!
//! An answer says what time it was when it left. By now it is at least that, and at least what every earlier answer
//! implies; time since boot, which also counts while the machine sleeps, carries it on.

use std::sync::{Mutex, PoisonError};

use rustix::time::{ClockId, clock_gettime};

#[derive(Default)]
pub(super) struct ServerTime(Mutex<Option<i64>>);

impl ServerTime {
    /// An answer came that was sent at this time.
    pub(super) fn heard(&self, server_ms: i64) {
        self.heard_at(server_ms, since_boot_ms());
    }

    fn heard_at(&self, server_ms: i64, up_ms: i64) {
        let ahead = server_ms.saturating_sub(up_ms);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(known.map_or(ahead, |known| known.max(ahead)));
    }

    /// At least this late is it at the server.
    pub(super) fn now_ms(&self) -> Option<u64> {
        self.at(since_boot_ms())
    }

    fn at(&self, up_ms: i64) -> Option<u64> {
        let known = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        u64::try_from(known?.saturating_add(up_ms)).ok()
    }
}

fn since_boot_ms() -> i64 {
    let time = clock_gettime(ClockId::Boottime);
    time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_answer_does_not_turn_time_back() {
        let time = ServerTime::default();
        assert_eq!(time.at(0), None);
        time.heard_at(1_000_000, 100);
        assert_eq!(time.at(200), Some(1_000_100));
        // It left at 1,000,050 and took an hour.
        time.heard_at(1_000_050, 3_600_000);
        assert_eq!(time.at(3_600_000), Some(4_599_900));
        // One that came faster than the first tells more.
        time.heard_at(5_000_000, 3_700_000);
        assert_eq!(time.at(3_700_000), Some(5_000_000));
    }
}
