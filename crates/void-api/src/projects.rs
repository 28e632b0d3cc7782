//! `/api/spaces/{id}/projects` and `/api/projects`: what pages, tasks and refs of a space may belong to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entities::members::{BaseMember, BodyMember, NewTitleMember, ReasonMember, TitleMember};
use crate::entities::{EntityHeadResponse, EntityLinksResponse};
use crate::markdown::Block;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProjectsResponse {
    /// What was changed last comes first.
    pub projects: Vec<ProjectHeadResponse>,
    pub next: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ProjectHead")]
pub struct ProjectHeadResponse {
    #[serde(flatten)]
    pub entity: EntityHeadResponse,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Project")]
pub struct ProjectResponse {
    #[serde(flatten)]
    pub head: ProjectHeadResponse,
    /// Markdown.
    pub body: String,
    /// The same as a tree of what may be shown of it, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<Block>>,
    #[serde(flatten)]
    pub links: EntityLinksResponse,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewProject", extend("required" = ["title"]))]
pub struct NewProjectRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "NewTitleMember")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BodyMember")]
    pub body: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ReasonMember")]
    pub reason: Option<String>,
}

/// What is left out stays as it is.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ProjectChange", extend("required" = ["base_revision"]))]
pub struct ProjectChangeRequest {
    /// The revision that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BaseMember")]
    pub base_revision: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "TitleMember")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BodyMember")]
    pub body: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ReasonMember")]
    pub reason: Option<String>,
}
