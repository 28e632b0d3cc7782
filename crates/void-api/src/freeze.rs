//! `/api/freeze`: the stop switch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_domain::limits::REASON_BYTES_MAX;

pub const FOR_SECONDS_MAX: u64 = 30 * 24 * 60 * 60;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct FreezeResponse {
    pub frozen: bool,
    pub by: Option<String>,
    pub at: Option<String>,
    /// Left out for agents if another agent wrote it.
    pub reason: Option<String>,
    pub until: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreezeRequest {
    #[serde(default)]
    #[schemars(length(max = REASON_BYTES_MAX), extend("x-max-bytes" = REASON_BYTES_MAX))]
    pub reason: Option<String>,
    /// Seconds after which it ends by itself; the owner alone may set it.
    #[serde(default)]
    #[schemars(range(min = 1, max = FOR_SECONDS_MAX))]
    pub for_s: Option<u64>,
}
