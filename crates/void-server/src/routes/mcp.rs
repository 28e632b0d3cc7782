//! `/mcp`: streamable HTTP without sessions. Every request stands alone and is answered with one JSON
//! document, so any client may come and go and a withdrawn token ends with its next call.
//!
//! `void mcp` speaks for clients that have no HTTP: it asks for the connection itself, or marks what it
//! passes on, and then only the message counts.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use futures_util::stream;
use http_body_util::{BodyExt as _, Collected};
use rmcp::model::ErrorData;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use void_agent::tools::{REGISTRIES, Registry};
use void_control::lanes;
use void_domain::limits::REQUEST_BODY_BYTES_MAX;
use void_domain::secrets::Secret;
use void_domain::text;

use crate::access::{self, Admitted};
use crate::app::App;
use crate::budgets::Account;
use crate::errors::ApiError;
use crate::fence::is_json;
use crate::mcp::calls::Call;
use crate::mcp::{Client, REGISTRY_DEFAULT, Toolbox, messages, progress, streams};
use crate::requests::{Query, collect};
use crate::table::{Access, Content, Parameter, Route, json, schema};
use crate::takeovers::Upgrade;

const REGISTRY: Parameter = Parameter {
    name: "registry",
    kind: "string",
    meaning: "the set of tools: blue (if left out) or security",
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "POST",
        path: "/mcp",
        access: Access::Tools,
        operation: "callTools",
        summary: "MCP over streamable HTTP, without sessions: one JSON-RPC message, one answer",
        query: &[REGISTRY],
        request: Some(schema::<McpRequest>),
        response: json::<McpResponse>(),
        handler: || post(answer),
    },
    Route {
        method: "GET",
        path: "/mcp",
        access: Access::Tools,
        operation: "openTools",
        summary: "The connection itself, for `void mcp`: one JSON-RPC message a line, both ways",
        query: &[REGISTRY],
        request: None,
        response: Content::Text("application/x-ndjson"),
        handler: || get(open),
    },
];

const REGISTRY_HEADER: &str = "x-void-registry";

/// Words about a call that nobody has read yet.
const PIECES_MAX: usize = 16;

const VERSION_HEADER: &str = "mcp-protocol-version";
/// Revisions in which a request's head says nothing beside its own revision.
const WITH_HANDSHAKE: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// What `void mcp` passes on for its client, message by message.
const BRIDGED_HEADER: &str = "x-void-bridge";
/// What it asks the connection to speak.
const PROTOCOL: &str = "void-mcp";

/// A JSON-RPC message of a client.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "for the document; the SDK reads the message")]
pub(crate) struct McpRequest {
    #[schemars(extend("const" = "2.0"))]
    jsonrpc: String,
    /// Text or a whole number; a message without one is not answered.
    #[schemars(extend("type" = ["string", "integer"]))]
    id: Option<Value>,
    method: String,
    params: Option<Map<String, Value>>,
}

/// What it is answered.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "for the document; the SDK writes the message")]
pub(crate) struct McpResponse {
    #[schemars(extend("const" = "2.0"))]
    jsonrpc: String,
    #[schemars(skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    result: Option<Map<String, Value>>,
    #[schemars(skip_serializing_if = "Option::is_none")]
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
    let toolbox = Toolbox::of(&app, admitted, registry, lanes::current());
    let (mut parts, body) = request.into_parts();
    let body = collect(body, REQUEST_BODY_BYTES_MAX).await?;
    // Nothing at all is no body of any kind, and no message either.
    if !is_json(&parts.headers) && !body.is_empty() {
        return Err(ApiError::not_json());
    }
    if parts.headers.contains_key(BRIDGED_HEADER) {
        let token = progress::token(&body).filter(|_| takes_events(&parts.headers));
        let answering = async move { bridged(messages::answer(&toolbox, &body).await) };
        return Ok(match token {
            None => answering.await,
            Some(token) => with_progress(token, answering).await,
        });
    }
    let mut message = match messages::strict(&body) {
        Ok(message) => message,
        Err(error) => return Ok(refusal(StatusCode::BAD_REQUEST, Value::Null, &error)),
    };
    let token = progress::token(&body).filter(|_| takes_events(&parts.headers));
    if is_plain(&parts.headers)
        && let Some(call) = Call::of(&mut message)
    {
        let answering = async move { bridged(Some(call.answer(&toolbox).await)) };
        return Ok(match token {
            None => answering.await,
            Some(token) => with_progress(token, answering).await,
        });
    }
    let id = message.remove("id").unwrap_or_default();
    // Answers are JSON, and a stream only for whoever asked for word in between and takes one.
    let accepted = HeaderValue::from_static("application/json, text/event-stream");
    parts.headers.insert(header::ACCEPT, accepted);
    let service = StreamableHttpService::new(
        move || Ok(toolbox.clone()),
        Arc::new(NeverSessionManager::default()),
        config(),
    );
    let request = Request::from_parts(parts, Body::from(body));
    let answering = async move {
        let response = service.handle(request).await.map(Body::new);
        in_json(response, id).await
    };
    Ok(match token {
        None => answering.await,
        Some(token) => with_progress(token, answering).await,
    })
}

/// Whether nothing in the head of a request says more than its message, nor anything that the SDK would refuse.
fn is_plain(headers: &HeaderMap) -> bool {
    let mut versions = headers.get_all(VERSION_HEADER).iter();
    let version = versions.next();
    let is_known =
        version.is_none_or(|version| WITH_HANDSHAKE.iter().any(|known| version == known));
    let kind = headers.get(header::CONTENT_TYPE);
    let is_json = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    is_known && versions.next().is_none() && is_json
}

fn takes_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter();
    accepted
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.contains("text/event-stream"))
}

/// What is ready soon is one document; what takes its time becomes a stream of events, with the answer
/// as the last of them. Whoever goes away gives up the answer and nothing else.
async fn with_progress(
    token: Value,
    answering: impl Future<Output = Response> + Send + 'static,
) -> Response {
    let mut answering = Box::pin(answering);
    if let Ok(response) = tokio::time::timeout(progress::EVERY, &mut answering).await {
        return response;
    }
    let (sender, pieces) = tokio::sync::mpsc::channel::<Bytes>(PIECES_MAX);
    tokio::spawn(async move {
        let told = sender.clone();
        let tell = |notice: Vec<u8>| told.try_send(event(&notice)).is_ok();
        let waiting = progress::while_waiting(Some(token), answering, tell);
        tokio::select! {
            () = sender.closed() => {}
            response = waiting => {
                let body = response.into_body().collect().await;
                let body = body.map(Collected::to_bytes).unwrap_or_default();
                let _ = sender.send(event(&body)).await;
            }
        }
    });
    let pieces = stream::unfold(pieces, |mut pieces| async move {
        let piece = pieces.recv().await?;
        Some((Ok::<_, Infallible>(piece), pieces))
    });
    let head = [(header::CONTENT_TYPE, "text/event-stream")];
    (head, Body::from_stream(pieces)).into_response()
}

/// A message is one line, so it is one line of an event.
fn event(message: &[u8]) -> Bytes {
    Bytes::from([b"event: message\ndata: ", message, b"\n\n"].concat())
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
    Extension(account): Extension<Arc<Account>>,
    Query(query): Query<RegistryQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let wanted = headers.get(header::UPGRADE);
    let token = access::bearer_of(&headers);
    let (Some(token), true) = (token, wanted.is_some_and(|wanted| wanted == PROTOCOL)) else {
        return Err(ApiError::method_not_allowed());
    };
    let registry = registry(&headers, query)?;
    let client = Client::new(app, Secret::new(token), registry, account)?;
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
