//! How many changes a minute a token may ask for from outside (I36), in bounded memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use void_domain::budgets::{Bucket, Rate};
use void_domain::ids::RequesterId;

/// More tokens than a house has; beyond it those that have nothing to make up for are forgotten.
pub(crate) const TOKENS_MAX: usize = 4_096;

/// A token has asked for too many changes of late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this token has asked for too many changes of late")]
pub struct TooManyRows {
    pub retry_after: Duration,
}

pub(crate) struct RowBudgets {
    pub(crate) began: Instant,
    pub(crate) buckets: Mutex<HashMap<RequesterId, Bucket>>,
    pub(crate) held_back: AtomicU64,
}

impl Default for RowBudgets {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            buckets: Mutex::default(),
            held_back: AtomicU64::new(0),
        }
    }
}

impl RowBudgets {
    pub(crate) fn take(&self, id: RequesterId, rate: Rate) -> Result<(), TooManyRows> {
        let now = self.began.elapsed();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= TOKENS_MAX {
            buckets.retain(|_, bucket| !bucket.is_even(now));
        }
        let taken = buckets.entry(id).or_default().take(rate, now);
        taken.map_err(|retry_after| {
            self.held_back.fetch_add(1, Ordering::Relaxed);
            TooManyRows { retry_after }
        })
    }

    /// Counts what is asked for already as so many more changes.
    pub(crate) fn charge(&self, id: RequesterId, rate: Rate, times: u32) {
        let now = self.began.elapsed();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.entry(id).or_default().charge(rate, now, times);
    }

    /// Changes that were held back since the start.
    pub(crate) fn held_back(&self) -> u64 {
        self.held_back.load(Ordering::Relaxed)
    }
}
