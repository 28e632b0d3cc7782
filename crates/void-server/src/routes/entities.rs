//! What is done with a space, a project, a page, a task and a ref alike: showing one, throwing it away, taking it back, and
//! answering for its text. Which of the five a path names is its first word; the rows say so, and what each answers.

mod lists;
mod members;
mod page_links;
mod responses;

use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::routing::{delete, get, post};
use serde::Deserialize;
use void_api::entities::{EntityDeletedResponse, VouchRequest};
use void_api::entity_responses::EntityResponse;
use void_api::pages::PageResponse;
use void_api::projects::ProjectResponse;
use void_api::refs::RefResponse;
use void_api::spaces::SpaceResponse;
use void_api::tasks::TaskResponse;
use void_control::Ctx;
use void_control::knowledge::{self, EntityUpdate, KnowledgeError, NewEntity, TextSource};
use void_domain::failures::FailureCode;
use void_domain::ids::SpaceId;
use void_domain::knowledge::{EntityId, EntityKind, FieldsPatch};

pub(crate) use self::lists::ListQuery;
pub(super) use self::lists::{PROJECT, WITH_DELETED, heads};
pub(super) use self::members::{Members, invalid_fields};
pub(super) use self::page_links::{Meaning, Meant, with_page_links};
pub(super) use self::responses::{
    HeadResponse, Shown, draft_origin, file_source, mark_reader, respond, words,
};
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Query};
use crate::table::{Access, Parameter, Route, json, schema};

pub(super) const BLOCKS: Parameter = Parameter {
    name: "blocks",
    kind: "string",
    meaning: "true: the text comes as a tree too, as messages do",
};
pub(super) const BASE: Parameter = Parameter {
    name: "base_revision",
    kind: "integer",
    meaning: "the revision that was looked at; if something else is there now, nothing is done",
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/spaces/{id}",
        access: Access::Knowledge,
        operation: "getSpace",
        summary: "A space, with its text and how much is in it",
        query: &[BLOCKS],
        request: None,
        response: json::<SpaceResponse>(),
        handler: || get(show),
    },
    Route {
        method: "GET",
        path: "/api/projects/{id}",
        access: Access::Knowledge,
        operation: "getProject",
        summary: "A project, with what names it",
        query: &[BLOCKS],
        request: None,
        response: json::<ProjectResponse>(),
        handler: || get(show),
    },
    Route {
        method: "GET",
        path: "/api/pages/{id}",
        access: Access::Knowledge,
        operation: "getPage",
        summary: "A page, with what it names and what names it",
        query: &[BLOCKS],
        request: None,
        response: json::<PageResponse>(),
        handler: || get(show),
    },
    Route {
        method: "GET",
        path: "/api/tasks/{id}",
        access: Access::Knowledge,
        operation: "getTask",
        summary: "A task",
        query: &[BLOCKS],
        request: None,
        response: json::<TaskResponse>(),
        handler: || get(show),
    },
    Route {
        method: "GET",
        path: "/api/refs/{id}",
        access: Access::Knowledge,
        operation: "getRef",
        summary: "A page of the web that is kept here, with the text that was found there",
        query: &[BLOCKS],
        request: None,
        response: json::<RefResponse>(),
        handler: || get(show),
    },
    Route {
        method: "DELETE",
        path: "/api/spaces/{id}",
        access: Access::Owner,
        operation: "deleteSpace",
        summary: "Throw a space away with everything in it; undelete brings all of it back",
        query: &[BASE],
        request: None,
        response: json::<EntityDeletedResponse>(),
        handler: || delete(remove),
    },
    Route {
        method: "DELETE",
        path: "/api/projects/{id}",
        access: Access::Owner,
        operation: "deleteProject",
        summary: "Throw a project away; what belongs to it stays",
        query: &[BASE],
        request: None,
        response: json::<EntityDeletedResponse>(),
        handler: || delete(remove),
    },
    Route {
        method: "DELETE",
        path: "/api/pages/{id}",
        access: Access::Owner,
        operation: "deletePage",
        summary: "Throw a page away; its revisions stay, and undelete brings it back",
        query: &[BASE],
        request: None,
        response: json::<EntityDeletedResponse>(),
        handler: || delete(remove),
    },
    Route {
        method: "DELETE",
        path: "/api/tasks/{id}",
        access: Access::Owner,
        operation: "deleteTask",
        summary: "Throw a task away; undelete brings it back",
        query: &[BASE],
        request: None,
        response: json::<EntityDeletedResponse>(),
        handler: || delete(remove),
    },
    Route {
        method: "DELETE",
        path: "/api/refs/{id}",
        access: Access::Owner,
        operation: "deleteRef",
        summary: "Throw a ref away; undelete brings it back",
        query: &[BASE],
        request: None,
        response: json::<EntityDeletedResponse>(),
        handler: || delete(remove),
    },
    Route {
        method: "POST",
        path: "/api/spaces/{id}/undelete",
        access: Access::Owner,
        operation: "undeleteSpace",
        summary: "Take back a space that was thrown away",
        query: &[],
        request: None,
        response: json::<SpaceResponse>(),
        handler: || post(undelete),
    },
    Route {
        method: "POST",
        path: "/api/projects/{id}/undelete",
        access: Access::Owner,
        operation: "undeleteProject",
        summary: "Take back a project that was thrown away",
        query: &[],
        request: None,
        response: json::<ProjectResponse>(),
        handler: || post(undelete),
    },
    Route {
        method: "POST",
        path: "/api/pages/{id}/undelete",
        access: Access::Owner,
        operation: "undeletePage",
        summary: "Take back a page that was thrown away",
        query: &[],
        request: None,
        response: json::<PageResponse>(),
        handler: || post(undelete),
    },
    Route {
        method: "POST",
        path: "/api/tasks/{id}/undelete",
        access: Access::Owner,
        operation: "undeleteTask",
        summary: "Take back a task that was thrown away",
        query: &[],
        request: None,
        response: json::<TaskResponse>(),
        handler: || post(undelete),
    },
    Route {
        method: "POST",
        path: "/api/refs/{id}/undelete",
        access: Access::Owner,
        operation: "undeleteRef",
        summary: "Take back a ref that was thrown away",
        query: &[],
        request: None,
        response: json::<RefResponse>(),
        handler: || post(undelete),
    },
    Route {
        method: "POST",
        path: "/api/spaces/{id}/vouch",
        access: Access::Owner,
        operation: "vouchForSpace",
        summary: "Answer for the text of a space that a stranger could have written",
        query: &[],
        request: Some(schema::<VouchRequest>),
        response: json::<SpaceResponse>(),
        handler: || post(vouch),
    },
    Route {
        method: "POST",
        path: "/api/projects/{id}/vouch",
        access: Access::Owner,
        operation: "vouchForProject",
        summary: "Answer for the text of a project that a stranger could have written",
        query: &[],
        request: Some(schema::<VouchRequest>),
        response: json::<ProjectResponse>(),
        handler: || post(vouch),
    },
    Route {
        method: "POST",
        path: "/api/pages/{id}/vouch",
        access: Access::Owner,
        operation: "vouchForPage",
        summary: "Answer for the text of a page that a stranger could have written; whoever reads it is not tainted any more",
        query: &[],
        request: Some(schema::<VouchRequest>),
        response: json::<PageResponse>(),
        handler: || post(vouch),
    },
    Route {
        method: "POST",
        path: "/api/tasks/{id}/vouch",
        access: Access::Owner,
        operation: "vouchForTask",
        summary: "Answer for the text of a task that a stranger could have written",
        query: &[],
        request: Some(schema::<VouchRequest>),
        response: json::<TaskResponse>(),
        handler: || post(vouch),
    },
];

/// The entity that a path names by its first word and its id, there or not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named(pub EntityId);

/// The space of a path that begins with `/api/spaces/{id}`.
#[derive(Debug, Clone, Copy)]
pub(super) struct InSpace(pub SpaceId);

#[derive(Deserialize)]
struct IdInPath {
    id: String,
}

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let nothing = || ApiError::not_found("there is nothing at this address");
        let route = parts.extensions.get::<&'static Route>();
        let kind = route
            .and_then(|route| kind_of(route.path))
            .ok_or_else(nothing)?;
        let path = Path::<IdInPath>::from_request_parts(parts, state).await;
        let Path(IdInPath { id }) = path.map_err(|_| nothing())?;
        EntityId::parse(kind, &id)
            .map(Self)
            .map_err(|_| no_such(kind))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for InSpace {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Named::from_request_parts(parts, state).await? {
            Named(EntityId::Space(id)) => Ok(Self(id)),
            Named(other) => Err(no_such(other.kind())),
        }
    }
}

/// `/api/pages/{id}/…` is about a page.
fn kind_of(path: &str) -> Option<EntityKind> {
    let noun = path.strip_prefix("/api/")?.split('/').next()?;
    EntityKind::parse(noun.strip_suffix('s')?)
}

/// The first word of the paths of a kind.
const fn noun(kind: EntityKind) -> &'static str {
    match kind {
        EntityKind::Space => "spaces",
        EntityKind::Project => "projects",
        EntityKind::Page => "pages",
        EntityKind::Task => "tasks",
        EntityKind::Ref => "refs",
    }
}

pub(super) fn no_such(kind: EntityKind) -> ApiError {
    ApiError::not_found(format!("there is no such {kind}")).hint("void kb ls shows what there is")
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShowEntityQuery {
    #[serde(default)]
    blocks: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BaseQuery {
    base_revision: Option<u64>,
}

pub(crate) async fn show(
    State(app): State<App>,
    Caller(ctx): Caller,
    Named(id): Named,
    Query(query): Query<ShowEntityQuery>,
) -> Result<Json<EntityResponse>, ApiError> {
    let found = knowledge::find(app.control(), &ctx, id).await;
    let entity = found.map_err(|error| knowledge_error(error, id.kind()))?;
    let shown = match query.blocks {
        true => Shown::WithBlocks,
        false => Shown::AsText,
    };
    respond(&app, &ctx, entity, shown).await.map(Json)
}

pub(crate) async fn remove(
    State(app): State<App>,
    Caller(ctx): Caller,
    Named(id): Named,
    Query(query): Query<BaseQuery>,
) -> Result<Json<EntityDeletedResponse>, ApiError> {
    let removed = knowledge::delete(app.control(), &ctx, id, query.base_revision).await;
    let head = done(&app, &ctx, id.kind(), removed).await?;
    let deleted_at = head.deleted.map(|deletion| deletion.at.to_string());
    Ok(Json(EntityDeletedResponse {
        deleted: true,
        kind: id.kind().as_str().into(),
        id: id.to_string(),
        title: head.title.to_string(),
        deleted_at: deleted_at.unwrap_or_default(),
        undo: format!("/api/{}/{id}/undelete", noun(id.kind())),
    }))
}

pub(crate) async fn undelete(
    State(app): State<App>,
    Caller(ctx): Caller,
    Named(id): Named,
) -> Result<Json<EntityResponse>, ApiError> {
    let taken_back = knowledge::undelete(app.control(), &ctx, id).await;
    let entity = done(&app, &ctx, id.kind(), taken_back).await?;
    respond(&app, &ctx, entity, Shown::AsText).await.map(Json)
}

pub(crate) async fn vouch(
    State(app): State<App>,
    Caller(ctx): Caller,
    Named(id): Named,
    Body(request): Body<VouchRequest>,
) -> Result<Json<EntityResponse>, ApiError> {
    let revision = request.revision.ok_or_else(|| {
        ApiError::invalid_field("revision", "is missing: the revision that you have read")
    })?;
    let vouched = knowledge::vouch(app.control(), &ctx, id, revision).await;
    let entity = done(&app, &ctx, id.kind(), vouched).await?;
    respond(&app, &ctx, entity, Shown::AsText).await.map(Json)
}

/// Makes something new that the owner says, and answers with it.
pub(super) async fn make(
    app: &App,
    ctx: &Ctx,
    space_id: Option<SpaceId>,
    (kind, patch): (EntityKind, FieldsPatch),
    reason: Option<String>,
) -> Result<Json<EntityResponse>, ApiError> {
    let fields = patch.into_new(kind).map_err(invalid_fields)?;
    let new = NewEntity {
        space_id,
        fields,
        source: TextSource::Owner,
        reason,
    };
    let made = knowledge::create(app.control(), ctx, new).await;
    let entity = done(app, ctx, kind, made).await?;
    respond(app, ctx, entity, Shown::AsText).await.map(Json)
}

/// Changes what a request names and leaves the rest, if the revision that was looked at is still the newest one.
pub(super) async fn change(
    app: &App,
    ctx: &Ctx,
    id: EntityId,
    base: Option<u64>,
    (patch, reason): (FieldsPatch, Option<String>),
) -> Result<Json<EntityResponse>, ApiError> {
    let base = base.ok_or_else(|| {
        ApiError::invalid_field(
            "base_revision",
            "is missing: the revision that you looked at",
        )
    })?;
    let found = knowledge::find(app.control(), ctx, id).await;
    let current = found.map_err(|error| knowledge_error(error, id.kind()))?;
    let fields = patch.onto(current.fields());
    let update = EntityUpdate {
        id,
        base,
        fields: fields.map_err(invalid_fields)?,
        source: TextSource::Owner,
        reason,
    };
    let changed = knowledge::update(app.control(), ctx, update).await;
    let entity = done(app, ctx, id.kind(), changed).await?;
    respond(app, ctx, entity, Shown::AsText).await.map(Json)
}

/// What a use case answered; a conflict is told with what is there now.
pub(super) async fn done<T>(
    app: &App,
    ctx: &Ctx,
    kind: EntityKind,
    answer: Result<T, KnowledgeError>,
) -> Result<T, ApiError> {
    match answer {
        Err(KnowledgeError::Conflict(there)) => {
            let row = respond(app, ctx, *there.clone(), Shown::AsText).await?;
            let error = knowledge_error(KnowledgeError::Conflict(there), kind);
            Err(error.entity(row))
        }
        answer => answer.map_err(|error| knowledge_error(error, kind)),
    }
}

pub(super) fn knowledge_error(error: KnowledgeError, kind: EntityKind) -> ApiError {
    let message = error.to_string();
    match error {
        KnowledgeError::OwnerOnly => ApiError::owner_only(),
        KnowledgeError::Forbidden => ApiError::forbidden(message),
        KnowledgeError::NotFound => no_such(kind),
        KnowledgeError::Invalid(field, wrong) => ApiError::invalid_field(field, wrong.to_string()),
        KnowledgeError::NoProject => ApiError::invalid_field("project_id", message),
        KnowledgeError::ReasonTooLong => ApiError::reason_too_long(),
        KnowledgeError::Full => ApiError::new(FailureCode::TooMany, message)
            .hint("throw something away that is not needed any more"),
        KnowledgeError::Conflict(_) => ApiError::new(FailureCode::Changed, message),
        KnowledgeError::ForeignText => {
            ApiError::forbidden(message).hint("void kb vouch answers for it")
        }
        KnowledgeError::RunbookHead => ApiError::invalid_saying("services", message),
        KnowledgeError::NothingToVouch => ApiError::new(FailureCode::NotNeeded, message),
        KnowledgeError::Store(error) => error.into(),
    }
}
