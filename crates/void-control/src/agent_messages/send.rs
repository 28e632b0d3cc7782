//! Sending: into the mailbox of whoever the sender may write to, once for each of the sender's keys, within bounds. The
//! answer comes after the commit.

use void_domain::agent_messages::{
    AgentMessage, AgentMessageState, ENDED_KEPT_PER_MAILBOX, EXPIRES_AFTER, MailboxFull,
    MessageContent, MessageKey, MessageText, SENDS_PER_MINUTE, Sender, SenderRank, TooManySends,
    WAKES_PER_MINUTE, take_send,
};
use void_domain::agent_turns::{TurnCause, WakeCause};
use void_domain::agents::AgentName;
use void_domain::ids::AgentMessageId;
use void_domain::relations::Relation;
use void_domain::taint::Taint;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, agent_messages as table, agents};
use void_tree::{Operation, Right};

use super::{inside, record_sent, sender_of};
use crate::context::Ctx;
use crate::control::Control;
use crate::facts::AuditContext;
use crate::parts::tree::Tree;
use crate::tree::right_in;
use crate::{agent_turns, random, token_taints};

/// Of what is over, how much one send forgets.
const FORGOTTEN_AT_ONCE: u32 = 20;

#[derive(Debug, Clone)]
pub struct SendRequest {
    pub to: AgentName,
    pub text: MessageText,
    /// The same key again is the same message.
    pub key: Option<MessageKey>,
    /// What the sender has read so far that a stranger could have written.
    pub taint: Taint,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    pub message: AgentMessage,
    /// It was sent before, under this key.
    pub is_repeat: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// Nobody learns of whom they may not write to whether there is such an agent.
    #[error("there is no agent of that name that you may write to")]
    OutOfReach,
    #[error("only the owner and agents that stand in the tree send messages")]
    Nowhere,
    #[error("{0} was withdrawn and reads nothing any more")]
    ReceiverGone(AgentName),
    #[error("that key was used for another message")]
    KeyUsed,
    #[error(transparent)]
    Full(#[from] MailboxFull),
    #[error(transparent)]
    TooMany(#[from] TooManySends),
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub async fn send(control: &Control, ctx: &Ctx, request: SendRequest) -> Result<Sent, SendError> {
    let tree = control.in_force.tree.opened().await;
    let sender = sender_of(ctx).ok_or(SendError::Nowhere)?;
    let rank = judge_way(&tree, ctx, &request.to)?;
    let at = control.clock.now();
    let message = draft(
        (at, random::agent_message_id(at)?),
        (sender, request.to),
        MessageContent::Text(request.text),
        request.taint,
    );
    let message = AgentMessage {
        key: request.key.unwrap_or(message.key),
        ..message
    };
    let (context, ctx) = (control.context(ctx), ctx.clone());
    let sent = control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let taint = token_taints::united(tx, &ctx, &message.taint).await?;
                put(tx, &context, AgentMessage { taint, ..message }, rank).await
            })
        })
        .await?;
    Ok(sent)
}

/// By the tree that is in force. The owner writes to whoever stands in it.
fn judge_way(tree: &Tree, ctx: &Ctx, to: &AgentName) -> Result<SenderRank, SendError> {
    if ctx.actor.is_owner() {
        return match tree.topology.has(to) {
            true => Ok(SenderRank::Above),
            false => Err(SendError::OutOfReach),
        };
    }
    let from = inside(ctx).ok_or(SendError::Nowhere)?;
    match right_in(tree, ctx, Operation::Send, to) {
        Right::Alone => {}
        Right::WithNod | Right::Never if tree.topology.has(from) => {
            return Err(SendError::OutOfReach);
        }
        Right::WithNod | Right::Never => return Err(SendError::Nowhere),
    }
    Ok(match tree.index.relation(from, to) {
        Relation::Same | Relation::Ancestor { .. } => SenderRank::Above,
        Relation::Descendant { .. } | Relation::Sibling | Relation::Stranger => SenderRank::Other,
    })
}

/// A message that is in no mailbox yet. Without a key of the sender's it has its id as one, which nobody sends again.
pub(super) fn draft(
    (at, id): (Timestamp, AgentMessageId),
    (sender, receiver): (Sender, AgentName),
    content: MessageContent,
    taint: Taint,
) -> AgentMessage {
    AgentMessage {
        id,
        sender,
        receiver,
        seq: 0,
        key: MessageKey::of_id(id),
        content,
        taint,
        sent_at: at,
        expires_at: at.plus(EXPIRES_AFTER),
        state: AgentMessageState::Waiting,
    }
}

/// Puts a message into its mailbox, unless it is there: the message, its number, its entry of the record, and that its
/// receiver wakes. What the sender had read marks whoever reads the message, not whoever learns that there is one.
pub(super) async fn put(
    tx: &mut Tx,
    context: &AuditContext,
    message: AgentMessage,
    rank: SenderRank,
) -> Result<Sent, SendError> {
    if let Some(known) = table::find_by_key(tx, &message.sender, &message.key).await? {
        return match known.is_same(&message.receiver, &message.content) {
            true => Ok(Sent {
                message: known,
                is_repeat: true,
            }),
            false => Err(SendError::KeyUsed),
        };
    }
    let receiver = agents::find_named(tx, &message.receiver).await?;
    if receiver.is_some_and(|receiver| !receiver.is_live()) {
        return Err(SendError::ReceiverGone(message.receiver));
    }
    take_share(tx, &message).await?;
    let load = table::load(tx, &message.receiver, &message.sender).await?;
    load.judge(rank)?;
    let message = AgentMessage {
        seq: table::next_seq(tx, &message.receiver).await?,
        ..message
    };
    table::insert(tx, &message).await?;
    record_sent(tx, context, &message).await?;
    let mail = TurnCause::Mail {
        from: (&message.sender).into(),
        message: message.id.into(),
    };
    let woken = WakeCause::of(mail);
    agent_turns::note(tx, message.sent_at, &message.receiver, woken).await?;
    let far_back = message.seq.saturating_sub(ENDED_KEPT_PER_MAILBOX);
    if far_back > 0 {
        table::forget_up_to(tx, &message.receiver, far_back, FORGOTTEN_AT_ONCE).await?;
    }
    Ok(Sent {
        message,
        is_repeat: false,
    })
}

/// One of the sender's sends of a minute, to everybody together.
async fn take_share(tx: &mut Tx, message: &AgentMessage) -> Result<(), SendError> {
    let kind = message.content.kind();
    let per_minute = match message.content {
        MessageContent::Text(_) => SENDS_PER_MINUTE,
        MessageContent::Wake(_) => WAKES_PER_MINUTE,
    };
    let spent = table::spent_until(tx, &message.sender, kind).await?;
    let spent = spent.unwrap_or(message.sent_at);
    let spent = take_send(spent, message.sent_at, per_minute)?;
    table::set_spent_until(tx, &message.sender, kind, spent).await?;
    Ok(())
}
