//! `/api/tokens`: who else may come in.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use void_domain::capabilities::Capability;

use crate::Word;
use crate::bounds::SLUG;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct TokensResponse {
    pub tokens: Vec<TokenResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct TokenResponse {
    pub id: String,
    pub kind: Word,
    /// Whose it is, if it is an agent's: `agent_id` of the rows that the agent asked for.
    pub agent_id: Option<String>,
    pub name: String,
    pub capabilities: Vec<Word>,
    pub created_at: String,
    pub revoked_at: Option<String>,
    /// It came back with an older copy of the database, and opens nothing until the owner confirms it.
    pub quarantined: bool,
    /// What it was given that a stranger could have written. While there is anything, its safe actions wait.
    pub taint: Vec<String>,
    /// When the last of it was given.
    pub tainted_at: Option<String>,
}

/// More than a token is marked by, and longer ones than any.
pub const SOURCES_MAX: usize = 64;
pub const SOURCE_CHARS_MAX: usize = 200;

/// The owner answers for what the token does from here on.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenClearRequest {
    /// `taint` of the token as it was shown. If it was given something else since, nothing is cleared.
    #[schemars(length(max = SOURCES_MAX), inner(length(max = SOURCE_CHARS_MAX)))]
    pub taint: Option<Vec<String>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct TokenClearedResponse {
    pub cleared: bool,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["kind", "name"], "allOf" = [of_agents_or_plain()]))]
pub struct TokenRequest {
    /// `agent`, `viewer` or `node`.
    #[serde(default)]
    #[schemars(extend("enum" = ["agent", "viewer", "node"]))]
    pub kind: String,
    #[serde(default)]
    #[schemars(regex(pattern = SLUG))]
    pub name: String,
    /// A list of names, or a map of names to true.
    #[serde(default)]
    #[schemars(schema_with = "capabilities_schema")]
    pub capabilities: Value,
    /// Bring back the withdrawn agent of this name: the same one, with these capabilities.
    #[serde(default, skip_serializing_if = "is_false")]
    pub restore: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct NewTokenResponse {
    pub id: String,
    /// The token itself, shown this once.
    pub token: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RevokedResponse {
    pub revoked: bool,
}

/// Only agents have capabilities, and only they come back.
fn of_agents_or_plain() -> Value {
    let none = json!({
        "anyOf": [
            {"type": "array", "maxItems": 0},
            {"type": "object", "additionalProperties": {"const": false}},
            {"type": "null"},
        ],
    });
    json!({"anyOf": [
        {"properties": {"kind": {"const": "agent"}}},
        {"properties": {"restore": {"const": false}, "capabilities": none}},
    ]})
}

fn capabilities_schema(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> = Capability::granted().map(Capability::as_str).collect();
    json_schema!({
        "anyOf": [
            {"type": "array", "items": {"type": "string", "enum": names}},
            {
                "type": "object",
                "propertyNames": {"enum": names},
                "additionalProperties": {"type": "boolean"},
            },
            {"type": "null"},
        ],
    })
}
