//! `/api/lab`: nodes and guests, as Proxmox shows them to Void's token.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use void_control::lab::{self, Failure, LabGuest, LabNode};

use crate::app::App;
use crate::requests::Caller;

/// Several pages that show the lab cost Proxmox one question.
const AGE_MAX: Duration = Duration::from_secs(2);

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LabResponse {
    /// Whether Proxmox is set up at all.
    pub connected: bool,
    pub nodes: Vec<NodeResponse>,
    pub read_at: Option<String>,
    /// Why there is nothing to show, or less than there is.
    pub problem: Option<LabProblem>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LabProblem {
    pub code: String,
    pub message: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Node")]
pub(crate) struct NodeResponse {
    pub name: String,
    /// online, offline or unknown.
    pub status: &'static str,
    pub uptime_s: u64,
    pub guests: Vec<GuestResponse>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Guest")]
pub(crate) struct GuestResponse {
    pub vmid: u32,
    /// `lxc` or `qemu`.
    pub kind: &'static str,
    pub name: String,
    /// running, stopped, other or unknown.
    pub status: &'static str,
    pub uptime_s: u64,
    /// What holds it, such as a backup.
    pub lock: Option<String>,
}

pub(crate) async fn show(State(app): State<App>, Caller(_): Caller) -> Json<LabResponse> {
    if !lab::is_connected(app.control()) {
        return Json(LabResponse {
            connected: false,
            nodes: Vec::new(),
            read_at: None,
            problem: None,
        });
    }
    let sight = lab::look(app.control(), AGE_MAX).await;
    let (nodes, problem) = match &sight.lab {
        Ok(lab) => (
            lab.nodes.iter().map(NodeResponse::new).collect(),
            lab.hidden.as_ref().map(LabProblem::new),
        ),
        Err(failure) => (Vec::new(), Some(LabProblem::new(failure))),
    };
    Json(LabResponse {
        connected: true,
        nodes,
        read_at: Some(sight.read_at.to_string()),
        problem,
    })
}

impl LabProblem {
    fn new(failure: &Failure) -> Self {
        Self {
            code: failure.code.clone(),
            message: failure.message.clone(),
        }
    }
}

impl NodeResponse {
    fn new(node: &LabNode) -> Self {
        Self {
            name: node.name.clone(),
            status: node.status.as_str(),
            uptime_s: node.uptime_s,
            guests: node.guests.iter().map(GuestResponse::new).collect(),
        }
    }
}

impl GuestResponse {
    fn new(guest: &LabGuest) -> Self {
        Self {
            vmid: guest.state.vmid,
            kind: guest.kind.as_str(),
            name: guest.state.name.clone(),
            status: guest.state.status.as_str(),
            uptime_s: guest.state.uptime_s,
            lock: guest.state.lock.clone(),
        }
    }
}
