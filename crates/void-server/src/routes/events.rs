//! `/api/events`: the live stream.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;

use crate::access::Admitted;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::Query;
use crate::streams;

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
