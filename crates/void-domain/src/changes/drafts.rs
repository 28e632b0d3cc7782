//! Where a draft comes from, beside who asked for it: the turn in which it was made, so that drafts of one turn can be decided
//! together, and the draft that it is asked again of. Nothing is decided by it, so no digest binds it.

use crate::ids::{ConversationId, MessageId, ProposalId};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DraftTurn {
    pub conversation_id: ConversationId,
    /// The agent's message that the turn writes.
    pub message_id: MessageId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DraftContext {
    /// `None`: it was made in no turn.
    pub turn: Option<DraftTurn>,
    /// The draft that it says again, against what was there then.
    pub again_of: Option<ProposalId>,
}
