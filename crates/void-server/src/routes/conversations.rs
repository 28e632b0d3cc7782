//! `/api/conversations`: what was said, saying something, and listening to the answer.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{get, post};
use serde::Deserialize;
use void_agent::agents::Agent;
use void_api::agents::SayRequest;
use void_api::conversations::{
    MessageResponse, MessagesResponse, RetryRequest, StartedResponse, StepResponse,
    TruthItemResponse, TruthResponse, TurnFailure, TurnResponse, UsageResponse,
};
use void_control::conversations::{self, TurnError};
use void_domain::conversations::{
    Conversation, Message, Said, Step, Truth, TruthItem, Turn, TurnState, Usage,
};
use void_domain::failures::FailureCode;
use void_domain::ids::{ConversationId, MessageId};
use void_domain::limits::MESSAGE_BYTES_MAX;

use super::agents;
use crate::access::Admitted;
use crate::app::App;
use crate::errors::ApiError;
use crate::markdown;
use crate::requests::{Body, Caller, Query, Segment, page_rows, parse_cursor};
use crate::streams::{self, TextAs, TurnFrom, TurnProgress};
use crate::table::{Access, CURSOR, Content, LIMIT, Parameter, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/conversations/{id}/messages",
        access: Access::Owner,
        operation: "listMessages",
        summary: "What was said, the newest page first, each page oldest first",
        query: &[CURSOR, LIMIT],
        request: None,
        response: json::<MessagesResponse>(),
        handler: || get(messages),
    },
    Route {
        method: "POST",
        path: "/api/conversations/{id}/messages",
        access: Access::Owner,
        operation: "say",
        summary: "Say something; the answer is written whether or not anybody listens",
        query: &[],
        request: Some(schema::<SayRequest>),
        response: json::<StartedResponse>(),
        handler: || post(say),
    },
    Route {
        method: "GET",
        path: "/api/conversations/{id}/stream",
        access: Access::Owner,
        operation: "streamTurn",
        summary: "A turn as events, from its beginning or after Last-Event-ID; it only reads",
        query: &[
            Parameter {
                name: "messageId",
                kind: "string",
                meaning: "the turn's message; the newest one if left out",
            },
            Parameter {
                name: "blocks",
                kind: "string",
                meaning: "true: the text comes as block events too, read into the tree that messages have",
            },
        ],
        request: None,
        response: Content::Text("text/event-stream"),
        handler: || get(stream),
    },
    Route {
        method: "POST",
        path: "/api/conversations/{id}/stop",
        access: Access::Owner,
        operation: "stopTurn",
        summary: "End the turn that runs; what it proposed stays as it is",
        query: &[],
        request: None,
        response: json::<MessageResponse>(),
        handler: || post(stop),
    },
    Route {
        method: "POST",
        path: "/api/conversations/{id}/retry",
        access: Access::Owner,
        operation: "retryTurn",
        summary: "Try the last turn again, if it failed or was stopped",
        query: &[],
        request: Some(schema::<RetryRequest>),
        response: json::<StartedResponse>(),
        handler: || post(retry),
    },
];

/// How long stopping a turn is waited for.
const STOP_WAIT: Duration = Duration::from_secs(10);

/// Which conversation, and where it belongs.
pub(super) struct ConversationPath {
    pub id: ConversationId,
    pub space_id: Option<String>,
}

impl From<Conversation> for ConversationPath {
    fn from(conversation: Conversation) -> Self {
        Self {
            id: conversation.id,
            space_id: conversation.space_id,
        }
    }
}

fn message_response(message: Message) -> MessageResponse {
    let (role, turn) = match message.said {
        Said::ByOwner => ("user", None),
        Said::ByAgent(turn) => ("assistant", Some(turn_response(*turn))),
    };
    MessageResponse {
        id: message.id.to_string(),
        conversation_id: message.conversation_id.to_string(),
        seq: message.seq,
        role: role.into(),
        blocks: markdown::read(&message.body),
        body: message.body,
        created_at: message.at.to_string(),
        turn,
    }
}

fn turn_response(turn: Turn) -> TurnResponse {
    let status = turn.state.as_str();
    let (ended_at, error) = match turn.state {
        TurnState::Running => (None, None),
        TurnState::Done { at } | TurnState::Stopped { at } => (Some(at), None),
        TurnState::Failed { at, failure } => {
            let (code, message) = (failure.code.to_string(), failure.message);
            (Some(at), Some(TurnFailure { code, message }))
        }
    };
    TurnResponse {
        status: status.into(),
        ended_at: ended_at.map(|at| at.to_string()),
        brain: turn.brain,
        model: turn.model,
        trace: turn.trace.into_iter().map(step_response).collect(),
        usage: usage_response(turn.usage),
        truth_line: turn.truth.line(),
        truth: truth_response(turn.truth),
        tainted_by: turn.tainted_by.sources().to_vec(),
        error,
    }
}

fn step_response(step: Step) -> StepResponse {
    StepResponse {
        tool: step.tool,
        args_summary: step.args_summary,
        status: step.status,
        took_ms: step.took_ms,
        result: step.result,
        proposal_id: step.proposal_id.map(|id| id.to_string()),
    }
}

fn usage_response(usage: Usage) -> UsageResponse {
    UsageResponse {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cache_read_tokens: usage.cache_read_tokens,
        cache_write_tokens: usage.cache_write_tokens,
        cost_micros: usage.cost_micros,
    }
}

fn truth_response(truth: Truth) -> TruthResponse {
    let items = |items: Vec<TruthItem>| items.into_iter().map(truth_item_response).collect();
    TruthResponse {
        ran: items(truth.ran),
        waits: items(truth.waits),
        refused: items(truth.refused),
        unverified: items(truth.unverified),
        before: truth.before.map(|before| Box::new(truth_response(*before))),
    }
}

fn truth_item_response(item: TruthItem) -> TruthItemResponse {
    TruthItemResponse {
        id: item.id,
        code: item.code,
        action_id: item.action_id,
        label: item.label,
        status: item.status,
        reason: item.reason,
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessagesQuery {
    cursor: Option<String>,
    limit: Option<u32>,
}

pub(crate) async fn messages(
    State(app): State<App>,
    Segment(id): Segment,
    Query(query): Query<MessagesQuery>,
) -> Result<Json<MessagesResponse>, ApiError> {
    let conversation = find(&app, &id).await?;
    let before = parse_cursor(query.cursor.as_deref())?;
    let rows = page_rows(query.limit)?;
    let (messages, next) = page(&app, conversation.id, before, rows).await?;
    Ok(Json(MessagesResponse { messages, next }))
}

/// The newest messages before a place, oldest of them first, and the cursor of older ones.
pub(super) async fn page(
    app: &App,
    id: ConversationId,
    before: Option<u64>,
    rows: u32,
) -> Result<(Vec<MessageResponse>, Option<String>), ApiError> {
    let page = conversations::page(app.control(), id, before, rows).await?;
    let oldest_first = page.items.into_iter().rev().map(message_response);
    Ok((oldest_first.collect(), page.next))
}

fn started_response(started: &void_agent::turns::Started) -> StartedResponse {
    StartedResponse {
        conversation_id: started.conversation.id.to_string(),
        assistant_message_id: started.message_id.to_string(),
    }
}

/// Says something; the answer is written whether or not anybody listens.
pub(crate) async fn say(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
    Body(request): Body<SayRequest>,
) -> Result<Json<StartedResponse>, ApiError> {
    let conversation = find(&app, &id).await?;
    let agent = agent_of(&app, &conversation)?;
    let started = app.talk().say(&ctx, agent, conversation.id, request.text);
    Ok(Json(started_response(&started.await.map_err(turn_error)?)))
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StreamQuery {
    #[serde(rename = "messageId")]
    message_id: Option<String>,
    #[serde(default)]
    blocks: bool,
}

/// Reads a turn: what happened so far, then the rest. Without an id the newest turn.
pub(crate) async fn stream(
    State(app): State<App>,
    admitted: Admitted,
    Segment(id): Segment,
    Query(query): Query<StreamQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let conversation = find(&app, &id).await?;
    let seen = match headers.get("last-event-id") {
        None => TurnProgress::default(),
        Some(value) => {
            let seen = value.to_str().ok().and_then(|text| text.parse().ok());
            let problem = "is not an id of this stream";
            seen.ok_or_else(|| ApiError::invalid_field("Last-Event-ID", problem))?
        }
    };
    let message = match &query.message_id {
        Some(text) => find_turn(&app, &conversation, text).await?,
        None => newest_turn(&app, &conversation).await?,
    };
    let text = if query.blocks {
        TextAs::DeltasAndBlocks
    } else {
        TextAs::Deltas
    };
    Ok(streams::turn(
        app.control(),
        app.talk(),
        admitted.caller,
        TurnFrom {
            message,
            seen,
            text,
        },
        app.shared().metrics.listener(),
    ))
}

/// Ends the turn that runs. What it had proposed stays as it is.
pub(crate) async fn stop(
    State(app): State<App>,
    Segment(id): Segment,
) -> Result<Json<MessageResponse>, ApiError> {
    let conversation = find(&app, &id).await?;
    let running = conversations::running_in(app.control(), conversation.id).await?;
    let Some(running) = running else {
        return Err(ApiError::new(
            FailureCode::NotRunning,
            "no turn is under way in this conversation",
        ));
    };
    let Some(live) = app.talk().live(running.id) else {
        return Err(ApiError::new(
            FailureCode::Busy,
            "another instance of Void is at this turn; it ends by itself within its limits",
        ));
    };
    live.stop();
    let _ = tokio::time::timeout(STOP_WAIT, live.ended()).await;
    let message = conversations::message(app.control(), running.id).await?;
    let message = message.ok_or_else(|| ApiError::not_found("there is no such message"))?;
    Ok(Json(message_response(message)))
}

/// Tries a turn again that failed or was stopped.
pub(crate) async fn retry(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
    Body(request): Body<RetryRequest>,
) -> Result<Json<StartedResponse>, ApiError> {
    let conversation = find(&app, &id).await?;
    let agent = agent_of(&app, &conversation)?;
    let message = match &request.message_id {
        Some(text) => find_turn(&app, &conversation, text).await?,
        None => newest_turn(&app, &conversation).await?,
    };
    let started = app.talk().retry(&ctx, agent, message).await;
    Ok(Json(started_response(&started.map_err(turn_error)?)))
}

async fn find(app: &App, id: &str) -> Result<Conversation, ApiError> {
    let unknown = || ApiError::not_found("there is no such conversation");
    let id: ConversationId = id.parse().map_err(|_| unknown())?;
    conversations::find(app.control(), id)
        .await?
        .ok_or_else(unknown)
}

fn agent_of<'a>(app: &'a App, conversation: &Conversation) -> Result<&'a Arc<Agent>, ApiError> {
    agents::find(app, &conversation.agent)
}

/// A turn of this conversation, and of no other.
async fn find_turn(
    app: &App,
    conversation: &Conversation,
    id: &str,
) -> Result<MessageId, ApiError> {
    let unknown = || ApiError::not_found("there is no such turn in this conversation");
    let id: MessageId = id.parse().map_err(|_| unknown())?;
    let found = conversations::message(app.control(), id).await?;
    found
        .filter(|message| message.conversation_id == conversation.id)
        .filter(|message| matches!(message.said, Said::ByAgent(_)))
        .map(|message| message.id)
        .ok_or_else(unknown)
}

async fn newest_turn(app: &App, conversation: &Conversation) -> Result<MessageId, ApiError> {
    // The last message of a conversation is always an agent's.
    let newest = conversations::messages(app.control(), conversation.id, None, 1).await?;
    let newest = newest.first().map(|message| message.id);
    newest.ok_or_else(|| ApiError::not_found("nothing was said in this conversation yet"))
}

pub(super) fn turn_error(error: TurnError) -> ApiError {
    match error {
        TurnError::OwnerOnly => ApiError::owner_only(),
        TurnError::NotFound => ApiError::not_found(error.to_string()),
        TurnError::InvalidMessage => ApiError::invalid_field(
            "text",
            format!(
                "must be 1 byte to {} KiB, and not only blanks",
                MESSAGE_BYTES_MAX / 1024
            ),
        ),
        TurnError::Busy(_) => ApiError::new(FailureCode::Busy, error.to_string())
            .hint("its stream can be read, and it can be stopped"),
        TurnError::NotRetryable => ApiError::new(FailureCode::NotRetryable, error.to_string()),
        TurnError::OverBudget { .. } => ApiError::new(FailureCode::CapReached, error.to_string())
            .hint("agents.NAME.daily_tokens in void.toml is the budget"),
        TurnError::Store(error) => error.into(),
    }
}
