//! `/api/mutes`: what the owner is not told for a time, and why.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::routing::{delete, get, post};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use void_control::mutes::{self, MuteError, NewMute, Until};
use void_domain::ids::MuteId;
use void_domain::limits::REASON_BYTES_MAX;
use void_domain::mutes::{LASTS_MAX, Mute, Muted};
use void_domain::services::ServiceId;
use void_domain::time::Timestamp;

use crate::access::Access;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Segment};
use crate::table::{Route, json, schema};

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

const FOR_SECONDS_MAX: u64 = LASTS_MAX.as_secs();
const NAME_CHARS_MAX: usize = 64;
const TIME_CHARS_MAX: usize = 40;
/// Plain text with something in it: spaces alone are no reason.
const NOT_BLANK: &str = r"^[^\u0000]*[^\s\u0000][^\u0000]*$";

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MutesResponse {
    /// What is muted now, the newest first.
    pub mutes: Vec<MuteResponse>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Mute")]
pub(crate) struct MuteResponse {
    pub id: String,
    /// One of the two is set.
    pub service: Option<String>,
    /// Everything on this host, or on the guests of this node.
    pub host: Option<String>,
    pub reason: String,
    /// Who muted it, as the record names them.
    pub by: String,
    pub at: String,
    pub until: String,
}

impl MuteResponse {
    fn new(mute: Mute) -> Self {
        let (service, host) = match mute.subject {
            Muted::Service(id) => (Some(id.to_string()), None),
            Muted::Host(name) => (None, Some(name)),
        };
        Self {
            id: mute.id.to_string(),
            service,
            host,
            reason: mute.reason,
            by: mute.by,
            at: mute.at.to_string(),
            until: mute.until.to_string(),
        }
    }
}

pub(crate) async fn list(State(app): State<App>) -> Result<Json<MutesResponse>, ApiError> {
    let mutes = mutes::list(app.control()).await?;
    Ok(Json(MutesResponse {
        mutes: mutes.into_iter().map(MuteResponse::new).collect(),
    }))
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["reason"], "allOf" = [
    one_of("service", "string", "host", "string"),
    one_of("for_s", "integer", "until", "string")
]))]
pub(crate) struct MuteRequest {
    /// Either a service,
    #[serde(default)]
    #[schemars(length(max = NAME_CHARS_MAX))]
    pub service: Option<String>,
    /// or a host or node with everything on it.
    #[serde(default)]
    #[schemars(length(max = NAME_CHARS_MAX))]
    pub host: Option<String>,
    /// Seconds after which it ends by itself,
    #[serde(default)]
    #[schemars(range(min = 1, max = FOR_SECONDS_MAX))]
    pub for_s: Option<u64>,
    /// or the moment, in RFC 3339; 30 days from now at most.
    #[serde(default)]
    #[schemars(length(max = TIME_CHARS_MAX), extend("format" = "date-time"))]
    pub until: Option<String>,
    #[serde(default)]
    #[schemars(length(min = 1, max = REASON_BYTES_MAX), regex(pattern = NOT_BLANK), extend("x-max-bytes" = REASON_BYTES_MAX))]
    pub reason: String,
}

/// A schema for exactly one of two members; the other one is absent or null.
fn one_of(one: &str, one_type: &str, other: &str, other_type: &str) -> Value {
    let alone = |name: &str, kind: &str, absent: &str| {
        json!({
            "required": [name],
            "properties": {name: {"type": kind}, absent: {"type": "null"}},
        })
    };
    json!({"oneOf": [alone(one, one_type, other), alone(other, other_type, one)]})
}

impl MuteRequest {
    fn subject(&self) -> Result<Muted, ApiError> {
        match (&self.service, &self.host) {
            (Some(service), None) => match ServiceId::parse(service) {
                Some(id) => Ok(Muted::Service(id)),
                None => Err(mute_error(MuteError::UnknownService)),
            },
            (None, Some(host)) => Ok(Muted::Host(host.clone())),
            (None, None) | (Some(_), Some(_)) => Err(ApiError::invalid_field(
                "service",
                "name either a service or a host",
            )),
        }
    }

    fn until(&self) -> Result<Until, ApiError> {
        match (self.for_s, &self.until) {
            (Some(seconds), None) => Ok(Until::After(Duration::from_secs(seconds))),
            (None, Some(text)) => match Timestamp::parse_rfc3339(text) {
                Some(at) => Ok(Until::At(at)),
                None => Err(ApiError::invalid_field(
                    "until",
                    "must be a time like 2026-11-16T22:00:00Z",
                )),
            },
            (None, None) | (Some(_), Some(_)) => Err(ApiError::invalid_field(
                "for_s",
                "say either for_s or until",
            )),
        }
    }
}

pub(crate) async fn set(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<MuteRequest>,
) -> Result<Json<MuteResponse>, ApiError> {
    let mute = NewMute {
        subject: request.subject()?,
        until: request.until()?,
        reason: request.reason,
        key: None,
    };
    let mute = mutes::set(app.control(), &ctx, mute)
        .await
        .map_err(mute_error)?;
    Ok(Json(MuteResponse::new(mute)))
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UnmutedResponse {
    pub unmuted: bool,
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
        MuteError::Reason => ApiError::invalid_field("reason", message),
        MuteError::End(_) => ApiError::invalid_field("until", message),
        MuteError::TooMany => ApiError::conflict("too_many", message),
        MuteError::KeyUsed => ApiError::conflict("used", message),
        MuteError::Store(error) => error.into(),
    }
}
