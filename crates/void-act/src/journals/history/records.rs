//! One line of an older journal each.

use serde::{Deserialize, Serialize};

use crate::answers::Ending;
use crate::clock::Moment;
use crate::commands::ActionId;
use crate::journals::records::{Mark, Tombstone};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum OldRecord {
    /// First line after a compaction.
    Head(Head),
    Start(OldStart),
    End(OldEnd),
    Void(Tombstone),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    /// The latest expiry of any ticket that was forgotten; whatever expires by then may have run.
    pub(crate) forgotten_ms: Option<u64>,
    pub(crate) next_run: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OldStart {
    pub(crate) run: u64,
    pub(crate) id: ActionId,
    /// None for a bare id.
    pub(crate) ticket: Option<Mark>,
    pub(crate) at: Moment,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) recorded: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OldEnd {
    pub(crate) run: u64,
    pub(crate) ending: Ending,
}
