//! `/api/setup-links`: a way in for a new browser.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SetupLinkResponse {
    /// To be opened once.
    pub url: String,
    /// The same link for other machines, the likeliest first; empty if only this one reaches the page.
    pub elsewhere: Vec<String>,
    pub expires_at: String,
}
