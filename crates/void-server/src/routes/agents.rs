//! `/api/agents` and `/api/little-blue`: who talks here, and the conversation with each.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use serde::Deserialize;
use void_agent::agents::Agent;
use void_api::agents::{
    AgentResponse, AgentsResponse, ConversationResponse, ConversationsResponse, SayRequest,
    SummaryResponse,
};
use void_control::{Ctx, conversations};
use void_domain::capabilities::{Capabilities, Capability};
use void_domain::ids::ConversationId;
use void_domain::limits::PAGE_ROWS_DEFAULT;

use super::conversations::{ConversationPath, WORDS, looked_at, page, searched, turn_error};
use crate::access::Admitted;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Query, Segment, page_rows, parse_cursor};
use crate::streams::{self, TextAs, TurnFrom, TurnProgress};
use crate::table::{Access, CURSOR, Content, LIMIT, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/agents",
        access: Access::Owner,
        operation: "listAgents",
        summary: "Who talks here, with which brain and which budget",
        query: &[],
        request: None,
        response: json::<AgentsResponse>(),
        handler: || get(list),
    },
    Route {
        method: "GET",
        path: "/api/agents/{slug}/conversation",
        access: Access::Owner,
        operation: "getAgentConversation",
        summary: "The conversation that goes on with an agent",
        query: &[],
        request: None,
        response: json::<ConversationResponse>(),
        handler: || get(conversation),
    },
    Route {
        method: "GET",
        path: "/api/agents/{slug}/conversations",
        access: Access::Owner,
        operation: "listConversations",
        summary: "Conversations with an agent in which something was said, newest first",
        query: &[WORDS, CURSOR, LIMIT],
        request: None,
        response: json::<ConversationsResponse>(),
        handler: || get(conversations_with),
    },
    Route {
        method: "POST",
        path: "/api/agents/{slug}/conversation",
        access: Access::Owner,
        operation: "beginAgentConversation",
        summary: "Begin a new conversation; the older ones stay",
        query: &[],
        request: None,
        response: json::<ConversationResponse>(),
        handler: || post(begin),
    },
    Route {
        method: "GET",
        path: "/api/little-blue",
        access: Access::Owner,
        operation: "getLittleBlue",
        summary: "The conversation with Little Blue",
        query: &[],
        request: None,
        response: json::<ConversationResponse>(),
        handler: || get(little_blue),
    },
    Route {
        method: "POST",
        path: "/api/little-blue/turn",
        access: Access::Owner,
        operation: "sayToLittleBlue",
        summary: "Say something to Little Blue and hear her answer as events: tool, delta, draft, done or error",
        query: &[],
        request: Some(schema::<SayRequest>),
        response: Content::Text("text/event-stream"),
        handler: || post(little_blue_turn),
    },
];

pub(super) const LITTLE_BLUE: &str = "little-blue";

async fn agent_response(app: &App, agent: &Agent) -> Result<AgentResponse, ApiError> {
    let persona = &agent.persona;
    let identity = agent.identity(app.control()).await?;
    let capabilities = match &identity {
        Some(identity) if !identity.is_live() => None,
        Some(identity) => Some(identity.capabilities.clone()),
        None => Some(persona.capabilities.clone()),
    };
    let used = conversations::used_today(app.control(), persona.slug.as_str());
    let (used_tokens, used_cost_micros) = used.await?;
    Ok(AgentResponse {
        id: identity.map(|identity| identity.id.to_string()),
        slug: persona.slug.to_string().into(),
        name: persona.name.clone().into(),
        about: persona.about.clone().into(),
        brain: agent.brain_name.clone(),
        model: agent.brain.model().to_owned(),
        withdrawn: capabilities.is_none(),
        capabilities: capabilities.map(names).unwrap_or_default(),
        daily_tokens: agent.daily_tokens,
        used_tokens,
        used_cost_micros,
    })
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
        agents.push(agent_response(&app, agent).await?);
    }
    Ok(Json(AgentsResponse { agents }))
}

pub(super) async fn conversation_response(
    app: &App,
    agent: &Agent,
    place: ConversationPath,
) -> Result<ConversationResponse, ApiError> {
    let (messages, next) = page(app, place.id, None, PAGE_ROWS_DEFAULT).await?;
    Ok(ConversationResponse {
        conversation_id: place.id.to_string(),
        space_id: place.space_id,
        agent: agent_response(app, agent).await?,
        messages,
        next,
    })
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
    let agent = &find(app, slug)?;
    let current = conversations::current(app.control(), ctx, agent.persona.slug.as_str());
    let place = ConversationPath::from(current.await.map_err(turn_error)?);
    // Whoever opens a conversation is told as whom the agent acts.
    agent.ctx(app.control()).await?;
    Ok(Json(conversation_response(app, agent, place).await?))
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HistoryQuery {
    q: Option<String>,
    cursor: Option<String>,
    limit: Option<u32>,
}

/// Those in which something was said, newest first.
pub(crate) async fn conversations_with(
    State(app): State<App>,
    Segment(slug): Segment,
    Query(page): Query<HistoryQuery>,
) -> Result<Json<ConversationsResponse>, ApiError> {
    let agent = &find(&app, &slug)?;
    let cursor: Option<ConversationId> = parse_cursor(page.cursor.as_deref())?;
    let limit = page_rows(page.limit)?;
    let (slug, words) = (agent.persona.slug.as_str(), searched(page.q.as_deref())?);
    let found = conversations::list_with(app.control(), slug, words, cursor, limit).await?;
    Ok(Json(ConversationsResponse {
        conversations: found
            .items
            .into_iter()
            .map(|found| SummaryResponse {
                conversation_id: found.summary.id.to_string(),
                created_at: found.summary.created_at.to_string(),
                last_at: found.summary.last_at.to_string(),
                messages: found.summary.message_count,
                words: found.summary.words,
                found: found.part,
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
    let agent = &find(&app, &slug)?;
    let started = conversations::start(app.control(), &ctx, agent.persona.slug.as_str());
    let place = ConversationPath::from(started.await.map_err(turn_error)?);
    Ok(Json(conversation_response(&app, agent, place).await?))
}

/// Says something to Little Blue and streams her answer.
pub(crate) async fn little_blue_turn(
    State(app): State<App>,
    admitted: Admitted,
    Body(request): Body<SayRequest>,
) -> Result<Response, ApiError> {
    let agent = &find(&app, LITTLE_BLUE)?;
    let current = conversations::current(app.control(), &admitted.ctx, agent.persona.slug.as_str());
    let (id, view) = (
        current.await.map_err(turn_error)?.id,
        looked_at(request.view)?,
    );
    let said = app
        .talk()
        .say_looking_at(&admitted.ctx, agent, id, request.text, view);
    let started = said.await.map_err(turn_error)?;
    Ok(streams::turn(
        app.control(),
        app.talk(),
        admitted.caller,
        TurnFrom {
            message: started.message_id,
            seen: TurnProgress::default(),
            text: TextAs::Deltas,
        },
        app.shared().metrics.listener(),
    ))
}

/// One who lives here, or one with a process of its own.
pub(super) fn find(app: &App, slug: &str) -> Result<Arc<Agent>, ApiError> {
    let found = app.talk().find(slug);
    found.ok_or_else(|| {
        ApiError::not_found("there is no such agent here").hint("void agents ls shows who is")
    })
}
