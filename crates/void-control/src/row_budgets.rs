//! How many changes a minute a viewer, a node or an agent by all its tokens may ask for from outside, each of
//! which writes rows (I36). Asked before the store is, in bounded memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use void_domain::actors::Actor;
use void_domain::budgets::{Bucket, Rate};
use void_domain::ids::RequesterId;

use crate::context::Ctx;
use crate::control::Control;
use crate::refusal_counts;

/// More tokens than a house has; beyond it those that have nothing to make up for are forgotten.
const TOKENS_MAX: usize = 4_096;

/// A token has asked for too many changes of late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this token has asked for too many changes of late")]
pub struct TooManyRows {
    pub retry_after: Duration,
}

pub(crate) struct RowBudgets {
    began: Instant,
    buckets: Mutex<HashMap<RequesterId, Bucket>>,
    held_back: AtomicU64,
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
    fn take(&self, id: RequesterId, rate: Rate) -> Result<(), TooManyRows> {
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

    /// Changes that were held back since the start.
    pub(crate) fn held_back(&self) -> u64 {
        self.held_back.load(Ordering::Relaxed)
    }
}

/// Counts one change of this caller. The owner's and those of a turn have other bounds.
pub(crate) fn take(control: &Control, ctx: &Ctx) -> Result<(), TooManyRows> {
    let id = match &ctx.actor {
        Actor::Agent { id, .. } => RequesterId::from(*id),
        Actor::Viewer { id, .. } | Actor::Node { id, .. } => RequesterId::from(*id),
        Actor::Owner { .. } | Actor::System => return Ok(()),
    };
    if !refusal_counts::is_counted(ctx) {
        return Ok(());
    }
    let rate = control.limits.token_budgets.rows;
    control.row_budgets.take(id, rate)
}
