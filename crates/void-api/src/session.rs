//! `/api/session`: the owner's browser.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Word;

/// What is longer proves nothing; the body's own bound holds however it is written.
pub const PROOF_CHARS_MAX: usize = 512;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct WhoResponse {
    pub kind: Word,
    pub name: String,
    pub capabilities: Vec<Word>,
    /// The browser session, if that is what was shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<OpenSessionResponse>,
    /// Until when the session may approve what is critical and change how the owner signs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh_until: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "OpenSession")]
pub struct OpenSessionResponse {
    pub id: String,
    pub opened_at: String,
    /// When the owner last proved who they are; using a session proves nothing.
    pub authenticated_at: String,
    pub expires_at: String,
    /// `token`, `password`, `setup` or `passkey`.
    pub method: Word,
}

/// Exactly one of its members.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1, "maxProperties" = 1))]
pub struct SessionRequest {
    /// The owner's token.
    #[serde(default)]
    #[schemars(required, length(max = PROOF_CHARS_MAX))]
    pub token: Option<String>,
    #[serde(default)]
    #[schemars(required, length(max = PROOF_CHARS_MAX))]
    pub password: Option<String>,
    /// The code of a set-up link.
    #[serde(default)]
    #[schemars(required, length(max = PROOF_CHARS_MAX))]
    pub setup: Option<String>,
    #[serde(default)]
    #[schemars(required)]
    pub passkey: Option<AssertionRequest>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Assertion")]
pub struct AssertionRequest {
    /// Which challenge it answers.
    #[schemars(length(max = PROOF_CHARS_MAX))]
    pub challenge: String,
    /// The JSON of the credential that the browser got.
    pub credential: Map<String, Value>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SessionResponse {
    pub expires_at: String,
    /// `token`, `password`, `setup` or `passkey`.
    pub method: Word,
}

/// One of its members; a set-up link vouches for nobody twice.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1, "maxProperties" = 1))]
pub struct ConfirmRequest {
    /// The owner's token.
    #[serde(default)]
    #[schemars(required, length(max = PROOF_CHARS_MAX))]
    pub token: Option<String>,
    #[serde(default)]
    #[schemars(required, length(max = PROOF_CHARS_MAX))]
    pub password: Option<String>,
    #[serde(default)]
    #[schemars(required)]
    pub passkey: Option<AssertionRequest>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ConfirmedResponse {
    pub session: OpenSessionResponse,
    pub fresh_until: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClosedResponse {
    pub closed: bool,
}
