//! MCP: the tool registry for clients outside. The protocol is the official SDK's; what a tool is and
//! who may use it is decided where it always is.
//!
//! Outside a turn nobody knows what a client does with what it has read, so content that a stranger
//! could have written is not handed out there. Nothing here approves anything.

mod calls;
mod listings;
pub(crate) mod messages;
pub(crate) mod streams;

use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, ContentBlock, ErrorData, Implementation,
    InitializeRequestParams, InitializeResult, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value};
use void_agent::tools::{Notes, Outcome, Registry, Tool, ToolError};
use void_agent::turns::Pass;
use void_control::access::new_request_id;
use void_control::{Control, Ctx};
use void_domain::secrets::Secret;
use void_domain::taint::Taint;
use void_domain::text;

use crate::access::{self, Admitted};
use crate::app::App;

const INSTRUCTIONS: &str = "Void looks after a homelab. Only actions from its list can be named: safe \
    ones run at once, risky ones wait for the owner, and nothing here can answer for the owner. \
    Proposing never blocks; proposal_status says what became of it. Say that something is done only \
    when its verification is \"verified\".";

/// The registry of a caller that names none.
pub(crate) const REGISTRY_DEFAULT: &str = "blue";

const LOOK_LASTS: Duration = Duration::from_millis(500);

/// What a complaint quotes of a request at most.
const QUOTED_BYTES_MAX: usize = 100;

/// Who keeps a stream open, to be looked at again.
pub(crate) struct Client {
    app: App,
    token: Secret,
    registry: &'static Registry,
    seen: Option<Seen>,
}

/// What a look showed, and how far the events were before it.
struct Seen {
    toolbox: Toolbox,
    newest_event: u64,
    at: Instant,
}

impl Client {
    pub(crate) const fn new(app: App, token: Secret, registry: &'static Registry) -> Self {
        Self {
            app,
            token,
            registry,
            seen: None,
        }
    }

    /// What it may use now. `None`: it is nobody any more. Without a single event since the last look
    /// nobody was withdrawn here; a neighbour's event may take its time, so no look lasts long.
    async fn toolbox(&mut self) -> Option<Toolbox> {
        let newest_event = self.app.control().newest_event();
        if let Some(seen) = &self.seen
            && seen.newest_event == newest_event
            && seen.at.elapsed() < LOOK_LASTS
        {
            return Some(seen.toolbox.clone());
        }
        let admitted = access::admit_tools(&self.app, self.token.expose()).await;
        let admitted = admitted.unwrap_or_else(|error| {
            tracing::error!(%error, "cannot look at a client of MCP again");
            None
        });
        let is_turn = admitted.as_ref()?.pass.is_some();
        let toolbox = Toolbox::of(&self.app, admitted?, self.registry);
        // A turn ends without an event.
        self.seen = (!is_turn).then(|| Seen {
            toolbox: toolbox.clone(),
            newest_event,
            at: Instant::now(),
        });
        Some(toolbox)
    }
}

/// The tools of one caller.
#[derive(Clone)]
pub(crate) struct Toolbox(Holder);

#[derive(Clone)]
enum Holder {
    /// Whoever showed an agent's token.
    Agent {
        control: Control,
        ctx: Ctx,
        registry: &'static Registry,
    },
    /// A program that works in a turn, within the turn's limits and on its record.
    Turn(Pass),
}

impl Toolbox {
    /// A turn has its own tools, whatever registry is named.
    pub(crate) fn of(app: &App, admitted: Admitted, registry: &'static Registry) -> Self {
        Self(match admitted.pass {
            Some(pass) => Holder::Turn(pass),
            None => Holder::Agent {
                control: app.control().clone(),
                ctx: admitted.ctx,
                registry,
            },
        })
    }

    /// The same for another call, which has a name of its own on the record.
    fn again(&self) -> Self {
        let mut again = self.clone();
        if let Holder::Agent { control, ctx, .. } = &mut again.0
            && let Ok(request_id) = new_request_id(control)
        {
            ctx.request_id = request_id;
        }
        again
    }

    fn tools(&self) -> Vec<&'static Tool> {
        match &self.0 {
            Holder::Agent { ctx, registry, .. } => registry.for_caller(ctx).collect(),
            Holder::Turn(pass) => pass.tools().to_vec(),
        }
    }

    /// `None`: there is no such tool here. One that the caller may not use refuses by its own rule, with
    /// the reason; in a turn even a wrong name counts.
    async fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Option<Result<Outcome, ToolError>> {
        match &self.0 {
            Holder::Turn(pass) => Some(pass.call(name, arguments).await),
            Holder::Agent {
                control,
                ctx,
                registry,
            } => {
                let tool = registry.get(name)?;
                let (taint, notes) = (Taint::clean(), Notes::default());
                let outcome = tool.call(control, ctx, &taint, &notes, arguments).await;
                Some(outcome.and_then(without_foreign))
            }
        }
    }
}

fn unknown_tool(name: &str) -> ErrorData {
    let name = text::escaped(text::cut(name, QUOTED_BYTES_MAX));
    ErrorData::invalid_params(format!("Unknown tool: {name}"), None)
}

/// What a client reads of a tool that failed.
fn told(error: &ToolError) -> String {
    format!("{}: {}", error.code, error.message)
}

fn without_foreign(outcome: Outcome) -> Result<Outcome, ToolError> {
    match &outcome.foreign {
        None => Ok(outcome),
        Some(source) => Err(ToolError::new(
            "foreign_withheld",
            format!(
                "the {source} is not handed out here: a machine wrote it, and what it makes its reader do \
                 could not be told apart from your own wishes. The owner sees it in Void; ask again \
                 without it"
            ),
        )),
    }
}

impl ServerHandler for Toolbox {
    fn get_info(&self) -> ServerConfig {
        let server = Implementation::new("void", env!("CARGO_PKG_VERSION")).with_title("Void");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(server)
            .with_instructions(INSTRUCTIONS)
    }

    /// What the client says of itself changes nothing, so nothing of it is kept.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = self.tools().into_iter().filter_map(listings::of);
        Ok(ListToolsResult::with_all_items(listed.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let result = match self.call(&request.name, arguments).await {
            None => return Err(unknown_tool(&request.name)),
            Some(Ok(outcome)) => CallToolResult::structured(outcome.value),
            Some(Err(error)) => CallToolResult::error(vec![ContentBlock::text(told(&error))]),
        };
        Ok(result.into())
    }

    // What is not offered does not exist; the SDK would answer as if there were none of it yet.

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<
            ListResourceTemplatesRequestMethod,
        >())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn on_initialized(&self, _: NotificationContext<RoleServer>) {}
}
