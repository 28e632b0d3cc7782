//! `/api/bridge`: the file bridge, looked at. Nothing here changes it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct BridgeResponse {
    pub enabled: bool,
    pub folder: Option<String>,
    /// Whether an operator's move counts as a decision.
    pub decisions: bool,
    /// What keeps it from working, if anything does.
    pub problem: Option<String>,
    pub last_scan_at: Option<String>,
    /// Files per status directory.
    pub counts: BTreeMap<String, usize>,
    /// Files in `running/` that belong to no proposal.
    pub foreign: usize,
    pub invalid: Vec<InvalidResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct InvalidResponse {
    pub file: String,
    pub reason: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct MovesResponse {
    pub enabled: bool,
    pub moves: Vec<MoveResponse>,
    pub last: u64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct MoveResponse {
    pub seq: u64,
    pub at: String,
    pub file: String,
    pub from: Option<String>,
    pub to: String,
    pub note: String,
}
