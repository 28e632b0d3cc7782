//! `/api/passkeys`: the owner's authenticators.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::{delete, get, post};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use void_control::passkeys::{self, Challenge, NewPasskey, Passkey};
use void_domain::ids::{ChallengeId, PasskeyId};

use crate::access::{Access, Admitted};
use crate::app::App;
use crate::errors::ApiError;
use crate::parameters::UUID;
use crate::requests::{Body, Segment};
use crate::table::{Route, json, schema};

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

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PasskeysResponse {
    pub passkeys: Vec<PasskeyResponse>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Passkey")]
pub(crate) struct PasskeyResponse {
    pub id: String,
    pub name: String,
    pub created_at: String,
    pub last_used_at: Option<String>,
}

impl PasskeyResponse {
    fn new(passkey: Passkey) -> Self {
        Self {
            id: passkey.id.to_string(),
            created_at: passkey.created_at.to_string(),
            last_used_at: passkey.last_used_at.map(|at| at.to_string()),
            name: passkey.name,
        }
    }
}

pub(crate) async fn list(State(app): State<App>) -> Result<Json<PasskeysResponse>, ApiError> {
    let passkeys = passkeys::list(app.control()).await?;
    let passkeys = passkeys.into_iter().map(PasskeyResponse::new).collect();
    Ok(Json(PasskeysResponse { passkeys }))
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Challenge")]
pub(crate) struct ChallengeResponse {
    /// To be sent back with the answer, once and within five minutes.
    pub challenge: String,
    /// The `publicKey` options of `navigator.credentials`, with bytes as base64url.
    pub options: Map<String, Value>,
}

impl ChallengeResponse {
    pub(super) fn new(challenge: Challenge) -> Self {
        Self {
            challenge: challenge.id.to_string(),
            options: match challenge.options {
                Value::Object(options) => options,
                _ => Map::new(),
            },
        }
    }
}

pub(crate) async fn challenge(
    State(app): State<App>,
    admitted: Admitted,
    headers: HeaderMap,
) -> Result<Json<ChallengeResponse>, ApiError> {
    let session = admitted.caller.session.as_ref();
    let site = app.shared().fence.site(&headers);
    let asked = passkeys::ask_for_new(app.control(), &admitted.ctx, session, site.as_ref()).await?;
    Ok(Json(ChallengeResponse::new(asked)))
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["challenge", "name", "credential"]))]
pub(crate) struct PasskeyRequest {
    #[serde(default)]
    #[schemars(regex(pattern = UUID))]
    pub challenge: String,
    /// What the owner calls it, 1 to 64 characters that print as themselves.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    /// The JSON of the credential that the browser made.
    #[serde(default)]
    pub credential: Map<String, Value>,
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
    let made = passkeys::register(app.control(), &admitted.ctx, session, new).await?;
    Ok(Json(PasskeyResponse::new(made)))
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PasskeyRemovedResponse {
    pub removed: bool,
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
    passkeys::remove(app.control(), &admitted.ctx, session, id).await?;
    Ok(Json(PasskeyRemovedResponse { removed: true }))
}
