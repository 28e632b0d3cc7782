//! `/api/node/*`: what a node itself calls. Names that a newer node sends and this server does not know are passed
//! over, so that versions next to each other work together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Word;
use crate::bounds::{FINGERPRINT, NUMBER_MAX};

pub const LINES_PER_REPORT_MAX: usize = 200;
/// As long as names, versions and lines of a node need to be; the body's own bound holds in any case.
pub const WORD_CHARS_MAX: usize = 256;
pub const LINE_CHARS_MAX: usize = 1024;

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("required" = ["token", "fingerprint"]))]
pub struct JoinNodeRequest {
    /// The join token of `void node invite`.
    #[serde(default)]
    #[schemars(length(max = WORD_CHARS_MAX))]
    pub token: String,
    /// SHA-256 of the secret that the node made and keeps.
    #[serde(default)]
    #[schemars(regex(pattern = FINGERPRINT))]
    pub fingerprint: String,
    #[serde(default)]
    #[schemars(length(max = WORD_CHARS_MAX))]
    pub version: String,
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("required" = ["session"]))]
pub struct PollNodeRequest {
    #[serde(default)]
    pub session: SessionMember,
    #[serde(default)]
    #[schemars(length(max = WORD_CHARS_MAX))]
    pub version: String,
    /// What the node's `void-act` answers to `void-list`; null when it could not.
    #[serde(default)]
    pub list: Option<Value>,
    /// The commands that it works on or has not been able to report.
    #[serde(default)]
    #[schemars(length(max = 256), inner(length(max = WORD_CHARS_MAX)))]
    pub holding: Vec<String>,
    /// How long to wait for work; more than 30 is as good as 30.
    #[serde(default)]
    #[schemars(range(max = NUMBER_MAX))]
    pub wait_s: u64,
}

#[derive(Default, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("required" = ["generation", "nonce"]))]
pub struct SessionMember {
    /// Each start of the node's program counts one further.
    #[serde(default)]
    #[schemars(range(max = NUMBER_MAX))]
    pub generation: u64,
    #[serde(default)]
    #[schemars(regex(pattern = r"^[!-~]{1,64}$"))]
    pub nonce: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PollNodeResponse {
    /// The server's time, by which the node judges whether a ticket has expired.
    pub now_ms: i64,
    pub version: Word,
    pub errands: Vec<CommandMember>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CommandMember {
    pub id: String,
    /// One command of `void-act`'s grammar: an action id and its ticket, or a question.
    pub command: String,
    pub limit_ms: u64,
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("required" = ["errand"]))]
pub struct ReportNodeRequest {
    /// The command that this is about.
    #[serde(default)]
    #[schemars(length(max = WORD_CHARS_MAX))]
    pub errand: String,
    /// What it said since the last report.
    #[serde(default)]
    #[schemars(length(max = LINES_PER_REPORT_MAX), inner(length(max = LINE_CHARS_MAX)))]
    pub lines: Vec<String>,
    /// Whether it is over.
    #[serde(default)]
    pub ended: bool,
    /// The answer of the node's `void-act`; null when it ended without one.
    #[serde(default)]
    pub answer: Option<Value>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReportedResponse {
    pub acknowledged: bool,
}
