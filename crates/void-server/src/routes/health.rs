//! Health, metrics and the description of the API.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use serde_json::{Map, Value};
use void_api::health::HealthResponse;
use void_control::{freezes, proposals, retention};
use void_domain::proposals::Status;

use crate::app::App;
use crate::errors::ApiError;
use crate::openapi;
use crate::table::{Access, Content, Route, json};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/openapi.json",
        access: Access::Public,
        operation: "getOpenapi",
        summary: "This document",
        query: &[],
        request: None,
        response: json::<Map<String, Value>>(),
        handler: || get(openapi),
    },
    Route {
        method: "GET",
        path: "/healthz",
        access: Access::Public,
        operation: "isAlive",
        summary: "The process is up",
        query: &[],
        request: None,
        response: json::<HealthResponse>(),
        handler: || get(alive),
    },
    Route {
        method: "GET",
        path: "/readyz",
        access: Access::Public,
        operation: "isReady",
        summary: "The database answers and the catalogue is loaded",
        query: &[],
        request: None,
        response: json::<HealthResponse>(),
        handler: || get(ready),
    },
    Route {
        method: "GET",
        path: "/health",
        access: Access::Public,
        operation: "getHealth",
        summary: "Ready or not, with the version",
        query: &[],
        request: None,
        response: json::<HealthResponse>(),
        handler: || get(ready),
    },
    Route {
        method: "GET",
        path: "/metrics",
        access: Access::Local,
        operation: "getMetrics",
        summary: "Prometheus metrics; from this machine without a token",
        query: &[],
        request: None,
        response: Content::Text("text/plain"),
        handler: || get(metrics),
    },
];

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) async fn alive() -> Json<HealthResponse> {
    Json(HealthResponse {
        status: "ok".into(),
        version: VERSION.into(),
    })
}

pub(crate) async fn ready(State(app): State<App>) -> Response {
    match app.control().is_ready().await {
        Ok(()) => Json(HealthResponse {
            status: "ok".into(),
            version: VERSION.into(),
        })
        .into_response(),
        Err(error) => {
            tracing::error!(%error, "not ready");
            let body = Json(HealthResponse {
                status: "unavailable".into(),
                version: VERSION.into(),
            });
            (StatusCode::SERVICE_UNAVAILABLE, body).into_response()
        }
    }
}

pub(crate) async fn metrics(State(app): State<App>) -> Result<Response, ApiError> {
    let control = app.control();
    let open = proposals::count_in(control, Status::Pending).await?;
    let frozen = freezes::current(control)
        .await?
        .holds_at(control.clock().now());
    let sizes = retention::sizes(control).await?;
    let text = app.shared().metrics.render(open, frozen, &sizes);
    Ok((
        [(
            header::CONTENT_TYPE,
            "text/plain; version=0.0.4; charset=utf-8",
        )],
        text,
    )
        .into_response())
}

pub(crate) async fn openapi() -> Json<&'static Value> {
    Json(openapi::shared())
}
