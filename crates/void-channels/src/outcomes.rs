//! What a channel reports, and what a later question finds out.

use serde_json::Value;
use void_domain::proposals::Failure;

/// How an execution ended, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Done {
        result: Value,
    },
    /// Known not to have been done, or to have been tried and failed.
    Failed(Failure),
    /// The machine was at something else until the ticket ended: it started nothing, and nothing of this ticket will start.
    Busy(Failure),
    /// It may have been done. Never repeated; settled by evidence or by the owner.
    Unknown(Failure),
}

/// What the machine says about a run whose outcome is unknown.
#[derive(Debug, Clone, PartialEq)]
pub enum Evidence {
    Done {
        result: Value,
    },
    Failed(Failure),
    /// It began and has not ended yet, as far as the machine knows.
    Started,
    /// The machine could not be asked, or could not tell.
    None(Failure),
}
