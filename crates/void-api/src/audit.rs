//! `/api/audit`: the record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Word;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AuditResponse {
    pub entries: Vec<EntryResponse>,
    pub next: Option<String>,
    /// Not for agents, who see no hashes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<HeadResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct HeadResponse {
    pub seq: u64,
    pub hash: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AuditEntry")]
pub struct EntryResponse {
    pub seq: u64,
    pub at: String,
    pub request_id: Option<String>,
    pub actor: String,
    pub verb: String,
    pub subject: Option<String>,
    pub detail: Map<String, Value>,
    pub catalogue: Option<String>,
    /// Not for agents: whoever has the hash of an entry can try out the words that are kept from them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prev: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AuditVerdict")]
pub struct VerdictResponse {
    /// Every entry up to the head is as it was written, and nothing stands beyond it. That the head itself is the right one is shown
    /// by a copy of it that is kept elsewhere.
    pub intact: bool,
    pub checked: u64,
    pub head: HeadResponse,
    pub problem: Option<VerdictProblem>,
    /// Rows that stood beyond the head, which Void did not write: kept in the table `audit_strays`, each
    /// time with an entry `audit.strays_set_aside`.
    pub set_aside: u64,
    /// Rows of proposals, tokens and the freeze that do not say what the record says: somebody edited the
    /// database. The first hundred are named.
    pub mismatches: Vec<VerdictMismatch>,
    pub mismatches_total: u64,
    pub at: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct VerdictMismatch {
    pub table: Word,
    pub id: String,
    pub message: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct VerdictProblem {
    pub seq: u64,
    pub message: String,
}
