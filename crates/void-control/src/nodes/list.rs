//! All nodes with what the owner wants to know: here or away, since when, which version, whether the list fits.

use std::time::Duration;

use void_domain::nodes::{Node, Skew};
use void_domain::time::Timestamp;
use void_store::{StoreError, nodes};

use super::NODES_MAX;
use crate::control::Control;

/// How often it is noted when nodes were seen; what is newer is known in memory.
pub(crate) const NOTE_SEEN_EVERY: Duration = Duration::from_secs(5 * 60);

#[derive(Debug, Clone)]
pub struct NodeView {
    pub node: Node,
    /// Whether it polls at this instance now.
    pub here: bool,
    pub seen_at: Option<Timestamp>,
    pub skew: Option<Skew>,
    /// The first difference between its list and the catalogue.
    pub drift: Option<String>,
    pub actions: usize,
}

pub async fn list(control: &Control) -> Result<Vec<NodeView>, StoreError> {
    let nodes = control
        .store
        .read(|tx| Box::pin(nodes::list(tx, NODES_MAX)))
        .await?;
    Ok(nodes.into_iter().map(|node| view(control, node)).collect())
}

/// How a node that the tables name is reached at this moment.
pub fn view(control: &Control, node: Node) -> NodeView {
    let name = node.name.as_str();
    let (ago, here) = control.runs.channels.nodes().seen(name);
    let seen_here = ago.map(|ago| control.clock.now().minus(ago));
    let version = node.presence.version.as_deref();
    NodeView {
        here,
        seen_at: seen_here.max(node.presence.seen_at),
        skew: version.map(|version| Skew::of(env!("CARGO_PKG_VERSION"), version)),
        drift: control.runs.channels.probe().node_drift(name),
        actions: control.runs.channels.expected_on_node(name).len(),
        node,
    }
}

/// Notes when the nodes that poll here were seen, in one go.
pub(crate) async fn note_seen(control: &Control) -> Result<(), StoreError> {
    let here = control.runs.channels.nodes().here();
    if here.is_empty() {
        return Ok(());
    }
    let at = control.clock.now();
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                for name in here {
                    nodes::saw(tx, &name, at).await?;
                }
                Ok(())
            })
        })
        .await
}
