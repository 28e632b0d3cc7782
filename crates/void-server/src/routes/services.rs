//! `/api/services`: what is watched, and how it is.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use void_api::services::{
    ServiceChangeResponse, ServiceDetail, ServiceResponse, ServiceWithHistoryResponse,
    ServicesResponse, StoppedResponse,
};
use void_control::health::{self, ServiceChange, ServiceView};
use void_domain::knowledge::RunbookName;
use void_domain::services::{Check, CheckResult, Location, Standing};
use void_domain::time::Timestamp;

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Caller, Segment};
use crate::routes::runbooks;
use crate::table::{Access, Route, json};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/services",
        access: Access::Read,
        operation: "listServices",
        summary: "Watched services: up, down or unknown, since when, and what the last look saw",
        query: &[],
        request: None,
        response: json::<ServicesResponse>(),
        handler: || get(list),
    },
    Route {
        method: "GET",
        path: "/api/services/{id}",
        access: Access::Read,
        operation: "getService",
        summary: "One service with its changes of the last day",
        query: &[],
        request: None,
        response: json::<ServiceWithHistoryResponse>(),
        handler: || get(show),
    },
];

pub(super) fn by_owner(at: Timestamp) -> StoppedResponse {
    StoppedResponse {
        by: "owner".into(),
        at: at.to_string(),
    }
}

pub(crate) async fn list(State(app): State<App>, Caller(_): Caller) -> Json<ServicesResponse> {
    let services = health::list(app.control());
    Json(ServicesResponse {
        services: services.into_iter().map(service_response).collect(),
        at: app.control().clock().now().to_string(),
    })
}

pub(crate) async fn show(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
) -> Result<Json<ServiceWithHistoryResponse>, ApiError> {
    let Some(view) = health::find(app.control(), &id) else {
        return Err(ApiError::not_found("no service of that id is watched").hint("void services"));
    };
    let changes = health::history(app.control(), &view.service.id).await?;
    let about = [RunbookName::Service(view.service.id.clone())];
    let runbooks = runbooks::about(app.control(), &ctx, &about).await?;
    Ok(Json(ServiceWithHistoryResponse {
        service: service_response(view),
        history: changes.iter().map(change_response).collect(),
        runbooks,
        at: app.control().clock().now().to_string(),
    }))
}

pub(super) fn service_response(view: ServiceView) -> ServiceResponse {
    let service = view.service;
    let (host, node, vmid) = match service.place {
        Some(Location::Host(host)) => (Some(host), None, None),
        Some(Location::Guest { node, vmid }) => (None, Some(node), Some(vmid)),
        None => (None, None, None),
    };
    let check = match service.check {
        Check::Http(_) => "http",
        Check::Tcp { .. } => "tcp",
        Check::Guest => "guest",
    };
    ServiceResponse {
        id: service.id.to_string(),
        label: service.label,
        host,
        node,
        vmid,
        check: check.into(),
        status: view.standing.health.as_str().into(),
        since: view.last.map(|_| view.standing.since.to_string()),
        checked_at: view.last.map(|reading| reading.at.to_string()),
        detail: view
            .last
            .map(|reading| service_detail(reading.answer, view.standing)),
        stopped: view.stopped_at.map(by_owner),
        flapping: view.flapping,
        urgent: service.urgent,
        interval_s: service.interval.as_secs(),
    }
}

fn service_detail(answer: CheckResult, standing: Standing) -> ServiceDetail {
    if standing.is_stale {
        return ServiceDetail {
            reason: Some("stale".into()),
            ..ServiceDetail::default()
        };
    }
    let (code, latency_ms) = match answer {
        CheckResult::Good { latency_ms, code } => (code, Some(latency_ms)),
        CheckResult::Bad { code, .. } => (code, None),
        CheckResult::None { .. } => (None, None),
    };
    ServiceDetail {
        code,
        latency_ms,
        reason: answer.reason().map(Into::into),
    }
}

fn change_response(change: &ServiceChange) -> ServiceChangeResponse {
    ServiceChangeResponse {
        at: change.at.to_string(),
        from: change.from.as_str().into(),
        to: change.to.as_str().into(),
        reason: change.reason.clone(),
    }
}
