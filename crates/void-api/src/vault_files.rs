//! `/api/spaces/{id}/vault…`: a folder of Markdown that comes in and goes out. Whoever has the folder reads and writes it; the
//! server is told what is there, and never opens a path that it is told.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use void_domain::limits::{ATTACHMENT_BYTES_MAX, NOTE_PATH_BYTES_MAX};

use crate::Word;
use crate::bounds::{DIGEST, PLAIN, UUID};

/// A request with what is in a folder, or with steps and their files: the largest attachment, as base64 has it, and notes beside.
pub const VAULT_REQUEST_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Files of one folder.
pub const VAULT_FILES_MAX: usize = 250_000;
/// Steps, or files, of one request.
pub const VAULT_STEPS_MAX: usize = 64;
/// The words of what a file becomes.
pub const VAULT_KINDS: [&str; 4] = ["page", "task", "ref", "attachment"];

const CONTENT_CHARS_MAX: usize = ATTACHMENT_BYTES_MAX.div_ceil(3) * 4;
const _: () = assert!(CONTENT_CHARS_MAX + 1024 * 1024 < VAULT_REQUEST_BYTES_MAX);

/// What is in a folder.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "VaultFolder", extend("required" = ["files"]))]
pub struct VaultFolderRequest {
    /// One text a file: the SHA-256 of its bytes, what it is (`page`, `task`, `ref` or `attachment`) and its path, with a
    /// blank between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "FileLinesMember")]
    pub files: Option<Vec<String>>,
    /// Files and folders that are there and could not be read: nothing below them is taken for gone.
    #[serde(default)]
    #[schemars(with = "PathsMember")]
    pub unread: Vec<String>,
}

/// A file as `VaultFolderRequest` has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VaultFileLine<'a> {
    pub sha256: &'a str,
    pub kind: &'a str,
    pub path: &'a str,
}

impl<'a> VaultFileLine<'a> {
    pub fn read(line: &'a str) -> Option<Self> {
        let (sha256, rest) = line.split_once(' ')?;
        let (kind, path) = rest.split_once(' ')?;
        Some(Self { sha256, kind, path })
    }
}

impl fmt::Display for VaultFileLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.sha256, self.kind, self.path)
    }
}

/// What an import would do. Steps are to be sent in this order: `gone` (what the owner lets go), `rename`, `agree`, and then
/// the files of `create` and `update`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "VaultImportPlan")]
pub struct VaultImportPlanResponse {
    pub create: Vec<VaultPlace>,
    pub update: Vec<VaultPlace>,
    pub rename: Vec<VaultRename>,
    /// The folder has what Void has, and Void has not noted that.
    pub agree: Vec<VaultAgreement>,
    /// Imported before, not edited since, and no longer in the folder.
    pub gone: Vec<VaultPlace>,
    /// What changed on both sides: nobody overwrites it.
    pub conflicts: Vec<VaultConflict>,
    pub unchanged: u64,
}

/// What an export would do. Nothing is removed from a folder.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "VaultExportPlan")]
pub struct VaultExportPlanResponse {
    pub write: Vec<VaultWrite>,
    pub agree: Vec<VaultAgreement>,
    pub conflicts: Vec<VaultConflict>,
    pub unchanged: u64,
    /// Projects are folders; so many texts about one have no file.
    pub projects_left_out: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct VaultPlace {
    pub path: String,
    #[schemars(extend("enum" = VAULT_KINDS))]
    pub kind: Word,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct VaultRename {
    pub from: String,
    pub to: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct VaultAgreement {
    pub path: String,
    #[schemars(extend("enum" = VAULT_KINDS))]
    pub kind: Word,
    pub id: String,
    pub sha256: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct VaultConflict {
    pub path: String,
    /// A word for programs.
    pub reason: Word,
    pub message: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct VaultWrite {
    pub path: String,
    #[schemars(extend("enum" = VAULT_KINDS))]
    pub kind: Word,
    pub id: String,
    /// What the file holds until now; nothing where none is.
    pub replaces: Option<String>,
}

/// Steps that are done together or not at all.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "VaultImport", extend("required" = ["steps"]))]
pub struct VaultImportRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "StepsMember")]
    pub steps: Option<Vec<VaultStep>>,
}

/// `put` has `text` or `content`, `move` has `to`, `agree` has `sha256`, and `kind` and `id` of what has no file yet.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VaultStep {
    #[schemars(extend("enum" = ["put", "move", "remove", "agree"]))]
    pub step: Word,
    #[schemars(with = "PathTextMember")]
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "PathTextMember")]
    pub to: Option<String>,
    /// The file as it is, if it is UTF-8 without a null character.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ContentMember")]
    pub text: Option<String>,
    /// The file in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ContentMember")]
    pub content: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DigestMember")]
    pub sha256: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = VAULT_KINDS))]
    pub kind: Option<Word>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ItemMember")]
    pub id: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct VaultImportResponse {
    /// In the order of the steps.
    pub outcomes: Vec<VaultOutcome>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct VaultOutcome {
    pub path: String,
    #[schemars(extend("enum" = ["created", "updated", "moved", "removed", "agreed", "unchanged", "conflict", "refused"]))]
    pub outcome: Word,
    /// Of a conflict, a word for programs.
    pub reason: Option<Word>,
    /// Of a conflict, and of a file that cannot be taken in.
    pub message: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "VaultExport", extend("required" = ["files"]))]
pub struct VaultExportRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "WantedMember")]
    pub files: Option<Vec<VaultWanted>>,
}

/// As the plan has it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VaultWanted {
    #[schemars(with = "PathTextMember")]
    pub path: String,
    #[schemars(extend("enum" = VAULT_KINDS))]
    pub kind: Word,
    #[schemars(with = "ItemMember")]
    pub id: String,
}

/// As many files as fit into an answer, from the first on; the others are to be asked for again.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct VaultExportResponse {
    pub files: Vec<VaultContent>,
}

/// Without `text` and `content` it was thrown away meanwhile.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct VaultContent {
    pub path: String,
    pub sha256: Option<String>,
    /// The whole file, where it is text.
    pub text: Option<String>,
    /// The whole file in base64, where it is not.
    pub content: Option<String>,
}

macro_rules! member {
    ($($name:ident |$generator:ident| $schema:expr;)*) => {
        $(
            struct $name;

            impl JsonSchema for $name {
                fn inline_schema() -> bool {
                    true
                }

                fn schema_name() -> Cow<'static, str> {
                    stringify!($name).into()
                }

                fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                    $schema
                }
            }
        )*
    };
}

const FILE_LINE: &str = "^[0-9a-f]{64} (page|task|ref|attachment) [^\\u0000]+$";
/// A hash, a kind and two blanks before the path.
const FILE_LINE_CHARS_MAX: usize = 64 + 10 + 2 + NOTE_PATH_BYTES_MAX;

member! {
    FileLinesMember |_generator| json_schema!({
        "type": "array", "maxItems": VAULT_FILES_MAX,
        "items": {"type": "string", "pattern": FILE_LINE, "maxLength": FILE_LINE_CHARS_MAX},
    });
    PathsMember |_generator| json_schema!({
        "type": "array", "maxItems": VAULT_FILES_MAX,
        "items": {"type": "string", "pattern": PLAIN, "maxLength": NOTE_PATH_BYTES_MAX},
    });
    PathTextMember |_generator| json_schema!({
        "type": "string", "minLength": 1, "maxLength": NOTE_PATH_BYTES_MAX, "pattern": PLAIN,
        "x-max-bytes": NOTE_PATH_BYTES_MAX,
    });
    ContentMember |_generator| json_schema!({
        "type": "string", "maxLength": CONTENT_CHARS_MAX, "pattern": PLAIN,
    });
    DigestMember |_generator| json_schema!({"type": "string", "pattern": DIGEST});
    ItemMember |_generator| json_schema!({"type": "string", "pattern": UUID});
    StepsMember |generator| json_schema!({
        "type": "array", "maxItems": VAULT_STEPS_MAX, "items": generator.subschema_for::<VaultStep>(),
    });
    WantedMember |generator| json_schema!({
        "type": "array", "maxItems": VAULT_STEPS_MAX, "items": generator.subschema_for::<VaultWanted>(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_one_line_whatever_its_path() {
        let line = VaultFileLine {
            sha256: "00",
            kind: "page",
            path: "a b/c d\n.md",
        };
        let text = line.to_string();
        assert_eq!(VaultFileLine::read(&text), Some(line));
        for bad in ["", "00", "00 page"] {
            assert_eq!(VaultFileLine::read(bad), None, "{bad}");
        }
    }
}
