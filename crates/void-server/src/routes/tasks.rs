//! `/api/spaces/{id}/tasks` and `/api/tasks`: what is to be done, and by which day. Reading, throwing away and older revisions
//! of one are in `entities.rs` and `revisions.rs`.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post, put};
use void_api::entities::TEXT_REQUEST_BYTES_MAX;
use void_api::entity_responses::EntityResponse;
use void_api::tasks::{NewTaskRequest, TaskChangeRequest, TaskResponse, TasksResponse};
use void_domain::knowledge::{EntityKind, FieldsPatch};

use super::entities::{
    HeadResponse, InSpace, ListQuery, Members, Named, PROJECT, WITH_DELETED, change, heads, make,
};
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Query};
use crate::table::{Access, CURSOR, LIMIT, Parameter, Route, json, schema};

const STATE: Parameter = Parameter {
    name: "state",
    kind: "string",
    meaning: "open, done or dropped; all of them if left out",
};
const ORDER: Parameter = Parameter {
    name: "order",
    kind: "string",
    meaning: "due: what is open, by day, what has no day last; changed, if left out: what was changed last first",
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/spaces/{id}/tasks",
        access: Access::Knowledge,
        operation: "listTasks",
        summary: "The tasks of a space without their texts",
        query: &[ORDER, STATE, PROJECT, WITH_DELETED, CURSOR, LIMIT],
        request: None,
        response: json::<TasksResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/spaces/{id}/tasks",
        access: Access::Owner,
        operation: "createTask",
        summary: "Note something that is to be done",
        query: &[],
        request: Some(schema::<NewTaskRequest>),
        response: json::<TaskResponse>(),
        handler: || post(create),
    },
    Route {
        method: "PUT",
        path: "/api/tasks/{id}",
        access: Access::Owner,
        operation: "changeTask",
        summary: "Change or tick a task; what is left out stays, and if it was changed meanwhile nothing is",
        query: &[],
        request: Some(schema::<TaskChangeRequest>),
        response: json::<TaskResponse>(),
        handler: || put(update),
    },
];

pub(crate) async fn list(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    Query(query): Query<ListQuery>,
) -> Result<Json<TasksResponse>, ApiError> {
    let wanted = query.wanted(EntityKind::Task, Some(space))?;
    let task_of = |head| match head {
        HeadResponse::Task(task) => Some(task),
        HeadResponse::Space(_)
        | HeadResponse::Project(_)
        | HeadResponse::Page(_)
        | HeadResponse::Ref(_) => None,
    };
    let (tasks, next) = heads(&app, &ctx, wanted, task_of).await?;
    Ok(Json(TasksResponse { tasks, next }))
}

pub(crate) async fn create(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    Body(request): Body<NewTaskRequest, TEXT_REQUEST_BYTES_MAX>,
) -> Result<Json<EntityResponse>, ApiError> {
    let mut members = Members::default();
    let patch = FieldsPatch {
        title: members.title(request.title),
        body: members.body(request.body),
        project_id: members.project_id(request.project_id.map(Some)),
        tags: members.tags(request.tags),
        state: members.state(request.state),
        due: members.due(request.due.map(Some)),
        ..FieldsPatch::default()
    };
    members.end()?;
    let new = (EntityKind::Task, patch);
    make(&app, &ctx, Some(space), new, request.reason).await
}

pub(crate) async fn update(
    State(app): State<App>,
    Caller(ctx): Caller,
    Named(id): Named,
    Body(request): Body<TaskChangeRequest, TEXT_REQUEST_BYTES_MAX>,
) -> Result<Json<EntityResponse>, ApiError> {
    let mut members = Members::default();
    let patch = FieldsPatch {
        title: members.title(request.title),
        body: members.body(request.body),
        project_id: members.project_id(request.project_id),
        tags: members.tags(request.tags),
        state: members.state(request.state),
        due: members.due(request.due),
        ..FieldsPatch::default()
    };
    members.end()?;
    let base = request.base_revision;
    change(&app, &ctx, id, base, (patch, request.reason)).await
}
