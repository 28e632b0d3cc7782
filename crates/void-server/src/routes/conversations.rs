//! `/api/conversations`: what was said, saying something, and listening to the answer.

mod responses;

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{delete, get, post};
use serde::Deserialize;
use void_agent::agents::Agent;
use void_api::agents::{ConversationResponse, SayRequest, ViewRequest};
use void_api::conversations::{
    AttachRequest, AttachedConversation, AttachedConversationsResponse,
    ConversationDeletedResponse, ExportedConversation, MessageResponse, MessagesResponse,
    RetryRequest, StartedResponse,
};
use void_control::Ctx;
use void_control::conversations::{self, TurnError};
use void_control::knowledge;
use void_domain::agents::AgentName;
use void_domain::conversations::{
    Conversation, ConversationSubject, MessageView, Said, SearchedWords,
};
use void_domain::failures::FailureCode;
use void_domain::ids::{ConversationId, MessageId, SpaceId};
use void_domain::knowledge::{Details, EntityId, EntityKind};
use void_domain::limits::MESSAGE_BYTES_MAX;

use self::responses::{about, exported_response, message_response};
use super::agents;
use super::entities::knowledge_error;
use crate::access::Admitted;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Query, Segment, page_rows, parse_cursor};
use crate::streams::{self, TextAs, TurnFrom, TurnProgress};
use crate::table::{Access, CURSOR, Content, LIMIT, Parameter, Route, json, schema};

const SPACE: Parameter = Parameter {
    name: "space",
    kind: "string",
    meaning: "all that belong to this space; or say kind and id",
};
const KIND: Parameter = Parameter {
    name: "kind",
    kind: "string",
    meaning: "of what they are about: space, project, page, task, ref, service or action",
};
const ABOUT_ID: Parameter = Parameter {
    name: "id",
    kind: "string",
    meaning: "of what they are about",
};

pub(super) const WORDS: Parameter = Parameter {
    name: "q",
    kind: "string",
    meaning: "words that were said in it: all of them, wherever; eight at most",
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/conversations",
        access: Access::Owner,
        operation: "listAttachedConversations",
        summary: "Conversations of a space, or about something, in which something was said, newest first",
        query: &[SPACE, KIND, ABOUT_ID, WORDS, CURSOR, LIMIT],
        request: None,
        response: json::<AttachedConversationsResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/conversations",
        access: Access::Owner,
        operation: "attachConversation",
        summary: "The conversation about a page, a task, a service, …: found, or made",
        query: &[],
        request: Some(schema::<AttachRequest>),
        response: json::<ConversationResponse>(),
        handler: || post(attach),
    },
    Route {
        method: "GET",
        path: "/api/conversations/{id}/export",
        access: Access::Owner,
        operation: "exportConversation",
        summary: "All of a conversation, to be kept elsewhere",
        query: &[],
        request: None,
        response: json::<ExportedConversation>(),
        handler: || get(export),
    },
    Route {
        method: "DELETE",
        path: "/api/conversations/{id}",
        access: Access::Owner,
        operation: "deleteConversation",
        summary: "Take a conversation away for good, with all that was said in it; the record keeps what was done",
        query: &[],
        request: None,
        response: json::<ConversationDeletedResponse>(),
        handler: || delete(remove),
    },
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
                meaning: "the turn's message, or the one that it answers; the newest turn if left out",
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

/// Who answers in a space for which the owner chose nobody, if there is such an agent.
const COMPANION: &str = "companion";

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
            space_id: conversation.space_id.map(|id| id.to_string()),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AttachedQuery {
    space: Option<String>,
    kind: Option<String>,
    id: Option<String>,
    q: Option<String>,
    cursor: Option<String>,
    limit: Option<u32>,
}

pub(crate) async fn list(
    State(app): State<App>,
    Query(query): Query<AttachedQuery>,
) -> Result<Json<AttachedConversationsResponse>, ApiError> {
    let cursor: Option<ConversationId> = parse_cursor(query.cursor.as_deref())?;
    let (control, rows) = (app.control(), page_rows(query.limit)?);
    let words = searched(query.q.as_deref())?;
    let page = match (query.space, query.kind, query.id) {
        (Some(space), None, None) => {
            let space: SpaceId = (space.parse())
                .map_err(|_| ApiError::invalid_field("space", "must be the id of a space"))?;
            conversations::list_in(control, space, words, cursor, rows).await?
        }
        (None, Some(kind), Some(id)) => {
            let about = subject(&kind, &id)?;
            conversations::list_about(control, about, words, cursor, rows).await?
        }
        _ => {
            let problem = "say either space, or kind and id";
            return Err(ApiError::invalid_field("space", problem));
        }
    };
    let conversations = page.items.into_iter().map(|found| {
        let one = found.summary;
        AttachedConversation {
            conversation_id: one.id.to_string(),
            agent: one.agent,
            about: one.about.as_ref().map(about),
            created_at: one.created_at.to_string(),
            last_at: one.last_at.to_string(),
            messages: one.message_count,
            words: one.words,
            found: found.part,
        }
    });
    Ok(Json(AttachedConversationsResponse {
        conversations: conversations.collect(),
        next: page.next,
    }))
}

/// The words that are looked for, if any are.
pub(super) fn searched(words: Option<&str>) -> Result<Option<SearchedWords>, ApiError> {
    let parse = |words: &str| {
        SearchedWords::parse(words)
            .ok_or_else(|| ApiError::invalid_field("q", "must be 1 to 8 words"))
    };
    words.map(parse).transpose()
}

fn subject(kind: &str, id: &str) -> Result<ConversationSubject, ApiError> {
    ConversationSubject::parse(kind, id)
        .ok_or_else(|| ApiError::not_found("there is nothing of that kind and id"))
}

/// Whom the owner talks to: whoever is named, or who answers in that space.
pub(super) async fn agent_in(
    app: &App,
    ctx: &Ctx,
    space: Option<SpaceId>,
    named: Option<&str>,
) -> Result<Arc<Agent>, ApiError> {
    if let Some(named) = named {
        return agents::find(app, named);
    }
    let chosen = match space {
        Some(id) => {
            let found = knowledge::find(app.control(), ctx, EntityId::Space(id)).await;
            let found = found.map_err(|error| knowledge_error(error, EntityKind::Space))?;
            agent_name(&found.head.details).and_then(|name| app.talk().find(name))
        }
        None => None,
    };
    match chosen.or_else(|| app.talk().find(COMPANION)) {
        Some(agent) => Ok(agent),
        None => agents::find(app, agents::LITTLE_BLUE),
    }
}

fn agent_name(details: &Details) -> Option<&str> {
    match details {
        Details::Space(space) => space.agent.as_ref().map(AgentName::as_str),
        Details::Project | Details::Page(_) | Details::Task(_) | Details::Ref(_) => None,
    }
}

pub(crate) async fn attach(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<AttachRequest>,
) -> Result<Json<ConversationResponse>, ApiError> {
    let (Some(kind), Some(id)) = (request.kind, request.id) else {
        return Err(ApiError::invalid_field("kind", "say kind and id"));
    };
    let about = subject(&kind, &id)?;
    let space = match &about {
        ConversationSubject::Entity(id) => {
            let found = knowledge::find(app.control(), &ctx, *id).await;
            let found = found.map_err(|error| knowledge_error(error, id.kind()))?;
            Some(found.head.space_id)
        }
        ConversationSubject::Service(_) | ConversationSubject::Action(_) => None,
    };
    let agent = &agent_in(&app, &ctx, space, request.agent.as_deref()).await?;
    let slug = agent.persona.slug.as_str();
    let found = conversations::about(app.control(), &ctx, slug, about).await;
    let place = found.map_err(turn_error)?.into();
    agents::conversation_response(&app, agent, place)
        .await
        .map(Json)
}

pub(crate) async fn export(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
) -> Result<Json<ExportedConversation>, ApiError> {
    let exported = conversations::export(app.control(), &ctx, parse_id(&id)?).await;
    Ok(Json(exported_response(exported.map_err(turn_error)?)))
}

pub(crate) async fn remove(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
) -> Result<Json<ConversationDeletedResponse>, ApiError> {
    let removed = conversations::delete(app.control(), &ctx, parse_id(&id)?).await;
    removed.map_err(turn_error)?;
    Ok(Json(ConversationDeletedResponse { deleted: true }))
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

async fn started_response(
    app: &App,
    started: &void_agent::turns::Started,
) -> Result<StartedResponse, ApiError> {
    let said = said_before(app, started.message_id).await?;
    Ok(StartedResponse {
        conversation_id: started.conversation.id.to_string(),
        message_id: said.map(|id| id.to_string()),
        assistant_message_id: started.message_id.to_string(),
    })
}

/// What the owner said that this turn answers. It may be gone where retention took it.
async fn said_before(app: &App, turn: MessageId) -> Result<Option<MessageId>, ApiError> {
    let Some(answer) = conversations::message(app.control(), turn).await? else {
        return Ok(None);
    };
    let (conversation, seq) = (answer.conversation_id, Some(answer.seq));
    let before = conversations::messages(app.control(), conversation, seq, 1).await?;
    let said = before.into_iter().next();
    Ok(said
        .filter(|message| matches!(message.said, Said::ByOwner))
        .map(|message| message.id))
}

/// What the owner says that they look at. Whether it is there, and here, is for the turn to find out.
pub(super) fn looked_at(view: Option<ViewRequest>) -> Result<Option<MessageView>, ApiError> {
    let Some(view) = view else {
        return Ok(None);
    };
    let (Some(kind), Some(id)) = (view.entity_type, view.entity_id) else {
        return Err(ApiError::invalid_field(
            "view",
            "say entityType and entityId",
        ));
    };
    let view = MessageView::parse(&kind, &id);
    let view = view.ok_or_else(|| ApiError::not_found("nothing of that kind and id can be seen"));
    view.map(Some)
}

/// Says something; the answer is written whether or not anybody listens.
pub(crate) async fn say(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
    Body(request): Body<SayRequest>,
) -> Result<Json<StartedResponse>, ApiError> {
    let conversation = find(&app, &id).await?;
    let agent = &agent_of(&app, &conversation)?;
    let (id, view) = (conversation.id, looked_at(request.view)?);
    let said = app
        .talk()
        .say_looking_at(&ctx, agent, id, request.text, view);
    let started = said.await.map_err(turn_error)?;
    started_response(&app, &started).await.map(Json)
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
    let agent = &agent_of(&app, &conversation)?;
    let message = match &request.message_id {
        Some(text) => find_turn(&app, &conversation, text).await?,
        None => newest_turn(&app, &conversation).await?,
    };
    let started = app.talk().retry(&ctx, agent, message).await;
    let started = started.map_err(turn_error)?;
    started_response(&app, &started).await.map(Json)
}

fn unknown() -> ApiError {
    ApiError::not_found("there is no such conversation")
}

fn parse_id(id: &str) -> Result<ConversationId, ApiError> {
    id.parse().map_err(|_| unknown())
}

async fn find(app: &App, id: &str) -> Result<Conversation, ApiError> {
    conversations::find(app.control(), parse_id(id)?)
        .await?
        .ok_or_else(unknown)
}

fn agent_of(app: &App, conversation: &Conversation) -> Result<Arc<Agent>, ApiError> {
    agents::find(app, &conversation.agent)
}

/// A turn of this conversation, and of no other: by its own message, or by what it answers.
async fn find_turn(
    app: &App,
    conversation: &Conversation,
    id: &str,
) -> Result<MessageId, ApiError> {
    let unknown = || ApiError::not_found("there is no such turn in this conversation");
    let id: MessageId = id.parse().map_err(|_| unknown())?;
    let found = conversations::message(app.control(), id).await?;
    let message = found.filter(|message| message.conversation_id == conversation.id);
    let message = message.ok_or_else(unknown)?;
    match message.said {
        Said::ByAgent(_) => Ok(message.id),
        Said::ByOwner => {
            let behind = message.seq.saturating_add(2);
            let next = conversations::messages(app.control(), conversation.id, Some(behind), 1);
            let next = next.await?.into_iter().next();
            next.filter(|next| matches!(next.said, Said::ByAgent(_)))
                .map(|next| next.id)
                .ok_or_else(unknown)
        }
    }
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
