//! The machines that dial out: here or away, versions, lists, secrets on two machines.

use void_api::nodes::{NodeResponse, NodesResponse};

use super::findings::Findings;
use crate::client::Client;
use crate::commands::Session;
use crate::commands::node::worries;

pub(super) async fn check(session: &Session<'_>, client: &Client, findings: &mut Findings) {
    // Whether the owner may ask was said where the hosts were asked.
    let Ok(NodesResponse { nodes }) = client.get_as("/api/nodes").await else {
        return;
    };
    for node in &nodes {
        match node.state.as_ref() {
            "waiting" => {
                let message = format!("{} asks to join", node.name);
                findings.warn("node", message, "void node ls, and compare its fingerprint");
            }
            "joined" => joined(session, node, findings),
            _ => {}
        }
    }
}

fn joined(session: &Session<'_>, node: &NodeResponse, findings: &mut Findings) {
    let name = &node.name;
    let worries = worries(node, &session.output.times);
    if worries.is_empty() {
        findings.fine("node", format!("{name}: here, its list fits"));
        return;
    }
    let next = match node.drift {
        None => "systemctl status void-node, on that machine".to_owned(),
        Some(_) => format!("void provision node {name}"),
    };
    findings.warn("node", format!("{name}: {}", worries.join("; ")), next);
}
