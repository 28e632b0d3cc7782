//! `/api/doctor`: what `void doctor` says, on a page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct DoctorResponse {
    /// Nothing is a problem; there may be warnings.
    pub ok: bool,
    pub findings: Vec<Finding>,
    pub at: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The name of the check; stable.
    pub check: String,
    /// `ok`, `warning` or `problem`.
    #[schemars(extend("enum" = ["ok", "warning", "problem"]))]
    pub level: Word,
    pub message: String,
    /// The next command.
    pub next: Option<String>,
}
