//! How much of everything there may be, and what has been counted of it.

use std::time::Duration;

use void_domain::budgets::TokenBudgets;
use void_domain::limits;
use void_domain::retention::Retention;

use super::drafting::Drafting;
use super::refusal_counts::RefusalCounts;
use super::row_budgets::RowBudgets;

/// The bounds that an owner may set.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub open_proposals: u64,
    pub open_proposals_per_agent: u64,
    /// How many safe actions one agent may start in an hour.
    pub safe_runs_per_agent_hour: u32,
    /// How long a claim may take to be sent; after that any instance may ask what became of it.
    pub lease: Duration,
    /// How long after its claim what found its machine busy is put back, to be tried again.
    pub busy_lasts: Duration,
    /// How long after a run its check may take to show that it worked.
    pub verify_within: Duration,
    /// How long whoever searches waits.
    pub search_time: Duration,
    /// For how long what is over is kept.
    pub retention: Retention,
    /// What one token other than the owner's may use up.
    pub token_budgets: TokenBudgets,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            open_proposals: limits::OPEN_PROPOSALS_MAX,
            open_proposals_per_agent: limits::OPEN_PROPOSALS_PER_AGENT_MAX,
            safe_runs_per_agent_hour: limits::SAFE_RUNS_PER_AGENT_HOUR,
            lease: limits::CLAIM_LEASE,
            busy_lasts: limits::BUSY_LASTS,
            verify_within: limits::VERIFY_WITHIN,
            search_time: limits::SEARCH_TIME_MAX,
            retention: Retention::default(),
            token_budgets: TokenBudgets::default(),
        }
    }
}

pub(crate) struct Bounds {
    pub(crate) limits: Limits,
    pub(crate) refusal_counts: RefusalCounts,
    pub(crate) row_budgets: RowBudgets,
    pub(crate) drafting: Drafting,
}
