//! `/api/mutes`: what the owner is not told for a time, and why.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::routing::{delete, get, post};
use void_api::mutes::{MuteRequest, MuteResponse, MutesResponse, UnmutedResponse};
use void_control::mutes::{self, MuteError, NewMute, Until};
use void_control::status::StatusRows;
use void_domain::failures::FailureCode;
use void_domain::ids::MuteId;
use void_domain::mutes::{Mute, Muted};
use void_domain::services::ServiceId;
use void_domain::time::Timestamp;

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Segment};
use crate::table::{Access, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/mutes",
        access: Access::Owner,
        operation: "listMutes",
        summary: "What the owner is not told for a time, by whom, why and until when",
        query: &[],
        request: None,
        response: json::<MutesResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/mutes",
        access: Access::OwnerRecent,
        operation: "mute",
        summary: "Do not tell for a time that a service, or anything on a host, is down",
        query: &[],
        request: Some(schema::<MuteRequest>),
        response: json::<MuteResponse>(),
        handler: || post(set),
    },
    Route {
        method: "DELETE",
        path: "/api/mutes/{id}",
        access: Access::Owner,
        operation: "unmute",
        summary: "Tell it again",
        query: &[],
        request: None,
        response: json::<UnmutedResponse>(),
        handler: || delete(lift),
    },
];

fn mute_response(mute: Mute) -> MuteResponse {
    let (service, host) = match mute.subject {
        Muted::Service(id) => (Some(id.to_string()), None),
        Muted::Host(name) => (None, Some(name)),
    };
    MuteResponse {
        id: mute.id.to_string(),
        service,
        host,
        reason: mute.reason,
        by: mute.by,
        at: mute.at.to_string(),
        until: mute.until.to_string(),
    }
}

/// What is muted now, of what the summary was read with.
pub(super) fn of_rows(rows: &StatusRows, at: Timestamp) -> Vec<MuteResponse> {
    let mutes = rows.mutes_at(at).cloned();
    mutes.map(mute_response).collect()
}

pub(crate) async fn list(State(app): State<App>) -> Result<Json<MutesResponse>, ApiError> {
    let mutes = mutes::list(app.control()).await?;
    Ok(Json(MutesResponse {
        mutes: mutes.into_iter().map(mute_response).collect(),
    }))
}

fn subject(request: &MuteRequest) -> Result<Muted, ApiError> {
    match (&request.service, &request.host) {
        (Some(service), None) => match ServiceId::parse(service) {
            Some(id) => Ok(Muted::Service(id)),
            None => Err(mute_error(MuteError::UnknownService)),
        },
        (None, Some(host)) => Ok(Muted::Host(host.clone())),
        (None, None) | (Some(_), Some(_)) => Err(ApiError::invalid_saying(
            "service",
            "name either a service or a host",
        )),
    }
}

fn until(request: &MuteRequest) -> Result<Until, ApiError> {
    match (request.for_s, &request.until) {
        (Some(seconds), None) => Ok(Until::After(Duration::from_secs(seconds))),
        (None, Some(text)) => match Timestamp::parse_rfc3339(text) {
            Some(at) => Ok(Until::At(at)),
            None => Err(ApiError::invalid_field(
                "until",
                "must be a time like 2026-11-16T22:00:00Z",
            )),
        },
        (None, None) | (Some(_), Some(_)) => Err(ApiError::invalid_saying(
            "for_s",
            "say either for_s or until",
        )),
    }
}

pub(crate) async fn set(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<MuteRequest>,
) -> Result<Json<MuteResponse>, ApiError> {
    let mute = NewMute {
        subject: subject(&request)?,
        until: until(&request)?,
        reason: request.reason,
        key: None,
    };
    let mute = mutes::set(app.control(), &ctx, mute)
        .await
        .map_err(mute_error)?;
    Ok(Json(mute_response(mute)))
}

pub(crate) async fn lift(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
) -> Result<Json<UnmutedResponse>, ApiError> {
    let id: MuteId = id.parse().map_err(|_| mute_error(MuteError::NotFound))?;
    mutes::lift(app.control(), &ctx, &[id], None)
        .await
        .map_err(mute_error)?;
    Ok(Json(UnmutedResponse { unmuted: true }))
}

fn mute_error(error: MuteError) -> ApiError {
    let message = error.to_string();
    match error {
        MuteError::OwnerOnly => ApiError::owner_only(),
        MuteError::UnknownService | MuteError::UnknownHost => {
            ApiError::not_found(message).hint("void services shows what is watched")
        }
        MuteError::NotFound => {
            ApiError::not_found(message).hint("void notify ls shows what is muted")
        }
        MuteError::Reason => ApiError::invalid_saying("reason", message),
        MuteError::End(_) => ApiError::invalid_saying("until", message)
            .hint("4h, 7d, or 30d at most; or a moment before that"),
        MuteError::TooMany => ApiError::new(FailureCode::TooMany, message),
        MuteError::KeyUsed => ApiError::new(FailureCode::Used, message),
        MuteError::Store(error) => error.into(),
    }
}
