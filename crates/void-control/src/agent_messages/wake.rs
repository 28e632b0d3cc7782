//! Waking: an agent puts a word from a closed set into its own mailbox, and nobody into anybody else's.
//!
//! It is also for programs beside an agent with its token, the one thing of the tree that a token from outside may do: it has
//! no words of its own, names nobody, and says no more than that somebody who holds the token wanted the agent to look.

use void_domain::actors::Actor;
use void_domain::agent_messages::{
    AgentMessage, MailboxFull, MessageContent, OwnWake, Sender, SenderRank, TooManySends,
};
use void_domain::agents::AgentName;
use void_domain::taint::Taint;
use void_store::{StoreError, agent_messages as table};
use void_tree::{AgentKind, Operation, Right};

use super::send::{SendError, Sent, draft, put};
use crate::context::Ctx;
use crate::control::Control;
use crate::parts::row_budgets::TooManyRows;
use crate::parts::tree::Tree;
use crate::{random, row_budgets, token_taints};

#[derive(Debug, thiserror::Error)]
pub enum WakeError {
    #[error("only an agent that stands in the tree wakes itself")]
    Nowhere,
    #[error("{0} lives in the server; no program runs beside it")]
    Resident(AgentName),
    #[error(transparent)]
    Full(#[from] MailboxFull),
    #[error(transparent)]
    TooMany(#[from] TooManySends),
    #[error(transparent)]
    Busy(#[from] TooManyRows),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// `taint`: what the one that wakes has read so far. As long as the same cause waits, another wake for it is the same.
pub async fn wake(
    control: &Control,
    ctx: &Ctx,
    cause: OwnWake,
    taint: Taint,
) -> Result<Sent, WakeError> {
    let tree = control.in_force.tree.opened().await;
    let own = judge(&tree, ctx)?.clone();
    row_budgets::take(control, ctx)?;
    let at = control.clock.now();
    let message = draft(
        (at, random::agent_message_id(at)?),
        (Sender::Agent(own.clone()), own),
        MessageContent::Wake(cause),
        taint,
    );
    let (context, ctx) = (control.context(ctx), ctx.clone());
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let taint = token_taints::united(tx, &ctx, &message.taint).await?;
                let waiting = table::find_waiting_wake(tx, &message.receiver, cause).await?;
                if let Some(message) = waiting.filter(|waiting| taint.is_within(&waiting.taint)) {
                    let is_repeat = true;
                    return Ok(Sent { message, is_repeat });
                }
                let message = AgentMessage { taint, ..message };
                put(tx, &context, message, SenderRank::Above)
                    .await
                    .map_err(WakeError::of)
            })
        })
        .await
}

/// Whose mailbox it is: that of whoever acts. A token from outside is its agent's, as far as this goes.
fn judge<'a>(tree: &Tree, ctx: &'a Ctx) -> Result<&'a AgentName, WakeError> {
    let Actor::Agent { name, .. } = &ctx.actor else {
        return Err(WakeError::Nowhere);
    };
    let own = (name, &ctx.capabilities);
    match tree.right_between(own, Operation::Wake, name) {
        Right::Alone => {}
        Right::WithNod | Right::Never => return Err(WakeError::Nowhere),
    }
    match (ctx.is_from_outside, tree.kind(name)) {
        (false, _) | (true, AgentKind::Process) => Ok(name),
        (true, AgentKind::Resident) => Err(WakeError::Resident(name.clone())),
    }
}

impl WakeError {
    fn of(error: SendError) -> Self {
        match error {
            SendError::Full(full) => Self::Full(full),
            SendError::TooMany(many) => Self::TooMany(many),
            SendError::Store(error) => Self::Store(error),
            SendError::OutOfReach
            | SendError::Nowhere
            | SendError::ReceiverGone(_)
            | SendError::KeyUsed => Self::Nowhere,
        }
    }
}
