//! `/api/passkeys`: the owner's authenticators.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::{delete, get, post};
use serde_json::{Map, Value};
use void_access::passkeys::{self, Challenge, NewPasskey, Passkey};
use void_api::passkeys::{
    ChallengeResponse, PasskeyRemovedResponse, PasskeyRequest, PasskeyResponse, PasskeysResponse,
};
use void_domain::ids::{ChallengeId, PasskeyId};

use crate::access::Admitted;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Segment};
use crate::table::{Access, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/passkeys",
        access: Access::Owner,
        operation: "listPasskeys",
        summary: "The owner's passkeys",
        query: &[],
        request: None,
        response: json::<PasskeysResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/passkeys/challenge",
        access: Access::Owner,
        operation: "challengePasskey",
        summary: "Ask for what an authenticator needs to make a passkey; takes a session that is fresh",
        query: &[],
        request: None,
        response: json::<ChallengeResponse>(),
        handler: || post(challenge),
    },
    Route {
        method: "POST",
        path: "/api/passkeys",
        access: Access::Owner,
        operation: "registerPasskey",
        summary: "Keep the passkey that an authenticator made",
        query: &[],
        request: Some(schema::<PasskeyRequest>),
        response: json::<PasskeyResponse>(),
        handler: || post(register),
    },
    Route {
        method: "DELETE",
        path: "/api/passkeys/{id}",
        access: Access::Owner,
        operation: "removePasskey",
        summary: "Remove a passkey; sessions stay",
        query: &[],
        request: None,
        response: json::<PasskeyRemovedResponse>(),
        handler: || delete(remove),
    },
];

const PASSKEY_BODY_BYTES_MAX: usize = 32 * 1024;

fn passkey_response(passkey: Passkey) -> PasskeyResponse {
    PasskeyResponse {
        id: passkey.id.to_string(),
        created_at: passkey.created_at.to_string(),
        last_used_at: passkey.last_used_at.map(|at| at.to_string()),
        name: passkey.name,
    }
}

pub(crate) async fn list(State(app): State<App>) -> Result<Json<PasskeysResponse>, ApiError> {
    let passkeys = passkeys::list(app.owner_access()).await?;
    let passkeys = passkeys.into_iter().map(passkey_response).collect();
    Ok(Json(PasskeysResponse { passkeys }))
}

pub(super) fn challenge_response(challenge: Challenge) -> ChallengeResponse {
    ChallengeResponse {
        challenge: challenge.id.to_string(),
        options: match challenge.options {
            Value::Object(options) => options,
            _ => Map::new(),
        },
    }
}

pub(crate) async fn challenge(
    State(app): State<App>,
    admitted: Admitted,
    headers: HeaderMap,
) -> Result<Json<ChallengeResponse>, ApiError> {
    let session = admitted.caller.session.as_ref();
    let site = app.shared().fence.site(&headers);
    let asked =
        passkeys::ask_for_new(app.owner_access(), &admitted.ctx, session, site.as_ref()).await?;
    Ok(Json(challenge_response(asked)))
}

pub(crate) async fn register(
    State(app): State<App>,
    admitted: Admitted,
    headers: HeaderMap,
    Body(request): Body<PasskeyRequest, PASSKEY_BODY_BYTES_MAX>,
) -> Result<Json<PasskeyResponse>, ApiError> {
    let challenge: ChallengeId = request
        .challenge
        .parse()
        .map_err(|_| ApiError::invalid_field("challenge", "is not one that was made here"))?;
    let new = NewPasskey {
        challenge,
        name: request.name,
        credential: Value::Object(request.credential),
        site: app.shared().fence.site(&headers),
    };
    let session = admitted.caller.session.as_ref();
    let made = passkeys::register(app.owner_access(), &admitted.ctx, session, new).await?;
    Ok(Json(passkey_response(made)))
}

pub(crate) async fn remove(
    State(app): State<App>,
    admitted: Admitted,
    Segment(id): Segment,
) -> Result<Json<PasskeyRemovedResponse>, ApiError> {
    let id: PasskeyId = id
        .parse()
        .map_err(|_| ApiError::not_found("there is no such passkey"))?;
    let session = admitted.caller.session.as_ref();
    passkeys::remove(app.owner_access(), &admitted.ctx, session, id).await?;
    Ok(Json(PasskeyRemovedResponse { removed: true }))
}
