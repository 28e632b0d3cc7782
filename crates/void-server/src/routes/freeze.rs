//! `/api/freeze`: the stop switch.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::routing::{delete, get, post};
use void_access::credentials::CredentialError;
use void_api::freeze::{FOR_SECONDS_MAX, FreezeRequest, FreezeResponse};
use void_control::freezes::{self, FreezeError};
use void_domain::actors::Actor;
use void_domain::freezes::Freeze;

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller};
use crate::table::{Access, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/freeze",
        access: Access::Read,
        operation: "getFreeze",
        summary: "Whether everything is frozen, by whom and why",
        query: &[],
        request: None,
        response: json::<FreezeResponse>(),
        handler: || get(show),
    },
    Route {
        method: "POST",
        path: "/api/freeze",
        access: Access::Act,
        operation: "freeze",
        summary: "Stop every execution at once",
        query: &[],
        request: Some(schema::<FreezeRequest>),
        response: json::<FreezeResponse>(),
        handler: || post(set),
    },
    Route {
        method: "DELETE",
        path: "/api/freeze",
        access: Access::OwnerRecent,
        operation: "thaw",
        summary: "Let things run again",
        query: &[],
        request: None,
        response: json::<FreezeResponse>(),
        handler: || delete(lift),
    },
];

fn freeze_response(app: &App, reader: &Actor, freeze: Freeze) -> FreezeResponse {
    let holds = freeze.holds_at(app.control().clock().now());
    match freeze {
        Freeze::Frozen(frozen) if holds => FreezeResponse {
            frozen: true,
            at: Some(frozen.at.to_string()),
            reason: frozen.reason_for(reader).map(str::to_owned),
            by: Some(frozen.by),
            until: frozen.until.map(|until| until.to_string()),
        },
        Freeze::Frozen(_) | Freeze::Thawed => FreezeResponse {
            frozen: false,
            by: None,
            at: None,
            reason: None,
            until: None,
        },
    }
}

pub(crate) async fn show(
    State(app): State<App>,
    Caller(ctx): Caller,
) -> Result<Json<FreezeResponse>, ApiError> {
    let freeze = freezes::shown_to(app.control(), &ctx).await?;
    Ok(Json(freeze_response(&app, &ctx.actor, freeze)))
}

pub(crate) async fn set(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<FreezeRequest>,
) -> Result<Json<FreezeResponse>, ApiError> {
    let lasts = match request.for_s {
        None => None,
        Some(seconds) if (1..=FOR_SECONDS_MAX).contains(&seconds) => {
            Some(Duration::from_secs(seconds))
        }
        Some(_) => {
            return Err(ApiError::invalid_field(
                "for_s",
                format!("must be 1 to {FOR_SECONDS_MAX}"),
            ));
        }
    };
    let freeze = freezes::freeze(app.control(), &ctx, request.reason, lasts)
        .await
        .map_err(freeze_error)?;
    let freeze = freezes::as_seen_by(app.control(), &ctx, freeze).await?;
    Ok(Json(freeze_response(&app, &ctx.actor, freeze)))
}

pub(crate) async fn lift(
    State(app): State<App>,
    Caller(ctx): Caller,
) -> Result<Json<FreezeResponse>, ApiError> {
    let freeze = freezes::thaw(app.control(), &ctx)
        .await
        .map_err(freeze_error)?;
    Ok(Json(freeze_response(&app, &ctx.actor, freeze)))
}

fn freeze_error(error: FreezeError) -> ApiError {
    match error {
        FreezeError::Forbidden => ApiError::forbidden(error.to_string()),
        FreezeError::OwnerOnly => ApiError::owner_only(),
        FreezeError::FreshLoginNeeded => CredentialError::FreshLoginNeeded.into(),
        FreezeError::ReasonTooLong => ApiError::reason_too_long(),
        FreezeError::Unrecorded(error) => ApiError::from(error).saying(
            "the freeze is not on the record, but nothing new starts here until you thaw or this process ends",
        ),
        FreezeError::Store(error) => error.into(),
    }
}
