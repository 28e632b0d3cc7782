//! One line of the journal each.

use serde::{Deserialize, Serialize};

use crate::answers::Ending;
use crate::clock::Moment;
use crate::commands::ActionId;
use crate::tickets::Ticket;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Record {
    /// First line after a compaction.
    Head(Head),
    /// Durable before the command is started.
    Start(Start),
    /// Written when it has ended.
    End(End),
    /// A tombstone: this ticket was asked about before it came, and must never start.
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
pub(crate) struct Start {
    pub(crate) run: u64,
    pub(crate) id: ActionId,
    /// None for a bare id.
    pub(crate) ticket: Option<Mark>,
    pub(crate) at: Moment,
    /// What ran before, where the entry asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) recorded: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct End {
    pub(crate) run: u64,
    pub(crate) ending: Ending,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tombstone {
    pub(crate) ticket: Mark,
    pub(crate) at: Moment,
}

/// What is kept of a ticket: enough to know it again and to know a forged one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mark {
    pub(crate) proposal: String,
    pub(crate) fingerprint: String,
    pub(crate) expires_ms: u64,
}

impl Mark {
    pub(crate) fn of(ticket: &Ticket) -> Self {
        Self {
            proposal: ticket.proposal().to_owned(),
            fingerprint: ticket.fingerprint(),
            expires_ms: ticket.expires_ms(),
        }
    }
}

/// The line of a record, newline included.
pub(crate) fn line_of(record: &Record) -> Vec<u8> {
    // Strings and integers always serialise; should that ever fail, the empty line is refused as damage.
    let mut line = serde_json::to_vec(record).unwrap_or_default();
    line.push(b'\n');
    line
}
