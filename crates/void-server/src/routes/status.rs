//! `/api/status`: one flat look, for a person or a dashboard tile.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use void_control::nodes::{self, NodeView};
use void_control::{audit, freezes, health, inbox, proposals};
use void_domain::nodes::Membership;
use void_domain::proposals::Status;
use void_domain::services::Health;

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::Caller;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StatusResponse {
    pub version: &'static str,
    /// Everything behind this is a simulated lab.
    pub rehearsal: bool,
    pub waiting: u64,
    pub running: u64,
    /// Outcomes that nobody knows.
    pub unknown: u64,
    /// Proposals that wait and that nobody could be told about.
    pub untold: u64,
    pub frozen: bool,
    pub services_up: usize,
    pub services_down: usize,
    /// Nothing is known of them now.
    pub services_unknown: usize,
    /// Nodes that have joined, and those of them that poll now.
    pub nodes: usize,
    pub nodes_here: usize,
    pub actions: usize,
    pub catalogue_digest: String,
    pub catalogue_commit: Option<String>,
    pub audit_seq: u64,
    pub audit_head: String,
    pub at: String,
}

pub(crate) async fn show(
    State(app): State<App>,
    Caller(_): Caller,
) -> Result<Json<StatusResponse>, ApiError> {
    let control = app.control();
    let inbox = inbox::look(control, None, 1).await?;
    let running = proposals::count_in(control, Status::Running).await?;
    let now = control.clock().now();
    let services = health::list(control);
    let count = |wanted| {
        services
            .iter()
            .filter(|view| view.standing.health == wanted)
            .count()
    };
    let nodes = nodes::list(control).await?;
    let joined = |view: &&NodeView| matches!(view.node.membership, Membership::Joined { .. });
    let nodes_here = nodes.iter().filter(joined).filter(|view| view.here).count();
    let (audit_seq, head) = audit::head(control).await?;
    Ok(Json(StatusResponse {
        version: env!("CARGO_PKG_VERSION"),
        rehearsal: control.is_rehearsal(),
        waiting: inbox.waiting_count,
        running,
        unknown: inbox.unknown_count,
        untold: inbox.untold_count,
        frozen: freezes::current(control).await?.holds_at(now),
        nodes: nodes.iter().filter(joined).count(),
        nodes_here,
        services_up: count(Health::Up),
        services_down: count(Health::Down),
        services_unknown: count(Health::Unknown),
        actions: control.catalogue().actions().len(),
        catalogue_digest: control.catalogue().digest().to_string(),
        catalogue_commit: control.catalogue_commit().map(str::to_owned),
        audit_seq,
        audit_head: head.to_string(),
        at: now.to_string(),
    }))
}
