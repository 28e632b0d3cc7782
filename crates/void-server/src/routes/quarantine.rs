//! `/api/quarantine`: credentials that came back with an older copy of the database and open nothing until
//! the owner confirms each.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_control::quarantine::{self, Kind, QuarantineError, Said};

use crate::access::Access;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller};
use crate::table::{Route, json, schema};

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

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QuarantineResponse {
    pub quarantined: Vec<QuarantinedResponse>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Quarantined")]
pub(crate) struct QuarantinedResponse {
    /// `token`, `passkey`, `password` or `pair`.
    pub kind: &'static str,
    pub id: String,
    pub name: String,
    pub made_at: String,
    /// When the older copy was noticed.
    pub since: String,
}

pub(crate) async fn list(State(app): State<App>) -> Result<Json<QuarantineResponse>, ApiError> {
    let quarantined = quarantine::list(app.control()).await?;
    let quarantined = quarantined
        .into_iter()
        .map(|one| QuarantinedResponse {
            kind: one.kind.as_str(),
            id: one.id,
            name: one.name,
            made_at: one.made_at.to_string(),
            since: one.since.to_string(),
        })
        .collect();
    Ok(Json(QuarantineResponse { quarantined }))
}

const ID_CHARS_MAX: usize = 128;

/// Which one, as the list names it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["kind", "id"]))]
pub(crate) struct QuarantineRequest {
    #[serde(default)]
    #[schemars(extend("enum" = ["token", "passkey", "password", "pair"]))]
    pub kind: String,
    #[serde(default)]
    #[schemars(length(min = 1, max = ID_CHARS_MAX))]
    pub id: String,
}

impl QuarantineRequest {
    fn named(self) -> Result<(Kind, String), ApiError> {
        let kind = Kind::parse(&self.kind).ok_or_else(|| {
            ApiError::invalid_field("kind", "must be token, passkey, password or pair")
        })?;
        if self.id.is_empty() || self.id.chars().count() > ID_CHARS_MAX {
            let problem = format!("must be 1 to {ID_CHARS_MAX} characters");
            return Err(ApiError::invalid_field("id", problem));
        }
        Ok((kind, self.id))
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QuarantineConfirmedResponse {
    pub confirmed: bool,
}

pub(crate) async fn confirm(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<QuarantineRequest>,
) -> Result<Json<QuarantineConfirmedResponse>, ApiError> {
    let (kind, id) = request.named()?;
    quarantine::decide(app.control(), &ctx, kind, id, Said::Confirm)
        .await
        .map_err(quarantine_error)?;
    Ok(Json(QuarantineConfirmedResponse { confirmed: true }))
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "QuarantineRemoved")]
pub(crate) struct QuarantineRemovedResponse {
    pub removed: bool,
}

pub(crate) async fn remove(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<QuarantineRequest>,
) -> Result<Json<QuarantineRemovedResponse>, ApiError> {
    let (kind, id) = request.named()?;
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
