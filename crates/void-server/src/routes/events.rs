//! `/api/events`: the live stream.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use serde::Deserialize;
use void_domain::events::EventId;

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
        kind: "string",
        meaning: "the id of the last event that was seen",
    }],
    request: None,
    response: Content::Text("text/event-stream"),
    handler: || get(stream),
}];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AfterQuery {
    after: Option<String>,
}

fn id(name: &'static str, text: &str) -> Result<EventId, ApiError> {
    text.parse()
        .map_err(|_| ApiError::invalid_field(name, "must be the id of an event"))
}

pub(crate) async fn stream(
    State(app): State<App>,
    admitted: Admitted,
    Query(query): Query<AfterQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let after = match headers.get("last-event-id") {
        None => query.after.map(|text| id("after", &text)).transpose()?,
        Some(value) => Some(id("Last-Event-ID", value.to_str().unwrap_or_default())?),
    };
    let counted = app.shared().metrics.listener();
    Ok(streams::events(
        app.control(),
        admitted.caller,
        after,
        counted,
    ))
}
