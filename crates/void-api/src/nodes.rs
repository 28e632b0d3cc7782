//! `/api/nodes`: the owner's view of the machines that run the pull executor.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;
use crate::bounds::{FINGERPRINT, HOST};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct NodesResponse {
    pub nodes: Vec<NodeResponse>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct NodeResponse {
    pub name: String,
    /// `invited`, `waiting` for the owner, or `joined`.
    pub state: Word,
    /// SHA-256 of the node's secret, as the node shows it too.
    pub fingerprint: Option<String>,
    /// Whether it polls now.
    pub here: bool,
    pub seen_at: Option<String>,
    pub version: Option<String>,
    /// `same`, `older`, `newer` or `unknown`, compared with the server.
    pub skew: Option<Word>,
    /// The first difference between its list and the catalogue.
    pub drift: Option<String>,
    /// When its secret was last shown by an older program: it is on two machines.
    pub twin_at: Option<String>,
    /// How many actions of the catalogue run there.
    pub actions: usize,
    pub invite_expires_at: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["name"]))]
pub struct InviteRequest {
    #[serde(default)]
    #[schemars(regex(pattern = HOST))]
    pub name: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct InvitedResponse {
    pub name: String,
    /// The join token, shown this once.
    pub token: String,
    pub expires_at: String,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["fingerprint"]))]
pub struct ApproveRequest {
    /// The fingerprint that the node shows.
    #[serde(default)]
    #[schemars(regex(pattern = FINGERPRINT))]
    pub fingerprint: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct JoinedResponse {
    pub name: String,
    pub state: Word,
    pub fingerprint: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RemovedResponse {
    pub removed: bool,
    /// What it was: `invited`, `waiting` or `joined`.
    pub was: Word,
}
