//! What stands in the journal's files: one JSON object a line.

use serde::{Deserialize, Serialize};

use crate::answers::Ending;
use crate::clock::Moment;
use crate::commands::ActionId;
use crate::tickets::Ticket;

/// A line of a ticket's file. The first one says what the ticket became; a run has a second one when it has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Record {
    /// Durable before the command is started.
    Start(Start),
    /// Written when it has ended.
    End(Ending),
    /// A tombstone: this ticket was asked about before it came, and must never start.
    Void(Tombstone),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {
    pub(crate) id: ActionId,
    pub(crate) ticket: Mark,
    pub(crate) at: Moment,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tombstone {
    pub(crate) ticket: Mark,
    pub(crate) at: Moment,
}

/// A line of an action's file: one start, by ticket or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Begun {
    pub(crate) at: Moment,
    /// What ran before, where the entry asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) recorded: Option<String>,
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
pub(crate) fn line_of(record: &impl Serialize) -> Vec<u8> {
    // Strings and integers always serialise; should that ever fail, the empty line is refused as damage.
    let mut line = serde_json::to_vec(record).unwrap_or_default();
    line.push(b'\n');
    line
}
