//! `/api/tokens`: who else may come in.

use std::collections::HashSet;

use axum::Json;
use axum::extract::State;
use axum::routing::{delete, get, post};
use serde_json::Value;
use void_api::tokens::{
    NewTokenResponse, RevokedResponse, SOURCE_CHARS_MAX, SOURCES_MAX, TokenClearRequest,
    TokenClearedResponse, TokenRequest, TokenResponse, TokensResponse,
};
use void_control::quarantine::{self, Kind};
use void_control::token_taints::{self, ClearError};
use void_control::tokens::{self, ListedToken, TokenError};
use void_domain::actors::ActorKind;
use void_domain::agents::AgentRefusal;
use void_domain::capabilities::{Capabilities, Capability};
use void_domain::failures::FailureCode;
use void_domain::ids::TokenId;

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Segment};
use crate::table::{Access, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/tokens",
        access: Access::Owner,
        operation: "listTokens",
        summary: "Tokens of agents, viewers and nodes, without anything that could be used",
        query: &[],
        request: None,
        response: json::<TokensResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/tokens",
        access: Access::OwnerRecent,
        operation: "createToken",
        summary: "Make a token; its text is shown this once",
        query: &[],
        request: Some(schema::<TokenRequest>),
        response: json::<NewTokenResponse>(),
        handler: || post(create),
    },
    Route {
        method: "DELETE",
        path: "/api/tokens/{id}",
        access: Access::OwnerRecent,
        operation: "revokeToken",
        summary: "Withdraw a token, open streams included",
        query: &[],
        request: None,
        response: json::<RevokedResponse>(),
        handler: || delete(revoke),
    },
    Route {
        method: "POST",
        path: "/api/tokens/{id}/clear",
        access: Access::OwnerRecent,
        operation: "clearToken",
        summary: "Answer for a token that has read what a stranger could have written: its safe actions run again",
        query: &[],
        request: Some(schema::<TokenClearRequest>),
        response: json::<TokenClearedResponse>(),
        handler: || post(clear),
    },
];

pub(crate) async fn list(State(app): State<App>) -> Result<Json<TokensResponse>, ApiError> {
    let tokens = tokens::list(app.control()).await?;
    let quarantined: HashSet<String> = quarantine::list(app.control())
        .await?
        .into_iter()
        .filter(|one| one.kind == Kind::Token)
        .map(|one| one.id)
        .collect();
    let tokens = tokens
        .into_iter()
        .map(|ListedToken { token, taint }| TokenResponse {
            quarantined: quarantined.contains(&token.id.to_string()),
            id: token.id.to_string(),
            kind: token.kind.as_str().into(),
            agent_id: token.agent_id.map(|id| id.to_string()),
            capabilities: (token.capabilities.iter())
                .map(|capability| capability.as_str().into())
                .collect(),
            created_at: token.created_at.to_string(),
            revoked_at: token.revoked_at.map(|at| at.to_string()),
            tainted_at: taint.as_ref().map(|taint| taint.last_at.to_string()),
            taint: taint.map_or_else(Vec::new, |taint| taint.taint.sources().to_vec()),
            name: token.name,
        })
        .collect();
    Ok(Json(TokensResponse { tokens }))
}

pub(crate) async fn create(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<TokenRequest>,
) -> Result<Json<NewTokenResponse>, ApiError> {
    let kind = ActorKind::parse(&request.kind)
        .ok_or_else(|| ApiError::invalid_field("kind", "must be agent, viewer or node"))?;
    let capabilities: Capabilities = match request.capabilities {
        Value::Null => Capabilities::none(),
        given => serde_json::from_value(given).map_err(|_| {
            let names: Vec<&str> = Capability::granted().map(Capability::as_str).collect();
            let problem = format!("must name some of {}", names.join(", "));
            ApiError::invalid_field("capabilities", problem)
        })?,
    };
    let control = app.control();
    let made = match (request.restore, kind) {
        (false, _) => tokens::create(control, &ctx, kind, request.name, capabilities).await,
        (true, ActorKind::Agent) => {
            tokens::restore_agent(control, &ctx, &request.name, capabilities).await
        }
        (true, _) => {
            return Err(ApiError::invalid_field("restore", "is for agents"));
        }
    };
    let made = made.map_err(token_error)?;
    Ok(Json(NewTokenResponse {
        id: made.id.to_string(),
        token: made.text.expose().to_owned(),
    }))
}

pub(crate) async fn revoke(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
) -> Result<Json<RevokedResponse>, ApiError> {
    let id = parse_id(&id)?;
    tokens::revoke(app.control(), &ctx, id)
        .await
        .map_err(token_error)?;
    Ok(Json(RevokedResponse { revoked: true }))
}

pub(crate) async fn clear(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
    Body(request): Body<TokenClearRequest>,
) -> Result<Json<TokenClearedResponse>, ApiError> {
    let id = parse_id(&id)?;
    let seen = request.taint.ok_or_else(|| {
        ApiError::invalid_field("taint", "is missing: what you saw that it has read")
    })?;
    let is_long = |source: &String| source.chars().count() > SOURCE_CHARS_MAX;
    if seen.len() > SOURCES_MAX || seen.iter().any(is_long) {
        let problem = format!("is at most {SOURCES_MAX} texts of {SOURCE_CHARS_MAX} characters");
        return Err(ApiError::invalid_field("taint", problem));
    }
    let cleared = token_taints::clear(app.control(), &ctx, id, seen).await;
    cleared.map_err(clear_error)?;
    Ok(Json(TokenClearedResponse { cleared: true }))
}

fn parse_id(id: &str) -> Result<TokenId, ApiError> {
    let missing = |_| ApiError::not_found("there is no such token").hint("void token ls");
    id.parse().map_err(missing)
}

fn clear_error(error: ClearError) -> ApiError {
    let message = error.to_string();
    match error {
        ClearError::OwnerOnly => ApiError::owner_only(),
        ClearError::NotFound => ApiError::not_found(message).hint("void token ls"),
        ClearError::NotMarked => ApiError::new(FailureCode::NotNeeded, message),
        ClearError::Moved => ApiError::new(FailureCode::Changed, message).hint("void token ls"),
        ClearError::Store(error) => error.into(),
    }
}

fn token_error(error: TokenError) -> ApiError {
    match error {
        TokenError::OwnerOnly => ApiError::owner_only(),
        TokenError::InvalidKind => ApiError::invalid_field("kind", "must be agent, viewer or node"),
        TokenError::InvalidName => ApiError::invalid_field(
            "name",
            "must be 1 to 64 of a-z, 0-9 and -, beginning with a letter or digit",
        ),
        TokenError::NameTaken => ApiError::new(FailureCode::NameTaken, error.to_string())
            .hint("revoke the other one first"),
        TokenError::NoAgent => ApiError::invalid_field("capabilities", "are for agents"),
        TokenError::Refused(refusal) => refusal_error(refusal),
        TokenError::NotFound => ApiError::not_found(error.to_string()),
        TokenError::Store(error) => error.into(),
    }
}

fn refusal_error(refusal: AgentRefusal) -> ApiError {
    let message = refusal.to_string();
    match refusal {
        AgentRefusal::CapabilityUnused(_) => ApiError::invalid_saying("capabilities", message),
        AgentRefusal::OtherCapabilities(_) => ApiError::new(FailureCode::NameTaken, message)
            .hint("ask for the same capabilities, or choose another name"),
        AgentRefusal::Withdrawn => ApiError::new(FailureCode::NameWithdrawn, message)
            .hint("choose another name, or bring the same agent back with --restore"),
        AgentRefusal::Destroyed => {
            ApiError::new(FailureCode::NameWithdrawn, message).hint("choose another name")
        }
        AgentRefusal::ReadsLike(_) | AgentRefusal::Reserved | AgentRefusal::InTree(_) => {
            ApiError::new(FailureCode::NameTaken, message).hint("choose another name")
        }
        AgentRefusal::NotWithdrawn => {
            ApiError::not_found(message).hint("void token ls shows who was withdrawn")
        }
        AgentRefusal::TooMany => ApiError::new(FailureCode::TooMany, message),
    }
}
