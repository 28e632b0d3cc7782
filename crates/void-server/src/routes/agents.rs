//! `/api/agents` and `/api/little-blue`: who talks here, and the conversation with each.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_agent::agents::Agent;
use void_control::{Ctx, conversations};
use void_domain::capabilities::{Capabilities, Capability};
use void_domain::ids::ConversationId;
use void_domain::limits::{MESSAGE_BYTES_MAX, PAGE_ROWS_DEFAULT};

use super::actions::RecentQuery;
use super::conversations::{ConversationPath, MessageResponse, page, turn_error};
use crate::access::Admitted;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Query, Segment, page_rows, parse_cursor};
use crate::streams::{self, TurnProgress};

/// Text without a NUL that has more in it than blanks.
const SAID: &str = "^[^\\u0000]*[^\\s\\u0000\\u0085\\u200b\\ufeff\\u001c-\\u001f][^\\u0000]*$";

const LITTLE_BLUE: &str = "little-blue";

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgentsResponse {
    agents: Vec<AgentResponse>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Agent")]
pub(crate) struct AgentResponse {
    /// What `agent_id` is in the rows it asks for; null until it has acted or was talked to.
    id: Option<String>,
    slug: String,
    name: String,
    about: String,
    /// builtin, anthropic, openai, ollama or claude.
    brain: String,
    model: String,
    /// What it may do; empty if it was withdrawn.
    capabilities: Vec<String>,
    /// Whether the owner withdrew it, with its last token: it does not answer then.
    withdrawn: bool,
    /// Tokens it may use a day; null means no bound.
    daily_tokens: Option<u64>,
    /// What it used since midnight UTC.
    used_tokens: u64,
    /// In millionths of a dollar, by the prices that the owner set.
    used_cost_micros: u64,
}

impl AgentResponse {
    async fn new(app: &App, agent: &Agent) -> Result<Self, ApiError> {
        let persona = &agent.persona;
        let identity = agent.identity(app.control()).await?;
        let capabilities = match &identity {
            Some(identity) if !identity.is_live() => None,
            Some(identity) => Some(identity.capabilities.clone()),
            None => Some(persona.capabilities.clone()),
        };
        let (used_tokens, used_cost_micros) =
            conversations::used_today(app.control(), persona.slug.as_str()).await?;
        Ok(Self {
            id: identity.map(|identity| identity.id.to_string()),
            slug: persona.slug.to_string(),
            name: persona.name.clone(),
            about: persona.about.clone(),
            brain: agent.brain_name.clone(),
            model: agent.brain.model().to_owned(),
            withdrawn: capabilities.is_none(),
            capabilities: capabilities.map(names).unwrap_or_default(),
            daily_tokens: agent.daily_tokens,
            used_tokens,
            used_cost_micros,
        })
    }
}

fn names(capabilities: Capabilities) -> Vec<String> {
    Capability::ALL
        .into_iter()
        .filter(|capability| capabilities.has(*capability))
        .map(|capability| capability.to_string())
        .collect()
}

pub(crate) async fn list(State(app): State<App>) -> Result<Json<AgentsResponse>, ApiError> {
    let mut agents = Vec::new();
    for agent in app.talk().agents() {
        agents.push(AgentResponse::new(&app, agent).await?);
    }
    Ok(Json(AgentsResponse { agents }))
}

/// A conversation as it opens: its newest messages, oldest of them first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConversationResponse {
    conversation_id: String,
    space_id: Option<String>,
    agent: AgentResponse,
    messages: Vec<MessageResponse>,
    /// The cursor of older messages.
    next: Option<String>,
}

impl ConversationResponse {
    async fn new(app: &App, agent: &Agent, place: ConversationPath) -> Result<Self, ApiError> {
        let (messages, next) = page(app, place.id, None, PAGE_ROWS_DEFAULT).await?;
        Ok(Self {
            conversation_id: place.id.to_string(),
            space_id: place.space_id,
            agent: AgentResponse::new(app, agent).await?,
            messages,
            next,
        })
    }
}

pub(crate) async fn little_blue(
    State(app): State<App>,
    Caller(ctx): Caller,
) -> Result<Json<ConversationResponse>, ApiError> {
    open(&app, &ctx, LITTLE_BLUE).await
}

pub(crate) async fn conversation(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(slug): Segment,
) -> Result<Json<ConversationResponse>, ApiError> {
    open(&app, &ctx, &slug).await
}

async fn open(app: &App, ctx: &Ctx, slug: &str) -> Result<Json<ConversationResponse>, ApiError> {
    let agent = find(app, slug)?;
    let current = conversations::current(app.control(), ctx, agent.persona.slug.as_str());
    let place = ConversationPath::from(current.await.map_err(turn_error)?);
    // Whoever opens a conversation is told as whom the agent acts.
    agent.ctx(app.control()).await?;
    Ok(Json(ConversationResponse::new(app, agent, place).await?))
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConversationsResponse {
    pub conversations: Vec<SummaryResponse>,
    pub next: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ConversationSummary")]
pub(crate) struct SummaryResponse {
    pub conversation_id: String,
    pub created_at: String,
    pub last_at: String,
    pub messages: u64,
    /// How it begins.
    pub words: String,
}

/// Those in which something was said, newest first.
pub(crate) async fn conversations_with(
    State(app): State<App>,
    Segment(slug): Segment,
    Query(page): Query<RecentQuery>,
) -> Result<Json<ConversationsResponse>, ApiError> {
    let agent = find(&app, &slug)?;
    let cursor: Option<ConversationId> = parse_cursor(page.cursor.as_deref())?;
    let limit = page_rows(page.limit)?;
    let found =
        conversations::list_with(app.control(), agent.persona.slug.as_str(), cursor, limit).await?;
    Ok(Json(ConversationsResponse {
        conversations: found
            .items
            .into_iter()
            .map(|one| SummaryResponse {
                conversation_id: one.id.to_string(),
                created_at: one.created_at.to_string(),
                last_at: one.last_at.to_string(),
                messages: one.message_count,
                words: one.words,
            })
            .collect(),
        next: found.next,
    }))
}

/// Begins a new conversation; the older ones stay.
pub(crate) async fn begin(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(slug): Segment,
) -> Result<Json<ConversationResponse>, ApiError> {
    let agent = find(&app, &slug)?;
    let started = conversations::start(app.control(), &ctx, agent.persona.slug.as_str());
    let place = ConversationPath::from(started.await.map_err(turn_error)?);
    Ok(Json(ConversationResponse::new(&app, agent, place).await?))
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["text"]))]
pub(crate) struct SayRequest {
    /// What the owner says, in Markdown; something that can be seen.
    #[serde(default)]
    #[schemars(length(min = 1, max = MESSAGE_BYTES_MAX), regex(pattern = SAID))]
    #[schemars(extend("x-max-bytes" = MESSAGE_BYTES_MAX))]
    pub text: String,
}

/// Says something to Little Blue and streams her answer.
pub(crate) async fn little_blue_turn(
    State(app): State<App>,
    admitted: Admitted,
    Body(request): Body<SayRequest>,
) -> Result<Response, ApiError> {
    let agent = find(&app, LITTLE_BLUE)?;
    let current = conversations::current(app.control(), &admitted.ctx, agent.persona.slug.as_str());
    let conversation = current.await.map_err(turn_error)?;
    let started = app
        .talk()
        .say(&admitted.ctx, agent, conversation.id, request.text)
        .await
        .map_err(turn_error)?;
    Ok(streams::turn(
        app.control(),
        app.talk(),
        admitted.caller,
        started.message_id,
        TurnProgress::default(),
        app.shared().metrics.listener(),
    ))
}

pub(super) fn find<'a>(app: &'a App, slug: &str) -> Result<&'a Arc<Agent>, ApiError> {
    let found = app.talk().agent(slug);
    found.ok_or_else(|| {
        ApiError::not_found("there is no such agent here").hint("void agents ls shows who is")
    })
}
