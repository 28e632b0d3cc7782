//! `/api/lab`: nodes and guests, as Proxmox shows them to Void's token.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;
use crate::services::StoppedResponse;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct LabResponse {
    /// Whether Proxmox is set up at all.
    pub connected: bool,
    pub nodes: Vec<LabNodeResponse>,
    pub read_at: Option<String>,
    /// Why there is nothing to show, or less than there is.
    pub problem: Option<LabProblem>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct LabProblem {
    pub code: String,
    pub message: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Node")]
pub struct LabNodeResponse {
    pub name: String,
    /// online, offline or unknown.
    pub status: Word,
    pub uptime_s: u64,
    pub load: LoadResponse,
    pub guests: Vec<GuestResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Guest")]
pub struct GuestResponse {
    pub vmid: u32,
    /// `lxc` or `qemu`.
    pub kind: Word,
    pub name: String,
    /// running, stopped, other or unknown.
    pub status: Word,
    pub uptime_s: u64,
    /// What holds it, such as a backup.
    pub lock: Option<String>,
    pub load: LoadResponse,
    /// Set while it is stopped because the owner stopped it, for a day at most.
    pub stopped: Option<StoppedResponse>,
}

/// How busy and how full it is; null where Proxmox does not say.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Load")]
pub struct LoadResponse {
    /// Thousandths of all its processors together.
    pub cpu_permille: Option<u64>,
    pub cpus: Option<u64>,
    pub memory_bytes: Option<u64>,
    pub memory_bytes_max: Option<u64>,
    /// Of a machine with a disk of its own Proxmox does not know how full it is.
    pub disk_bytes: Option<u64>,
    pub disk_bytes_max: Option<u64>,
}
