//! `/api/services`: what is watched, and how it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;
use crate::runbooks::RunbookResponse;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ServicesResponse {
    pub services: Vec<ServiceResponse>,
    /// The moment of this answer, for the age of readings.
    pub at: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Service")]
pub struct ServiceResponse {
    pub id: String,
    pub label: String,
    /// The host, or the node of its guest.
    pub host: Option<String>,
    pub node: Option<String>,
    pub vmid: Option<u32>,
    /// `http`, `tcp` or `guest`.
    pub check: Word,
    /// up, down or unknown. A reading that is too old says unknown.
    #[schemars(extend("enum" = ["up", "down", "unknown"]))]
    pub status: Word,
    /// Since when it is so.
    pub since: Option<String>,
    pub checked_at: Option<String>,
    pub detail: Option<ServiceDetail>,
    /// Set while it is down because the owner stopped what it is on, for a day at most: no worry.
    pub stopped: Option<StoppedResponse>,
    /// It changes so often that changes are believed late.
    pub flapping: bool,
    /// That it is down is told at any hour.
    pub urgent: bool,
    pub interval_s: u64,
}

/// Who stopped it, and when.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Stopped")]
pub struct StoppedResponse {
    #[schemars(extend("enum" = ["owner"]))]
    pub by: Word,
    pub at: String,
}

/// What the last look saw. Never what a service wrote.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ServiceDetail {
    /// The HTTP status.
    pub code: Option<u16>,
    pub latency_ms: Option<u64>,
    /// A stable word, if the answer was not good: refused, unreachable, timed_out, reset, wrong_status,
    /// not_http, stopped, unknown_name, certificate, proxmox or local; stale if nobody has looked for
    /// too long.
    pub reason: Option<Word>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ServiceWithHistoryResponse {
    #[serde(flatten)]
    pub service: ServiceResponse,
    /// The changes of the last day, oldest first.
    pub history: Vec<ServiceChangeResponse>,
    /// The owner's pages about it; of those who may not read what the owner keeps, none.
    #[serde(default)]
    #[schemars(required)]
    pub runbooks: Vec<RunbookResponse>,
    /// The moment of this answer.
    pub at: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ServiceChange")]
pub struct ServiceChangeResponse {
    pub at: String,
    #[schemars(extend("enum" = ["up", "down", "unknown"]))]
    pub from: Word,
    #[schemars(extend("enum" = ["up", "down", "unknown"]))]
    pub to: Word,
    pub reason: Option<String>,
}
