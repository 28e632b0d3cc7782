//! Mailboxes of agents: sending, receiving, waking oneself, and what becomes of what reaches nobody.
//!
//! Who may write to whom says the tree in force, when a message is sent and again when it is read. The sender is whoever
//! acts, and never an argument. A message carries what its sender had read, and whoever receives it has read that too. A send
//! is answered after its commit; what is handed out is written down as handed out before.

mod dead_letters;
mod mailboxes;
mod receive;
mod send;
mod wake;

use serde_json::{Value, json};
use void_domain::actors::Actor;
use void_domain::agent_messages::{AgentMessage, AgentMessageState, Sender};
use void_domain::agents::AgentName;
use void_domain::digests::Digest;
use void_domain::events::Audience;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, agent_messages as table};

use crate::context::Ctx;
use crate::facts::{self, AuditContext};

pub(crate) use self::dead_letters::{after_move, sweep};
pub use self::mailboxes::{Mailbox, MailboxError, MailboxQuery, list};
pub use self::receive::{ReceiveError, ReceiveRequest, Received, receive};
pub use self::send::{SendError, SendRequest, Sent, send};
pub use self::wake::{WakeError, wake};
pub use void_store::agent_messages::{MailboxCounts, MailboxFilter};

/// The agent that acts from within; a token from outside stands nowhere in the tree.
fn inside(ctx: &Ctx) -> Option<&AgentName> {
    match &ctx.actor {
        Actor::Agent { name, .. } if !ctx.is_from_outside => Some(name),
        Actor::Owner { .. }
        | Actor::Agent { .. }
        | Actor::Viewer { .. }
        | Actor::Node { .. }
        | Actor::System => None,
    }
}

/// On the record, and told to the owner alone: who writes to whom is nobody else's. The text is in the row, for as long as rows
/// are kept; the record has its digest.
async fn record_sent(
    tx: &mut Tx,
    context: &AuditContext,
    message: &AgentMessage,
) -> Result<(), StoreError> {
    let content = message.content.as_str();
    let detail = json!({
        "from": message.sender.name(),
        "to": message.receiver,
        "kind": message.content.kind(),
        "bytes": content.len(),
        "sha256": Digest::of(content.as_bytes()),
        "taint": message.taint,
    });
    let fact = ("message.sent", Some(message.id.to_string()), detail);
    facts::tell_of(tx, context, message.sent_at, Audience::OwnerOnly, fact).await
}

/// Writes down that a message reaches nobody. `false`: it was read or ended meanwhile.
async fn bury(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    dead: &AgentMessage,
    deliveries_before: u32,
) -> Result<bool, StoreError> {
    if !table::save_state(tx, dead, deliveries_before).await? {
        return Ok(false);
    }
    let subject = Some(dead.id.to_string());
    facts::audit(
        tx,
        context,
        at,
        "message.undeliverable",
        subject,
        dead_detail(dead),
    )
    .await?;
    Ok(true)
}

fn dead_detail(dead: &AgentMessage) -> Value {
    let why = match dead.state {
        AgentMessageState::Dead { why, .. } => Some(why.as_str()),
        AgentMessageState::Waiting
        | AgentMessageState::Delivered { .. }
        | AgentMessageState::Acknowledged { .. } => None,
    };
    json!({
        "from": dead.sender.name(),
        "to": dead.receiver,
        "kind": dead.content.kind(),
        "why": why,
        "deliveries": dead.state.deliveries(),
    })
}

/// Whoever puts something into a mailbox, as it is stored.
fn sender_of(ctx: &Ctx) -> Option<Sender> {
    match &ctx.actor {
        Actor::Owner { .. } => Some(Sender::Owner),
        Actor::Agent { .. } => inside(ctx).cloned().map(Sender::Agent),
        Actor::Viewer { .. } | Actor::Node { .. } | Actor::System => None,
    }
}
