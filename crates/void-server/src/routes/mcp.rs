//! `POST /mcp`: streamable HTTP without sessions. Every request stands alone and is answered with one
//! JSON document, so any client may come and go and a withdrawn token ends with its next call.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use http_body_util::BodyExt as _;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};
use void_agent::tools::{REGISTRIES, Registry};
use void_domain::limits::REQUEST_BODY_BYTES_MAX;
use void_domain::text;

use crate::access::Admitted;
use crate::app::App;
use crate::errors::ApiError;
use crate::fence::is_json;
use crate::mcp::{REGISTRY_DEFAULT, Toolbox};
use crate::requests::{Query, collect};

pub(crate) const REGISTRY_HEADER: &str = "x-void-registry";

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;

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
    let toolbox = toolbox(&app, admitted, &request, query)?;
    if !is_json(request.headers()) {
        return Err(ApiError::not_json());
    }
    let (mut parts, body) = request.into_parts();
    let body = collect(body, REQUEST_BODY_BYTES_MAX).await?;
    let id = match check(&body) {
        Ok(id) => id,
        Err((code, message)) => {
            return Ok(refusal(
                StatusCode::BAD_REQUEST,
                Value::Null,
                code,
                &message,
            ));
        }
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

/// A turn has its own tools, whatever registry is named.
fn toolbox(
    app: &App,
    admitted: Admitted,
    request: &Request,
    query: RegistryQuery,
) -> Result<Toolbox, ApiError> {
    if let Some(pass) = admitted.pass {
        return Ok(Toolbox::of_turn(pass));
    }
    let header = request.headers().get(REGISTRY_HEADER);
    let header = header.map(|value| value.to_str().unwrap_or_default());
    let named = query.registry.as_deref().or(header);
    let registry = Registry::named(named.unwrap_or(REGISTRY_DEFAULT)).ok_or_else(|| {
        let names: Vec<&str> = REGISTRIES.iter().map(|registry| registry.name).collect();
        let problem = format!("is not one of {}", names.join(", "));
        ApiError::invalid_field("registry", problem)
    })?;
    let control = app.control().clone();
    Ok(Toolbox::of_agent(control, admitted.ctx, registry))
}

/// The id of a message that every reader understands the same way.
fn check(body: &Bytes) -> Result<Value, (i32, String)> {
    if body.trim_ascii_start().starts_with(b"[") {
        let message = "one message at a time: batches are not spoken here";
        return Err((INVALID_REQUEST, message.to_owned()));
    }
    let message: Map<String, Value> = crate::json::object(body).map_err(|error| {
        let is_json = serde_json::from_slice::<IgnoredAny>(body).is_ok();
        let code = if is_json {
            INVALID_REQUEST
        } else {
            PARSE_ERROR
        };
        (code, text::escaped(&error.to_string()))
    })?;
    Ok(message.get("id").cloned().unwrap_or_default())
}

/// What the SDK refuses in plain text, as a message that clients can show.
async fn in_json(response: Response, id: Value) -> Response {
    let status = response.status();
    let written = is_json(response.headers());
    if written || status.is_success() {
        return response;
    }
    let body = response.into_body().collect().await;
    let body = body.map(|body| body.to_bytes()).unwrap_or_default();
    let message = text::escaped(&String::from_utf8_lossy(&body));
    let status = match status {
        // The SDK's answer to JSON that is no message.
        StatusCode::UNSUPPORTED_MEDIA_TYPE => StatusCode::BAD_REQUEST,
        status => status,
    };
    refusal(status, id, INVALID_REQUEST, &message)
}

fn refusal(status: StatusCode, id: Value, code: i32, message: &str) -> Response {
    let error = json!({"code": code, "message": message});
    let body = json!({"jsonrpc": "2.0", "id": id, "error": error});
    (status, axum::Json(body)).into_response()
}
