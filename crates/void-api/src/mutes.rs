//! `/api/mutes`: what the owner is not told for a time, and why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_domain::limits::REASON_BYTES_MAX;
use void_domain::mutes::LASTS_MAX;

use crate::schemas;

pub const FOR_SECONDS_MAX: u64 = LASTS_MAX.as_secs();
pub const NAME_CHARS_MAX: usize = 64;
pub const TIME_CHARS_MAX: usize = 40;
/// Plain text with something in it: spaces alone are no reason.
pub const NOT_BLANK: &str = r"^[^\u0000]*[^\s\u0000][^\u0000]*$";

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct MutesResponse {
    /// What is muted now, the newest first.
    pub mutes: Vec<MuteResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Mute")]
pub struct MuteResponse {
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

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["reason"], "allOf" = [
    schemas::one_of("service", "string", "host", "string"),
    schemas::one_of("for_s", "integer", "until", "string")
]))]
pub struct MuteRequest {
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

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct UnmutedResponse {
    pub unmuted: bool,
}
