//! `/api/reminders`: what agents are to be reminded of. Agents set their own by a tool.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::routing::{delete, get, post};
use serde::Deserialize;
use void_api::reminders::{
    ReminderCancelledResponse, ReminderResponse, RemindersResponse, SetReminderRequest,
};
use void_control::reminders::{self, ReminderError, SetError, SetRequest};
use void_domain::agents::AgentName;
use void_domain::failures::FailureCode;
use void_domain::notifications::Zone;
use void_domain::reminders::{InvalidReminder, ReminderSchedule};
use void_domain::taint::Taint;
use void_domain::time::Timestamp;

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Query, Segment};
use crate::table::{Access, Parameter, Route, json, schema};
use crate::wire::reminder_response;

const AGENT: Parameter = Parameter {
    name: "agent",
    kind: "string",
    meaning: "only those of this agent",
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/reminders",
        access: Access::Owner,
        operation: "listReminders",
        summary: "What agents are to be reminded of, the next one first",
        query: &[AGENT],
        request: None,
        response: json::<RemindersResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/reminders",
        access: Access::OwnerRecent,
        operation: "setReminder",
        summary: "Remind an agent of something, once or again and again",
        query: &[],
        request: Some(schema::<SetReminderRequest>),
        response: json::<ReminderResponse>(),
        handler: || post(set),
    },
    Route {
        method: "DELETE",
        path: "/api/reminders/{id}",
        access: Access::Owner,
        operation: "cancelReminder",
        summary: "Remind nobody of this any more",
        query: &[],
        request: None,
        response: json::<ReminderCancelledResponse>(),
        handler: || delete(cancel),
    },
];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RemindersQuery {
    agent: Option<String>,
}

pub(crate) async fn list(
    State(app): State<App>,
    Query(query): Query<RemindersQuery>,
) -> Result<Json<RemindersResponse>, ApiError> {
    let agent = query.agent.map(|name| agent_name(&name)).transpose()?;
    let found = reminders::list(app.control(), agent.as_ref()).await?;
    Ok(Json(RemindersResponse {
        reminders: found.iter().map(reminder_response).collect(),
    }))
}

pub(crate) async fn set(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<SetReminderRequest>,
) -> Result<Json<ReminderResponse>, ApiError> {
    let wanted = SetRequest {
        agent: agent_name(&request.agent)?,
        schedule: schedule(&request)?,
        text: request.text,
        taint: Taint::clean(),
    };
    let set = reminders::set(app.control(), &ctx, wanted).await;
    Ok(Json(reminder_response(&set.map_err(set_error)?)))
}

pub(crate) async fn cancel(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
) -> Result<Json<ReminderCancelledResponse>, ApiError> {
    let id = id
        .parse()
        .map_err(|_| reminder_error(ReminderError::NotFound))?;
    let cancelled = reminders::cancel(app.control(), &ctx, id).await;
    cancelled.map_err(reminder_error)?;
    Ok(Json(ReminderCancelledResponse { cancelled: true }))
}

fn agent_name(text: &str) -> Result<AgentName, ApiError> {
    let invalid = |_| ApiError::invalid_field("agent", "must be the name of an agent");
    text.parse().map_err(invalid)
}

fn schedule(request: &SetReminderRequest) -> Result<ReminderSchedule, ApiError> {
    match (&request.at, request.every_s, &request.cron) {
        (Some(at), None, None) => match Timestamp::parse_rfc3339(at) {
            Some(at) => Ok(ReminderSchedule::Once { at }),
            None => Err(ApiError::invalid_field(
                "at",
                "must be a time like 2026-11-16T22:00:00Z",
            )),
        },
        (None, Some(seconds), None) => Ok(ReminderSchedule::Every {
            interval: Duration::from_secs(seconds),
        }),
        (None, None, Some(expression)) => {
            let zone = Zone::get(request.zone.as_deref().unwrap_or("UTC"));
            Ok(ReminderSchedule::Cron {
                expression: expression.clone(),
                zone: zone.map_err(|_| set_error(SetError::Invalid(InvalidReminder::Zone)))?,
            })
        }
        _ => Err(ApiError::invalid_saying(
            "at",
            "say exactly one of at, every_s and cron",
        )),
    }
}

fn set_error(error: SetError) -> ApiError {
    let message = error.to_string();
    match error {
        SetError::Invalid(invalid) => {
            let field = match invalid {
                InvalidReminder::Text => "text",
                InvalidReminder::Time => "at",
                InvalidReminder::TooOften => "every_s",
                InvalidReminder::Cron => "cron",
                InvalidReminder::Zone => "zone",
            };
            ApiError::invalid_saying(field, message)
        }
        SetError::NotAllowed => ApiError::forbidden(message),
        SetError::UnknownAgent => {
            ApiError::not_found(message).hint("void agents tree shows who is there")
        }
        SetError::TooMany { .. } => ApiError::new(FailureCode::TooMany, message),
        SetError::TooOften => ApiError::rate_limited(message),
        SetError::Store(error) => error.into(),
    }
}

fn reminder_error(error: ReminderError) -> ApiError {
    let message = error.to_string();
    match error {
        ReminderError::NotFound => {
            ApiError::not_found(message).hint("void agents reminders shows what there is")
        }
        ReminderError::OwnersOwn => ApiError::owner_only(),
        ReminderError::Over(_) => ApiError::new(FailureCode::AlreadyDecided, message),
        ReminderError::Store(error) => error.into(),
    }
}
