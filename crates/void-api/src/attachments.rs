//! `/api/spaces/{id}/attachments` and `/api/attachments`: files of a space, sent and answered as raw bytes; and what a file that
//! was imported became.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AttachmentsResponse {
    /// Newest first.
    pub attachments: Vec<AttachmentResponse>,
    pub next: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Attachment")]
pub struct AttachmentResponse {
    pub id: String,
    pub space_id: String,
    pub name: String,
    /// Where it is in the folder that it came from.
    pub path: Option<String>,
    /// The ref whose page or file this is, as it came.
    pub ref_id: Option<String>,
    /// What somebody said the bytes are; nothing is believed for it.
    pub media_type: String,
    /// Of its bytes, as 64 hex digits.
    pub sha256: String,
    pub size_bytes: u64,
    pub created_at: String,
    pub created_by: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AttachmentDeletedResponse {
    pub deleted: bool,
    pub id: String,
    pub name: String,
    /// What takes it back: a POST to this path, for 30 days.
    pub undo: String,
}

/// What became of the bookmarks of an export.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct KarakeepImportResponse {
    /// Nothing was written; the numbers say what would be.
    pub dry_run: bool,
    pub created: u64,
    pub changed: u64,
    pub unchanged: u64,
    /// They differ, and were edited or captured here since; they stay as they are here.
    pub kept: u64,
    /// They were thrown away here, and stay away.
    pub thrown_away: u64,
    /// In the file more than once.
    pub repeated: u64,
    /// Files that Karakeep keeps elsewhere, and what has neither words nor an address.
    pub left_out: u64,
    /// Whether a text was shortened to what a page may have.
    pub cut: bool,
}
