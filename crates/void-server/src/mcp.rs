//! MCP: the tool registry for clients outside. The protocol is the official SDK's; what a tool is and
//! who may use it is decided where it always is.
//!
//! Outside a turn nobody knows what a client does with what it has read, so content that a stranger
//! could have written is not handed out there. Nothing here approves anything.

mod calls;
mod listings;
pub(crate) mod messages;
pub(crate) mod progress;
pub(crate) mod streams;

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, ConstString as _, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, ErrorData, Implementation, InitializeRequestParams, InitializeResult,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    SetLevelRequestMethod,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value};
use void_agent::tools::{Notes, Outcome, Registry, Tool, ToolError};
use void_agent::turns::Pass;
use void_control::callers::new_request_id;
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

/// What a look showed, and how far the events were before it.
struct ToolListState {
    toolbox: Toolbox,
    newest_event: u64,
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
        let looking = access::admit_tools(&self.app, self.token.expose());
        let admitted = lanes::run_in(self.lane(), looking).await;
        let admitted = admitted.unwrap_or_else(|error| {
            tracing::error!(%error, "cannot look at a client of MCP again");
            None
        });
        let is_turn = admitted.as_ref()?.pass.is_some();
        let toolbox = Toolbox::of(&self.app, admitted?, self.registry, self.lane());
        // A turn ends without an event.
        self.seen = (!is_turn).then(|| ToolListState {
            toolbox: toolbox.clone(),
            newest_event,
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
            } => {
                let tool = registry.get(name)?;
                let (taint, notes) = (Taint::clean(), Notes::default());
                let outcome = tool.call(control, ctx, &taint, &notes, arguments).await;
                outcome.and_then(without_foreign)
            }
        };
        Some(match outcome {
            Ok(outcome) if outcome.is_denied => Err(denied(&outcome.value)),
            Ok(outcome) => Ok(outcome),
            Err(error) => Err(told(&error)),
        })
    }

    /// Whether what a machine wrote is kept from this caller.
    const fn withholds(&self) -> bool {
        matches!(self.holder, ToolHolder::Agent { .. })
    }
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

fn without_foreign(outcome: Outcome) -> Result<Outcome, ToolError> {
    match &outcome.foreign {
        None => Ok(outcome),
        Some(source) => Err(ToolError::new(
            FailureCode::ForeignWithheld,
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
        let offered = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
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
        let withheld = self.withholds();
        let listed = self.tools().into_iter();
        let listed = listed.filter_map(|tool| listings::of(tool, withheld));
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
            Some(Err(told)) => CallToolResult::error(vec![ContentBlock::text(told)]),
        };
        Ok(result.into())
    }

    // Prompts and resources: there are none yet, and the SDK's answer is an empty list.

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(unknown_method(CompleteRequestMethod::VALUE))
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
