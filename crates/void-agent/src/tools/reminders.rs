//! `remind`: an agent of the tree is woken later, once or again and again, by what it says now.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use void_control::reminders::{self, SetError, SetRequest};
use void_domain::actors::Actor;
use void_domain::failures::FailureCode;
use void_domain::notifications::Zone;
use void_domain::reminders::{InvalidReminder, Reminder, ReminderSchedule};
use void_domain::text;
use void_domain::time::Timestamp;

use super::{Call, Effect, Outcome, Reach, RunningTool, Tool, ToolError, schema, written_schema};

pub(super) static REMIND: Tool = Tool {
    name: "remind",
    title: "Remind yourself",
    description: "Wakes you later with this text: once at a moment (at), every so many seconds (every_s, 300 at least), \
        or as cron says (cron: minute hour day month weekday, in zone). Say exactly one of the three.",
    needs: &[],
    reach: Reach::Tree,
    effect: Effect::Tells,
    arguments: schema::<RemindArguments>,
    result: written_schema::<ReminderResult>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RemindArguments {
    text: String,
    /// RFC 3339, such as 2026-11-16T22:00:00Z.
    #[serde(default)]
    at: Option<String>,
    #[serde(default)]
    every_s: Option<u64>,
    #[serde(default)]
    cron: Option<String>,
    /// Such as Europe/Berlin; UTC if it is left out.
    #[serde(default)]
    zone: Option<String>,
}

/// What Void knows of a reminder, without its words.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReminderResult {
    id: String,
    /// once, every or cron
    kind: &'static str,
    /// active, done or cancelled
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_at: Option<String>,
    fired_count: u64,
}

pub(super) fn result(reminder: &Reminder) -> ReminderResult {
    ReminderResult {
        id: reminder.id.to_string(),
        kind: reminder.schedule.kind(),
        status: reminder.state.as_str(),
        next_at: reminder.next_at().map(|at| at.to_string()),
        fired_count: reminder.fired_count,
    }
}

fn run(mut call: Call) -> RunningTool {
    Box::pin(async move {
        let arguments: RemindArguments = call.arguments()?;
        let Actor::Agent { name, .. } = &call.ctx.actor else {
            return Err(set_error(SetError::NotAllowed));
        };
        let wanted = SetRequest {
            agent: name.clone(),
            schedule: schedule(&arguments)?,
            text: arguments.text,
            taint: call.taint.clone(),
        };
        match reminders::set(&call.control, &call.ctx, wanted).await {
            Ok(set) => Ok(Outcome::of(json!(result(&set)))),
            Err(error) => Err(set_error(error)),
        }
    })
}

fn schedule(arguments: &RemindArguments) -> Result<ReminderSchedule, ToolError> {
    match (&arguments.at, arguments.every_s, &arguments.cron) {
        (Some(at), None, None) => match Timestamp::parse_rfc3339(at) {
            Some(at) => Ok(ReminderSchedule::Once { at }),
            None => Err(set_error(InvalidReminder::Time.into())),
        },
        (None, Some(seconds), None) => Ok(ReminderSchedule::Every {
            interval: Duration::from_secs(seconds),
        }),
        (None, None, Some(expression)) => {
            let zone = Zone::get(arguments.zone.as_deref().unwrap_or("UTC"));
            Ok(ReminderSchedule::Cron {
                expression: expression.clone(),
                zone: zone.map_err(|_| set_error(InvalidReminder::Zone.into()))?,
            })
        }
        _ => {
            let message = "say exactly one of at, every_s and cron";
            Err(ToolError::new(FailureCode::InvalidArguments, message))
        }
    }
}

fn set_error(error: SetError) -> ToolError {
    let message = text::escaped(&error.to_string());
    let code = match error {
        SetError::Invalid(_) => FailureCode::InvalidArguments,
        SetError::NotAllowed => FailureCode::Forbidden,
        SetError::UnknownAgent => FailureCode::NotFound,
        SetError::TooMany { .. } => FailureCode::TooMany,
        SetError::TooOften => FailureCode::RateLimited,
        SetError::Store(error) => return error.into(),
    };
    ToolError::new(code, message)
}
