//! The machines that dial out: here or away, versions, lists, secrets on two machines.

use serde_json::Value;

use super::findings::Findings;
use crate::client::Client;
use crate::commands::Session;
use crate::commands::node::worries;
use crate::commands::rows::{given, word};

pub(super) async fn check(session: &Session<'_>, client: &Client, findings: &mut Findings) {
    // Whether the owner may ask was said where the hosts were asked.
    let Ok(answer) = client.get("/api/nodes").await else {
        return;
    };
    let nodes = answer.get("nodes").and_then(Value::as_array);
    for node in nodes.into_iter().flatten() {
        let name = word(node, "name");
        match word(node, "state") {
            "waiting" => {
                let message = format!("{name} asks to join");
                findings.warn("node", message, "void node ls, and compare its fingerprint");
            }
            "joined" => joined(session, name, node, findings),
            _ => {}
        }
    }
}

fn joined(session: &Session<'_>, name: &str, node: &Value, findings: &mut Findings) {
    let worries = worries(node, &session.output.times);
    if worries.is_empty() {
        findings.fine("node", format!("{name}: here, its list fits"));
        return;
    }
    let next = match given(node, "drift") {
        None => "systemctl status void-node, on that machine".to_owned(),
        Some(_) => format!("void provision node {name}"),
    };
    findings.warn("node", format!("{name}: {}", worries.join("; ")), next);
}
