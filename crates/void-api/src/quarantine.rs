//! `/api/quarantine`: credentials that came back with an older copy of the database and open nothing until
//! the owner confirms each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;

pub const ID_CHARS_MAX: usize = 128;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct QuarantineResponse {
    pub quarantined: Vec<QuarantinedResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Quarantined")]
pub struct QuarantinedResponse {
    /// `token`, `passkey`, `password` or `pair`.
    #[schemars(extend("enum" = ["token", "passkey", "password", "pair"]))]
    pub kind: Word,
    pub id: String,
    pub name: String,
    pub made_at: String,
    /// When the older copy was noticed.
    pub since: String,
}

/// Which one, as the list names it.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["kind", "id"]))]
pub struct QuarantineRequest {
    #[serde(default)]
    #[schemars(extend("enum" = ["token", "passkey", "password", "pair"]))]
    pub kind: String,
    #[serde(default)]
    #[schemars(length(min = 1, max = ID_CHARS_MAX))]
    pub id: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct QuarantineConfirmedResponse {
    pub confirmed: bool,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "QuarantineRemoved")]
pub struct QuarantineRemovedResponse {
    pub removed: bool,
}
