//! `/api/password`: the owner's, beside or instead of passkeys.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_domain::passwords::{BYTES_MAX, BYTES_MIN};

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["password"]))]
pub struct PasswordRequest {
    /// 12 to 256 bytes, and not one of the first that anybody tries.
    #[serde(default)]
    #[schemars(length(min = BYTES_MIN, max = BYTES_MAX), extend("x-max-bytes" = BYTES_MAX))]
    pub password: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PasswordResponse {
    /// Whether there is one now.
    pub is_set: bool,
}
