//! `/api/sessions`: the browsers that are signed in.

use axum::Json;
use axum::extract::State;
use axum::routing::{delete, get};
use void_access::sessions::{self, SessionError};
use void_api::sessions::{ListedSessionResponse, SessionsResponse};
use void_api::tokens::RevokedResponse;
use void_domain::ids::SessionId;

use crate::access::Admitted;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Caller, Segment};
use crate::table::{Access, Route, json};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/sessions",
        access: Access::Owner,
        operation: "listSessions",
        summary: "The browsers that are signed in",
        query: &[],
        request: None,
        response: json::<SessionsResponse>(),
        handler: || get(list),
    },
    Route {
        method: "DELETE",
        path: "/api/sessions/{id}",
        access: Access::OwnerRecent,
        operation: "revokeSession",
        summary: "End a session, its open streams included",
        query: &[],
        request: None,
        response: json::<RevokedResponse>(),
        handler: || delete(revoke),
    },
];

pub(crate) async fn list(
    State(app): State<App>,
    admitted: Admitted,
) -> Result<Json<SessionsResponse>, ApiError> {
    let current = admitted.caller.session.map(|session| session.id);
    let listed = sessions::list(app.owner_access()).await?;
    let seen = &app.shared().seen_sessions;
    let sessions = listed
        .into_iter()
        .map(|session| ListedSessionResponse {
            id: session.id.to_string(),
            opened_at: session.created_at.to_string(),
            last_seen_at: seen.latest(session.id, session.last_seen_at).to_string(),
            expires_at: session.expires_at.to_string(),
            method: session.method.as_str().into(),
            current: current == Some(session.id),
            device: session.device,
        })
        .collect();
    Ok(Json(SessionsResponse { sessions }))
}

pub(crate) async fn revoke(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
) -> Result<Json<RevokedResponse>, ApiError> {
    let unknown = || ApiError::not_found("there is no such open session");
    let id: SessionId = id.parse().map_err(|_| unknown())?;
    match sessions::revoke(app.owner_access(), &ctx, id).await {
        Ok(()) => Ok(Json(RevokedResponse { revoked: true })),
        Err(SessionError::Store(error)) => Err(error.into()),
        Err(SessionError::NotFound | SessionError::Wrong | SessionError::Busy(_)) => Err(unknown()),
    }
}
