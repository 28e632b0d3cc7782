//! `/api/backups`: copies of the database.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct BackupsResponse {
    pub backups: Vec<CopyResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CopyResponse {
    pub file: String,
    pub made_at: String,
    pub bytes: u64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct BackupResponse {
    #[serde(flatten)]
    pub copy: CopyResponse,
    /// The audit head that the copy holds; it was walked from the first entry.
    pub audit_seq: u64,
    pub audit_hash: String,
}
