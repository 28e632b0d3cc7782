//! `[limits]` and `[retention]`: how much there may be of everything, and for how long.

use std::time::Duration;

use void_control::Limits;
use void_domain::budgets::{Rate, TokenBudgets};
use void_domain::limits::{BUSY_LASTS, SEARCH_TIME_MAX};
use void_domain::retention::{Kept, Retention};

use super::Source;
use super::merge::Values;
use crate::exit::CommandError;

/// How many seconds' worth of requests a token may make at once after a pause.
const BURST_S: u32 = 10;

pub(super) fn read(values: &Values) -> Result<Limits, CommandError> {
    let number = |key: &str| values.get::<u64>(key).map(|setting| setting.value);
    let seconds = |key: &str| number(key).map(Duration::from_secs);
    Ok(Limits {
        open_proposals: number("limits.open_proposals")?,
        open_proposals_per_agent: number("limits.open_proposals_per_agent")?,
        safe_runs_per_agent_hour: values.small("limits.safe_runs_per_agent_hour")?.value,
        lease: seconds("limits.lease_s")?,
        busy_lasts: BUSY_LASTS,
        verify_within: seconds("limits.verify_within_s")?,
        search_time: SEARCH_TIME_MAX,
        retention: retention(values)?,
        token_budgets: token_budgets(values)?,
    })
}

fn retention(values: &Values) -> Result<Retention, CommandError> {
    let mut retention = Retention::default();
    for kept in Kept::ALL {
        let days = values.small(&format!("retention.{}_days", kept.as_str()))?;
        retention = retention
            .with(kept, days.value)
            .map_err(CommandError::config)?;
    }
    Ok(retention)
}

/// What one token may use up. A rate that the owner sets is a burst of ten seconds' worth, or of a minute's.
fn token_budgets(values: &Values) -> Result<TokenBudgets, CommandError> {
    let mut budgets = TokenBudgets::default();
    let requests = values.small("limits.token_requests_per_s")?;
    if requests.source != Source::Default {
        let per_s = requests.value;
        budgets.requests = Rate::per_second(per_s, per_s.saturating_mul(BURST_S));
    }
    let rows = values.small("limits.token_rows_per_minute")?;
    if rows.source != Source::Default {
        budgets.rows = Rate {
            per_minute: rows.value,
            burst: rows.value,
        };
    }
    budgets.streams = values.small("limits.token_streams")?.value;
    Ok(budgets)
}
