//! `/api/lab`: nodes and guests, as Proxmox shows them to Void's token.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use schemars::JsonSchema;
use serde::Serialize;
use void_control::lab::{self, Failure, GuestStatus, LabGuest, LabNode, Load};
use void_control::{Control, stops};
use void_domain::proposals::Sight;

use super::services::StoppedResponse;
use crate::access::Access;
use crate::app::App;
use crate::requests::Caller;
use crate::table::{Route, json};

pub(super) const ROUTES: &[Route] = &[Route {
    method: "GET",
    path: "/api/lab",
    access: Access::Read,
    operation: "getLab",
    summary: "Nodes and guests, as Proxmox shows them to Void's token",
    query: &[],
    request: None,
    response: json::<LabResponse>(),
    handler: || get(show),
}];

/// Several pages that show the lab cost Proxmox one question.
const AGE_MAX: Duration = Duration::from_secs(2);

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LabResponse {
    /// Whether Proxmox is set up at all.
    pub connected: bool,
    pub nodes: Vec<LabNodeResponse>,
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
pub(crate) struct LabNodeResponse {
    pub name: String,
    /// online, offline or unknown.
    pub status: &'static str,
    pub uptime_s: u64,
    pub load: LoadResponse,
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
    pub load: LoadResponse,
    /// Set while it is stopped because the owner stopped it, for a day at most.
    pub stopped: Option<StoppedResponse>,
}

/// How busy and how full it is; null where Proxmox does not say.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Load")]
pub(crate) struct LoadResponse {
    /// Thousandths of all its processors together.
    pub cpu_permille: Option<u64>,
    pub cpus: Option<u64>,
    pub memory_bytes: Option<u64>,
    pub memory_bytes_max: Option<u64>,
    /// Of a machine with a disk of its own Proxmox does not know how full it is.
    pub disk_bytes: Option<u64>,
    pub disk_bytes_max: Option<u64>,
}

impl LoadResponse {
    fn new(load: &Load) -> Self {
        Self {
            cpu_permille: load.cpu_permille,
            cpus: load.cpus,
            memory_bytes: load.memory_bytes,
            memory_bytes_max: load.memory_bytes_max,
            disk_bytes: load.disk_bytes,
            disk_bytes_max: load.disk_bytes_max,
        }
    }
}

pub(crate) async fn show(State(app): State<App>, Caller(ctx): Caller) -> Json<LabResponse> {
    if !lab::is_connected(app.control()) {
        return Json(LabResponse {
            connected: false,
            nodes: Vec::new(),
            read_at: None,
            problem: None,
        });
    }
    let sight = lab::look(app.control(), AGE_MAX).await;
    let reader = Sight::of(&ctx.actor);
    let (nodes, problem) = match &sight.lab {
        Ok(lab) => (
            (lab.nodes.iter())
                .map(|node| LabNodeResponse::new(app.control(), node))
                .collect(),
            lab.hidden.as_ref().map(|why| LabProblem::new(why, reader)),
        ),
        Err(failure) => (Vec::new(), Some(LabProblem::new(failure, reader))),
    };
    Json(LabResponse {
        connected: true,
        nodes,
        read_at: Some(sight.read_at.to_string()),
        problem,
    })
}

impl LabProblem {
    /// The sentence may repeat what Proxmox said.
    fn new(failure: &Failure, reader: Sight) -> Self {
        let message = if reader.is_whole() {
            failure.message.clone()
        } else {
            "the lab cannot be read in full; the owner sees why".to_owned()
        };
        Self {
            code: failure.code.clone(),
            message,
        }
    }
}

impl LabNodeResponse {
    fn new(control: &Control, node: &LabNode) -> Self {
        let guests = node.guests.iter();
        Self {
            name: node.name.clone(),
            status: node.status.as_str(),
            uptime_s: node.uptime_s,
            load: LoadResponse::new(&node.load),
            guests: guests
                .map(|guest| GuestResponse::new(control, node, guest))
                .collect(),
        }
    }
}

impl GuestResponse {
    fn new(control: &Control, node: &LabNode, guest: &LabGuest) -> Self {
        let stopped = stops::of_guest(control, &node.name, guest.state.vmid)
            .filter(|_| guest.state.status == GuestStatus::Stopped);
        Self {
            vmid: guest.state.vmid,
            kind: guest.kind.as_str(),
            name: guest.state.name.clone(),
            status: guest.state.status.as_str(),
            uptime_s: guest.state.uptime_s,
            lock: guest.state.lock.clone(),
            load: LoadResponse::new(&guest.load),
            stopped: stopped.map(StoppedResponse::by_owner),
        }
    }
}
