//! `/api/spaces/{id}/refs` and `/api/refs`: pages of the web that the owner keeps. Reading, throwing away and older revisions of
//! one are in `entities.rs` and `revisions.rs`.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post, put};
use void_api::entities::TEXT_REQUEST_BYTES_MAX;
use void_api::entity_responses::EntityResponse;
use void_api::refs::{NewRefRequest, RefChangeRequest, RefResponse, RefsResponse};
use void_control::Ctx;
use void_control::knowledge::{self, RefOptions};
use void_domain::knowledge::{EntityKind, FieldsPatch, RefUrl, Title};
use void_domain::limits::TITLE_CHARS_MAX;

use super::entities::{
    HeadResponse, InSpace, ListQuery, Members, Named, PROJECT, Shown, WITH_DELETED, change, heads,
    make, respond,
};
use super::imports::not_kept;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Query};
use crate::table::{Access, CURSOR, LIMIT, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/spaces/{id}/refs",
        access: Access::Knowledge,
        operation: "listRefs",
        summary: "The refs of a space without their texts, what was changed last first",
        query: &[PROJECT, WITH_DELETED, CURSOR, LIMIT],
        request: None,
        response: json::<RefsResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/spaces/{id}/refs",
        access: Access::Owner,
        operation: "createRef",
        summary: "Keep a page of the web; from an address alone it is captured, and one that is known gets a new revision",
        query: &[],
        request: Some(schema::<NewRefRequest>),
        response: json::<RefResponse>(),
        handler: || post(create),
    },
    Route {
        method: "PUT",
        path: "/api/refs/{id}",
        access: Access::Owner,
        operation: "changeRef",
        summary: "Change a ref; what is left out stays, and if it was changed meanwhile nothing is",
        query: &[],
        request: Some(schema::<RefChangeRequest>),
        response: json::<RefResponse>(),
        handler: || put(update),
    },
];

pub(crate) async fn list(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    Query(query): Query<ListQuery>,
) -> Result<Json<RefsResponse>, ApiError> {
    let wanted = query.wanted(EntityKind::Ref, Some(space))?;
    let ref_of = |head| match head {
        HeadResponse::Ref(kept) => Some(kept),
        HeadResponse::Space(_)
        | HeadResponse::Project(_)
        | HeadResponse::Page(_)
        | HeadResponse::Task(_) => None,
    };
    let (refs, next) = heads(&app, &ctx, wanted, ref_of).await?;
    Ok(Json(RefsResponse { refs, next }))
}

pub(crate) async fn create(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    Body(request): Body<NewRefRequest, TEXT_REQUEST_BYTES_MAX>,
) -> Result<Json<EntityResponse>, ApiError> {
    let mut members = Members::default();
    let url = members.url(request.url);
    if let (Some(url), None, None) = (&url, &request.title, &request.body) {
        let options = RefOptions {
            space_id: space,
            project_id: members.project_id(request.project_id.map(Some)).flatten(),
            tags: members.tags(request.tags).unwrap_or_default(),
            reason: request.reason,
        };
        members.end()?;
        return captured(&app, &ctx, url.clone(), options).await;
    }
    let patch = FieldsPatch {
        title: (members.title(request.title)).or_else(|| title_of(url.as_ref()?)),
        body: members.body(request.body),
        project_id: members.project_id(request.project_id.map(Some)),
        tags: members.tags(request.tags),
        url,
        ..FieldsPatch::default()
    };
    members.end()?;
    let new = (EntityKind::Ref, patch);
    make(&app, &ctx, Some(space), new, request.reason).await
}

/// An address alone is captured.
async fn captured(
    app: &App,
    ctx: &Ctx,
    url: RefUrl,
    options: RefOptions,
) -> Result<Json<EntityResponse>, ApiError> {
    let kept = knowledge::capture(app.control(), app.captures(), ctx, url, options).await;
    let kept = kept.map_err(not_kept)?;
    respond(app, ctx, kept, Shown::AsText).await.map(Json)
}

/// What nobody gave a title is called as its address.
fn title_of(url: &RefUrl) -> Option<Title> {
    let address: String = url.as_str().chars().take(TITLE_CHARS_MAX).collect();
    Title::parse(&address).ok()
}

pub(crate) async fn update(
    State(app): State<App>,
    Caller(ctx): Caller,
    Named(id): Named,
    Body(request): Body<RefChangeRequest, TEXT_REQUEST_BYTES_MAX>,
) -> Result<Json<EntityResponse>, ApiError> {
    let mut members = Members::default();
    let patch = FieldsPatch {
        title: members.title(request.title),
        body: members.body(request.body),
        project_id: members.project_id(request.project_id),
        tags: members.tags(request.tags),
        url: members.url(request.url),
        ..FieldsPatch::default()
    };
    members.end()?;
    let base = request.base_revision;
    change(&app, &ctx, id, base, (patch, request.reason)).await
}
