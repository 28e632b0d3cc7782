//! MCP: the tool registry for clients outside. The protocol is the official SDK's; what a tool is and
//! who may use it is decided where it always is.
//!
//! Outside a turn nobody knows what a client does with what it has read, so what a stranger could have written marks
//! its token before it is handed out. Nothing here approves anything.

pub(crate) mod calls;
mod listings;
pub(crate) mod messages;
pub(crate) mod progress;
mod prompts;
mod resources;
pub(crate) mod streams;

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CompletionInfo, ConstString as _, ContentBlock, CustomRequest, CustomResult, ErrorCode,
    ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    Reference, ServerCapabilities, ServerConfig, SetLevelRequestMethod,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value};
use void_agent::tools::{Notes, Outcome, Registry, Scope, Tool, ToolError};
use void_agent::turns::Pass;
use void_control::callers::new_request_id;
use void_control::events::Newest;
use void_control::lanes::{self, Lane};
use void_control::{Control, Ctx};
use void_domain::failures::FailureCode;
use void_domain::secrets::Secret;
use void_domain::taint::Taint;
use void_domain::text;

use crate::access::{self, Admitted};
use crate::app::App;
use crate::budgets::{Account, BytesHeld, Counted};
use crate::errors::ApiError;

const INSTRUCTIONS: &str = "Void looks after a homelab. Only actions from its list can be named: safe \
    ones run at once, risky ones wait for the owner, and nothing here can answer for the owner. \
    Proposing never blocks; proposal_status says what became of it. Say that something is done only \
    when its verification is \"verified\".";

/// The registry of a caller that names none.
pub(crate) const REGISTRY_DEFAULT: &str = "blue";

/// How long a connection that is over its budget is not listened to.
const PACE: Duration = Duration::from_millis(50);
const LOOK_LASTS: Duration = Duration::from_millis(500);

/// What a complaint quotes of a request at most.
const QUOTED_BYTES_MAX: usize = 100;

/// Who keeps a stream open, to be looked at again.
pub(crate) struct Client {
    app: App,
    token: Secret,
    registry: &'static Registry,
    seen: Option<ToolListState>,
    account: Arc<Account>,
    _counted: Counted,
}

/// What a look showed, and how far the record was before it.
struct ToolListState {
    toolbox: Toolbox,
    newest_entry: Newest,
    at: Instant,
}

impl Client {
    /// `Err`: too many of these are open.
    pub(crate) fn new(
        app: App,
        token: Secret,
        registry: &'static Registry,
        account: Arc<Account>,
    ) -> Result<Self, ApiError> {
        let counted = app.shared().budgets.stream(&account)?;
        Ok(Self {
            app,
            token,
            registry,
            seen: None,
            account,
            _counted: counted,
        })
    }

    /// The lane of its calls.
    fn lane(&self) -> Option<Lane> {
        self.account.lane()
    }

    /// A message is a request; over the budget it is not read any further for a while.
    async fn pace(&self) {
        while self.app.shared().budgets.request(&self.account).is_err() {
            tokio::time::sleep(PACE).await;
        }
    }

    /// Bytes that are kept for it.
    fn held(&self) -> BytesHeld {
        self.app.shared().budgets.held(&self.account)
    }

    /// It was sent so much.
    fn charge(&self, bytes: usize) {
        self.app.shared().budgets.charge(&self.account, bytes);
    }

    /// What it may use now. `None`: it is nobody any more. Without a single entry since the last look
    /// nobody was withdrawn here; a neighbour's entry may take its time, so no look lasts long.
    async fn toolbox(&mut self) -> Option<Toolbox> {
        let newest_entry = self.app.control().newest_entry();
        if let Some(seen) = &self.seen
            && seen.newest_entry == newest_entry
            && seen.at.elapsed() < LOOK_LASTS
        {
            return Some(seen.toolbox.clone());
        }
        let looking = access::admit_tools(&self.app, self.token.expose());
        let admitted = lanes::run_in(self.lane(), looking).await;
        let admitted = admitted.unwrap_or_else(|error| {
            tracing::error!(%error, "cannot look at a client of MCP again");
            None
        });
        let is_turn = admitted.as_ref()?.pass.is_some();
        let toolbox = Toolbox::of(&self.app, admitted?, self.registry, self.lane());
        // A pass ends without an entry.
        self.seen = (!is_turn).then(|| ToolListState {
            toolbox: toolbox.clone(),
            newest_entry,
            at: Instant::now(),
        });
        Some(toolbox)
    }
}

/// The tools of one caller, and the lane in which the store works for them: the SDK calls them in a task of
/// its own, which is in nobody's.
#[derive(Clone)]
pub(crate) struct Toolbox {
    holder: ToolHolder,
    lane: Option<Lane>,
}

#[derive(Clone)]
enum ToolHolder {
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
    pub(crate) fn of(
        app: &App,
        admitted: Admitted,
        registry: &'static Registry,
        lane: Option<Lane>,
    ) -> Self {
        let holder = match admitted.pass {
            Some(pass) => ToolHolder::Turn(pass),
            None => ToolHolder::Agent {
                control: app.control().clone(),
                ctx: admitted.ctx,
                registry,
            },
        };
        Self { holder, lane }
    }

    /// The same for another call, which has a name of its own on the record.
    fn again(&self) -> Self {
        let mut again = self.clone();
        if let ToolHolder::Agent { control, ctx, .. } = &mut again.holder
            && let Ok(request_id) = new_request_id(control)
        {
            ctx.request_id = request_id;
        }
        again
    }

    fn tools(&self) -> Vec<&'static Tool> {
        match &self.holder {
            ToolHolder::Agent { ctx, registry, .. } => registry.for_caller(ctx).collect(),
            ToolHolder::Turn(pass) => pass.tools().to_vec(),
        }
    }

    /// Uses a tool that no registry has to offer, for a resource. A turn has none.
    async fn use_tool(
        &self,
        tool: &Tool,
        arguments: Map<String, Value>,
    ) -> Result<Outcome, ToolError> {
        match &self.holder {
            ToolHolder::Turn(_) => Err(ToolError::new(
                FailureCode::NotFound,
                "a turn has its tools and no resources",
            )),
            ToolHolder::Agent { control, ctx, .. } => {
                lanes::run_in(self.lane.clone(), outside(control, ctx, tool, arguments)).await
            }
        }
    }

    /// `None`: it works in a turn.
    const fn client(&self) -> Option<&Ctx> {
        match &self.holder {
            ToolHolder::Agent { ctx, .. } => Some(ctx),
            ToolHolder::Turn(_) => None,
        }
    }

    /// `None`: there is no such tool here. One that the caller may not use refuses by its own rule, with
    /// the reason; in a turn even a wrong name counts.
    async fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Option<Result<Outcome, String>> {
        lanes::run_in(self.lane.clone(), self.call_in_lane(name, arguments)).await
    }

    async fn call_in_lane(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Option<Result<Outcome, String>> {
        let outcome = match &self.holder {
            ToolHolder::Turn(pass) => pass.call(name, arguments).await,
            ToolHolder::Agent {
                control,
                ctx,
                registry,
            } => outside(control, ctx, registry.get(name)?, arguments).await,
        };
        Some(match outcome {
            Ok(outcome) if outcome.is_denied => Err(denied(&outcome.value)),
            Ok(outcome) => Ok(outcome),
            Err(error) => Err(told(&error)),
        })
    }
}

/// Marks the token by what it is told, which the tool sees to.
async fn outside(
    control: &Control,
    ctx: &Ctx,
    tool: &Tool,
    arguments: Map<String, Value>,
) -> Result<Outcome, ToolError> {
    let (taint, notes, scope) = (Taint::clean(), Notes::default(), Scope::outside());
    tool.call(control, ctx, &taint, &scope, &notes, arguments)
        .await
}

/// A request that was turned down, as any other failure: a stable word first.
fn denied(value: &Value) -> String {
    let member = |name: &str| value.get(name).and_then(Value::as_str);
    let reason = member("reason").unwrap_or("refused");
    let meaning = member("meaning").unwrap_or_default();
    match member("code") {
        Some(code) => format!("{reason}: {meaning} Its code is {code}."),
        None => format!("{reason}: {meaning}"),
    }
}

fn unknown_tool(name: &str) -> ErrorData {
    let name = text::escaped(text::cut(name, QUOTED_BYTES_MAX));
    ErrorData::invalid_params(format!("Unknown tool: {name}"), None)
}

/// A sentence; the SDK would answer with the bare name.
fn unknown_method(name: &str) -> ErrorData {
    let name = text::escaped(text::cut(name, QUOTED_BYTES_MAX));
    let message = format!("there is no method \"{name}\" here; tools/list and tools/call are");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

/// What a client reads of a tool that failed.
fn told(error: &ToolError) -> String {
    format!("{}: {}", error.code, error.message)
}

impl ServerHandler for Toolbox {
    fn get_info(&self) -> ServerConfig {
        let server = Implementation::new("void", env!("CARGO_PKG_VERSION")).with_title("Void");
        let offered = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_completions()
            .build();
        ServerConfig::new(offered)
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
            Some(Ok(outcome)) => CallToolResult::structured(outcome.value.into_value()),
            Some(Err(told)) => CallToolResult::error(vec![ContentBlock::text(told)]),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = self.client().map(resources::lists);
        Ok(ListResourcesResult::with_all_items(
            listed.unwrap_or_default(),
        ))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let listed = self.client().map(resources::templates);
        let listed = listed.unwrap_or_default();
        Ok(ListResourceTemplatesResult::with_all_items(listed))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = resources::read(self, &request.uri).await;
        read.map(Into::into)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let listed = self.client().map(prompts::listed);
        Ok(ListPromptsResult::with_all_items(
            listed.unwrap_or_default(),
        ))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let got = prompts::get(self, &request.name, arguments).await;
        got.map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let (argument, begins) = (&request.argument.name, &request.argument.value);
        let found = match &request.r#ref {
            Reference::Prompt(prompt) => prompts::completed(self, &prompt.name, argument, begins),
            Reference::Resource(template) => resources::is_template(&template.uri)
                .then(|| resources::completed(self, &template.uri, begins)),
            _ => None,
        };
        let found = found.ok_or_else(|| {
            ErrorData::invalid_params("there is no such argument to complete", None)
        })?;
        let (total, more) = (found.len(), found.len() > CompletionInfo::MAX_VALUES);
        let shown = found.into_iter().take(CompletionInfo::MAX_VALUES).collect();
        let info = CompletionInfo::with_pagination(shown, u32::try_from(total).ok(), more);
        info.map(CompleteResult::new)
            .map_err(|error| ErrorData::internal_error(error, None))
    }

    #[expect(
        deprecated,
        reason = "older revisions have it, and the SDK answers with the bare name"
    )]
    async fn set_level(
        &self,
        _: rmcp::model::SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Err(unknown_method(SetLevelRequestMethod::VALUE))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(unknown_method(&request.method))
    }

    async fn on_initialized(&self, _: NotificationContext<RoleServer>) {}
}
