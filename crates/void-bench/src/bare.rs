//! The least that an MCP server with one tool is, by the official Rust SDK alone: no database, no other process, over
//! HTTP one caller whose token is checked. Its tool hands out a file.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use axum::routing::{get, post};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde_json::Value;
use tokio::net::TcpListener;
use void_domain::digests::Digest;

use crate::Outcome;

#[derive(Clone)]
struct Bare(Value);

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = Tool::new("list_actions", "Lists actions", serde_json::Map::new());
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::structured(self.0.clone()).into())
    }
}

/// Serves over HTTP, without sessions as Void does, whoever has this token. Its digest is compared, as that of a token
/// in a table would be.
pub(crate) async fn serve_http(payload: &Path, port: u16, token: &str) -> Outcome<()> {
    let payload: Value = serde_json::from_slice(&std::fs::read(payload)?)?;
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(None)
        .with_sse_retry(None);
    let service = StreamableHttpService::new(
        move || Ok(Bare(payload.clone())),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let known = Digest::of(token.as_bytes());
    let answer = move |request: Request| {
        let service = service.clone();
        async move {
            if token_of(&request) != Some(known) {
                return StatusCode::UNAUTHORIZED.into_response();
            }
            service.handle(request).await.into_response()
        }
    };
    let router = Router::new()
        .route("/readyz", get(async || "ready"))
        .route("/mcp", post(answer));
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port))).await?;
    use axum::serve::ListenerExt as _;
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router).await?;
    Ok(())
}

fn token_of(request: &Request) -> Option<Digest> {
    let value = request.headers().get(header::AUTHORIZATION)?;
    let token = value.as_bytes().strip_prefix(b"Bearer ")?;
    Some(Digest::of(token))
}

/// Serves on standard input and output until that ends.
pub(crate) async fn serve(payload: &Path) -> Outcome<()> {
    let payload = serde_json::from_slice(&std::fs::read(payload)?)?;
    let running = Bare(payload).serve(rmcp::transport::stdio()).await?;
    running.waiting().await?;
    Ok(())
}
