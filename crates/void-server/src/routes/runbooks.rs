//! `/api/pages/{id}/runbook` and `/api/actions/{id}`: what a page is about, and an action with the pages about it. A service and a
//! card show theirs by the same function.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use void_api::entity_responses::EntityResponse;
use void_api::pages::PageResponse;
use void_api::runbooks::{ActionWithRunbooksResponse, RunbookResponse, SetRunbookRequest};
use void_control::knowledge::{self, KnowledgeError};
use void_control::{Control, Ctx, health};
use void_domain::failures::FailureCode;
use void_domain::ids::ActionId;
use void_domain::knowledge::{Entity, EntityId, EntityKind, RunbookName, line_about};
use void_domain::text;

use super::actions::action_response;
use super::entities::{Named, Shown, done, knowledge_error, no_such, respond};
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Segment};
use crate::table::{Access, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/actions/{id}",
        access: Access::Read,
        operation: "getAction",
        summary: "One action of the catalogue, with the owner's pages about it",
        query: &[],
        request: None,
        response: json::<ActionWithRunbooksResponse>(),
        handler: || get(show),
    },
    Route {
        method: "POST",
        path: "/api/pages/{id}/runbook",
        access: Access::Owner,
        operation: "setRunbook",
        summary: "Say which services and actions a page is about; its head is written anew, the rest stays",
        query: &[],
        request: Some(schema::<SetRunbookRequest>),
        response: json::<PageResponse>(),
        handler: || post(set),
    },
];

pub(crate) async fn show(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
) -> Result<Json<ActionWithRunbooksResponse>, ApiError> {
    let control = app.control();
    let missing = || {
        let message = format!("there is no action \"{}\"", text::escaped(&id));
        ApiError::new(FailureCode::UnknownAction, message)
            .hint("void actions ls shows what there is")
    };
    let id: ActionId = ActionId::parse(&id).map_err(|_| missing())?;
    let action = control.catalogue().get(&id).ok_or_else(missing)?;
    Ok(Json(ActionWithRunbooksResponse {
        action: action_response(action, &health::eyes(control)),
        runbooks: about(control, &ctx, &[RunbookName::Action(id.clone())]).await?,
    }))
}

pub(crate) async fn set(
    State(app): State<App>,
    Caller(ctx): Caller,
    Named(id): Named,
    Body(request): Body<SetRunbookRequest>,
) -> Result<Json<EntityResponse>, ApiError> {
    let EntityId::Page(page) = id else {
        return Err(no_such(EntityKind::Page));
    };
    let base = request.base_revision.ok_or_else(|| {
        let problem = "is missing: the revision that you looked at";
        ApiError::invalid_field("base_revision", problem)
    })?;
    let mut about: Vec<RunbookName> = Vec::new();
    let named = [
        ("service", "services", request.services),
        ("action", "actions", request.actions),
    ];
    for (kind, member, names) in named {
        for name in names {
            let name = RunbookName::parse(kind, &name)
                .ok_or_else(|| ApiError::invalid_field(member, "must be ids"))?;
            if !about.contains(&name) {
                about.push(name);
            }
        }
    }
    let changed = knowledge::set_runbooks(app.control(), &ctx, page, base, about).await;
    let entity = done(&app, &ctx, EntityKind::Page, changed).await?;
    respond(&app, &ctx, entity, Shown::AsText).await.map(Json)
}

/// The owner's pages about these, each once. Who may not read what the owner keeps is told of none.
pub(super) async fn about(
    control: &Control,
    ctx: &Ctx,
    names: &[RunbookName],
) -> Result<Vec<RunbookResponse>, ApiError> {
    let mut told: Vec<RunbookResponse> = Vec::new();
    for name in names {
        let pages = match knowledge::runbooks(control, ctx, name.clone()).await {
            Ok(pages) => pages,
            Err(KnowledgeError::Forbidden) => return Ok(Vec::new()),
            Err(error) => return Err(knowledge_error(error, EntityKind::Page)),
        };
        for page in pages {
            let response = response(control, ctx, &page, name);
            if told.iter().all(|known| known.page_id != response.page_id) {
                told.push(response);
            }
        }
    }
    Ok(told)
}

/// An agent is handed no text of a stranger's here: nothing would mark it.
fn response(control: &Control, ctx: &Ctx, page: &Entity, name: &RunbookName) -> RunbookResponse {
    let foreign = page.head.is_foreign();
    let is_told = ctx.actor.is_owner() || !foreign;
    let label = label(control, name);
    let line = line_about(page.body.as_str(), name, label.as_deref()).filter(|_| is_told);
    RunbookResponse {
        page_id: page.head.id.to_string(),
        title: is_told.then(|| page.head.title.to_string()),
        foreign,
        line: line.as_ref().map(|line| line.number as u64),
        says: line.map(|line| line.text),
    }
}

/// What people call it.
fn label(control: &Control, name: &RunbookName) -> Option<String> {
    match name {
        RunbookName::Action(id) => {
            let action = control.catalogue().get(id);
            action.map(|action| action.label.clone())
        }
        RunbookName::Service(id) => {
            health::find(control, id.as_str()).map(|view| view.service.label)
        }
    }
}
