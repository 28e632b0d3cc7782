//! `/api/spaces`: what holds pages, tasks, refs and projects together, and the conversation that goes on in each. Reading,
//! throwing away and older revisions of one are in `entities.rs` and `revisions.rs`.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, patch, post};
use serde::Deserialize;
use void_api::agents::ConversationResponse;
use void_api::entities::TEXT_REQUEST_BYTES_MAX;
use void_api::entity_responses::EntityResponse;
use void_api::spaces::{NewSpaceRequest, SpaceChangeRequest, SpaceResponse, SpacesResponse};
use void_control::conversations;
use void_domain::knowledge::{EntityKind, FieldsPatch};

use super::agents;
use super::conversations::{agent_in, turn_error};
use super::entities::{
    HeadResponse, InSpace, ListQuery, Members, Named, WITH_DELETED, change, heads, make,
};
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Query};
use crate::table::{Access, CURSOR, LIMIT, Parameter, Route, json, schema};

const AGENT: Parameter = Parameter {
    name: "agent",
    kind: "string",
    meaning: "whom to talk to; who answers in that space, if left out",
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/spaces",
        access: Access::Knowledge,
        operation: "listSpaces",
        summary: "All spaces, what was changed last first",
        query: &[WITH_DELETED, CURSOR, LIMIT],
        request: None,
        response: json::<SpacesResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/spaces",
        access: Access::Owner,
        operation: "createSpace",
        summary: "Make a space",
        query: &[],
        request: Some(schema::<NewSpaceRequest>),
        response: json::<SpaceResponse>(),
        handler: || post(create),
    },
    Route {
        method: "PATCH",
        path: "/api/spaces/{id}",
        access: Access::Owner,
        operation: "changeSpace",
        summary: "Change a space; what is left out stays, and if it was changed meanwhile nothing is",
        query: &[],
        request: Some(schema::<SpaceChangeRequest>),
        response: json::<SpaceResponse>(),
        handler: || patch(update),
    },
    Route {
        method: "GET",
        path: "/api/spaces/{id}/conversation",
        access: Access::Owner,
        operation: "getSpaceConversation",
        summary: "The conversation of a space with an agent, about nothing in particular: found, or made",
        query: &[AGENT],
        request: None,
        response: json::<ConversationResponse>(),
        handler: || get(conversation),
    },
    Route {
        method: "POST",
        path: "/api/spaces/{id}/conversation",
        access: Access::Owner,
        operation: "beginSpaceConversation",
        summary: "Begin a new conversation of a space with an agent; the older ones stay",
        query: &[AGENT],
        request: None,
        response: json::<ConversationResponse>(),
        handler: || post(begin_conversation),
    },
];

pub(crate) async fn list(
    State(app): State<App>,
    Caller(ctx): Caller,
    Query(query): Query<ListQuery>,
) -> Result<Json<SpacesResponse>, ApiError> {
    let wanted = query.wanted(EntityKind::Space, None)?;
    let space_of = |head| match head {
        HeadResponse::Space(space) => Some(space),
        HeadResponse::Project(_)
        | HeadResponse::Page(_)
        | HeadResponse::Task(_)
        | HeadResponse::Ref(_) => None,
    };
    let (spaces, next) = heads(&app, &ctx, wanted, space_of).await?;
    Ok(Json(SpacesResponse { spaces, next }))
}

pub(crate) async fn create(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<NewSpaceRequest, TEXT_REQUEST_BYTES_MAX>,
) -> Result<Json<EntityResponse>, ApiError> {
    let mut members = Members::default();
    let patch = FieldsPatch {
        title: members.title(request.title),
        body: members.body(request.body),
        agent: members.agent(request.agent.map(Some)),
        ..FieldsPatch::default()
    };
    members.end()?;
    let new = (EntityKind::Space, patch);
    make(&app, &ctx, None, new, request.reason).await
}

pub(crate) async fn update(
    State(app): State<App>,
    Caller(ctx): Caller,
    Named(id): Named,
    Body(request): Body<SpaceChangeRequest, TEXT_REQUEST_BYTES_MAX>,
) -> Result<Json<EntityResponse>, ApiError> {
    let mut members = Members::default();
    let patch = FieldsPatch {
        title: members.title(request.title),
        body: members.body(request.body),
        agent: members.agent(request.agent),
        ..FieldsPatch::default()
    };
    members.end()?;
    let base = request.base_revision;
    change(&app, &ctx, id, base, (patch, request.reason)).await
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConversationQuery {
    agent: Option<String>,
}

pub(crate) async fn conversation(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    Query(query): Query<ConversationQuery>,
) -> Result<Json<ConversationResponse>, ApiError> {
    let agent = &agent_in(&app, &ctx, Some(space), query.agent.as_deref()).await?;
    let slug = agent.persona.slug.as_str();
    let found = conversations::ambient(app.control(), &ctx, space, slug).await;
    let place = found.map_err(turn_error)?.into();
    agents::conversation_response(&app, agent, place)
        .await
        .map(Json)
}

/// Begins a new conversation; the older ones stay.
pub(crate) async fn begin_conversation(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    Query(query): Query<ConversationQuery>,
) -> Result<Json<ConversationResponse>, ApiError> {
    let agent = agent_in(&app, &ctx, Some(space), query.agent.as_deref()).await?;
    let slug = agent.persona.slug.as_str();
    let begun = conversations::begin_ambient(app.control(), &ctx, space, slug).await;
    let place = begun.map_err(turn_error)?.into();
    agents::conversation_response(&app, &agent, place)
        .await
        .map(Json)
}
