//! `/api/passkeys`: the owner's authenticators.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::bounds::UUID;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PasskeysResponse {
    pub passkeys: Vec<PasskeyResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Passkey")]
pub struct PasskeyResponse {
    pub id: String,
    pub name: String,
    pub created_at: String,
    pub last_used_at: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Challenge")]
pub struct ChallengeResponse {
    /// To be sent back with the answer, once and within five minutes.
    pub challenge: String,
    /// The `publicKey` options of `navigator.credentials`, with bytes as base64url.
    pub options: Map<String, Value>,
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["challenge", "name", "credential"]))]
pub struct PasskeyRequest {
    #[serde(default)]
    #[schemars(regex(pattern = UUID))]
    pub challenge: String,
    /// What the owner calls it, 1 to 64 characters that print as themselves.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    /// The JSON of the credential that the browser made.
    #[serde(default)]
    pub credential: Map<String, Value>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PasskeyRemovedResponse {
    pub removed: bool,
}
