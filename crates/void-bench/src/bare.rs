//! The least that an MCP server with one tool is, by the official Rust SDK alone: no callers, no database,
//! no other process. Its tool hands out a file.

use std::path::Path;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde_json::Value;

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

/// Serves on standard input and output until that ends.
pub(crate) async fn serve(payload: &Path) -> Outcome<()> {
    let payload = serde_json::from_slice(&std::fs::read(payload)?)?;
    let running = Bare(payload).serve(rmcp::transport::stdio()).await?;
    running.waiting().await?;
    Ok(())
}
