//! `/api/services`: what is watched, and how it is.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use schemars::JsonSchema;
use serde::Serialize;
use void_control::health::{self, ServiceChange, ServiceView};
use void_domain::services::{Check, CheckResult, Location, Standing};
use void_domain::time::Timestamp;

use crate::access::Access;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Caller, Segment};
use crate::table::{Route, json};

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

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ServicesResponse {
    pub services: Vec<ServiceResponse>,
    /// The moment of this answer, for the age of readings.
    pub at: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Service")]
pub(crate) struct ServiceResponse {
    pub id: String,
    pub label: String,
    /// The host, or the node of its guest.
    pub host: Option<String>,
    pub node: Option<String>,
    pub vmid: Option<u32>,
    /// `http`, `tcp` or `guest`.
    pub check: &'static str,
    /// up, down or unknown. A reading that is too old says unknown.
    pub status: &'static str,
    /// Since when it is so.
    pub since: Option<String>,
    pub checked_at: Option<String>,
    pub detail: Option<ServiceDetail>,
    /// Set while it is down because the owner stopped what it is on, for a day at most: no worry.
    pub stopped: Option<StoppedResponse>,
    /// It changes so often that changes are believed late.
    pub flapping: bool,
    /// That it is down is told at any hour.
    pub urgent: bool,
    pub interval_s: u64,
}

/// Who stopped it, and when.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Stopped")]
pub(crate) struct StoppedResponse {
    #[schemars(extend("enum" = ["owner"]))]
    pub by: &'static str,
    pub at: String,
}

impl StoppedResponse {
    pub(super) fn by_owner(at: Timestamp) -> Self {
        Self {
            by: "owner",
            at: at.to_string(),
        }
    }
}

/// What the last look saw. Never what a service wrote.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ServiceDetail {
    /// The HTTP status.
    pub code: Option<u16>,
    pub latency_ms: Option<u64>,
    /// A stable word, if the answer was not good: refused, unreachable, timed_out, reset, wrong_status,
    /// not_http, stopped, unknown_name, certificate, proxmox or local; stale if nobody has looked for
    /// too long.
    pub reason: Option<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ServiceWithHistoryResponse {
    #[serde(flatten)]
    pub service: ServiceResponse,
    /// The changes of the last day, oldest first.
    pub history: Vec<ChangeResponse>,
    /// The moment of this answer.
    pub at: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ServiceChange")]
pub(crate) struct ChangeResponse {
    pub at: String,
    pub from: &'static str,
    pub to: &'static str,
    pub reason: Option<String>,
}

pub(crate) async fn list(State(app): State<App>, Caller(_): Caller) -> Json<ServicesResponse> {
    let services = health::list(app.control());
    Json(ServicesResponse {
        services: services.into_iter().map(ServiceResponse::new).collect(),
        at: app.control().clock().now().to_string(),
    })
}

pub(crate) async fn show(
    State(app): State<App>,
    Caller(_): Caller,
    Segment(id): Segment,
) -> Result<Json<ServiceWithHistoryResponse>, ApiError> {
    let Some(view) = health::find(app.control(), &id) else {
        return Err(ApiError::not_found("no service of that id is watched").hint("void services"));
    };
    let changes = health::history(app.control(), &view.service.id).await?;
    Ok(Json(ServiceWithHistoryResponse {
        service: ServiceResponse::new(view),
        history: changes.iter().map(ChangeResponse::new).collect(),
        at: app.control().clock().now().to_string(),
    }))
}

impl ServiceResponse {
    pub(super) fn new(view: ServiceView) -> Self {
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
        Self {
            id: service.id.to_string(),
            label: service.label,
            host,
            node,
            vmid,
            check,
            status: view.standing.health.as_str(),
            since: view.last.map(|_| view.standing.since.to_string()),
            checked_at: view.last.map(|reading| reading.at.to_string()),
            detail: view
                .last
                .map(|reading| ServiceDetail::new(reading.answer, view.standing)),
            stopped: view.stopped_at.map(StoppedResponse::by_owner),
            flapping: view.flapping,
            urgent: service.urgent,
            interval_s: service.interval.as_secs(),
        }
    }
}

impl ServiceDetail {
    fn new(answer: CheckResult, standing: Standing) -> Self {
        if standing.is_stale {
            return Self {
                reason: Some("stale"),
                ..Self::default()
            };
        }
        let (code, latency_ms) = match answer {
            CheckResult::Good { latency_ms, code } => (code, Some(latency_ms)),
            CheckResult::Bad { code, .. } => (code, None),
            CheckResult::None { .. } => (None, None),
        };
        Self {
            code,
            latency_ms,
            reason: answer.reason(),
        }
    }
}

impl ChangeResponse {
    fn new(change: &ServiceChange) -> Self {
        Self {
            at: change.at.to_string(),
            from: change.from.as_str(),
            to: change.to.as_str(),
            reason: change.reason.clone(),
        }
    }
}
