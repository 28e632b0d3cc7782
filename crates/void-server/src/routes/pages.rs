//! `/api/spaces/{id}/pages` and `/api/pages`: what the owner writes down. Reading, throwing away and older revisions of one are
//! in `entities.rs` and `revisions.rs`.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post, put};
use void_api::entities::TEXT_REQUEST_BYTES_MAX;
use void_api::entity_responses::EntityResponse;
use void_api::pages::{NewPageRequest, PageChangeRequest, PageResponse, PagesResponse};
use void_domain::knowledge::{EntityKind, FieldsPatch};

use super::entities::{
    HeadResponse, InSpace, ListQuery, Members, Named, PROJECT, WITH_DELETED, change, heads, make,
};
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Query};
use crate::table::{Access, CURSOR, LIMIT, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/spaces/{id}/pages",
        access: Access::Knowledge,
        operation: "listPages",
        summary: "The pages of a space without their texts, what was changed last first",
        query: &[PROJECT, WITH_DELETED, CURSOR, LIMIT],
        request: None,
        response: json::<PagesResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/spaces/{id}/pages",
        access: Access::Owner,
        operation: "createPage",
        summary: "Write a page",
        query: &[],
        request: Some(schema::<NewPageRequest>),
        response: json::<PageResponse>(),
        handler: || post(create),
    },
    Route {
        method: "PUT",
        path: "/api/pages/{id}",
        access: Access::Owner,
        operation: "changePage",
        summary: "Change a page; what is left out stays, and if it was changed meanwhile nothing is",
        query: &[],
        request: Some(schema::<PageChangeRequest>),
        response: json::<PageResponse>(),
        handler: || put(update),
    },
];

pub(crate) async fn list(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    Query(query): Query<ListQuery>,
) -> Result<Json<PagesResponse>, ApiError> {
    let wanted = query.wanted(EntityKind::Page, Some(space))?;
    let page_of = |head| match head {
        HeadResponse::Page(page) => Some(page),
        HeadResponse::Space(_)
        | HeadResponse::Project(_)
        | HeadResponse::Task(_)
        | HeadResponse::Ref(_) => None,
    };
    let (pages, next) = heads(&app, &ctx, wanted, page_of).await?;
    Ok(Json(PagesResponse { pages, next }))
}

pub(crate) async fn create(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    Body(request): Body<NewPageRequest, TEXT_REQUEST_BYTES_MAX>,
) -> Result<Json<EntityResponse>, ApiError> {
    let mut members = Members::default();
    let patch = FieldsPatch {
        title: members.title(request.title),
        body: members.body(request.body),
        project_id: members.project_id(request.project_id.map(Some)),
        tags: members.tags(request.tags),
        path: members.path(request.path.map(Some)),
        ..FieldsPatch::default()
    };
    members.end()?;
    let new = (EntityKind::Page, patch);
    make(&app, &ctx, Some(space), new, request.reason).await
}

pub(crate) async fn update(
    State(app): State<App>,
    Caller(ctx): Caller,
    Named(id): Named,
    Body(request): Body<PageChangeRequest, TEXT_REQUEST_BYTES_MAX>,
) -> Result<Json<EntityResponse>, ApiError> {
    let mut members = Members::default();
    let patch = FieldsPatch {
        title: members.title(request.title),
        body: members.body(request.body),
        project_id: members.project_id(request.project_id),
        tags: members.tags(request.tags),
        path: members.path(request.path),
        ..FieldsPatch::default()
    };
    members.end()?;
    let base = request.base_revision;
    change(&app, &ctx, id, base, (patch, request.reason)).await
}
