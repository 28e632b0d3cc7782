//! Who may do what with a question. Where agents stand is asked of the tree in force, by [`right_of`] alone.

use void_domain::agents::AgentName;
use void_domain::questions::{Question, QuestionParty};
use void_tree::{Operation, Right};

use crate::context::Ctx;
use crate::control::Control;
use crate::tree::{acting_member, right_of};

/// As whom the caller asks and is asked. `None`: as nobody, which is everybody who is neither the owner nor an agent that
/// acts inside and has a position in the tree.
pub(super) fn party(control: &Control, ctx: &Ctx) -> Option<QuestionParty> {
    match ctx.actor.is_owner() {
        true => Some(QuestionParty::Owner),
        false => acting_member(control, ctx)
            .cloned()
            .map(QuestionParty::Agent),
    }
}

/// Whether somebody of this name belongs in the tree.
pub(crate) fn is_member(control: &Control, name: &AgentName) -> bool {
    control.in_force.tree.now().members.contains_key(name)
}

fn may(control: &Control, ctx: &Ctx, operation: Operation, target: &QuestionParty) -> bool {
    let right = target
        .agent()
        .map(|name| right_of(control, ctx, operation, name));
    right == Some(Right::Alone)
}

pub(super) fn may_see(control: &Control, ctx: &Ctx, question: &Question) -> bool {
    if ctx.actor.is_owner() {
        return true;
    }
    let sees = |party| may(control, ctx, Operation::SeeLooseEnds, party);
    sees(&question.asker) || sees(&question.asked)
}

/// Whoever was asked; the owner; and of what one agent asked another, whoever is above the asker. What the owner was asked
/// nobody answers in their place.
pub(super) fn may_answer(control: &Control, ctx: &Ctx, question: &Question) -> bool {
    let Some(own) = party(control, ctx) else {
        return false;
    };
    let is_above = || {
        question.asked != QuestionParty::Owner
            && question.asker != own
            && may(control, ctx, Operation::Moderate, &question.asker)
    };
    own == QuestionParty::Owner || own == question.asked || is_above()
}

/// Whoever asked, whoever is above them, and the owner.
pub(super) fn may_cancel(control: &Control, ctx: &Ctx, question: &Question) -> bool {
    ctx.actor.is_owner() || may(control, ctx, Operation::Moderate, &question.asker)
}

/// Whether the caller may ask there, as far as the two stand.
pub(super) fn may_ask(
    control: &Control,
    ctx: &Ctx,
    own: &QuestionParty,
    to: &QuestionParty,
) -> bool {
    match (own, to) {
        (QuestionParty::Owner, QuestionParty::Owner) => false,
        (QuestionParty::Owner, QuestionParty::Agent(name)) => is_member(control, name),
        // Everybody who has a position may ask the owner.
        (QuestionParty::Agent(_), QuestionParty::Owner) => true,
        (QuestionParty::Agent(_), to @ QuestionParty::Agent(_)) => {
            may(control, ctx, Operation::Ask, to)
        }
    }
}
