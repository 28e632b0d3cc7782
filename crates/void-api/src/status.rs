//! `/api/status`: one flat look, for a person or a dashboard tile.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;

pub const EMBEDDINGS_STATES: [&str; 4] = ["starting", "making", "ready", "waiting"];

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct StatusResponse {
    pub version: Word,
    /// Everything behind this is a simulated lab.
    pub rehearsal: bool,
    pub waiting: u64,
    /// Machines that ask to join and wait for the owner.
    pub joins: usize,
    pub running: u64,
    /// Outcomes that nobody knows.
    pub unknown: u64,
    /// Proposals that wait and that nobody could be told about.
    pub untold: u64,
    pub frozen: bool,
    /// Who froze, why as far as the caller may read it, and when it ends by itself.
    pub frozen_by: Option<String>,
    pub frozen_reason: Option<String>,
    pub frozen_until: Option<String>,
    pub services_up: usize,
    /// Down, and nobody wanted that.
    pub services_down: usize,
    /// Down because the owner stopped what they are on.
    pub services_stopped: usize,
    /// Nothing is known of them now.
    pub services_unknown: usize,
    /// Down, and nobody could be told: no way worked, or there is none.
    pub services_untold: u64,
    /// Places where the owner is told: paired accounts, a topic, webhooks.
    pub channels: u64,
    /// What is not told for a time.
    pub mutes: usize,
    /// Nodes that have joined, and those of them that poll now.
    pub nodes: usize,
    pub nodes_here: usize,
    /// What the kernel cannot keep agent processes from, where they start all the same because the owner said so.
    /// Empty otherwise.
    #[serde(default)]
    pub open_fences: Vec<String>,
    /// Credentials of an older copy that wait for the owner's confirmation.
    pub quarantined: u64,
    pub actions: usize,
    pub catalogue_digest: String,
    pub catalogue_commit: Option<String>,
    /// What this instance is called, and every instance that works on the database now.
    pub instance: String,
    pub instances: Vec<String>,
    /// Another process works under this instance's id: this one starts and settles nothing.
    pub displaced: bool,
    pub audit_seq: u64,
    /// The hash of the newest entry, for the owner and for viewers; null for agents.
    pub audit_head: Option<String>,
    pub storage: StorageResponse,
    /// How far the vectors for the search by meaning are; absent where they are off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embeddings: Option<EmbeddingsResponse>,
    /// The time in force.
    pub at: String,
    /// How many seconds this machine's clock is ahead of the time in force (less than zero: behind) where Void
    /// does not follow it; null where it does.
    pub clock_ahead_s: Option<i64>,
}

/// Vectors of what the owner keeps.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Embeddings")]
pub struct EmbeddingsResponse {
    /// `starting`, `making`, `ready`, or `waiting` until what is in the way is gone.
    #[schemars(extend("enum" = EMBEDDINGS_STATES))]
    pub state: Word,
    /// Texts that have vectors, of all texts.
    pub done: u64,
    pub total: u64,
    /// Texts of which none could be made.
    pub skipped: u64,
    pub chunks: u64,
    pub memory_bytes: u64,
    /// What is in the way: a stable word, and a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Word>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// How large what grows is, and for how long each kind of it is kept. A few seconds old at most.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Storage")]
pub struct StorageResponse {
    pub database_bytes: u64,
    /// SQLite's log of what is not in the file yet. Absent with PostgreSQL, whose log is its server's.
    pub wal_bytes: Option<u64>,
    /// Of all attachments together; two of the same content take their room once.
    #[serde(default)]
    #[schemars(required)]
    pub attachment_bytes: u64,
    /// By table; the audit's, revisions and attachments are kept for ever.
    pub rows: BTreeMap<Word, u64>,
    /// For how many days each kind is kept after it is over.
    pub kept_days: BTreeMap<Word, u32>,
}
