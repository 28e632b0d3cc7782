//! MCP: the tool registry for clients outside. The protocol is the official SDK's; what a tool is and
//! who may use it is decided where it always is.
//!
//! Outside a turn nobody knows what a client does with what it has read, so content that a stranger
//! could have written is not handed out there. Nothing here approves anything.

mod listings;
pub(crate) mod messages;
pub(crate) mod streams;

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

/// What a complaint quotes of a request at most.
const QUOTED_BYTES_MAX: usize = 100;

/// Who keeps a stream open, to be looked at again.
pub(crate) struct Client {
    pub app: App,
    pub token: Secret,
    pub registry: &'static Registry,
}

impl Client {
    /// What it may use now. `None`: it is nobody any more.
    async fn toolbox(&self) -> Option<Toolbox> {
        let admitted = access::admit_tools(&self.app, self.token.expose()).await;
        match admitted {
            Ok(admitted) => Some(Toolbox::of(&self.app, admitted?, self.registry)),
            Err(error) => {
                tracing::error!(%error, "cannot look at a client of MCP again");
                None
            }
        }
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
            None => {
                let name = text::escaped(text::cut(&request.name, QUOTED_BYTES_MAX));
                return Err(ErrorData::invalid_params(
                    format!("Unknown tool: {name}"),
                    None,
                ));
            }
            Some(Ok(outcome)) => CallToolResult::structured(outcome.value),
            Some(Err(ToolError { code, message })) => {
                CallToolResult::error(vec![ContentBlock::text(format!("{code}: {message}"))])
            }
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
