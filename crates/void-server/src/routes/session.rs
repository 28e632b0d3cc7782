//! `/api/session`: the owner's browser.

use std::hash::Hash;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{delete, get, post};
use axum::{Extension, Json};
use serde_json::Value;
use void_access::credentials::CredentialError;
use void_access::passkeys::{self, Assertion, Site};
use void_access::sessions::{self, Proof, Session, SessionError, SessionOrigin};
use void_api::passkeys::ChallengeResponse;
use void_api::session::{
    ClosedResponse, ConfirmRequest, ConfirmedResponse, OpenSessionResponse, SessionRequest,
    SessionResponse, WhoResponse,
};
use void_control::callers::Credential;
use void_domain::ids::RequestId;
use void_domain::limits::CRITICAL_AUTH_MAX_AGE;
use void_domain::secrets::Secret;
use void_domain::sessions::{SESSION_LASTS, device};

use super::passkeys::challenge_response;
use crate::access::Admitted;
use crate::app::App;
use crate::connections::Peer;
use crate::cookies;
use crate::errors::ApiError;
use crate::rate_limits::{RateLimiter, TRIES_MAX, network};
use crate::requests::Body;
use crate::table::{Access, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/session",
        access: Access::Read,
        operation: "getSession",
        summary: "Who the caller is",
        query: &[],
        request: None,
        response: json::<WhoResponse>(),
        handler: || get(who),
    },
    Route {
        method: "POST",
        path: "/api/session",
        access: Access::Public,
        operation: "openSession",
        summary: "Trade a proof that one is the owner for a session cookie",
        query: &[],
        request: Some(schema::<SessionRequest>),
        response: json::<SessionResponse>(),
        handler: || post(open),
    },
    Route {
        method: "DELETE",
        path: "/api/session",
        access: Access::Owner,
        operation: "closeSession",
        summary: "End this session, its open streams included",
        query: &[],
        request: None,
        response: json::<ClosedResponse>(),
        handler: || delete(close),
    },
    Route {
        method: "POST",
        path: "/api/session/challenge",
        access: Access::Public,
        operation: "challengeSession",
        summary: "Ask for what a passkey has to sign, to open a session or to confirm the open one",
        query: &[],
        request: None,
        response: json::<ChallengeResponse>(),
        handler: || post(challenge),
    },
    Route {
        method: "POST",
        path: "/api/session/confirm",
        access: Access::Owner,
        operation: "confirmSession",
        summary: "Prove again who is behind this session, before something critical",
        query: &[],
        request: Some(schema::<ConfirmRequest>),
        response: json::<ConfirmedResponse>(),
        handler: || post(confirm),
    },
];

/// Anybody may send a login, so it is not read as far as other bodies are.
pub(super) const LOGIN_BODY_BYTES_MAX: usize = 8 * 1024;

fn open_session_response(session: &Session) -> OpenSessionResponse {
    OpenSessionResponse {
        id: session.id.to_string(),
        opened_at: session.created_at.to_string(),
        authenticated_at: session.authenticated_at.to_string(),
        expires_at: session.expires_at.to_string(),
        method: session.method.as_str().into(),
    }
}

fn fresh_until(session: &Session) -> String {
    session
        .authenticated_at
        .plus(CRITICAL_AUTH_MAX_AGE)
        .to_string()
}

pub(crate) async fn who(admitted: Admitted) -> Json<WhoResponse> {
    let requester = admitted.ctx.actor.requester();
    let session = admitted.caller.session.as_ref();
    Json(WhoResponse {
        kind: requester.kind.as_str().into(),
        name: requester.name,
        capabilities: admitted
            .ctx
            .capabilities
            .iter()
            .map(|capability| capability.as_str().into())
            .collect(),
        session: session.map(open_session_response),
        fresh_until: session.map(fresh_until),
    })
}

fn proof(request: SessionRequest, site: Option<Site>) -> Result<Proof, ApiError> {
    match (
        request.token,
        request.password,
        request.setup,
        request.passkey,
    ) {
        (Some(token), None, None, None) => Ok(Proof::Token(Secret::new(token))),
        (None, Some(password), None, None) => Ok(Proof::Password(Secret::new(password))),
        (None, None, Some(code), None) => Ok(Proof::Setup(Secret::new(code))),
        (None, None, None, Some(passkey)) => Ok(Proof::Passkey(Box::new(Assertion {
            challenge: passkey.challenge.parse().ok(),
            credential: Value::Object(passkey.credential),
            site,
        }))),
        _ => Err(ApiError::invalid_field(
            "body",
            "must hold exactly one of token, password, setup and passkey",
        )),
    }
}

pub(crate) async fn open(
    State(app): State<App>,
    Extension(request_id): Extension<RequestId>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    Body(request): Body<SessionRequest, LOGIN_BODY_BYTES_MAX>,
) -> Result<Response, ApiError> {
    let proof = proof(request, app.shared().fence.site(&headers))?;
    let limiter = &app.shared().rate_limits.passwords;
    let who = network(peer.remote.ip());
    hold_back(&app, limiter, who, &proof)?;
    let place = SessionOrigin {
        device: device(user_agent(&headers)),
        address: peer.remote.ip().to_canonical().to_string(),
    };
    let opened = sessions::open(app.owner_access(), request_id, &proof, place)
        .await
        .map_err(session_error)?;
    limiter.forgive(&who);
    let body = Json(SessionResponse {
        expires_at: opened.session.expires_at.to_string(),
        method: opened.session.method.as_str().into(),
    });
    let cookie = cookies::keep(&app, &opened.cookie, SESSION_LASTS.as_secs())?;
    let mut response = body.into_response();
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

/// Asks for a passkey's signature: in an open session to confirm it, otherwise to open one.
pub(crate) async fn challenge(
    State(app): State<App>,
    Extension(peer): Extension<Peer>,
    admitted: Option<Extension<Admitted>>,
    headers: HeaderMap,
) -> Result<Json<ChallengeResponse>, ApiError> {
    let now = app.control().clock().now();
    let site = app.shared().fence.site(&headers);
    let session = admitted.and_then(|Extension(admitted)| admitted.caller.session);
    let limiter = &app.shared().rate_limits.challenges;
    let may = || limiter.try_once(network(peer.remote.ip()), now);
    if site.is_some() && session.is_none() && !may() {
        return Err(too_many());
    }
    let asked = passkeys::ask(app.owner_access(), site.as_ref(), session.as_ref()).await?;
    Ok(Json(challenge_response(asked)))
}

pub(crate) async fn confirm(
    State(app): State<App>,
    Extension(peer): Extension<Peer>,
    admitted: Admitted,
    headers: HeaderMap,
    Body(request): Body<ConfirmRequest, LOGIN_BODY_BYTES_MAX>,
) -> Result<Json<ConfirmedResponse>, ApiError> {
    let session = admitted.session()?;
    let request = SessionRequest {
        token: request.token,
        password: request.password,
        setup: None,
        passkey: request.passkey,
    };
    let proof = proof(request, app.shared().fence.site(&headers))?;
    let limiter = &app.shared().rate_limits.confirmations;
    hold_back(&app, limiter, session.id, &proof)?;
    let address = peer.remote.ip().to_canonical().to_string();
    let confirmed = sessions::confirm(app.owner_access(), &admitted.ctx, session, &proof, &address)
        .await
        .map_err(session_error)?;
    limiter.forgive(&session.id);
    Ok(Json(ConfirmedResponse {
        session: open_session_response(&confirmed),
        fresh_until: fresh_until(&confirmed),
    }))
}

pub(crate) async fn close(
    State(app): State<App>,
    admitted: Admitted,
) -> Result<Response, ApiError> {
    let Credential::Session { id, .. } = admitted.caller.credential else {
        return Err(CredentialError::SessionNeeded.into());
    };
    sessions::close(app.owner_access(), &admitted.ctx, id).await?;
    let mut response = Json(ClosedResponse { closed: true }).into_response();
    let cookie = cookies::keep(&app, &Secret::new(""), 0)?;
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

/// Guessing is slow. Nobody guesses a passkey, a set-up link or a long token, so a stranger who tries
/// keeps nobody out who shows one.
fn hold_back<K: Hash + Eq + Clone>(
    app: &App,
    limiter: &RateLimiter<K>,
    who: K,
    proof: &Proof,
) -> Result<(), ApiError> {
    let is_guessable = match proof {
        Proof::Password(_) => true,
        Proof::Token(_) => app.control().is_owner_token_short(),
        Proof::Passkey(_) | Proof::Setup(_) => false,
    };
    if is_guessable && !limiter.try_once(who, app.control().clock().now()) {
        return Err(too_many());
    }
    Ok(())
}

fn too_many() -> ApiError {
    ApiError::rate_limited(format!(
        "more than {TRIES_MAX} logins in a minute; wait a little"
    ))
}

fn user_agent(headers: &HeaderMap) -> &str {
    let sent = headers.get(header::USER_AGENT);
    sent.and_then(|sent| sent.to_str().ok()).unwrap_or_default()
}

fn session_error(error: SessionError) -> ApiError {
    match error {
        SessionError::Wrong => ApiError::unauthenticated(),
        SessionError::NotFound => ApiError::not_found(error.to_string()),
        SessionError::Busy(busy) => ApiError::rate_limited(busy.to_string()),
        SessionError::Store(error) => error.into(),
    }
}
