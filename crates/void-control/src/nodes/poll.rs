//! A node asks for work. It waits here until there is some, and says with every question who it is, what it holds
//! and what its list is. A poll with nothing new about the node reads and writes nothing.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use void_channels::{Arrival, Command, Connection, Poll, Superseded};
use void_domain::actors::Actor;
use void_domain::digests::Digest;
use void_domain::fail_point;
use void_domain::ids::TokenId;
use void_domain::nodes::{Membership, Node, NodeName, Presence};
use void_domain::text;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, nodes, tokens};

use super::record;
use crate::callers::{self, Credential};
use crate::context::Ctx;
use crate::control::Control;
use crate::facts::AuditContext;
use crate::parts::row_budgets::TooManyRows;
use crate::row_budgets;

pub const WAIT_MAX: Duration = Duration::from_secs(30);
const VERSION_BYTES_MAX: usize = 64;
const NONCE_BYTES_MAX: usize = 64;
const HOLDING_MAX: usize = 256;

#[derive(Debug, thiserror::Error)]
pub enum PollError {
    #[error("this is for nodes")]
    NotANode,
    #[error("{0}")]
    Invalid(&'static str),
    #[error(
        "a later program of this node has been here; this one is out of date, or its secret is on two machines"
    )]
    Superseded,
    #[error("this node was removed")]
    Removed,
    #[error("the server is stopping")]
    Stopping,
    #[error(transparent)]
    TooManyRows(#[from] TooManyRows),
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub struct PollRequest {
    pub session: Connection,
    pub version: String,
    /// The answer of the node's `void-act` to `void-list`.
    pub list: Option<Value>,
    pub holding: Vec<String>,
    pub wait: Duration,
}

#[derive(Debug)]
pub struct PollAnswer {
    /// By which the node judges whether a ticket has expired.
    pub now: Timestamp,
    pub commands: Vec<Command>,
}

pub async fn poll(
    control: &Control,
    ctx: &Ctx,
    request: PollRequest,
) -> Result<PollAnswer, PollError> {
    let Actor::Node { id, name } = &ctx.actor else {
        return Err(PollError::NotANode);
    };
    let name = NodeName::parse(name).ok_or(PollError::NotANode)?;
    check(&request)?;
    let until = Instant::now() + request.wait.min(WAIT_MAX);
    introduce(control, ctx, *id, &name, &request).await?;
    let arrival = Arrival {
        session: request.session,
        list: request.list,
        holding: request.holding,
    };
    let poll = control.runs.channels.nodes().arrive(name.as_str(), arrival);
    let poll = poll.map_err(|Superseded| PollError::Superseded)?;
    let commands = wait(control, poll, *id, until).await?;
    Ok(PollAnswer {
        now: control.clock.now(),
        commands,
    })
}

fn check(request: &PollRequest) -> Result<(), PollError> {
    let nonce = &request.session.nonce;
    if nonce.is_empty() || nonce.len() > NONCE_BYTES_MAX {
        return Err(PollError::Invalid("session.nonce is 1 to 64 characters"));
    }
    if i64::try_from(request.session.generation).is_err() {
        return Err(PollError::Invalid("session.generation is too large"));
    }
    if request.holding.len() > HOLDING_MAX {
        return Err(PollError::Invalid("holding names at most 256 commands"));
    }
    Ok(())
}

async fn wait(
    control: &Control,
    mut poll: Poll,
    id: TokenId,
    until: Instant,
) -> Result<Vec<Command>, PollError> {
    let (mut stopping, mut revoked) = (
        control.process.stopping.subscribe(),
        control.listeners.hub.revocations(),
    );
    loop {
        fail_point!("node.hand_over.before");
        let commands = poll.take(control.freeze.switch.is_pulled());
        if !commands.is_empty() {
            fail_point!("node.hand_over.after");
            return Ok(commands);
        }
        if poll.is_over() {
            return Ok(commands);
        }
        let woken = tokio::select! {
            () = poll.changed() => Woken::Mailbox,
            () = tokio::time::sleep_until(until) => Woken::Late,
            _ = stopping.wait_for(|stop| *stop) => Woken::Stop,
            _ = revoked.changed() => Woken::Revocation,
        };
        match woken {
            Woken::Mailbox => {}
            Woken::Late => return Ok(commands),
            Woken::Stop => return Err(PollError::Stopping),
            Woken::Revocation => {
                if !callers::is_still_valid(control, Credential::Token(id)).await? {
                    return Err(PollError::Removed);
                }
            }
        }
    }
}

enum Woken {
    Mailbox,
    Late,
    Stop,
    Revocation,
}

/// Stores what is new about a node, and turns away programs that a later one has replaced.
async fn introduce(
    control: &Control,
    ctx: &Ctx,
    id: TokenId,
    name: &NodeName,
    request: &PollRequest,
) -> Result<(), PollError> {
    let told = Presence {
        version: Some(text::escaped(text::cut(
            &request.version,
            VERSION_BYTES_MAX,
        ))),
        list: request.list.as_ref().map(ToString::to_string),
        generation: request.session.generation,
        nonce: Some(request.session.nonce.clone()),
        seen_at: None,
        twin_at: None,
    };
    if control.runs.nodes.get(name.as_str()).as_ref() == Some(&told) {
        return Ok(());
    }
    row_budgets::take(control, ctx)?;
    let (at, context, job_name, job_told) = (
        control.clock.now(),
        control.context(ctx),
        name.clone(),
        told.clone(),
    );
    let met = control
        .store
        .write(move |tx| Box::pin(meet(tx, context, at, id, job_name, job_told)))
        .await?;
    if let Meeting::Twin = met {
        return Err(PollError::Superseded);
    }
    control.runs.nodes.set(name.as_str(), Some(told));
    Ok(())
}

enum Meeting {
    Known,
    Twin,
}

async fn meet(
    tx: &mut Tx,
    context: AuditContext,
    at: Timestamp,
    id: TokenId,
    name: NodeName,
    told: Presence,
) -> Result<Meeting, StoreError> {
    let mut node = match nodes::find(tx, &name).await? {
        Some(node) if matches!(&node.membership, Membership::Joined { token_id, .. } if *token_id == id) => {
            node
        }
        // The owner made this token by hand; that is an approval too.
        _ => by_hand(tx, id, &name, at).await?,
    };
    let stored = &node.presence;
    let stale = told.generation < stored.generation
        || (told.generation == stored.generation
            && stored.nonce.is_some()
            && told.nonce != stored.nonce);
    if stale {
        node.presence.twin_at = Some(at);
        nodes::save(tx, &node).await?;
        let detail = json!({"generation": told.generation, "present": node.presence.generation});
        record(tx, &context, at, "node.twin_refused", name.as_str(), detail).await?;
        return Ok(Meeting::Twin);
    }
    let detail = json!({
        "version": told.version,
        "list": told.list.as_deref().map(|list| Digest::of(list.as_bytes())),
        "generation": told.generation,
    });
    node.presence = Presence {
        seen_at: Some(at),
        twin_at: node.presence.twin_at,
        ..told
    };
    nodes::save(tx, &node).await?;
    record(tx, &context, at, "node.changed", name.as_str(), detail).await?;
    Ok(Meeting::Known)
}

async fn by_hand(
    tx: &mut Tx,
    id: TokenId,
    name: &NodeName,
    at: Timestamp,
) -> Result<Node, StoreError> {
    let token = tokens::find(tx, id).await?;
    let token = token.ok_or_else(|| StoreError::Internal("a token is gone".to_owned()))?;
    Ok(Node {
        name: name.clone(),
        membership: Membership::Joined {
            invite: None,
            token_id: id,
            fingerprint: token.hash,
            at,
            by: "token".to_owned(),
        },
        presence: Presence::default(),
    })
}
