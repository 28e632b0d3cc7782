//! How many proofs were refused since the last entry that says so.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use void_domain::time::Timestamp;

#[derive(Default)]
pub(crate) struct Refusals(pub(crate) Mutex<RefusalTally>);

#[derive(Default)]
pub(crate) struct RefusalTally {
    pub(crate) recorded_at: Option<Timestamp>,
    pub(crate) since: u64,
}

impl Refusals {
    /// Counts one. How many there are to record now, if it is time to.
    pub(crate) fn note(&self, now: Timestamp, every: Duration) -> Option<u64> {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        count.since = count.since.saturating_add(1);
        let early = count.recorded_at.is_some_and(|at| now.since(at) < every);
        if early {
            return None;
        }
        count.recorded_at = Some(now);
        Some(std::mem::take(&mut count.since))
    }
}
