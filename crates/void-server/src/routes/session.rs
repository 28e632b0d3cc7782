//! `/api/session`: the owner's browser.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, http::HeaderValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_control::access::Credential;
use void_control::sessions::{self, SESSION_LASTS, SessionError};
use void_domain::capabilities::Capability;
use void_domain::ids::RequestId;
use void_domain::secrets::Secret;

use crate::access::{Admitted, cookie_name};
use crate::app::App;
use crate::connections::Peer;
use crate::errors::ApiError;
use crate::logins::TRIES_MAX;
use crate::requests::Body;

/// Anybody may send a login, so it is not read as far as other bodies are.
const LOGIN_BODY_BYTES_MAX: usize = 4 * 1024;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WhoResponse {
    pub kind: &'static str,
    pub name: String,
    pub capabilities: Vec<&'static str>,
}

pub(crate) async fn who(admitted: Admitted) -> Json<WhoResponse> {
    let requester = admitted.ctx.actor.requester();
    Json(WhoResponse {
        kind: requester.kind.as_str(),
        name: requester.name,
        capabilities: admitted
            .ctx
            .capabilities
            .iter()
            .map(Capability::as_str)
            .collect(),
    })
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionRequest {
    /// The owner's token.
    #[serde(default)]
    pub token: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionResponse {
    pub expires_at: String,
}

pub(crate) async fn open(
    State(app): State<App>,
    Extension(request_id): Extension<RequestId>,
    Extension(peer): Extension<Peer>,
    Body(request): Body<SessionRequest, LOGIN_BODY_BYTES_MAX>,
) -> Result<Response, ApiError> {
    let now = app.control().clock().now();
    if !app.shared().logins.try_once(peer.remote.ip(), now) {
        return Err(ApiError::rate_limited(format!(
            "more than {TRIES_MAX} logins in a minute; wait a little"
        )));
    }
    match sessions::open(app.control(), request_id, &request.token).await {
        Ok(cookie) => {
            let body = Json(SessionResponse {
                expires_at: now.plus(SESSION_LASTS).to_string(),
            });
            let mut response = body.into_response();
            response.headers_mut().insert(
                header::SET_COOKIE,
                set_cookie(&app, &cookie, SESSION_LASTS.as_secs())?,
            );
            Ok(response)
        }
        Err(SessionError::WrongToken) => Err(ApiError::unauthenticated()),
        Err(SessionError::Store(error)) => Err(error.into()),
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ClosedResponse {
    pub closed: bool,
}

pub(crate) async fn close(
    State(app): State<App>,
    admitted: Admitted,
) -> Result<Response, ApiError> {
    let Credential::Session { id, .. } = admitted.caller.credential else {
        return Err(ApiError::invalid_field(
            "cookie",
            "is missing: a bearer token has no session to end",
        ));
    };
    sessions::close(app.control(), &admitted.ctx, id).await?;
    let mut response = Json(ClosedResponse { closed: true }).into_response();
    response
        .headers_mut()
        .insert(header::SET_COOKIE, set_cookie(&app, &Secret::new(""), 0)?);
    Ok(response)
}

fn set_cookie(app: &App, value: &Secret, lasts_s: u64) -> Result<HeaderValue, ApiError> {
    let name = cookie_name(app);
    let secure = if app.shared().fence.secure_cookie {
        "; Secure"
    } else {
        ""
    };
    let text = format!(
        "{name}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={lasts_s}{secure}",
        value.expose()
    );
    let mut header = HeaderValue::from_str(&text)
        .map_err(|_| ApiError::forbidden("the session cannot be kept"))?;
    header.set_sensitive(true);
    Ok(header)
}
