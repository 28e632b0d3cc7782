//! `/api/reminders`: what agents are to be reminded of, and when.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_domain::reminders::{AHEAD_MAX, CRON_BYTES_MAX, INTERVAL_MIN, TEXT_BYTES_MAX};

use crate::Word;
use crate::bounds::SLUG;
use crate::mutes::{NOT_BLANK, TIME_CHARS_MAX};

pub const EVERY_SECONDS_MIN: u64 = INTERVAL_MIN.as_secs();
pub const EVERY_SECONDS_MAX: u64 = AHEAD_MAX.as_secs();
pub const ZONE_CHARS_MAX: usize = 64;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RemindersResponse {
    /// Active ones, the next one first.
    pub reminders: Vec<ReminderResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Reminder")]
pub struct ReminderResponse {
    pub id: String,
    /// Who is reminded.
    pub agent: String,
    /// Who set it, as the record names them.
    pub set_by: String,
    /// In the words of whoever set it.
    pub text: String,
    /// What whoever set it had read that a stranger could have written.
    pub taint: Vec<String>,
    #[schemars(extend("enum" = ["once", "every", "cron"]))]
    pub kind: Word,
    pub every_s: Option<u64>,
    pub cron: Option<String>,
    pub zone: Option<String>,
    #[schemars(extend("enum" = ["active", "done", "cancelled"]))]
    pub status: Word,
    pub next_at: Option<String>,
    pub set_at: String,
    pub fired_count: u64,
    pub last_fired_at: Option<String>,
}

/// Exactly one of `at`, `every_s` and `cron`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["agent", "text"]))]
pub struct SetReminderRequest {
    #[serde(default)]
    #[schemars(regex(pattern = SLUG))]
    pub agent: String,
    #[serde(default)]
    #[schemars(length(min = 1, max = TEXT_BYTES_MAX), regex(pattern = NOT_BLANK), extend("x-max-bytes" = TEXT_BYTES_MAX))]
    pub text: String,
    /// Once, at this moment in RFC 3339,
    #[serde(default)]
    #[schemars(length(max = TIME_CHARS_MAX), extend("format" = "date-time"))]
    pub at: Option<String>,
    /// or again and again after so many seconds,
    #[serde(default)]
    #[schemars(range(min = EVERY_SECONDS_MIN, max = EVERY_SECONDS_MAX))]
    pub every_s: Option<u64>,
    /// or as five fields of cron say: minute hour day month weekday.
    #[serde(default)]
    #[schemars(length(max = CRON_BYTES_MAX))]
    pub cron: Option<String>,
    /// The zone of `cron`, such as Europe/Berlin; UTC if it is left out.
    #[serde(default)]
    #[schemars(length(max = ZONE_CHARS_MAX))]
    pub zone: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReminderCancelledResponse {
    pub cancelled: bool,
}
