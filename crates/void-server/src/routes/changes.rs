//! `/api/actions/patch` and `/api/pending-changes`: drafting a change, and the changes among what waits.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use void_api::actions::{PatchRequest, PendingDecideRequest, PendingResponse};
use void_api::proposals::RowResponse;
use void_control::proposals::{
    self, ChangeRequest, Decision, ProposalKey, ProposeChangeError, Proposed,
};
use void_domain::catalogue::Problem;
use void_domain::changes::catalogue::{InvalidCatalogueChange, Sent};
use void_domain::failures::FailureCode;
use void_domain::ids::ProposalId;
use void_domain::proposals::Sight;
use void_domain::taint::Taint;

use super::actions::{RecentQuery, WaitQuery, current, decide};
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Query, Segment, page_rows, parse_cursor};
use crate::table::{Access, CURSOR, LIMIT, Route, WAIT, json, schema};
use crate::wire::row_response;

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "POST",
        path: "/api/actions/patch",
        access: Access::Suggest,
        operation: "proposeCatalogue",
        summary: "Propose another catalogue; it waits for the owner, and takes effect at the start after the yes",
        query: &[],
        request: Some(schema::<PatchRequest>),
        response: json::<RowResponse>(),
        handler: || post(patch),
    },
    Route {
        method: "GET",
        path: "/api/pending-changes",
        access: Access::Owner,
        operation: "listPendingChanges",
        summary: "The changes among what waits for the owner, oldest first",
        query: &[CURSOR, LIMIT],
        request: None,
        response: json::<PendingResponse>(),
        handler: || get(pending),
    },
    Route {
        method: "POST",
        path: "/api/pending-changes/{id}/approve",
        access: Access::Owner,
        operation: "approvePendingChange",
        summary: "Approve a change that waits",
        query: &[WAIT],
        request: Some(schema::<PendingDecideRequest>),
        response: json::<RowResponse>(),
        handler: || post(approve),
    },
    Route {
        method: "POST",
        path: "/api/pending-changes/{id}/reject",
        access: Access::Owner,
        operation: "rejectPendingChange",
        summary: "Reject a change that waits",
        query: &[],
        request: Some(schema::<PendingDecideRequest>),
        response: json::<RowResponse>(),
        handler: || post(reject),
    },
];

pub(crate) async fn patch(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<PatchRequest>,
) -> Result<Json<RowResponse>, ApiError> {
    let sent = match (request.patch, request.file) {
        (Some(patch), None) => Sent::Patch(patch),
        (None, Some(file)) => Sent::File(file),
        (None, None) => return Err(ApiError::invalid_saying("patch", "send patch or file")),
        (Some(_), Some(_)) => {
            return Err(ApiError::invalid_saying(
                "patch",
                "send patch or file, not both",
            ));
        }
    };
    let request = ChangeRequest {
        sent,
        reason: request.reason,
        taint: Taint::clean(),
    };
    let proposed = proposals::propose_catalogue(app.control(), &ctx, request).await;
    match proposed.map_err(propose_error)? {
        Proposed::Queued(proposal) | Proposed::Started(proposal) => {
            current(app.control(), &ctx, proposal.id).await.map(Json)
        }
        Proposed::Refused(refusal, proposal) => {
            let row = current(app.control(), &ctx, proposal.id).await?;
            Err(ApiError::new(refusal.code(), refusal.message()).row(row))
        }
    }
}

fn propose_error(error: ProposeChangeError) -> ApiError {
    let message = error.to_string();
    match error {
        ProposeChangeError::NoFile => ApiError::not_found(message),
        ProposeChangeError::Unreadable(_) => ApiError::new(FailureCode::Changed, message),
        ProposeChangeError::NotAsLoaded => {
            ApiError::new(FailureCode::Changed, message).hint("void reload")
        }
        ProposeChangeError::NotCommitted => ApiError::new(FailureCode::Changed, message)
            .hint("git commit, in the folder of the catalogue"),
        ProposeChangeError::Invalid(InvalidCatalogueChange::Refused(problems)) => {
            ApiError::invalid(problems.iter().map(problem_field)).saying(&message)
        }
        ProposeChangeError::Invalid(_) => ApiError::invalid_saying("patch", message),
        ProposeChangeError::ReasonTooLong => ApiError::reason_too_long(),
        ProposeChangeError::TooManyRows(error) => ApiError::too_many_rows(&error),
        ProposeChangeError::Store(error) => error.into(),
    }
}

/// Where in the new file, and what is wrong there.
fn problem_field(problem: &Problem) -> (String, String) {
    let hint = problem.hint.as_ref().map(|hint| format!("; {hint}"));
    let said = format!("{}{}", problem.message, hint.unwrap_or_default());
    (
        format!("line {} {}", problem.line, problem.path)
            .trim_end()
            .to_owned(),
        said,
    )
}

pub(crate) async fn pending(
    State(app): State<App>,
    Caller(ctx): Caller,
    Query(page): Query<RecentQuery>,
) -> Result<Json<PendingResponse>, ApiError> {
    let cursor: Option<ProposalId> = parse_cursor(page.cursor.as_deref())?;
    let limit = page_rows(page.limit)?;
    let page = proposals::list_waiting_changes(app.control(), cursor, limit).await?;
    let sight = Sight::of(&ctx.actor);
    let changes = page.items.iter();
    Ok(Json(PendingResponse {
        pending: changes.map(|row| row_response(row, sight)).collect(),
        next: page.next,
    }))
}

/// A change that is called by its id; an action is decided elsewhere.
async fn known(app: &App, ctx: &void_control::Ctx, id: &str) -> Result<(), ApiError> {
    let missing = || ApiError::not_found("there is no such change");
    let key = ProposalKey::parse(id).ok_or_else(missing)?;
    let found = proposals::find(app.control(), ctx, key).await?;
    let is_change = found.is_some_and(|row| row.proposal.subject.is_change());
    is_change.then_some(()).ok_or_else(missing)
}

pub(crate) async fn approve(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
    Query(wait): Query<WaitQuery>,
    Body(request): Body<PendingDecideRequest>,
) -> Result<Json<RowResponse>, ApiError> {
    let patience = wait.patience()?;
    known(&app, &ctx, &id).await?;
    let decided = decide(
        app.control(),
        &ctx,
        &id,
        Decision::Approve,
        request,
        patience,
    )
    .await;
    decided.map(Json)
}

pub(crate) async fn reject(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
    Body(request): Body<PendingDecideRequest>,
) -> Result<Json<RowResponse>, ApiError> {
    known(&app, &ctx, &id).await?;
    let patience = std::time::Duration::ZERO;
    let decided = decide(
        app.control(),
        &ctx,
        &id,
        Decision::Reject,
        request,
        patience,
    )
    .await;
    decided.map(Json)
}
