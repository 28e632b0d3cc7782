//! `/api/status`: one flat look, for a person or a dashboard tile.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use void_api::status::{EmbeddingsResponse, StatusResponse, StorageResponse};
use void_control::embeddings::{self, EmbeddingsView};
use void_control::nodes::{self, NodeView};
use void_control::retention::{self, Sizes};
use void_control::{
    Control, audit, freezes, health, inbox, instances, mutes, proposals, quarantine,
};
use void_domain::freezes::Freeze;
use void_domain::nodes::Membership;
use void_domain::proposals::Status;
use void_domain::retention::Kept;
use void_domain::services::Health;

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::Caller;
use crate::table::{Access, Route, json};

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

fn storage_response(sizes: Sizes) -> StorageResponse {
    let days = |kept: Kept| (kept.as_str().into(), sizes.kept.days(kept));
    StorageResponse {
        database_bytes: sizes.bytes.database,
        wal_bytes: sizes.bytes.log,
        attachment_bytes: sizes.attachment_bytes,
        kept_days: Kept::ALL.into_iter().map(days).collect(),
        rows: (sizes.rows.into_iter())
            .map(|(table, rows)| (table.into(), rows))
            .collect(),
    }
}

fn embeddings_response(view: EmbeddingsView) -> EmbeddingsResponse {
    let (code, message) = view.trouble.unzip();
    EmbeddingsResponse {
        state: view.state.as_str().into(),
        done: view.done,
        total: view.total,
        skipped: view.skipped,
        chunks: view.chunks,
        memory_bytes: view.memory_bytes,
        code: code.map(Into::into),
        message,
    }
}

async fn instance_names(control: &Control) -> Result<Vec<String>, ApiError> {
    let all = instances::list(control).await?.into_iter();
    Ok(all.map(|instance| instance.name.to_string()).collect())
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
    let frozen = match freezes::shown_to(control, &ctx).await? {
        Freeze::Frozen(frozen) if frozen.until.is_none_or(|until| now < until) => Some(frozen),
        Freeze::Frozen(_) | Freeze::Thawed => None,
    };
    let (audit_seq, head) = audit::head_for(control, &ctx).await?;
    let reach = void_notify::reach(app.notifications()).await?;
    Ok(Json(StatusResponse {
        version: env!("CARGO_PKG_VERSION").into(),
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
        open_fences: (app.processes().open_fences().iter())
            .map(ToString::to_string)
            .collect(),
        quarantined: quarantine::count(control).await?,
        actions: control.catalogue().actions().len(),
        catalogue_digest: control.catalogue().digest().to_string(),
        catalogue_commit: control.catalogue_commit().map(str::to_owned),
        instance: control.instance().name.to_string(),
        instances: instance_names(control).await?,
        displaced: instances::is_displaced(control),
        audit_seq,
        audit_head: head.map(|head| head.to_string()),
        storage: storage_response(retention::sizes(control).await?),
        embeddings: embeddings::view(control).map(embeddings_response),
        at: now.to_string(),
        clock_ahead_s: (control.clock().doubt()).map(|doubt| doubt.ahead_ms() / 1_000),
    }))
}
