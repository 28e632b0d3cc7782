//! `/api/lab`: nodes and guests, as Proxmox shows them to Void's token.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use void_api::lab::{GuestResponse, LabNodeResponse, LabProblem, LabResponse, LoadResponse};
use void_control::lab::{self, Failure, GuestStatus, LabGuest, LabNode, Load};
use void_control::{Control, stops};
use void_domain::proposals::Sight;

use crate::app::App;
use crate::requests::Caller;
use crate::routes::services::by_owner;
use crate::table::{Access, Route, json};

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

fn load_response(load: &Load) -> LoadResponse {
    LoadResponse {
        cpu_permille: load.cpu_permille,
        cpus: load.cpus,
        memory_bytes: load.memory_bytes,
        memory_bytes_max: load.memory_bytes_max,
        disk_bytes: load.disk_bytes,
        disk_bytes_max: load.disk_bytes_max,
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
                .map(|node| lab_node_response(app.control(), node))
                .collect(),
            lab.hidden.as_ref().map(|why| lab_problem(why, reader)),
        ),
        Err(failure) => (Vec::new(), Some(lab_problem(failure, reader))),
    };
    Json(LabResponse {
        connected: true,
        nodes,
        read_at: Some(sight.read_at.to_string()),
        problem,
    })
}

/// The sentence may repeat what Proxmox said.
fn lab_problem(failure: &Failure, reader: Sight) -> LabProblem {
    let message = if reader.is_whole() {
        failure.message.clone()
    } else {
        "the lab cannot be read in full; the owner sees why".to_owned()
    };
    LabProblem {
        code: failure.code.to_string(),
        message,
    }
}

fn lab_node_response(control: &Control, node: &LabNode) -> LabNodeResponse {
    let guests = node.guests.iter();
    LabNodeResponse {
        name: node.name.clone(),
        status: node.status.as_str().into(),
        uptime_s: node.uptime_s,
        load: load_response(&node.load),
        guests: guests
            .map(|guest| guest_response(control, node, guest))
            .collect(),
    }
}

fn guest_response(control: &Control, node: &LabNode, guest: &LabGuest) -> GuestResponse {
    let stopped = stops::of_guest(control, &node.name, guest.state.vmid)
        .filter(|_| guest.state.status == GuestStatus::Stopped);
    GuestResponse {
        vmid: guest.state.vmid,
        kind: guest.kind.as_str().into(),
        name: guest.state.name.clone(),
        status: guest.state.status.as_str().into(),
        uptime_s: guest.state.uptime_s,
        lock: guest.state.lock.clone(),
        load: load_response(&guest.load),
        stopped: stopped.map(by_owner),
    }
}
