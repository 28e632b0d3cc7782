//! `/api/spaces/{id}/projects` and `/api/projects`: what pages, tasks and refs of a space may belong to. Reading, throwing away
//! and older revisions of one are in `entities.rs` and `revisions.rs`.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post, put};
use void_api::entities::TEXT_REQUEST_BYTES_MAX;
use void_api::entity_responses::EntityResponse;
use void_api::projects::{
    NewProjectRequest, ProjectChangeRequest, ProjectResponse, ProjectsResponse,
};
use void_domain::knowledge::{EntityKind, FieldsPatch};

use super::entities::{
    HeadResponse, InSpace, ListQuery, Members, Named, WITH_DELETED, change, heads, make,
};
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Query};
use crate::table::{Access, CURSOR, LIMIT, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/spaces/{id}/projects",
        access: Access::Knowledge,
        operation: "listProjects",
        summary: "The projects of a space, what was changed last first",
        query: &[WITH_DELETED, CURSOR, LIMIT],
        request: None,
        response: json::<ProjectsResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/spaces/{id}/projects",
        access: Access::Owner,
        operation: "createProject",
        summary: "Begin a project",
        query: &[],
        request: Some(schema::<NewProjectRequest>),
        response: json::<ProjectResponse>(),
        handler: || post(create),
    },
    Route {
        method: "PUT",
        path: "/api/projects/{id}",
        access: Access::Owner,
        operation: "changeProject",
        summary: "Change a project; what is left out stays, and if it was changed meanwhile nothing is",
        query: &[],
        request: Some(schema::<ProjectChangeRequest>),
        response: json::<ProjectResponse>(),
        handler: || put(update),
    },
];

pub(crate) async fn list(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    Query(query): Query<ListQuery>,
) -> Result<Json<ProjectsResponse>, ApiError> {
    let wanted = query.wanted(EntityKind::Project, Some(space))?;
    let project_of = |head| match head {
        HeadResponse::Project(project) => Some(project),
        HeadResponse::Space(_)
        | HeadResponse::Page(_)
        | HeadResponse::Task(_)
        | HeadResponse::Ref(_) => None,
    };
    let (projects, next) = heads(&app, &ctx, wanted, project_of).await?;
    Ok(Json(ProjectsResponse { projects, next }))
}

pub(crate) async fn create(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    Body(request): Body<NewProjectRequest, TEXT_REQUEST_BYTES_MAX>,
) -> Result<Json<EntityResponse>, ApiError> {
    let mut members = Members::default();
    let patch = FieldsPatch {
        title: members.title(request.title),
        body: members.body(request.body),
        ..FieldsPatch::default()
    };
    members.end()?;
    let new = (EntityKind::Project, patch);
    make(&app, &ctx, Some(space), new, request.reason).await
}

pub(crate) async fn update(
    State(app): State<App>,
    Caller(ctx): Caller,
    Named(id): Named,
    Body(request): Body<ProjectChangeRequest, TEXT_REQUEST_BYTES_MAX>,
) -> Result<Json<EntityResponse>, ApiError> {
    let mut members = Members::default();
    let patch = FieldsPatch {
        title: members.title(request.title),
        body: members.body(request.body),
        ..FieldsPatch::default()
    };
    members.end()?;
    let base = request.base_revision;
    change(&app, &ctx, id, base, (patch, request.reason)).await
}
