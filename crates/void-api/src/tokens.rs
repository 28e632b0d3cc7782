//! `/api/tokens`: who else may come in.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
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
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["kind", "name"]))]
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
