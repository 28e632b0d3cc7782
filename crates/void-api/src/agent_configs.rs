//! `/api/agents/{name}/config` and `POST /api/agents`: configs of agents with processes of their own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_domain::agent_configs::CONFIG_BYTES_MAX;
use void_domain::limits::REASON_BYTES_MAX;

use crate::bounds::SLUG;

/// The whole id of a commit.
pub const COMMIT: &str = "^([0-9a-f]{40}|[0-9a-f]{64})$";

/// What is applied of an agent's config, what its repository has, and what waits.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AgentConfig")]
pub struct AgentConfigResponse {
    pub name: String,
    pub parent: Option<String>,
    /// The commit that is applied; null if none is.
    pub applied: Option<String>,
    /// The files of that commit; empty if nothing is applied or it cannot be read.
    pub files: Vec<ConfigFileResponse>,
    /// Commits of all branches of its repository, newest first, 50 at most.
    pub history: Vec<ConfigCommitResponse>,
    /// Proposals about it that wait for the owner.
    pub waiting: Vec<WaitingConfigResponse>,
    /// Why its repository cannot be read.
    pub problem: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ConfigFile")]
pub struct ConfigFileResponse {
    pub path: String,
    /// As it is written: an agent may have written it.
    pub text: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ConfigCommit")]
pub struct ConfigCommitResponse {
    pub id: String,
    /// Who made it, as the commit says; nobody has checked it.
    pub author: String,
    /// What they say about it.
    pub subject: String,
    pub at: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "WaitingConfig")]
pub struct WaitingConfigResponse {
    pub proposal_id: String,
    /// The commit that it is for; null of somebody new.
    pub commit: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ApplyConfigRequest", extend("required" = ["commit"]))]
pub struct ApplyConfigRequest {
    /// The whole id of a commit that a branch of the agent's repository has.
    #[serde(default)]
    #[schemars(regex(pattern = COMMIT))]
    pub commit: String,
    /// Why; shown on the card as the requester's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = REASON_BYTES_MAX), extend("x-max-bytes" = REASON_BYTES_MAX))]
    pub reason: Option<String>,
}

/// A new agent with a process of its own.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["name", "config"]))]
pub struct CreateAgentRequest {
    #[serde(default)]
    #[schemars(regex(pattern = SLUG))]
    pub name: String,
    /// Under whom it stands; the root if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = SLUG))]
    pub parent: Option<String>,
    /// The text of its `agent.toml`.
    #[serde(default)]
    #[schemars(length(max = CONFIG_BYTES_MAX), extend("x-max-bytes" = CONFIG_BYTES_MAX))]
    pub config: String,
    /// Why; shown on the card as the requester's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = REASON_BYTES_MAX), extend("x-max-bytes" = REASON_BYTES_MAX))]
    pub reason: Option<String>,
}
