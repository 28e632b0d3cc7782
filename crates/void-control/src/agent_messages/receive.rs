//! Receiving: what was read before is acknowledged by its ids, and the oldest of what is open is handed out, written down as
//! handed out before anybody sees it. What was handed out and not acknowledged comes again, under the same id.

use std::collections::BTreeMap;
use std::sync::Arc;

use void_domain::agent_messages::{
    ACKNOWLEDGED_AT_ONCE_MAX, AgentMessage, AgentMessageState, DEAD_LETTERS_TOLD_MAX, DeadReason,
    MessageContent, RECEIVED_AT_ONCE_MAX, Sender, TEXT_BYTES_MAX,
};
use void_domain::agents::{Agent, AgentName};
use void_domain::capabilities::Capabilities;
use void_domain::ids::AgentMessageId;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, agent_messages as table, agents};
use void_tree::{Operation, Right};

use super::{bury, inside};
use crate::context::Ctx;
use crate::control::Control;
use crate::facts::AuditContext;
use crate::parts::tree::Tree;
use crate::tree::right_in;

/// What goes with a text: ids, times, the sender's name.
const AROUND_BYTES: usize = 320;
/// What one answer has: the longest text fits, and what goes with the others.
const RECEIVED_BYTES_MAX: usize = TEXT_BYTES_MAX + AROUND_BYTES * 4;

#[derive(Debug, Clone, Default)]
pub struct ReceiveRequest {
    /// Messages that were handed out, and dead letters that were told of.
    pub acknowledge: Vec<AgentMessageId>,
    /// Also what comes from somebody who had read something of a stranger: whoever takes it has read that too.
    pub with_tainted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Received {
    /// The oldest first.
    pub messages: Vec<AgentMessage>,
    /// How many of the ids were there to be acknowledged.
    pub acknowledged: u64,
    /// How many are open beside those that were handed out now.
    pub left: u64,
    /// How many of them are tainted.
    pub tainted_left: u64,
    /// What the receiver itself had sent and nobody gets.
    pub dead_letters: Vec<AgentMessage>,
}

#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    #[error("only an agent that stands in the tree has a mailbox, and reads its own")]
    Nowhere,
    #[error("at most {ACKNOWLEDGED_AT_ONCE_MAX} ids are acknowledged at once")]
    TooMany,
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub async fn receive(
    control: &Control,
    ctx: &Ctx,
    request: ReceiveRequest,
) -> Result<Received, ReceiveError> {
    if request.acknowledge.len() > ACKNOWLEDGED_AT_ONCE_MAX {
        return Err(ReceiveError::TooMany);
    }
    let tree = control.in_force.tree.opened().await;
    let receiver = inside(ctx).ok_or(ReceiveError::Nowhere)?.clone();
    match right_in(&tree, ctx, Operation::Receive, &receiver) {
        Right::Alone => {}
        Right::WithNod | Right::Never => return Err(ReceiveError::Nowhere),
    }
    let (context, at) = (control.context(ctx), control.clock.now());
    let handing = Handing {
        tree,
        context,
        receiver,
        at,
        senders: BTreeMap::new(),
    };
    let received = control
        .store
        .write(move |tx| Box::pin(async move { handing.run(tx, &request).await }))
        .await?;
    Ok(received)
}

struct Handing {
    tree: Arc<Tree>,
    context: AuditContext,
    receiver: AgentName,
    at: Timestamp,
    /// Whether a sender may still write here.
    senders: BTreeMap<AgentName, bool>,
}

impl Handing {
    async fn run(
        mut self,
        tx: &mut Tx,
        request: &ReceiveRequest,
    ) -> Result<Received, ReceiveError> {
        let own = Sender::Agent(self.receiver.clone());
        let mut received = Received::default();
        for id in &request.acknowledge {
            let is_read = table::acknowledge(tx, &self.receiver, *id, self.at).await?
                || table::notice(tx, &own, *id, self.at).await?;
            received.acknowledged += u64::from(is_read);
        }
        received.messages = self.hand_out(tx, request.with_tainted).await?;
        let (open, tainted) = table::count_open(tx, &self.receiver).await?;
        let handed = received.messages.len();
        let handed_tainted = received
            .messages
            .iter()
            .filter(|message| !message.taint.is_clean())
            .count();
        received.left = open.saturating_sub(u64::try_from(handed).unwrap_or(u64::MAX));
        received.tainted_left =
            tainted.saturating_sub(u64::try_from(handed_tainted).unwrap_or(u64::MAX));
        received.dead_letters = table::list_unnoticed(tx, &own, DEAD_LETTERS_TOLD_MAX).await?;
        Ok(received)
    }

    /// The oldest that fit into one answer. What reaches nobody any more is a dead letter now.
    async fn hand_out(
        &mut self,
        tx: &mut Tx,
        with_tainted: bool,
    ) -> Result<Vec<AgentMessage>, ReceiveError> {
        let (mut handed, mut bytes, mut after) = (Vec::new(), 0, 0);
        loop {
            let page = table::list_open(
                tx,
                &self.receiver,
                with_tainted,
                after,
                RECEIVED_AT_ONCE_MAX,
            );
            let page = page.await?;
            let Some(last) = page.last() else {
                return Ok(handed);
            };
            after = last.seq;
            for message in page {
                let room = RECEIVED_AT_ONCE_MAX as usize > handed.len();
                let weight = weight(&message);
                if !room || (!handed.is_empty() && bytes + weight > RECEIVED_BYTES_MAX) {
                    return Ok(handed);
                }
                if let Some(message) = self.hand_over(tx, message).await? {
                    bytes += weight;
                    handed.push(message);
                }
            }
        }
    }

    /// `None`: it is a dead letter, or is held back as long as something is wrong with the tree.
    async fn hand_over(
        &mut self,
        tx: &mut Tx,
        message: AgentMessage,
    ) -> Result<Option<AgentMessage>, ReceiveError> {
        let before = message.state.deliveries();
        let is_in_reach = self.is_in_reach(tx, &message.sender).await?;
        if !is_in_reach && self.tree.is_broken {
            return Ok(None);
        }
        let moved = match is_in_reach {
            true => message.deliver(self.at),
            false => message.bury(self.at, DeadReason::OutOfReach),
        };
        // What is open can be moved.
        let Ok(moved) = moved else { return Ok(None) };
        match moved.state {
            AgentMessageState::Delivered { .. } => {
                let is_saved = table::save_state(tx, &moved, before).await?;
                Ok(is_saved.then_some(moved))
            }
            AgentMessageState::Dead { .. }
            | AgentMessageState::Waiting
            | AgentMessageState::Acknowledged { .. } => {
                bury(tx, &self.context, self.at, &moved, before).await?;
                Ok(None)
            }
        }
    }

    /// Whether the sender may write here by the tree of now. Whoever was withdrawn may do nothing.
    async fn is_in_reach(&mut self, tx: &mut Tx, sender: &Sender) -> Result<bool, StoreError> {
        let Sender::Agent(name) = sender else {
            return Ok(true);
        };
        if let Some(known) = self.senders.get(name) {
            return Ok(*known);
        }
        // Whoever has not acted as an agent yet (the root) was not withdrawn either.
        let agent = agents::find_named(tx, name).await?;
        let is_live = agent.as_ref().is_none_or(Agent::is_live);
        let capabilities = agent.map_or_else(Capabilities::none, |agent| agent.capabilities);
        let from = (name, &capabilities);
        let right = self
            .tree
            .right_between(from, Operation::Send, &self.receiver);
        let may = is_live && right == Right::Alone;
        self.senders.insert(name.clone(), may);
        Ok(may)
    }
}

/// What it takes in an answer, in bytes.
fn weight(message: &AgentMessage) -> usize {
    let content = match &message.content {
        MessageContent::Text(text) => text.written_bytes(),
        MessageContent::Wake(cause) => cause.as_str().len(),
    };
    content + AROUND_BYTES
}
