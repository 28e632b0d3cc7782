//! `/api/actions`: the catalogue, naming an action, and the source documents' routes for what waits.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use void_domain::limits::{CATALOGUE_BYTES_MAX, DIFF_BYTES_MAX, REASON_BYTES_MAX};

use crate::Word;
use crate::bounds::{DIGEST, NUMBER_MAX};
use crate::proposals::{RowError, RowResponse};
use crate::schemas;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ActionsResponse {
    pub actions: Vec<ActionResponse>,
    pub catalogue: CatalogueResponse,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CatalogueResponse {
    /// SHA-256 over the file's canonical form.
    pub digest: String,
    /// The commit of the file, where it is in a git work tree.
    pub commit: Option<String>,
    /// What `void actions lint` has to say about it.
    pub warnings: Vec<WarningResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct WarningResponse {
    #[schemars(extend("enum" = ["warning"]))]
    pub severity: Word,
    pub line: u32,
    /// Where in the file, such as `actions[3].tier`; empty for the whole of it.
    pub path: String,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What a parameter may be.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
#[schemars(rename = "ParamSpec")]
pub enum ParamResponse {
    Integer { min: i64, max: i64 },
    Enum { values: Vec<String> },
    Pattern { pattern: String, max_len: usize },
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ActionResponse {
    pub id: String,
    pub label: String,
    pub kind: Word,
    #[schemars(extend("enum" = ["safe", "risky"]))]
    pub tier: Word,
    #[schemars(extend("enum" = ["nominal", "guarded", "critical"]))]
    pub risk: Word,
    /// Why the lock-out guard raised it to critical.
    pub raised: Option<String>,
    pub target: String,
    pub host: Option<String>,
    pub node: Option<String>,
    pub service: Option<String>,
    pub vmid: Option<u32>,
    /// `lxc` or `qemu`, for an action on a guest.
    pub guest: Option<Word>,
    /// The same under its older name.
    #[serde(rename = "kindPath")]
    pub kind_path: Option<Word>,
    /// Which channel it takes: `host`, `proxmox`, `node` or `file`.
    pub via: Word,
    pub op: Option<Word>,
    pub params: BTreeMap<String, ParamResponse>,
    pub verify: Option<String>,
    /// What is looked at afterwards, as a sentence; also that nothing is.
    pub checked_by: String,
    pub inverse: Option<String>,
    /// As the catalogue says: for everybody, or 0 for nobody.
    pub cooldown_s: Option<u64>,
    /// What binds agents, with the default of safe actions.
    pub agent_cooldown_s: Option<u64>,
    pub max_per_hour: Option<u32>,
    pub timeout_s: u64,
    pub expires_s: u64,
    pub agents: Option<Vec<String>>,
    pub digest: String,
    pub exec_digest: String,
}

/// Another catalogue: a diff against the loaded one, or the whole new file.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [schemas::one_of("patch", "string", "file", "string")]))]
pub struct PatchRequest {
    /// A unified diff against the file that was loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = CATALOGUE_BYTES_MAX), extend("x-max-bytes" = CATALOGUE_BYTES_MAX))]
    pub patch: Option<String>,
    /// The whole new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = CATALOGUE_BYTES_MAX), extend("x-max-bytes" = CATALOGUE_BYTES_MAX))]
    pub file: Option<String>,
    /// Why; shown to the owner as the requester's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = REASON_BYTES_MAX), extend("x-max-bytes" = REASON_BYTES_MAX))]
    pub reason: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// The action's parameters, if it declares any: `/api/actions` names them, and others are refused.
    #[serde(default)]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub params: Value,
    /// Why; shown to the owner as the requester's words.
    #[serde(default)]
    #[schemars(length(max = REASON_BYTES_MAX), extend("x-max-bytes" = REASON_BYTES_MAX))]
    pub reason: Option<String>,
    /// What would change, as text; shown to the owner as the requester's words.
    #[serde(default)]
    #[schemars(length(max = DIFF_BYTES_MAX), extend("x-max-bytes" = DIFF_BYTES_MAX))]
    pub diff: Option<String>,
}

/// Exactly one of: executed with its result, queued, or not executed (yet) with the status.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RunResponse {
    Executed {
        executed: bool,
        #[schemars(with = "schemas::RunResult")]
        result: Value,
        action_row_id: String,
    },
    Queued {
        queued: bool,
        action_row_id: String,
    },
    NotExecuted {
        executed: bool,
        status: Word,
        action_row_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<RowError>,
    },
}

impl RunResponse {
    /// The proposal that it became.
    pub fn row_id(&self) -> &str {
        match self {
            Self::Executed { action_row_id, .. }
            | Self::Queued { action_row_id, .. }
            | Self::NotExecuted { action_row_id, .. } => action_row_id,
        }
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PendingResponse {
    pub pending: Vec<RowResponse>,
    pub next: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RecentResponse {
    pub recent: Vec<RowResponse>,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PendingDecision")]
pub struct PendingDecideRequest {
    /// The digest of the row that was seen. Only the owner's bearer token may leave it out.
    #[serde(default)]
    #[schemars(regex(pattern = DIGEST))]
    pub digest: Option<String>,
    /// The revision of the row that was seen; an approval of an older one is refused as `changed`.
    #[serde(default)]
    #[schemars(range(max = NUMBER_MAX))]
    pub revision: Option<u64>,
    #[serde(default)]
    #[schemars(length(max = REASON_BYTES_MAX), extend("x-max-bytes" = REASON_BYTES_MAX))]
    pub reason: Option<String>,
}
