//! `/mcp`: streamable HTTP without sessions. Every request stands alone and is answered with one JSON
//! document, so any client may come and go and a withdrawn token ends with its next call.
//!
//! `void mcp` speaks for clients that have no HTTP: it asks for the connection itself, or marks what it
//! passes on, and then only the message counts.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use http_body_util::{BodyExt as _, Collected};
use rmcp::model::ErrorData;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use void_agent::tools::{REGISTRIES, Registry};
use void_domain::limits::REQUEST_BODY_BYTES_MAX;
use void_domain::secrets::Secret;
use void_domain::text;

use crate::access::{self, Admitted};
use crate::app::App;
use crate::errors::ApiError;
use crate::fence::is_json;
use crate::mcp::{Client, REGISTRY_DEFAULT, Toolbox, messages, streams};
use crate::requests::{Query, collect};
use crate::takeovers::Upgrade;

const REGISTRY_HEADER: &str = "x-void-registry";

/// What `void mcp` passes on for its client, message by message.
const BRIDGED_HEADER: &str = "x-void-bridge";
/// What it asks the connection to speak.
const PROTOCOL: &str = "void-mcp";

/// A JSON-RPC message of a client.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "for the document; the SDK reads the message")]
pub(crate) struct McpRequest {
    jsonrpc: String,
    id: Option<Value>,
    method: String,
    params: Option<Map<String, Value>>,
}

/// What it is answered.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "for the document; the SDK writes the message")]
pub(crate) struct McpResponse {
    jsonrpc: String,
    id: Option<Value>,
    result: Option<Map<String, Value>>,
    error: Option<Map<String, Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RegistryQuery {
    registry: Option<String>,
}

pub(crate) async fn answer(
    State(app): State<App>,
    admitted: Admitted,
    Query(query): Query<RegistryQuery>,
    request: Request,
) -> Result<Response, ApiError> {
    let registry = registry(request.headers(), query)?;
    let toolbox = Toolbox::of(&app, admitted, registry);
    if !is_json(request.headers()) {
        return Err(ApiError::not_json());
    }
    let (mut parts, body) = request.into_parts();
    let body = collect(body, REQUEST_BODY_BYTES_MAX).await?;
    if parts.headers.contains_key(BRIDGED_HEADER) {
        return Ok(bridged(messages::answer(&toolbox, &body).await));
    }
    let id = match messages::strict(&body) {
        Ok(mut message) => message.remove("id").unwrap_or_default(),
        Err(error) => return Ok(refusal(StatusCode::BAD_REQUEST, Value::Null, &error)),
    };
    // Answers are JSON and never a stream, so whoever asks need not be ready for one.
    let accepted = HeaderValue::from_static("application/json, text/event-stream");
    parts.headers.insert(header::ACCEPT, accepted);
    let service = StreamableHttpService::new(
        move || Ok(toolbox.clone()),
        Arc::new(NeverSessionManager::default()),
        config(),
    );
    let request = Request::from_parts(parts, Body::from(body));
    let response = service.handle(request).await.map(Body::new);
    Ok(in_json(response, id).await)
}

/// The fence has looked at Host and Origin already, and knows names that no fixed list can: the address
/// that a connection came in by, and the origin that is the very address of the request.
fn config() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(None)
        .with_sse_retry(None)
        .with_max_request_body_bytes(REQUEST_BODY_BYTES_MAX)
        .disable_allowed_hosts()
        .disable_allowed_origins()
}

/// Gives the connection to a client that sends one message a line and is answered the same way.
pub(crate) async fn open(
    State(app): State<App>,
    Query(query): Query<RegistryQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let wanted = headers.get(header::UPGRADE);
    let token = access::bearer_of(&headers);
    let (Some(token), true) = (token, wanted.is_some_and(|wanted| wanted == PROTOCOL)) else {
        return Err(ApiError::method_not_allowed());
    };
    let registry = registry(&headers, query)?;
    let client = Client::new(app, Secret::new(token), registry);
    let upgrade = Upgrade::to(|stream, early, stop| streams::serve(client, stream, early, stop));
    let head = [(header::UPGRADE, PROTOCOL)];
    Ok((StatusCode::SWITCHING_PROTOCOLS, Extension(upgrade), head).into_response())
}

fn registry(headers: &HeaderMap, query: RegistryQuery) -> Result<&'static Registry, ApiError> {
    let header = headers.get(REGISTRY_HEADER);
    let header = header.map(|value| value.to_str().unwrap_or_default());
    let named = query.registry.as_deref().or(header);
    Registry::named(named.unwrap_or(REGISTRY_DEFAULT)).ok_or_else(|| {
        let names: Vec<&str> = REGISTRIES.iter().map(|registry| registry.name).collect();
        let problem = format!("is not one of {}", names.join(", "));
        ApiError::invalid_field("registry", problem)
    })
}

fn bridged(answer: Option<Vec<u8>>) -> Response {
    match answer {
        Some(answer) => ([(header::CONTENT_TYPE, "application/json")], answer).into_response(),
        None => StatusCode::ACCEPTED.into_response(),
    }
}

/// What the SDK refuses in plain text, as a message that clients can show.
async fn in_json(response: Response, id: Value) -> Response {
    let status = response.status();
    let written = is_json(response.headers());
    if written || status.is_success() {
        return response;
    }
    let body = response.into_body().collect().await;
    let body = body.map(Collected::to_bytes).unwrap_or_default();
    let message = text::escaped(&String::from_utf8_lossy(&body));
    let status = match status {
        // The SDK's answer to JSON that is no message.
        StatusCode::UNSUPPORTED_MEDIA_TYPE => StatusCode::BAD_REQUEST,
        status => status,
    };
    refusal(status, id, &ErrorData::invalid_request(message, None))
}

fn refusal(status: StatusCode, id: Value, error: &ErrorData) -> Response {
    let body = json!({"jsonrpc": "2.0", "id": id, "error": error});
    (status, axum::Json(body)).into_response()
}
