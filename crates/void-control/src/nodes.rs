//! Nodes as use cases: invite, join, approve, remove for their membership; poll and report for their work.

mod approve;
mod invite;
mod join;
mod list;
mod poll;
mod relay;
mod remove;
mod report;

use serde_json::Value;
use void_domain::events::Audience;
use void_domain::nodes::{Node, NodeName};
use void_domain::time::Timestamp;
use void_domain::told::Payload;
use void_store::events::StoredEvent;
use void_store::{StoreError, Tx, nodes};

use crate::control::Control;
use crate::facts::{self, AuditContext};

pub use approve::{ApproveError, approve};
pub use invite::{INVITE_LASTS, InviteError, Invited, invite};
pub use join::{JoinError, JoinRequest, join};
pub use list::{NodeView, list, view};
pub use poll::{PollAnswer, PollError, PollRequest, WAIT_MAX, poll};
pub use remove::{RemoveError, remove};
pub use report::{Report, progress, report};
pub use void_channels::{Command, Connection};

pub(crate) use list::{NOTE_SEEN_EVERY, note_seen};
pub(crate) use relay::start as start_relay;

/// Nodes in one list; more than this is a different kind of installation.
pub(crate) const NODES_MAX: u32 = 2_000;

/// What was known of the nodes before this process began.
pub(crate) async fn remember(control: &Control) -> Result<(), StoreError> {
    let known = control
        .store
        .read(|tx| Box::pin(nodes::list(tx, NODES_MAX)))
        .await?;
    for node in known {
        remember_list(control, &node);
    }
    if !control.store.is_sqlite() {
        control.runs.channels.nodes().share();
    }
    Ok(())
}

fn remember_list(control: &Control, node: &Node) {
    let list = node.presence.list.as_deref();
    let list = list.and_then(|list| serde_json::from_str(list).ok());
    control
        .runs
        .channels
        .nodes()
        .remember(node.name.as_str(), list);
}

/// A node changed, perhaps at another instance.
pub(crate) async fn apply_change(control: &Control, event: &StoredEvent) -> Result<(), StoreError> {
    let Payload::Node(changed) = &event.payload else {
        return Ok(());
    };
    let Some(name) = NodeName::parse(&changed.name) else {
        return Ok(());
    };
    let wanted = name.clone();
    let found = control
        .store
        .read(move |tx| Box::pin(async move { nodes::find(tx, &wanted).await }))
        .await?;
    let generation = found.as_ref().map(|node| node.presence.generation);
    let stored = control.runs.nodes.get(name.as_str());
    if generation != stored.map(|stored| stored.generation) {
        control.runs.nodes.set(name.as_str(), None);
    }
    match found {
        None => control.runs.channels.nodes().forget(name.as_str()),
        Some(node) if control.runs.channels.nodes().seen(name.as_str()).1 => drop(node),
        Some(node) => remember_list(control, &node),
    }
    Ok(())
}

/// A node changed: on the record, and to people who listen.
async fn record(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    verb: &'static str,
    name: &str,
    detail: Value,
) -> Result<(), StoreError> {
    let fact = (verb, Some(format!("node:{name}")), detail);
    facts::tell_of(tx, context, at, Audience::People, fact).await
}
