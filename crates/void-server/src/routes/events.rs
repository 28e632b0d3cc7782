//! `/api/events`: the live stream.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use serde::Deserialize;

use crate::access::Admitted;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::Query;
use crate::streams;
use crate::table::{Access, Content, Parameter, Route};

pub(super) const ROUTES: &[Route] = &[Route {
    method: "GET",
    path: "/api/events",
    access: Access::Read,
    operation: "streamEvents",
    summary: "Server-sent events; resumes after Last-Event-ID or ?after=",
    query: &[Parameter {
        name: "after",
        kind: "integer",
        meaning: "the last event that was seen",
    }],
    request: None,
    response: Content::Text("text/event-stream"),
    handler: || get(stream),
}];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AfterQuery {
    after: Option<u64>,
}

pub(crate) async fn stream(
    State(app): State<App>,
    admitted: Admitted,
    Query(query): Query<AfterQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let after = match headers.get("last-event-id") {
        None => query.after,
        Some(value) => {
            let seen = value.to_str().ok().and_then(|text| text.parse().ok());
            Some(seen.ok_or_else(|| ApiError::invalid_field("Last-Event-ID", "must be a number"))?)
        }
    };
    let counted = app.shared().metrics.listener();
    Ok(streams::events(
        app.control(),
        admitted.caller,
        after,
        counted,
    ))
}
