//! What the events of `/api/events` carry, and those of a turn (`/api/conversations/{id}/stream`).

use serde::{Deserialize, Serialize};

use crate::Word;
use crate::conversations::{TruthResponse, UsageResponse};

/// What many kinds of events say, for whoever shows them all: whom and what it is about, how that stands now, and
/// since when.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct EventSummary {
    pub id: Option<String>,
    /// Of a proposal.
    pub code: Option<String>,
    pub label: Option<String>,
    pub status: Option<Word>,
    pub at: Option<String>,
}

/// `tool`: an agent uses one, or has used it.
#[derive(Debug, Serialize, Deserialize)]
pub struct TurnToolEvent {
    pub tool: String,
    pub args_summary: String,
    /// `running`, `ok`, `denied` or `error`.
    pub status: Word,
}

/// `delta`: the next words of the answer.
#[derive(Debug, Serialize, Deserialize)]
pub struct TurnDeltaEvent {
    pub text: String,
}

/// `draft`: a change that the agent drafted waits for the owner.
#[derive(Debug, Serialize, Deserialize)]
pub struct TurnDraftEvent {
    /// The id of the proposal.
    pub pending_change_id: String,
    /// What a yes changes, in Void's words.
    pub summary: String,
}

/// `done`: the turn is over, and what became of what it proposed.
#[derive(Debug, Serialize, Deserialize)]
pub struct TurnDoneEvent {
    pub assistant_message_id: String,
    pub usage: UsageResponse,
    pub truth: TruthResponse,
    /// The same in words; the server says it, not the model.
    pub truth_line: String,
    /// What was read that a stranger could have written.
    pub tainted_by: Vec<String>,
}

/// `error`: the turn ended without an answer.
#[derive(Debug, Serialize, Deserialize)]
pub struct TurnErrorEvent {
    pub code: Word,
    pub message: String,
}
