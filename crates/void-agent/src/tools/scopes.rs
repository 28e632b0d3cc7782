//! Where a call comes from: the space of its conversation, what the owner looks at, and whether text of strangers is handed
//! out there at all. A scope narrows what a caller may; it never adds to it.

use void_control::Ctx;
use void_domain::capabilities::Capability;
use void_domain::changes::drafts::DraftTurn;
use void_domain::conversations::MessageView;
use void_domain::ids::SpaceId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Nothing of what the owner keeps in another space is there. `None`: the caller is in no space, and sees all.
    pub space_id: Option<SpaceId>,
    /// As the page sent it with the message: what it names may be gone, or elsewhere.
    pub view: Option<MessageView>,
    pub foreign_text: ForeignText,
    /// The turn in which the caller works, if it works in one.
    pub turn: Option<DraftTurn>,
}

/// What happens with text that a stranger could have written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignText {
    /// It is handed out and marks the turn.
    MarksTurn,
    /// What is asked for is handed out and marks the token. What only turns up is told by its kind and id: looking something
    /// up would make every safe fix of a client outside wait.
    MarksToken,
}

impl Scope {
    /// In a turn of a conversation, which is marked by what it reads.
    pub const fn of_turn(space_id: Option<SpaceId>, view: Option<MessageView>) -> Self {
        Self {
            space_id,
            view,
            foreign_text: ForeignText::MarksTurn,
            turn: None,
        }
    }

    /// The same, in a turn by which its drafts are known.
    #[must_use]
    pub fn at(self, turn: DraftTurn) -> Self {
        Self {
            turn: Some(turn),
            ..self
        }
    }

    /// For a client outside, of which nobody knows what it does with what it has read: its token is marked.
    pub const fn outside() -> Self {
        Self {
            space_id: None,
            view: None,
            foreign_text: ForeignText::MarksToken,
            turn: None,
        }
    }

    /// Of what was asked for. Who acts in a turn and does not draft stays out of such text: looking something up would make
    /// every safe fix wait.
    pub(super) fn gives_foreign_text(&self, ctx: &Ctx) -> bool {
        match self.foreign_text {
            ForeignText::MarksToken => ctx.token.is_some(),
            ForeignText::MarksTurn => is_read_in_turns_of(ctx),
        }
    }

    /// Of what only turns up.
    pub(super) fn finds_foreign_text(&self, ctx: &Ctx) -> bool {
        match self.foreign_text {
            ForeignText::MarksToken => false,
            ForeignText::MarksTurn => is_read_in_turns_of(ctx),
        }
    }

    pub(super) fn has(&self, space: SpaceId) -> bool {
        self.space_id.is_none_or(|own| own == space)
    }
}

fn is_read_in_turns_of(ctx: &Ctx) -> bool {
    let has = |capability| ctx.capabilities.has(capability);
    ctx.actor.is_owner() || has(Capability::Suggest) || !has(Capability::Act)
}
