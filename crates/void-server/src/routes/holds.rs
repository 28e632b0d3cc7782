//! `/api/proposals/{id}/hold|veto|annotate|lift`: friction on what has not started. A token from outside stands nowhere in
//! the tree, so all of it is the owner's here; agents that stand above whoever asked have tools.

use axum::Json;
use axum::extract::State;
use axum::routing::post;
use void_api::holds::HoldRequest;
use void_api::proposals::RowResponse;
use void_control::Ctx;
use void_control::holds::{self, HoldError};
use void_control::proposals::ProposalKey;
use void_domain::holds::{HoldKind, HoldRefusal};
use void_domain::proposals::Proposal;
use void_domain::taint::Taint;

use super::actions::current;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Segment};
use crate::table::{Access, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "POST",
        path: "/api/proposals/{id}/hold",
        access: Access::Owner,
        operation: "holdProposal",
        summary: "Keep a request from starting until that is lifted; agents above whoever asked do it by a tool",
        query: &[],
        request: Some(schema::<HoldRequest>),
        response: json::<RowResponse>(),
        handler: || post(hold),
    },
    Route {
        method: "POST",
        path: "/api/proposals/{id}/veto",
        access: Access::Owner,
        operation: "vetoProposal",
        summary: "End a request that has not started, and say why; agents above whoever asked do it by a tool",
        query: &[],
        request: Some(schema::<HoldRequest>),
        response: json::<RowResponse>(),
        handler: || post(veto),
    },
    Route {
        method: "POST",
        path: "/api/proposals/{id}/annotate",
        access: Access::Owner,
        operation: "annotateProposal",
        summary: "Put words beside a request that has not started; agents above whoever asked do it by a tool",
        query: &[],
        request: Some(schema::<HoldRequest>),
        response: json::<RowResponse>(),
        handler: || post(annotate),
    },
    Route {
        method: "POST",
        path: "/api/proposals/{id}/lift",
        access: Access::Owner,
        operation: "liftHold",
        summary: "Lift every hold on a request; a yes for it is a step of its own",
        query: &[],
        request: None,
        response: json::<RowResponse>(),
        handler: || post(lift),
    },
];

type CallReply = Result<Json<RowResponse>, ApiError>;

pub(crate) async fn hold(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
    Body(request): Body<HoldRequest>,
) -> CallReply {
    add(&app, &ctx, &id, (HoldKind::Hold, request)).await
}

pub(crate) async fn veto(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
    Body(request): Body<HoldRequest>,
) -> CallReply {
    add(&app, &ctx, &id, (HoldKind::Veto, request)).await
}

pub(crate) async fn annotate(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
    Body(request): Body<HoldRequest>,
) -> CallReply {
    add(&app, &ctx, &id, (HoldKind::Annotation, request)).await
}

async fn add(
    app: &App,
    ctx: &Ctx,
    id: &str,
    (kind, request): (HoldKind, HoldRequest),
) -> CallReply {
    let key = ProposalKey::parse(id).ok_or_else(ApiError::no_proposal)?;
    let wanted = holds::HoldRequest {
        kind,
        words: request.reason,
        taint: Taint::clean(),
    };
    let done = holds::add(app.control(), ctx, key, wanted).await;
    shown(app, ctx, done).await
}

pub(crate) async fn lift(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
) -> CallReply {
    let key = ProposalKey::parse(&id).ok_or_else(ApiError::no_proposal)?;
    let done = holds::lift(app.control(), &ctx, key).await;
    shown(&app, &ctx, done).await
}

async fn shown(app: &App, ctx: &Ctx, done: Result<Proposal, HoldError>) -> CallReply {
    let error = match done {
        Ok(row) => return current(app.control(), ctx, row.id).await.map(Json),
        Err(error) => error,
    };
    let (message, code) = (error.to_string(), error.code());
    match error {
        HoldError::NotFound => Err(ApiError::no_proposal()),
        HoldError::NotAbove => Err(ApiError::forbidden(message)),
        HoldError::OwnerOnly => Err(ApiError::owner_only()),
        HoldError::Refused(HoldRefusal::Words) => Err(ApiError::invalid_saying("reason", message)),
        HoldError::Refused(_) => Err(ApiError::new(code, message)),
        HoldError::NotWaiting(row)
        | HoldError::Approved(row)
        | HoldError::Offered(row)
        | HoldError::NotHeld(row) => {
            let row = current(app.control(), ctx, row.id).await?;
            Err(ApiError::new(code, message).row(row))
        }
        HoldError::Store(error) => Err(error.into()),
    }
}
