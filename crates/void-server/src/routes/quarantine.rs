//! `/api/quarantine`: credentials that came back with an older copy of the database and open nothing until
//! the owner confirms each.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use void_api::quarantine::{
    ID_CHARS_MAX, QuarantineConfirmedResponse, QuarantineRemovedResponse, QuarantineRequest,
    QuarantineResponse, QuarantinedResponse,
};
use void_control::quarantine::{self, Kind, QuarantineError, Said};

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller};
use crate::table::{Access, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/quarantine",
        access: Access::Owner,
        operation: "listQuarantine",
        summary: "Credentials that came back with an older copy of the database and open nothing yet",
        query: &[],
        request: None,
        response: json::<QuarantineResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/quarantine/confirm",
        access: Access::OwnerRecent,
        operation: "confirmQuarantined",
        summary: "Let one of them open again what it opened",
        query: &[],
        request: Some(schema::<QuarantineRequest>),
        response: json::<QuarantineConfirmedResponse>(),
        handler: || post(confirm),
    },
    Route {
        method: "POST",
        path: "/api/quarantine/remove",
        access: Access::OwnerRecent,
        operation: "removeQuarantined",
        summary: "Revoke one of them for good",
        query: &[],
        request: Some(schema::<QuarantineRequest>),
        response: json::<QuarantineRemovedResponse>(),
        handler: || post(remove),
    },
];

pub(crate) async fn list(State(app): State<App>) -> Result<Json<QuarantineResponse>, ApiError> {
    let quarantined = quarantine::list(app.control()).await?;
    let quarantined = quarantined
        .into_iter()
        .map(|one| QuarantinedResponse {
            kind: one.kind.as_str().into(),
            id: one.id,
            name: one.name,
            made_at: one.made_at.to_string(),
            since: one.since.to_string(),
        })
        .collect();
    Ok(Json(QuarantineResponse { quarantined }))
}

fn named(request: QuarantineRequest) -> Result<(Kind, String), ApiError> {
    let kind = Kind::parse(&request.kind).ok_or_else(|| {
        ApiError::invalid_field("kind", "must be token, passkey, password or pair")
    })?;
    if request.id.is_empty() || request.id.chars().count() > ID_CHARS_MAX {
        let problem = format!("must be 1 to {ID_CHARS_MAX} characters");
        return Err(ApiError::invalid_field("id", problem));
    }
    Ok((kind, request.id))
}

pub(crate) async fn confirm(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<QuarantineRequest>,
) -> Result<Json<QuarantineConfirmedResponse>, ApiError> {
    let (kind, id) = named(request)?;
    quarantine::decide(app.control(), &ctx, kind, id, Said::Confirm)
        .await
        .map_err(quarantine_error)?;
    Ok(Json(QuarantineConfirmedResponse { confirmed: true }))
}

pub(crate) async fn remove(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<QuarantineRequest>,
) -> Result<Json<QuarantineRemovedResponse>, ApiError> {
    let (kind, id) = named(request)?;
    quarantine::decide(app.control(), &ctx, kind, id, Said::Remove)
        .await
        .map_err(quarantine_error)?;
    Ok(Json(QuarantineRemovedResponse { removed: true }))
}

fn quarantine_error(error: QuarantineError) -> ApiError {
    match error {
        QuarantineError::OwnerOnly => ApiError::owner_only(),
        QuarantineError::NotFound => {
            ApiError::not_found(error.to_string()).hint("void quarantine ls shows what is in it")
        }
        QuarantineError::Store(error) => error.into(),
    }
}
