//! `/api/status`: one flat look, for a person or a dashboard tile.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use schemars::JsonSchema;
use serde::Serialize;
use void_control::nodes::{self, NodeView};
use void_control::retention::{self, Sizes};
use void_control::{
    audit, freezes, health, inbox, instances, mutes, notifications, proposals, quarantine,
};
use void_domain::freezes::Freeze;
use void_domain::nodes::Membership;
use void_domain::proposals::Status;
use void_domain::retention::Kept;
use void_domain::services::Health;

use crate::access::Access;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::Caller;
use crate::table::{Route, json};

pub(super) const ROUTES: &[Route] = &[Route {
    method: "GET",
    path: "/api/status",
    access: Access::Read,
    operation: "getStatus",
    summary: "A flat summary, for a person or a dashboard tile",
    query: &[],
    request: None,
    response: json::<StatusResponse>(),
    handler: || get(show),
}];

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StatusResponse {
    pub version: &'static str,
    /// Everything behind this is a simulated lab.
    pub rehearsal: bool,
    pub waiting: u64,
    /// Machines that ask to join and wait for the owner.
    pub joins: usize,
    pub running: u64,
    /// Outcomes that nobody knows.
    pub unknown: u64,
    /// Proposals that wait and that nobody could be told about.
    pub untold: u64,
    pub frozen: bool,
    /// Who froze, why as far as the caller may read it, and when it ends by itself.
    pub frozen_by: Option<String>,
    pub frozen_reason: Option<String>,
    pub frozen_until: Option<String>,
    pub services_up: usize,
    /// Down, and nobody wanted that.
    pub services_down: usize,
    /// Down because the owner stopped what they are on.
    pub services_stopped: usize,
    /// Nothing is known of them now.
    pub services_unknown: usize,
    /// Down, and nobody could be told: no way worked, or there is none.
    pub services_untold: u64,
    /// Places where the owner is told: paired accounts, a topic, webhooks.
    pub channels: u64,
    /// What is not told for a time.
    pub mutes: usize,
    /// Nodes that have joined, and those of them that poll now.
    pub nodes: usize,
    pub nodes_here: usize,
    /// Credentials of an older copy that wait for the owner's confirmation.
    pub quarantined: u64,
    pub actions: usize,
    pub catalogue_digest: String,
    pub catalogue_commit: Option<String>,
    /// What this instance is called, and every instance that works on the database now.
    pub instance: String,
    pub instances: Vec<String>,
    /// Another process works under this instance's id: this one starts and settles nothing.
    pub displaced: bool,
    pub audit_seq: u64,
    pub audit_head: String,
    pub storage: StorageResponse,
    /// The time in force.
    pub at: String,
    /// How many seconds this machine's clock is ahead of the time in force (less than zero: behind) where Void
    /// does not follow it; null where it does.
    pub clock_ahead_s: Option<i64>,
}

/// How large what grows is, and for how long each kind of it is kept. A few seconds old at most.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Storage")]
pub(crate) struct StorageResponse {
    pub database_bytes: u64,
    /// SQLite's log of what is not in the file yet. Absent with PostgreSQL, whose log is its server's.
    pub wal_bytes: Option<u64>,
    /// By table; the audit's are kept for ever.
    pub rows: BTreeMap<&'static str, u64>,
    /// For how many days each kind is kept after it is over.
    pub kept_days: BTreeMap<&'static str, u32>,
}

impl StorageResponse {
    fn new(sizes: Sizes) -> Self {
        let days = |kept: Kept| (kept.as_str(), sizes.kept.days(kept));
        Self {
            database_bytes: sizes.bytes.database,
            wal_bytes: sizes.bytes.log,
            kept_days: Kept::ALL.into_iter().map(days).collect(),
            rows: sizes.rows.into_iter().collect(),
        }
    }
}

pub(crate) async fn show(
    State(app): State<App>,
    Caller(ctx): Caller,
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
    let asks = |view: &&NodeView| matches!(view.node.membership, Membership::Waiting { .. });
    let frozen = match freezes::current(control).await? {
        Freeze::Frozen(frozen) if frozen.until.is_none_or(|until| now < until) => Some(frozen),
        Freeze::Frozen(_) | Freeze::Thawed => None,
    };
    let (audit_seq, head) = audit::head(control).await?;
    let reach = notifications::reach(control).await?;
    Ok(Json(StatusResponse {
        version: env!("CARGO_PKG_VERSION"),
        rehearsal: control.is_rehearsal(),
        waiting: inbox.waiting_count,
        joins: nodes.iter().filter(asks).count(),
        running,
        unknown: inbox.unknown_count,
        untold: inbox.untold_count,
        frozen: frozen.is_some(),
        frozen_reason: (frozen.as_ref())
            .and_then(|frozen| frozen.reason_for(&ctx.actor).map(str::to_owned)),
        frozen_until: (frozen.as_ref())
            .and_then(|frozen| frozen.until.map(|until| until.to_string())),
        frozen_by: frozen.map(|frozen| frozen.by),
        nodes: nodes.iter().filter(joined).count(),
        nodes_here,
        services_up: count(Health::Up),
        services_down: services.iter().filter(|view| view.is_worry()).count(),
        services_stopped: (services.iter())
            .filter(|view| view.stopped_at.is_some())
            .count(),
        services_unknown: count(Health::Unknown),
        services_untold: reach.untold_services,
        channels: reach.places,
        mutes: mutes::list(control).await?.len(),
        quarantined: quarantine::count(control).await?,
        actions: control.catalogue().actions().len(),
        catalogue_digest: control.catalogue().digest().to_string(),
        catalogue_commit: control.catalogue_commit().map(str::to_owned),
        instance: control.instance().name.to_string(),
        instances: instances::list(control)
            .await?
            .into_iter()
            .map(|instance| instance.name.to_string())
            .collect(),
        displaced: instances::is_displaced(control),
        audit_seq,
        audit_head: head.to_string(),
        storage: StorageResponse::new(retention::sizes(control).await?),
        at: now.to_string(),
        clock_ahead_s: (control.clock().doubt()).map(|doubt| doubt.ahead_ms() / 1_000),
    }))
}
