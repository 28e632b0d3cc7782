//! What the server and a process say to each other about a turn, as JSON. The server reads what a process says with its
//! own types; what it does not expect it refuses.

use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
pub(super) struct TakenTurn {
    pub turn: Option<String>,
    pub pass: Option<String>,
}

/// What is to be done next.
#[derive(Debug, Deserialize)]
pub(super) struct Step {
    pub over: bool,
    #[serde(default)]
    pub calls: Vec<StepCall>,
}

#[derive(Debug, Deserialize)]
pub(super) struct StepCall {
    pub call: usize,
    /// What the process does itself; all else it has the server do.
    pub file: Option<FileOrder>,
}

#[derive(Debug, Deserialize)]
pub(super) struct FileOrder {
    pub agent: String,
    pub path: Vec<String>,
    #[serde(flatten)]
    pub wish: FileWish,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "wish", rename_all = "snake_case")]
pub(super) enum FileWish {
    List,
    Read { from: u64, bytes_max: usize },
    Write { text: String },
    Edit { find: String, replace: String },
}

#[derive(Debug, Serialize)]
pub(super) struct StepAnswers {
    pub answers: Vec<FileAnswer>,
}

#[derive(Debug, Serialize)]
pub(super) struct FileAnswer {
    pub call: usize,
    pub file: FileOutcome,
}

#[derive(Debug, Serialize)]
pub(super) struct CallNumber {
    pub call: usize,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(super) enum FileOutcome {
    Listed { entries: Vec<FileEntry>, more: bool },
    Read { text: String, bytes: u64 },
    Written { bytes: u64 },
    Failed { why: FileFailure },
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct FileEntry {
    pub name: String,
    pub kind: FileKind,
    pub bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FileKind {
    File,
    Folder,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FileFailure {
    NotFound,
    NotAFile,
    NotAFolder,
    NotText,
    TooLarge,
    NotOnce,
    Refused,
}
