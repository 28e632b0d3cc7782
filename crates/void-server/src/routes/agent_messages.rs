//! `/api/agents/{name}/messages` and `…/wake`: the owner looks into mailboxes and writes to agents, and a program beside an
//! agent wakes it.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use serde::Deserialize;
use void_api::agent_messages::{
    AgentMessageRequest, AgentMessageResponse, AgentMessageSentResponse, AgentWakeRequest,
    AgentWakeResponse, MailboxCountsResponse, MailboxResponse,
};
use void_control::agent_messages::{
    self, MailboxError, MailboxFilter, MailboxQuery, SendError, SendRequest, WakeError,
};
use void_domain::actors::Actor;
use void_domain::agent_messages::{
    AgentMessage, AgentMessageState, MessageContent, MessageText, OwnWake, TooManySends,
};
use void_domain::agents::AgentName;
use void_domain::failures::FailureCode;
use void_domain::taint::Taint;

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Query, Segment, page_rows};
use crate::table::{Access, CURSOR, LIMIT, Parameter, Route, json, schema};

const STATE: Parameter = Parameter {
    name: "state",
    kind: "string",
    meaning: "`open`, `acknowledged`, `dead` or `all`; all if left out",
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/agents/{name}/messages",
        access: Access::Owner,
        operation: "listAgentMessages",
        summary: "An agent's mailbox, newest first: what waits, what was read, what reaches nobody",
        query: &[STATE, CURSOR, LIMIT],
        request: None,
        response: json::<MailboxResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/agents/{name}/messages",
        access: Access::Owner,
        operation: "sendAgentMessage",
        summary: "Put a message of the owner's into an agent's mailbox",
        query: &[],
        request: Some(schema::<AgentMessageRequest>),
        response: json::<AgentMessageSentResponse>(),
        handler: || post(send),
    },
    Route {
        method: "POST",
        path: "/api/agents/{name}/wake",
        access: Access::Wake,
        operation: "wakeAgent",
        summary: "Put a word into one's own mailbox, so that one looks again",
        query: &[],
        request: Some(schema::<AgentWakeRequest>),
        response: json::<AgentWakeResponse>(),
        handler: || post(wake),
    },
];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MailboxPage {
    state: Option<String>,
    cursor: Option<String>,
    limit: Option<u32>,
}

pub(crate) async fn list(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
    Query(page): Query<MailboxPage>,
) -> Result<Json<MailboxResponse>, ApiError> {
    let agent: AgentName = name
        .parse()
        .map_err(|_| mailbox_error(MailboxError::Unknown))?;
    let not_of_list = |_| ApiError::invalid_field("cursor", "is not of this list");
    let query = MailboxQuery {
        agent: agent.clone(),
        filter: filter(page.state.as_deref())?,
        before: page
            .cursor
            .map(|cursor| cursor.parse())
            .transpose()
            .map_err(not_of_list)?,
        limit: page_rows(page.limit)?,
    };
    let mailbox = agent_messages::list(app.control(), &ctx, query).await;
    let mailbox = mailbox.map_err(mailbox_error)?;
    let messages = mailbox.messages.items.into_iter();
    Ok(Json(MailboxResponse {
        agent: agent.to_string(),
        counts: MailboxCountsResponse {
            waiting: mailbox.counts.waiting,
            delivered: mailbox.counts.delivered,
            acknowledged: mailbox.counts.acknowledged,
            dead: mailbox.counts.dead,
        },
        messages: messages.map(message_response).collect(),
        next: mailbox.messages.next,
    }))
}

fn filter(word: Option<&str>) -> Result<MailboxFilter, ApiError> {
    match word {
        None | Some("all") => Ok(MailboxFilter::All),
        Some("open") => Ok(MailboxFilter::Open),
        Some("acknowledged") => Ok(MailboxFilter::Acknowledged),
        Some("dead") => Ok(MailboxFilter::Dead),
        Some(_) => Err(ApiError::invalid_field(
            "state",
            "must be open, acknowledged, dead or all",
        )),
    }
}

fn message_response(message: AgentMessage) -> AgentMessageResponse {
    let (ended_at, why) = match message.state {
        AgentMessageState::Waiting | AgentMessageState::Delivered { .. } => (None, None),
        AgentMessageState::Acknowledged { at, .. } => (Some(at.to_string()), None),
        AgentMessageState::Dead { at, why, .. } => (Some(at.to_string()), Some(why.as_str())),
    };
    let kind = message.content.kind();
    let (text, wake) = match &message.content {
        MessageContent::Text(text) => (Some(text.as_str().to_owned()), None),
        MessageContent::Wake(cause) => (None, Some(cause.as_str())),
    };
    AgentMessageResponse {
        id: message.id.to_string(),
        from: message.sender.name().to_owned(),
        to: message.receiver.to_string(),
        key: message.key.to_string(),
        kind: kind.into(),
        text,
        wake: wake.map(Into::into),
        taint: message.taint.sources().to_vec(),
        state: message.state.as_str().into(),
        deliveries: message.state.deliveries(),
        sent_at: message.sent_at.to_string(),
        expires_at: message.expires_at.to_string(),
        ended_at,
        why: why.map(Into::into),
    }
}

pub(crate) async fn send(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
    Body(request): Body<AgentMessageRequest>,
) -> Result<Json<AgentMessageSentResponse>, ApiError> {
    let text = MessageText::parse(&request.text);
    let key = request.key.map(|key| key.parse()).transpose();
    let request = SendRequest {
        to: name
            .parse()
            .map_err(|_| send_error(SendError::OutOfReach))?,
        text: text.map_err(|why| ApiError::invalid_saying("text", why.to_string()))?,
        key: key.map_err(|_| {
            ApiError::invalid_field("key", "must be 1 to 64 of A-Z a-z 0-9 . _ : -")
        })?,
        taint: Taint::clean(),
    };
    let sent = agent_messages::send(app.control(), &ctx, request).await;
    let sent = sent.map_err(send_error)?;
    Ok(Json(AgentMessageSentResponse {
        message: message_response(sent.message),
        repeat: sent.is_repeat,
    }))
}

pub(crate) async fn wake(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
    Body(request): Body<AgentWakeRequest>,
) -> Result<Json<AgentWakeResponse>, ApiError> {
    let cause = OwnWake::parse(&request.cause)
        .ok_or_else(|| ApiError::invalid_field("cause", "must be timer, file, hook or job"))?;
    // Of another name there is nothing to wake, whoever has it.
    let is_own = matches!(&ctx.actor, Actor::Agent { name: own, .. } if own.as_str() == name);
    if !is_own {
        return Err(wake_error(WakeError::Nowhere));
    }
    let woken = agent_messages::wake(app.control(), &ctx, cause, Taint::clean()).await;
    let woken = woken.map_err(wake_error)?;
    Ok(Json(AgentWakeResponse {
        id: woken.message.id.to_string(),
        repeat: woken.is_repeat,
    }))
}

fn mailbox_error(error: MailboxError) -> ApiError {
    let message = error.to_string();
    match error {
        MailboxError::OwnerOnly => ApiError::owner_only(),
        MailboxError::Unknown => {
            ApiError::not_found(message).hint("void agents tree shows who there is")
        }
        MailboxError::Store(error) => error.into(),
    }
}

fn send_error(error: SendError) -> ApiError {
    let message = error.to_string();
    match error {
        // The owner writes to whoever stands in the tree.
        SendError::OutOfReach => ApiError::not_found("no agent of that name stands in the tree")
            .hint("void agents tree shows who there is"),
        SendError::Nowhere => ApiError::forbidden(message),
        SendError::ReceiverGone(_) => ApiError::new(FailureCode::NameWithdrawn, message),
        SendError::KeyUsed => ApiError::new(FailureCode::Used, message),
        SendError::Full(_) => ApiError::new(FailureCode::TooMany, message),
        SendError::TooMany(TooManySends { retry_after }) => {
            ApiError::held_back(&message, retry_after)
        }
        SendError::Store(error) => error.into(),
    }
}

fn wake_error(error: WakeError) -> ApiError {
    let message = error.to_string();
    match error {
        WakeError::Nowhere | WakeError::Resident(_) => ApiError::forbidden(message),
        WakeError::Full(_) => ApiError::new(FailureCode::TooMany, message),
        WakeError::TooMany(TooManySends { retry_after }) => {
            ApiError::held_back(&message, retry_after)
        }
        WakeError::Busy(error) => ApiError::too_many_rows(&error),
        WakeError::Store(error) => error.into(),
    }
}
