//! Tools: what an agent can do, registered once and served to chat and MCP alike.
//!
//! A tool's arguments are a type: its schema is shown to models, and nothing that does not fit the type
//! reaches the handler. Handlers run as the agent, so what it may is decided where everything else is:
//! in the use cases. No tool approves anything, and none takes a command.

mod actions;
mod activity;
mod agent_configs;
mod context;
mod entities;
mod given;
mod lists;
mod lookups;
mod machines;
mod proposals;
mod propose_change;
mod read;
mod record;
mod scopes;
mod search;
mod services;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use void_control::audit::ReadError;
use void_control::{Control, Ctx, StoreError, lanes, token_taints};
use void_domain::capabilities::Capability;
use void_domain::failures::FailureCode;
use void_domain::ids::ProposalId;
use void_domain::taint::Taint;

pub use self::given::Given;
pub use self::lists::LIST;
pub use self::scopes::{ForeignText, Scope};

/// Every tool there is, in the order in which it is offered. Which of them somebody has follows from what they
/// may, and from where they ask.
pub static TOOLS: [&Tool; 15] = [
    &services::SERVICE_STATUS,
    &actions::LIST_ACTIONS,
    &actions::PROPOSE_ACTION,
    &proposals::PROPOSAL_STATUS,
    &proposals::WITHDRAW_PROPOSAL,
    &search::SEARCH,
    &read::READ,
    &context::CONTEXT,
    &propose_change::PROPOSE_CHANGE,
    &record::READ_RECORD,
    &activity::RECENT_ACTIVITY,
    &agent_configs::REQUEST_INIT_CONFIG,
    &agent_configs::WRITE_CONFIG,
    &agent_configs::REQUEST_APPLY_COMMIT,
    &agent_configs::REQUEST_UPDATE_META_INPUTS,
];

/// The tool of this name, for what is not offered as a tool.
pub fn named(name: &str) -> Option<&'static Tool> {
    TOOLS.into_iter().find(|tool| tool.name == name)
}

/// The tools of an agent in a conversation that the owner leads.
pub fn for_chat(ctx: &Ctx) -> impl Iterator<Item = &'static Tool> + '_ {
    TOOLS.into_iter().filter(|tool| tool.is_for(ctx))
}

/// What older agents called to make a child at once.
const GONE: [&str; 3] = ["request_spawn", "RequestSpawn", "requestSpawn"];

/// Why a call of a tool that was not offered does nothing: it is not for this caller, who is told what is left to them, or there
/// is none of that name.
pub(crate) fn not_offered(ctx: &Ctx, name: &str) -> ToolError {
    let Some(tool) = TOOLS.into_iter().find(|tool| tool.name == name) else {
        if GONE.contains(&name) {
            let message = "this is gone; request_init_config asks for a child, which waits for the owner; nothing was done";
            return ToolError::new(FailureCode::UnknownTool, message);
        }
        let message = "there is no such tool here; nothing was done";
        return ToolError::new(FailureCode::UnknownTool, message);
    };
    let has = |capability| ctx.capabilities.has(capability);
    let left = match (has(Capability::Act), has(Capability::Suggest)) {
        (true, true) => "propose actions and draft changes",
        (true, false) => "look and propose actions",
        (false, true) => "look and draft changes, which wait for the owner",
        (false, false) => "look",
    };
    let denied = tool.denied();
    let message = format!("{denied}; nothing was done. Say that you can only {left}");
    ToolError::new(denied.code, message)
}

/// A selection of tools that a client of MCP asks for by name: nobody gets a tool by it that they may not use.
pub struct Registry {
    pub name: &'static str,
    pub tools: &'static [&'static Tool],
}

/// The selections that can be asked for by name.
pub static REGISTRIES: [Registry; 3] = [
    Registry {
        name: "blue",
        tools: &[
            &services::SERVICE_STATUS,
            &actions::LIST_ACTIONS,
            &actions::PROPOSE_ACTION,
            &proposals::PROPOSAL_STATUS,
            &proposals::WITHDRAW_PROPOSAL,
            &search::SEARCH,
        ],
    },
    Registry {
        name: "security",
        tools: &[
            &services::SERVICE_STATUS,
            &actions::LIST_ACTIONS,
            &proposals::PROPOSAL_STATUS,
            &search::SEARCH,
            &record::READ_RECORD,
        ],
    },
    Registry {
        name: "companion",
        tools: &[
            &search::SEARCH,
            &read::READ,
            &context::CONTEXT,
            &propose_change::PROPOSE_CHANGE,
        ],
    },
];

impl Registry {
    pub fn named(name: &str) -> Option<&'static Self> {
        REGISTRIES.iter().find(|registry| registry.name == name)
    }

    /// The tools that a caller with these rights can use at all.
    pub fn for_caller<'a>(&self, ctx: &'a Ctx) -> impl Iterator<Item = &'static Tool> + 'a {
        let tools = self.tools;
        tools.iter().copied().filter(|tool| tool.is_for(ctx))
    }

    pub fn get(&self, name: &str) -> Option<&'static Tool> {
        self.tools.iter().copied().find(|tool| tool.name == name)
    }
}

pub struct Tool {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// One of them is enough.
    pub needs: &'static [Capability],
    pub effect: Effect,
    /// The JSON schemas of its arguments and of its result.
    pub arguments: fn() -> Value,
    pub result: fn() -> Value,
    run: fn(Call) -> RunningTool,
}

/// What a tool can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It looks.
    Reads,
    /// It may make a proposal, and a safe one runs.
    Proposes,
    /// It may make a proposal that waits whatever its caller may: it can apply nothing.
    Drafts,
    /// It may take back a proposal of the caller's own that still waits.
    Withdraws,
}

/// One use of a tool.
pub struct Call {
    pub control: Control,
    pub ctx: Ctx,
    /// What the caller has read so far that a stranger could have written.
    pub taint: Taint,
    pub scope: Scope,
    notes: Notes,
    arguments: Map<String, Value>,
}

/// The proposals that a caller has made. One that is being made is noted even if nobody waits for
/// the call any more.
#[derive(Debug, Clone)]
pub struct Notes(Arc<Noted>);

#[derive(Debug)]
struct Noted {
    ids: Mutex<Vec<ProposalId>>,
    /// Those that it only looked at.
    seen: Mutex<Vec<ProposalId>>,
    making: watch::Sender<Makings>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Makings {
    /// How many are being made now.
    open: usize,
    /// No more may begin.
    closed: bool,
}

impl Default for Notes {
    fn default() -> Self {
        Self(Arc::new(Noted {
            ids: Mutex::default(),
            seen: Mutex::default(),
            making: watch::Sender::new(Makings::default()),
        }))
    }
}

impl Notes {
    pub(crate) fn add(&self, id: ProposalId) {
        let mut ids = self.0.ids.lock().unwrap_or_else(PoisonError::into_inner);
        if !ids.contains(&id) {
            ids.push(id);
        }
    }

    fn add_seen(&self, id: ProposalId) {
        let mut seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !seen.contains(&id) {
            seen.push(id);
        }
    }

    /// Those that it looked at and did not make.
    pub(crate) fn seen(&self) -> Vec<ProposalId> {
        let made = self.all();
        let seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let others = seen.iter().filter(|id| !made.contains(id));
        others.copied().collect()
    }

    pub fn all(&self) -> Vec<ProposalId> {
        let ids = self.0.ids.lock().unwrap_or_else(PoisonError::into_inner);
        ids.clone()
    }

    /// Lets something that notes a proposal come to its end, whoever still waits for it.
    async fn making<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, ToolError> {
        let Some(making) = Making::begin(self.clone()) else {
            return Err(ToolError::new(
                FailureCode::Over,
                "the turn is over; nothing was done",
            ));
        };
        // It goes on in the lane of whoever called.
        let task = tokio::spawn(lanes::run_in(lanes::current(), async move {
            let done = work.await;
            drop(making);
            done
        }));
        task.await.map_err(|_| {
            ToolError::new(
                FailureCode::Internal,
                "the call broke; proposal_status and search show what came of it",
            )
        })
    }

    /// Lets nothing more begin, and waits for what is being made.
    pub(crate) async fn close(&self) {
        let making = &self.0.making;
        making.send_modify(|makings| makings.closed = true);
        // The sender lives as long as we do, so the wait cannot fail.
        let _ = making
            .subscribe()
            .wait_for(|makings| makings.open == 0)
            .await;
    }
}

struct Making(Notes);

impl Making {
    fn begin(notes: Notes) -> Option<Self> {
        let began = notes.0.making.send_if_modified(|makings| {
            makings.open += usize::from(!makings.closed);
            !makings.closed
        });
        began.then(|| Self(notes))
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        self.0.0.making.send_modify(|makings| makings.open -= 1);
    }
}

/// What a tool gives back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    pub value: Given,
    /// A request that did not become a proposal: action id and reason.
    pub refused: Option<(String, String)>,
    /// Where foreign content in the value comes from.
    pub foreign: Vec<String>,
    /// The proposal that was made or asked about.
    pub proposal: Option<ProposalId>,
    /// If it is a draft that was made: what it changes, in the server's words.
    pub draft_summary: Option<String>,
    /// A request that was turned down at once, whether or not it became a proposal.
    pub is_denied: bool,
}

impl Outcome {
    fn of(value: impl Into<Given>) -> Self {
        Self {
            value: value.into(),
            ..Self::default()
        }
    }
}

/// Something that the model can read and react to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    pub code: FailureCode,
    pub message: String,
    /// Where foreign content in the message comes from.
    pub foreign: Option<String>,
}

impl ToolError {
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            foreign: None,
        }
    }

    /// The same, and its message may repeat something of this.
    fn having_read(self, foreign: Option<String>) -> Self {
        Self { foreign, ..self }
    }

    pub fn to_value(&self) -> Value {
        json!({"error": {"code": self.code, "message": self.message}})
    }
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "a tool could not use the store");
        Self::new(
            FailureCode::Unavailable,
            "Void's database cannot be used right now",
        )
    }
}

impl From<ReadError> for ToolError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Forbidden => Self::new(FailureCode::Forbidden, error.to_string()),
            ReadError::Store(error) => error.into(),
        }
    }
}

type RunningTool = Pin<Box<dyn Future<Output = Result<Outcome, ToolError>> + Send>>;

impl Tool {
    /// Whoever may act or suggest may also look, as everywhere else; reading the record is a right of its own.
    pub fn is_for(&self, ctx: &Ctx) -> bool {
        let has = |capability| ctx.capabilities.has(capability);
        let may_look = has(Capability::Act) || has(Capability::Suggest);
        let looks = self.needs.contains(&Capability::Read) && may_look;
        let is_enough = self.needs.iter().any(|needed| has(*needed));
        // Whoever shows a token from outside stands nowhere in the tree.
        let is_of_tree =
            self.needs.contains(&Capability::Spawn) || self.needs.contains(&Capability::MetaUpdate);
        if is_of_tree && ctx.is_from_outside {
            return false;
        }
        ctx.actor.is_owner() || is_enough || looks
    }

    fn denied(&self) -> ToolError {
        let needs: Vec<&str> = self.needs.iter().map(|needed| needed.as_str()).collect();
        let (name, needs) = (self.name, needs.join(" or "));
        let message = format!("{name} needs the capability {needs}");
        ToolError::new(FailureCode::Forbidden, message)
    }

    /// Runs it as the caller. Unfit arguments and missing rights never reach the handler. The token of a client outside is
    /// marked in the store by what it is told before it is told; a turn marks itself.
    pub async fn call(
        &self,
        control: &Control,
        ctx: &Ctx,
        taint: &Taint,
        scope: &Scope,
        notes: &Notes,
        arguments: Map<String, Value>,
    ) -> Result<Outcome, ToolError> {
        if !self.is_for(ctx) {
            return Err(self.denied());
        }
        let call = Call {
            control: control.clone(),
            ctx: ctx.clone(),
            taint: taint.clone(),
            scope: scope.clone(),
            notes: notes.clone(),
            arguments,
        };
        let called = (self.run)(call).await;
        let given = Taint::from_sources(foreign_in(&called).to_vec());
        token_taints::mark(control, ctx, &given).await?;
        called
    }
}

/// Where foreign content in an answer comes from, also in one that is an error.
pub(crate) fn foreign_in(called: &Result<Outcome, ToolError>) -> &[String] {
    match called {
        Ok(outcome) => &outcome.foreign,
        Err(error) => error.foreign.as_slice(),
    }
}

impl Call {
    /// Whether text that a stranger could have written is handed out to the caller, who is marked by it.
    fn gives_foreign_text(&self) -> bool {
        self.scope.gives_foreign_text(&self.ctx)
    }

    /// The same for text that only turned up.
    fn finds_foreign_text(&self) -> bool {
        self.scope.finds_foreign_text(&self.ctx)
    }

    fn arguments<T: DeserializeOwned>(&mut self) -> Result<T, ToolError> {
        let arguments = Value::Object(std::mem::take(&mut self.arguments));
        serde_json::from_value(arguments).map_err(|error| {
            let message = void_domain::text::escaped(&error.to_string());
            ToolError::new(FailureCode::InvalidArguments, message)
        })
    }
}

/// The schema of a type as it is read, for arguments.
fn schema<T: JsonSchema>() -> Value {
    made::<T>(SchemaSettings::default().for_deserialize())
}

/// The schema of a type as it is written, for results: what may be left out is not required.
fn written_schema<T: JsonSchema>() -> Value {
    made::<T>(SchemaSettings::default().for_serialize())
}

/// Without what models have no use for.
fn made<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    if let Value::Object(members) = &mut schema {
        members.remove("$schema");
        members.remove("title");
    }
    strip_formats(&mut schema);
    schema
}

/// Rust's widths of numbers are no formats that a client knows; the bounds that they mean stay.
fn strip_formats(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let is_rusts = |format: &Value| format.as_str().is_some_and(|it| it.contains("int"));
            if members.get("format").is_some_and(is_rusts) {
                members.remove("format");
            }
            members.values_mut().for_each(strip_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_formats),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
