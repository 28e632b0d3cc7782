//! Health, metrics and the description of the API.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct HealthResponse {
    /// `ok` or `unavailable`.
    pub status: Word,
    pub version: Word,
}
